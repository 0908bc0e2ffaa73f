// Package guestbin holds the guest binaries that were built into git-ftl, one
// for each architecture of an engine, compressed. A build without the tag
// embedguest holds none.
package guestbin

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Guest gives the Linux guest binary for an architecture as Go names it, nil
// where none was built in.
func Guest(arch string) ([]byte, error) { return unpack(files, arch) }

func unpack(files fs.ReadFileFS, arch string) ([]byte, error) {
	name := "guest-linux-" + arch + ".gz"
	data, err := files.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	bin, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	return bin, nil
}
