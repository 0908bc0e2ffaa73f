//go:build unix && !linux

package patch

// syncAll makes files and folders durable.
func syncAll(paths []string) error { return syncEach(paths) }
