package container

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// listenUnix listens on a socket in dir by way of its descriptor, since a
// socket's path may have no more than 107 bytes.
func listenUnix(dir, name string) (net.Listener, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), name)})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	return unlinked{l, filepath.Join(dir, name)}, nil
}

// unlinked removes the socket's file when it is closed.
type unlinked struct {
	net.Listener
	path string
}

// Close implements net.Listener.
func (u unlinked) Close() error {
	_ = os.Remove(u.path)
	return u.Listener.Close()
}
