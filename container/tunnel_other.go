//go:build !linux

package container

import (
	"errors"
	"net"
)

// listenUnix is for engines that share this machine's kernel.
func listenUnix(string, string) (net.Listener, error) { return nil, errors.ErrUnsupported }
