package wheel

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
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
	maxFiles  = 100_000
	maxBytes  = 8 << 30
	maxRecord = 32 << 20
)

// archive is a wheel that was fetched, packaging.python.org/en/latest/specifications/binary-distribution-format.
type archive struct {
	zip    *zip.Reader
	info   string            // folder of its metadata
	record map[string]string // sum by path, as RECORD has it
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
	if err := a.checkFormat(); err != nil {
		return nil, err
	}
	return a, a.readRecord()
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
	data, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err == nil && len(data) > maxRecord {
		err = fmt.Errorf("%s has more than %d bytes", name, maxRecord)
	}
	return data, errors.Join(err, f.Close())
}

func (a *archive) readRecord() error {
	text, err := a.read(a.info + "/RECORD")
	if err != nil {
		return err
	}
	r := csv.NewReader(strings.NewReader(string(text)))
	r.FieldsPerRecord = 3
	rows, err := r.ReadAll()
	if err != nil {
		return fmt.Errorf("read RECORD: %w", err)
	}
	a.record = map[string]string{}
	for _, row := range rows {
		a.record[row[0]] = row[1]
	}
	return nil
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
	taken map[string]string // sum by path
	bytes int64
}

// folder takes the place of a sum.
const folder = "folder"

var errTaken = errors.New("another wheel has it too")

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
		if err := t.file(a, f, to); err != nil {
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

// file adds one file, whose sum has to be that of its RECORD. Two wheels may bring
// the same file, and none another in its place.
func (t *tree) file(a *archive, f *zip.File, to string) error {
	want, known := a.record[f.Name]
	signed := f.Name == a.info+"/RECORD" || strings.HasPrefix(f.Name, a.info+"/RECORD.")
	if !known && !signed || known && !signed && want == "" {
		return errors.New("its RECORD has no sum of it")
	}
	if was, taken := t.taken[to]; taken && was != "" && was == want {
		return nil
	} else if taken {
		return errTaken
	}
	t.taken[to] = want
	for dir := path.Dir(to); dir != "."; dir = path.Dir(dir) {
		if was, taken := t.taken[dir]; taken && was != folder {
			return errTaken
		}
		t.taken[dir] = folder
	}
	if f.UncompressedSize64 > maxBytes || t.bytes+int64(f.UncompressedSize64) > maxBytes {
		return errors.New("there are too many bytes in all")
	}
	t.bytes += int64(f.UncompressedSize64)
	got, err := t.copy(f, to)
	if err == nil && want != "" && got != want {
		err = fmt.Errorf("its sum is %s and not %s", got, want)
	}
	return err
}

// copy adds a file and gives its sum. What it has beyond the size that it was said
// to have is an error.
func (t *tree) copy(f *zip.File, to string) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	mode := int64(0o644)
	if f.Mode()&0o111 != 0 {
		mode = 0o755
	}
	content := io.TeeReader(r, sum)
	err = t.add(path.Join(t.dir, to), mode, int64(f.UncompressedSize64), content)
	if err == nil {
		_, err = io.Copy(io.Discard, content) // to the end, where the archive's own sum is checked
	}
	return "sha256=" + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)), errors.Join(err, r.Close())
}
