package workspace

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// item is one file of the base as it lies in the workspace. The fields of stat
// count while known is true.
type item struct {
	path   string
	mode   uint32 // git's
	object [20]byte
	known  bool
	size   int64
	mtime  int64 // ns
	ctime  int64 // ns
	inode  uint64
}

// manifest is what the last reset left. Its file is absent while a reset
// changes the workspace.
type manifest struct {
	base    string
	stamp   int64 // ns; a file whose ctime is not older may have changed unseen
	exclude []string
	items   []item // sorted by path
}

const (
	manifestMagic = "ftl-manifest-1\n"
	itemSize      = 4*8 + 20 + 4 + 4
)

func (s Space) manifestName() string { return filepath.Join(s.State, "manifest") }

// Base returns the base of the last reset, "" where there is none.
func (s Space) Base() string {
	m, err := s.loadManifest()
	if err != nil {
		return ""
	}
	return m.base
}

func (s Space) loadManifest() (*manifest, error) {
	data, err := os.ReadFile(s.manifestName())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrStale
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if m, ok := decodeManifest(data); ok {
		return m, nil
	}
	return nil, fmt.Errorf("manifest is damaged: %w", ErrStale)
}

// saveManifest replaces the file at once; a cut-off one fails its checksum.
func (s Space) saveManifest(m *manifest) error {
	temp := s.manifestName() + ".new"
	if err := os.WriteFile(temp, m.encode(), 0o600); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.Rename(temp, s.manifestName()); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}

// dropManifest marks the workspace as being changed.
func (s Space) dropManifest() error {
	if err := os.Remove(s.manifestName()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop manifest: %w", err)
	}
	return nil
}

func (m *manifest) encode() []byte {
	size := len(manifestMagic) + 64 + len(m.base)
	for _, it := range m.items {
		size += itemSize + len(it.path)
	}
	le := binary.LittleEndian
	b := append(make([]byte, 0, size), manifestMagic...)
	b = appendString(b, m.base)
	b = le.AppendUint64(b, uint64(m.stamp))
	b = appendString(b, strings.Join(m.exclude, "\n"))
	b = le.AppendUint32(b, uint32(len(m.items)))
	for i := range m.items {
		it := &m.items[i]
		b = le.AppendUint64(b, uint64(it.size))
		b = le.AppendUint64(b, uint64(it.mtime))
		b = le.AppendUint64(b, uint64(it.ctime))
		b = le.AppendUint64(b, it.inode)
		b = le.AppendUint32(b, it.mode)
		b = append(b, it.object[:]...)
		b = appendString(b, it.path)
	}
	return le.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

// decodeManifest makes one string of the data, of which all paths are parts.
func decodeManifest(data []byte) (*manifest, bool) {
	body := len(data) - 4
	if body < 0 || crc32.ChecksumIEEE(data[:body]) != binary.LittleEndian.Uint32(data[body:]) {
		return nil, false
	}
	d := decoder{text: string(data[:body]), data: data[:body], ok: true}
	if d.take(len(manifestMagic)) != manifestMagic {
		return nil, false
	}
	m := &manifest{base: d.string(), stamp: int64(d.uint64())}
	if lines := d.string(); lines != "" {
		m.exclude = strings.Split(lines, "\n")
	}
	count := int(d.uint32())
	if !d.ok || count > len(d.data)/itemSize {
		return nil, false
	}
	m.items = make([]item, count)
	for i := range m.items {
		it := &m.items[i]
		it.known = true
		it.size, it.mtime, it.ctime, it.inode = int64(d.uint64()), int64(d.uint64()), int64(d.uint64()), d.uint64()
		it.mode = d.uint32()
		copy(it.object[:], d.take(len(it.object)))
		it.path = d.string()
	}
	return m, d.ok
}

// decoder reads on; ok turns false at the end of the data.
type decoder struct {
	text string
	data []byte
	at   int
	ok   bool
}

func (d *decoder) take(n int) string {
	if n < 0 || n > len(d.text)-d.at {
		d.ok, d.at = false, len(d.text)
		return ""
	}
	d.at += n
	return d.text[d.at-n : d.at]
}

func (d *decoder) uint32() uint32 {
	if d.take(4) == "" {
		return 0
	}
	return binary.LittleEndian.Uint32(d.data[d.at-4:])
}

func (d *decoder) uint64() uint64 {
	if d.take(8) == "" {
		return 0
	}
	return binary.LittleEndian.Uint64(d.data[d.at-8:])
}

func (d *decoder) string() string { return d.take(int(d.uint32())) }

// target returns the files of the new base. Stat data is carried over for
// files that the new base has unchanged. ErrStale where r counts from another
// base than the manifest, which may be nil.
func target(old *manifest, r wire.Reset) ([]item, error) {
	changed := make([]item, 0, len(r.Changed))
	for _, f := range r.Changed {
		it, err := newItem(f)
		if err != nil {
			return nil, err
		}
		changed = append(changed, it)
	}
	byPath := func(a, b item) int { return strings.Compare(a.path, b.path) }
	if !slices.IsSortedFunc(changed, byPath) {
		slices.SortFunc(changed, byPath)
	}
	if r.All {
		return slices.DeleteFunc(changed, func(it item) bool { return it.mode == 0 }), nil
	}
	if old == nil || old.base != r.From {
		return nil, ErrStale
	}
	return merge(old.items, changed), nil
}

func merge(base, changed []item) []item {
	all := make([]item, 0, len(base)+len(changed))
	for _, c := range changed {
		at, found := slices.BinarySearchFunc(base, c.path, func(it item, p string) int { return strings.Compare(it.path, p) })
		all = append(all, base[:at]...)
		base = base[at:]
		if found {
			base = base[1:]
		}
		if c.mode != 0 {
			all = append(all, c)
		}
	}
	return append(all, base...)
}

func newItem(f wire.File) (item, error) {
	it := item{path: string(f.Path), mode: f.Mode}
	if err := checkPath(it.path); err != nil {
		return it, err
	}
	switch f.Mode {
	case 0:
		return it, nil
	case modeFile, modeExec, modeLink, modeGitlink:
	default:
		return it, fmt.Errorf("mode %o of %q is none of a file", f.Mode, it.path)
	}
	if n, err := hex.Decode(it.object[:], []byte(f.Object[:min(len(f.Object), 40)])); err != nil || n != 20 || len(f.Object) != 40 {
		return it, fmt.Errorf("object %q of %q is no object name", f.Object, it.path)
	}
	return it, nil
}

// checkPath refuses what is no path below the root, and the root's .git.
func checkPath(p string) error {
	if len(p) > maxPath || strings.ContainsRune(p, 0) {
		return fmt.Errorf("path %.80q cannot be a file", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return fmt.Errorf("path %q is refused", p)
		}
	}
	return nil
}
