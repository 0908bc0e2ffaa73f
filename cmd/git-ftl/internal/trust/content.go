// Package trust holds the files by which a repository would steer git-ftl, and
// remembers which of them the user has trusted.
//
// Trust is by content and project: the exact bytes that were shown, in the
// repository where they were shown. Files are read once, and no link is
// followed, so that what was shown, what was checked and what counts are the same
// bytes. The package never decides what a file means.
package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Names of the files that count, at the top of the work tree, beside those that With
// adds.
const (
	ConfigFile  = ".ftlconfig"
	IncludeFile = ".ftlinclude"
	LintFile    = ".ftllint"
)

// maxFile bounds each file, in bytes.
const maxFile = 1 << 20

// File is one file of a repository.
type File struct {
	Name string `json:"name"` // from the top of the work tree, with slashes
	Data []byte `json:"data"`
}

// Content is what a work tree holds of the files that count. The zero value has
// none. It must not be changed once made, and is safe for concurrent use.
type Content struct {
	Files   []File            `json:"files"`             // sorted by name
	Refused map[string]string `json:"refused,omitempty"` // why, for files that are there and cannot count
}

// Read reads the files that count in the work tree at dir. One that is no regular
// file, is over 1 MiB or cannot be read is refused.
func Read(dir string) Content {
	return Content{}.With(dir, names()...)
}

// With adds files that are named by what was read before, in the same way. Names have
// slashes; none leads out of dir, nor over a link.
func (c Content) With(dir string, names ...string) Content {
	c = Content{Files: slices.Clone(c.Files), Refused: maps.Clone(c.Refused)}
	if c.Refused == nil {
		c.Refused = map[string]string{}
	}
	for _, name := range names {
		data, err := readRegular(dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			c.Refused[name] = why(err)
		default:
			c.Files = append(c.Files, File{name, data})
		}
	}
	slices.SortFunc(c.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// names are sorted, as a content has them.
func names() []string { return []string{ConfigFile, IncludeFile, LintFile} }

var (
	errKind = errors.New("it is not a regular file of at most 1 MiB")
	errLink = errors.New("a folder above it is a link")
)

// readRegular opens what it has looked at: a link that takes the file's place in
// between, or a pipe, is refused.
func readRegular(dir, name string) ([]byte, error) {
	seen, err := look(dir, name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() || seen.Size() > maxFile {
		return nil, errKind
	}
	f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !opened.Mode().IsRegular() || !os.SameFile(seen, opened) {
		return nil, errKind
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errKind
	}
	return data, err
}

// look is Lstat below dir that takes no link for a folder.
func look(dir, name string) (fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for i, c := range name {
		if c != '/' {
			continue
		}
		above, err := root.Lstat(filepath.FromSlash(name[:i]))
		switch {
		case err != nil:
			return nil, err
		case above.Mode()&fs.ModeSymlink != 0:
			return nil, errLink
		case !above.IsDir():
			return nil, fs.ErrNotExist
		}
	}
	return root.Lstat(filepath.FromSlash(name))
}

// why leaves the path out, which the caller names in its own way.
func why(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

// Data returns the bytes of a file; false where there is none that counts.
func (c Content) Data(name string) ([]byte, bool) {
	for _, f := range c.Files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}

// Digest is SHA-256 in hex over names and bytes: a line that names the format,
// then for each file the length of its name as 8 bytes, big-endian, the name, and
// its bytes in the same way. Two contents have the same one only where they have
// the same files.
func (c Content) Digest() string {
	h := sha256.New()
	fmt.Fprintln(h, "git-ftl trust 1")
	for _, f := range c.Files {
		for _, part := range [][]byte{[]byte(f.Name), f.Data} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			h.Write(part)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
