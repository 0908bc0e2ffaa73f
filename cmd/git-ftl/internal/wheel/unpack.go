package wheel

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/container"
)

// Bounds of what is unpacked: files of a wheel, bytes of all wheels, and bytes of a
// file that is read into memory.
const (
	maxFiles = 100_000
	maxBytes = 8 << 30
	maxText  = 32 << 20
)

// archive is a wheel that was fetched, packaging.python.org/en/latest/specifications/binary-distribution-format.
type archive struct {
	zip  *zip.Reader
	info string // folder of its metadata
}

// openArchive makes sure that a wheel is the one that its name says.
func openArchive(r io.ReaderAt, size int64, name, version string) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	if len(z.File) > maxFiles {
		return nil, fmt.Errorf("it has %d files", len(z.File))
	}
	a := &archive{zip: z}
	for _, f := range z.File {
		dir, ok := strings.CutSuffix(f.Name, ".dist-info/METADATA")
		if !ok || strings.Contains(dir, "/") {
			continue
		}
		at := strings.LastIndexByte(dir, '-')
		if a.info != "" || at < 0 || normal(dir[:at]) != name || !sameVersion(dir[at+1:], version) {
			return nil, fmt.Errorf("it has metadata of %q", dir)
		}
		a.info = dir + ".dist-info"
	}
	if a.info == "" {
		return nil, errors.New("it has no metadata")
	}
	return a, a.checkFormat()
}

// checkFormat refuses a format that may mean something else.
func (a *archive) checkFormat() error {
	text, err := a.read(a.info + "/WHEEL")
	if err != nil {
		return err
	}
	if v := fields(text, "Wheel-Version"); len(v) != 1 || !strings.HasPrefix(v[0], "1.") {
		return fmt.Errorf("its format %q is not 1", v)
	}
	return nil
}

// read is the content of a file, of which there is one.
func (a *archive) read(name string) ([]byte, error) {
	f, err := a.zip.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(data) > maxText {
		err = fmt.Errorf("%s has more than %d bytes", name, maxText)
	}
	return data, errors.Join(err, f.Close())
}

// requires are the requirements of the package.
func (a *archive) requires() ([]requirement, error) {
	text, err := a.read(a.info + "/METADATA")
	if err != nil {
		return nil, err
	}
	var all []requirement
	for _, value := range fields(text, "Requires-Dist") {
		r, err := parseRequirement(value)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// fields are the values of a header, whose lines go on where one begins with white
// space, up to the first empty line.
func fields(text []byte, name string) []string {
	var all []string
	in := false
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			if in {
				all[len(all)-1] += " " + strings.TrimSpace(line)
			}
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		if in = strings.EqualFold(key, name); in {
			all = append(all, strings.TrimSpace(value))
		}
	}
	return all
}

// tree is what all wheels have written.
type tree struct {
	dir   string // absolute, in the image
	add   container.AddFile
	taken map[string]kind // by path
	bytes int64
}

// kind is what a path of the tree is.
type kind byte

const (
	aFile kind = iota
	aFolder
)

var errTaken = errors.New("a file of one wheel is a folder of another")

// unpack adds the modules of a wheel. What is for other folders is left out: scripts
// that a shell would find, headers, data of the system.
func (t *tree) unpack(a *archive) error {
	for _, f := range a.zip.File {
		to, ok, err := place(f.Name)
		switch mode := f.Mode().Type(); {
		case err != nil:
			return err
		case mode == fs.ModeDir:
			continue
		case mode != 0:
			return fmt.Errorf("%q is no regular file", f.Name)
		}
		if !ok {
			continue
		}
		if err := t.file(f, to); err != nil {
			return fmt.Errorf("unpack %q: %w", f.Name, err)
		}
	}
	return nil
}

// place is where a file goes below the folder of all modules; not ok where it is
// for elsewhere.
func place(name string) (string, bool, error) {
	bare := strings.TrimSuffix(name, "/")
	if !fs.ValidPath(bare) || bare == "." || strings.ContainsFunc(bare, func(c rune) bool { return c < ' ' || c == '\\' || c == 0x7f }) {
		return "", false, fmt.Errorf("%q is no path of a wheel", name)
	}
	top, rest, nested := strings.Cut(bare, "/")
	if !strings.HasSuffix(top, ".data") {
		return bare, true, nil
	}
	kind, below, ok := strings.Cut(rest, "/")
	return below, nested && ok && (kind == "purelib" || kind == "platlib"), nil
}

// file adds one file. Where two wheels have a file of one name, such as a module of
// tests at the top, that of the first stays: the program comes before what it needs.
func (t *tree) file(f *zip.File, to string) error {
	if kind, taken := t.taken[to]; taken && kind == aFile {
		return nil
	} else if taken {
		return errTaken
	}
	t.taken[to] = aFile
	for dir := path.Dir(to); dir != "."; dir = path.Dir(dir) {
		if kind, taken := t.taken[dir]; taken && kind != aFolder {
			return errTaken
		}
		t.taken[dir] = aFolder
	}
	if f.UncompressedSize64 > maxBytes || t.bytes+int64(f.UncompressedSize64) > maxBytes {
		return errors.New("there are too many bytes in all")
	}
	t.bytes += int64(f.UncompressedSize64)
	return t.copy(f, to)
}

// copy adds a file. What it has beyond the size that it was said to have is an error.
func (t *tree) copy(f *zip.File, to string) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	mode := int64(0o644)
	if f.Mode()&0o111 != 0 {
		mode = 0o755
	}
	err = t.add(path.Join(t.dir, to), mode, int64(f.UncompressedSize64), r)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // to the end, where the archive's own sum is checked
	}
	return errors.Join(err, r.Close())
}
