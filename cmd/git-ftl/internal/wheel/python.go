package wheel

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Python is an interpreter of an image: CPython on Linux.
type Python struct {
	Path    string // absolute, of the program itself
	Version string // all of it: 3.11.2

	minor   int    // of 3
	machine string // as the kernel calls the architecture
	musl    bool   // else it is glibc
	libc    int    // minor version: of 2 of glibc, of 1 of musl
}

// Image reads files by names of io/fs, and follows no link at the end of one. Both
// methods fail with fs.ErrNotExist, or fs.ErrInvalid where a file is of another type.
type Image interface {
	ReadFile(name string) ([]byte, error)
	ReadLink(name string) (string, error)
}

// ErrNoPython says that an image has no interpreter that a program can run on.
var ErrNoPython = errors.New("no Python that it runs on")

// pythonName is a program of one minor version.
var pythonName = lazyregexp.New(`^python3\.([0-9]{1,3})$`)

// FindPython looks for an interpreter whose version meets conditions such as
// ">=3.11, <3.13", without running anything. arch is as Go names it. Errors:
// ErrNoPython.
func FindPython(image Image, arch, conditions string) (Python, error) {
	machine, ok := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
	if !ok {
		return Python{}, fmt.Errorf("%w: nothing is known of the architecture %q", ErrNoPython, arch)
	}
	var seen []string
	for _, name := range pythonNames() {
		target, err := follow(image, name)
		m := pythonName.FindStringSubmatch(path.Base(target))
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errLinks):
			return Python{}, fmt.Errorf("look for a Python: %w", err)
		case err != nil || m == nil:
			continue
		}
		p := Python{Path: "/" + target, machine: machine}
		p.minor, _ = strconv.Atoi(m[1])
		if met, err := (release{3, p.minor}).satisfies(conditions); err != nil || !met {
			seen = append(seen, p.Path)
			continue
		}
		if err := p.read(image, target); err != nil {
			return Python{}, fmt.Errorf("%w: %s: %w", ErrNoPython, p.Path, err)
		}
		return p, nil
	}
	if len(seen) == 0 {
		return Python{}, fmt.Errorf("%w: it needs %s, and there is none in /usr/local/bin or /usr/bin", ErrNoPython, conditions)
	}
	return Python{}, fmt.Errorf("%w: it needs %s, and there is %s", ErrNoPython, conditions, strings.Join(seen, ", "))
}

// pythonNames are where images have interpreters, the one that they call python3
// first.
func pythonNames() []string {
	var names []string
	for _, dir := range []string{"usr/local/bin", "usr/bin"} {
		for _, name := range []string{"python3", "python3.13", "python3.12", "python3.11", "python3.10"} {
			names = append(names, dir+"/"+name)
		}
	}
	return names
}

// maxLinks bounds a chain of links.
const maxLinks = 8

var errLinks = errors.New("too many links")

// follow is the file that a name leads to.
func follow(image Image, name string) (string, error) {
	for range maxLinks {
		target, err := image.ReadLink(name)
		if errors.Is(err, fs.ErrInvalid) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		if !path.IsAbs(target) {
			target = path.Join("/", path.Dir(name), target)
		}
		name = strings.TrimPrefix(path.Clean(target), "/")
	}
	return "", fmt.Errorf("%s: %w", name, errLinks)
}

// read takes from the program what it is built for.
func (p *Python) read(image Image, name string) error {
	program, err := image.ReadFile(name)
	if err != nil {
		return err
	}
	if err := p.readVersion(image, name, program); err != nil {
		return err
	}
	loader, err := p.loader(program)
	if err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(path.Base(loader), "ld-musl-"):
		p.musl = true
		return p.readLibc(image, muslVersion, strings.TrimPrefix(loader, "/"))
	case strings.HasPrefix(path.Base(loader), "ld-linux-"):
		return p.readLibc(image, glibcVersion, "lib/"+p.machine+"-linux-gnu/libc.so.6", "usr/lib/"+p.machine+"-linux-gnu/libc.so.6",
			"lib64/libc.so.6", "usr/lib64/libc.so.6", "usr/lib/libc.so.6")
	}
	return fmt.Errorf("its loader %.80q is that of no C library that is known", loader)
}

// readVersion looks for the constant that an interpreter has its version in: in the
// program, or in the library that it shares.
func (p *Python) readVersion(image Image, name string, program []byte) error {
	constant := regexp.MustCompile(`\x00(3\.` + strconv.Itoa(p.minor) + `\.[0-9]{1,3})\+?\x00`)
	m := constant.FindSubmatch(program)
	if m == nil {
		lib := fmt.Sprintf("lib/libpython3.%d.so.1.0", p.minor)
		for _, dir := range []string{path.Dir(path.Dir(name)), "usr", "usr/local"} {
			if shared, err := image.ReadFile(path.Join(dir, lib)); err == nil && m == nil {
				m = constant.FindSubmatch(shared)
			}
		}
	}
	if m == nil {
		return errors.New("its whole version cannot be told")
	}
	p.Version = string(m[1])
	return nil
}

// loader is the program that the kernel starts this one by.
func (p *Python) loader(program []byte) (string, error) {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return "", err
	}
	want := map[string]elf.Machine{"x86_64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64}[p.machine]
	if f.Machine != want || f.Class != elf.ELFCLASS64 {
		return "", fmt.Errorf("it is built for %s", f.Machine)
	}
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP && segment.Filesz < 4096 {
			text := make([]byte, segment.Filesz)
			_, err := segment.ReadAt(text, 0)
			return string(bytes.TrimRight(text, "\x00")), err
		}
	}
	return "", errors.New("it names no loader")
}

// The words in which a C library tells its version.
var (
	glibcVersion = lazyregexp.New(`GNU C Library [^\n\x00]{0,100}version 2\.([0-9]{1,3})`)
	muslVersion  = lazyregexp.New(`\x001\.([0-9]{1,3})\.[0-9]{1,3}(?:-[0-9a-z-]{1,40})?\x00`)
)

func (p *Python) readLibc(image Image, version *lazyregexp.Regexp, names ...string) error {
	for _, name := range names {
		name, err := follow(image, name)
		if err != nil {
			continue
		}
		data, err := image.ReadFile(name)
		if err != nil {
			continue
		}
		if m := version.FindSubmatch(data); m != nil {
			p.libc, err = strconv.Atoi(string(m[1]))
			return err
		}
	}
	return errors.New("the version of its C library cannot be told")
}

// short is the version without its last part.
func (p Python) short() string { return "3." + strconv.Itoa(p.minor) }

// String says what wheels have to be for: "CPython 3.11 on x86_64, glibc 2.36".
func (p Python) String() string {
	libc := fmt.Sprintf("glibc 2.%d", p.libc)
	if p.musl {
		libc = fmt.Sprintf("musl 1.%d", p.libc)
	}
	return fmt.Sprintf("CPython %s on %s, %s", p.short(), p.machine, libc)
}

// tags are what the name of a wheel may say for it to fit, the closest first, each
// "python-abi-platform":
// packaging.python.org/en/latest/specifications/platform-compatibility-tags.
func (p Python) tags() []string {
	own := "cp3" + strconv.Itoa(p.minor)
	var all []string
	add := func(python, abi string, platforms ...string) {
		for _, platform := range platforms {
			all = append(all, python+"-"+abi+"-"+platform)
		}
	}
	platforms := p.platforms()
	add(own, own, platforms...)
	for minor := p.minor; minor >= 2; minor-- {
		add("cp3"+strconv.Itoa(minor), "abi3", platforms...)
	}
	add(own, "none", platforms...)
	for _, on := range [][]string{platforms, {"any"}} {
		if on[0] == "any" {
			add(own, "none", "any")
		}
		add("py3"+strconv.Itoa(p.minor), "none", on...)
		add("py3", "none", on...)
		for minor := p.minor - 1; minor >= 0; minor-- {
			add("py3"+strconv.Itoa(minor), "none", on...)
		}
	}
	return all
}

// platforms are those whose C library is not newer.
func (p Python) platforms() []string {
	var all []string
	if p.musl {
		for minor := p.libc; minor >= 0; minor-- {
			all = append(all, fmt.Sprintf("musllinux_1_%d_%s", minor, p.machine))
		}
		return append(all, "linux_"+p.machine)
	}
	oldest, old := 5, map[int]string{5: "manylinux1_", 12: "manylinux2010_", 17: "manylinux2014_"}
	if p.machine != "x86_64" {
		oldest = 17 // where that architecture begins
	}
	for minor := p.libc; minor >= oldest; minor-- {
		all = append(all, fmt.Sprintf("manylinux_2_%d_%s", minor, p.machine))
		if name, ok := old[minor]; ok {
			all = append(all, name+p.machine)
		}
	}
	return append(all, "linux_"+p.machine)
}
