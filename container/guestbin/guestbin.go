// Package guestbin holds the guest binaries that were built into git-ftl, one
// for each architecture of an engine, compressed, and their content hashes. A
// build without the tag embedguest holds none.
package guestbin

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Version gives the content hash of the Linux guest for an architecture as Go
// names it, "" where none was built in. It unpacks nothing.
func Version(arch string) string { return version(files, arch) }

// Guest unpacks the guest for an architecture. The error says so where what was
// built in is not what Version names.
func Guest(arch string) ([]byte, error) { return unpack(files, arch) }

func name(arch string) string { return "guest-linux-" + arch }

func version(files fs.ReadFileFS, arch string) string {
	sum, err := files.ReadFile(name(arch) + ".sum")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(sum))
}

func unpack(files fs.ReadFileFS, arch string) ([]byte, error) {
	data, err := files.ReadFile(name(arch) + ".gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name(arch), err)
	}
	bin, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name(arch), err)
	}
	if sum := sha256.Sum256(bin); hex.EncodeToString(sum[:]) != version(files, arch) {
		return nil, fmt.Errorf("unpack %s: not what it was built as; make clean build", name(arch))
	}
	return bin, nil
}
