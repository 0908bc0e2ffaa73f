package wheel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// program is an executable with a loader, and some text that it holds.
func program(machine elf.Machine, loader, text string) []byte {
	var b bytes.Buffer
	head := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1},
	}
	_ = binary.Write(&b, binary.LittleEndian, head)
	_ = binary.Write(&b, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_INTERP), Off: 120, Filesz: uint64(len(loader) + 1)})
	return append(b.Bytes(), loader+"\x00"+text...)
}

const (
	glibcLoader = "/lib64/ld-linux-x86-64.so.2"
	muslLoader  = "/lib/ld-musl-x86_64.so.1"
	glibcText   = "\x00GNU C Library (Debian GLIBC 2.36-9+deb12u9) stable release version 2.36.\nCopyright"
)

// image has files by path: a text is the content of one, "-> x" a link to x.
func image(files map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range files {
		f := &fstest.MapFile{Data: []byte(text), Mode: 0o755}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			f = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
		}
		all[name] = f
	}
	return all
}

func TestFindPython(t *testing.T) {
	python := string(program(elf.EM_X86_64, glibcLoader, "\x003.11.2\x00"))
	const libc = "lib/x86_64-linux-gnu/libc.so.6"
	for _, tc := range []struct {
		name  string
		files map[string]string
		arch  string
		want  string
		fails string
	}{
		{"Debian's", map[string]string{"usr/bin/python3": "-> python3.11", "usr/bin/python3.11": python, libc: glibcText}, "amd64",
			"/usr/bin/python3.11 3.11.2 CPython 3.11 on x86_64, glibc 2.36", ""},
		{"one that shares its library", map[string]string{
			"usr/local/bin/python3": "-> python3.12", "usr/local/bin/python3.12": string(program(elf.EM_AARCH64, "/lib/ld-linux-aarch64.so.1", "")),
			"usr/local/lib/libpython3.12.so.1.0": "x\x003.12.10\x00", "lib/aarch64-linux-gnu/libc.so.6": "-> libc-2.31.so",
			"lib/aarch64-linux-gnu/libc-2.31.so": strings.ReplaceAll(glibcText, "2.36", "2.31")}, "arm64",
			"/usr/local/bin/python3.12 3.12.10 CPython 3.12 on aarch64, glibc 2.31", ""},
		{"Alpine's, by a chain of links", map[string]string{
			"usr/bin/python3": "-> /etc/alternatives/python3", "etc/alternatives/python3": "-> ../../usr/bin/python3.12",
			"usr/bin/python3.12": string(program(elf.EM_X86_64, muslLoader, "\x003.12.3\x00")), "lib/ld-musl-x86_64.so.1": "x\x001.2.5\x00y",
			"lib64/libc.so.6": glibcText}, "amd64",
			"/usr/bin/python3.12 3.12.3 CPython 3.12 on x86_64, musl 1.2", ""},
		{"beside a newer one", map[string]string{"usr/bin/python3": "-> python3.13", "usr/bin/python3.13": "x", "usr/bin/python3.11": python, libc: glibcText}, "amd64",
			"/usr/bin/python3.11 3.11.2 CPython 3.11 on x86_64, glibc 2.36", ""},
		{"a version of Debian's with a sign", map[string]string{"usr/bin/python3.11": string(program(elf.EM_X86_64, glibcLoader, "\x003.11.9+\x00")), libc: glibcText}, "amd64",
			"/usr/bin/python3.11 3.11.9 CPython 3.11 on x86_64, glibc 2.36", ""},
		{"none", map[string]string{"usr/bin/perl": "x"}, "amd64", "", "it needs >=3.11, <3.13, and there is none in /usr/local/bin or /usr/bin"},
		{"another one", map[string]string{"usr/bin/python3": "-> python3.9", "usr/bin/python3.9": "x"}, "amd64", "", "it needs >=3.11, <3.13, and there is /usr/bin/python3.9"},
		{"a loop of links", map[string]string{"usr/bin/python3": "-> python3", "usr/bin/python3.11": "-> python3.11"}, "amd64", "", "there is none"},
		{"another architecture", map[string]string{"usr/bin/python3.11": python}, "riscv64", "", `"riscv64"`},
		{"a program of another machine", map[string]string{"usr/bin/python3.11": python, libc: glibcText}, "arm64", "", "it is built for EM_X86_64"},
		{"a script", map[string]string{"usr/bin/python3.11": "#!/bin/sh\n\x003.11.2\x00"}, "amd64", "", "bad magic number"},
		{"without a version", map[string]string{"usr/bin/python3.11": string(program(elf.EM_X86_64, glibcLoader, "")), libc: glibcText}, "amd64", "", "its whole version cannot be told"},
		{"without a C library", map[string]string{"usr/bin/python3.11": python}, "amd64", "", "the version of its C library cannot be told"},
		{"another C library", map[string]string{"usr/bin/python3.11": string(program(elf.EM_X86_64, "/lib/ld-uClibc.so.0", "\x003.11.2\x00"))}, "amd64", "", "ld-uClibc.so.0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := FindPython(image(tc.files), tc.arch, ">=3.11, <3.13")
			if tc.fails != "" {
				if !errors.Is(err, ErrNoPython) || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("got %v, want %q", err, tc.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Path + " " + p.Version + " " + p.String(); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestChoose: of the files of a version, the closest to the interpreter.
func TestChoose(t *testing.T) {
	old, arm, alpine := debian(), debian(), debian()
	old.minor, old.Version, old.libc = 12, "3.12.1", 17
	arm.machine = "aarch64"
	alpine.musl, alpine.libc = true, 2
	for _, tc := range []struct {
		name  string
		on    Python
		files string
		want  string
	}{
		{"pure", debian(), "x-1.0-py3-none-any.whl", "x-1.0-py3-none-any.whl"},
		{"pure of both", debian(), "x-1.0-py2.py3-none-any.whl", "x-1.0-py2.py3-none-any.whl"},
		{"pure of the old one", debian(), "x-1.0-py2-none-any.whl", ""},
		{"built before pure", debian(), "x-1.0-py3-none-any.whl x-1.0-cp311-cp311-manylinux_2_28_x86_64.whl", "x-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"},
		{"the newer C library", debian(), "x-1.0-cp311-cp311-manylinux2014_x86_64.whl x-1.0-cp311-cp311-manylinux_2_28_x86_64.whl x-1.0-cp311-cp311-manylinux_2_39_x86_64.whl", "x-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"},
		{"an older C library", old, "x-1.0-cp312-cp312-manylinux2014_x86_64.whl x-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", "x-1.0-cp312-cp312-manylinux2014_x86_64.whl"},
		{"manylinux1", debian(), "x-1.0-cp311-cp311-manylinux1_x86_64.whl", "x-1.0-cp311-cp311-manylinux1_x86_64.whl"},
		{"no manylinux1 of that machine", arm, "x-1.0-cp311-cp311-manylinux1_aarch64.whl", ""},
		{"the machine", arm, "x-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl x-1.0-cp311-cp311-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", "x-1.0-cp311-cp311-manylinux_2_17_aarch64.manylinux2014_aarch64.whl"},
		{"the stable interface of an older one", debian(), "x-1.0-cp39-abi3-manylinux_2_17_x86_64.whl", "x-1.0-cp39-abi3-manylinux_2_17_x86_64.whl"},
		{"not that of a newer one", debian(), "x-1.0-cp312-abi3-manylinux_2_17_x86_64.whl", ""},
		{"its own before the stable one", debian(), "x-1.0-cp39-abi3-manylinux_2_17_x86_64.whl x-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", "x-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"},
		{"another interpreter", debian(), "x-1.0-pp311-pypy311_pp73-manylinux_2_17_x86_64.whl x-1.0-cp313-cp313t-manylinux_2_17_x86_64.whl", ""},
		{"a program without modules of C", debian(), "x-1.0-py3-none-manylinux_2_17_x86_64.whl", "x-1.0-py3-none-manylinux_2_17_x86_64.whl"},
		{"musl", alpine, "x-1.0-cp311-cp311-manylinux_2_17_x86_64.whl x-1.0-cp311-cp311-musllinux_1_1_x86_64.whl x-1.0-cp311-cp311-musllinux_1_2_x86_64.whl", "x-1.0-cp311-cp311-musllinux_1_2_x86_64.whl"},
		{"a newer musl", alpine, "x-1.0-cp311-cp311-musllinux_1_3_x86_64.whl", ""},
		{"other systems", debian(), "x-1.0-cp311-cp311-win_amd64.whl x-1.0-cp311-cp311-macosx_11_0_arm64.whl", ""},
		{"the last build", debian(), "x-1.0-2-py3-none-any.whl x-1.0-10-py3-none-any.whl x-1.0-py3-none-any.whl", "x-1.0-10-py3-none-any.whl"},
		{"a version in other words", debian(), "X-1-py3-none-any.whl", "X-1-py3-none-any.whl"},
		{"other versions", debian(), "x-1.0.1-py3-none-any.whl x-1.0rc1-py3-none-any.whl x-1.0.post1-py3-none-any.whl x-11.0-py3-none-any.whl", ""},
		{"other packages", debian(), "x_y-1.0-py3-none-any.whl y-1.0-py3-none-any.whl", ""},
		{"no name of a wheel", debian(), "x-1.0.whl x-1.0-py3-none.whl x.whl", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var links []link
			for name := range strings.FieldsSeq(tc.files) {
				links = append(links, link{url: mustParse(t, "https://x.example/"+name), name: name, sha256: strings.Repeat("0", 64)})
			}
			got, err := tc.on.choose(links, "x", "1.0")
			if got.name != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%q, %v", got.name, err)
			}
		})
	}
}

func TestMarkers(t *testing.T) {
	for _, tc := range []struct {
		marker string
		want   bool
		fails  string
	}{
		{"", true, ""},
		{`python_version < "3.10"`, false, ""},
		{`python_version >= "3.10"`, true, ""},
		{`python_version>='3.9'and python_version<'4'`, true, ""},
		{`python_full_version < "3.11.3"`, true, ""},
		{`python_version == "3.*"`, true, ""},
		{`python_version ~= "3.8"`, true, ""},
		{`python_version ~= "3.11.0"`, true, ""},
		{`python_version in "3.10, 3.11"`, true, ""},
		{`python_version not in "3.10 3.11"`, false, ""},
		{`sys_platform == "win32"`, false, ""},
		{`"linux" == sys_platform`, true, ""},
		{`platform_system != "Windows" and platform_machine == "x86_64"`, true, ""},
		{`platform_machine == "aarch64" or (platform_machine == "x86_64" and implementation_name == "cpython")`, true, ""},
		{`platform_machine == "x86_64" or platform_machine == "arm64" and sys_platform == "darwin"`, true, ""},
		{`(platform_machine == "x86_64" or platform_machine == "arm64") and sys_platform == "darwin"`, false, ""},
		{`platform_python_implementation == "PyPy"`, false, ""},
		{`os_name == "posix"`, true, ""},
		{`extra == "dev"`, false, ""},
		{`extra == "Fast_Er"`, true, ""},
		{`extra != "dev"`, true, ""},
		{`moon == "full"`, false, `"moon" is no variable`},
		{`sys_platform == "linux" or moon == "full"`, true, ""},
		{`moon == "full" or sys_platform == "linux"`, true, ""},
		{`sys_platform == "win32" or moon == "full"`, false, `"moon" is no variable`},
		{`moon == "full" or sys_platform == "win32"`, false, `"moon" is no variable`},
		{`moon == "full" and extra == "dev"`, false, ""},
		{`extra == "dev" and moon == "full"`, false, ""},
		{`moon == "full" and sys_platform == "linux"`, false, `"moon" is no variable`},
		{`sys_platform == "linux" and moon == "full"`, false, `"moon" is no variable`},
		{`(moon == "full" or sys_platform == "win32") and (sys_platform == "win32" and stars == "out")`, false, ""},
		{`python_full_version <= "3.11.0a6"`, false, ""},
		{`python_full_version > "3.11.2rc1"`, true, ""},
		{`python_full_version != "3.11.2.dev1"`, true, ""},
		{`platform_release >= "5"`, false, `"platform_release" is no variable`},
		{`sys_platform > "a"`, false, "compared"},
		{`extra in "dev"`, false, "compared"},
		{`python_version >= "new"`, false, "not a version"},
		{`python_version === "3.11"`, false, "not a condition"},
		{`"3.8" <= python_version`, false, "stands on the right"},
		{`(sys_platform == "linux"`, false, "parenthesis"},
		{`sys_platform == "linux")`, false, "more behind it"},
		{`sys_platform == "linux" and`, false, "word is missing"},
		{`sys_platform == "linux`, false, "no word"},
		{`sys_platform`, false, "word is missing"},
		{`sys_platform == "win32" and (`, false, "word is missing"},
		{`sys_platform == "win32" and "a" "b" "c"`, false, ""},
		{`"a" "b" "c"`, false, "compared"},
		{`;`, false, "no word"},
		{strings.Repeat("(", 5000), false, "too long"},
	} {
		t.Run(tc.marker[:min(len(tc.marker), 40)], func(t *testing.T) {
			got, err := debian().holds(tc.marker, []string{"fast-er"})
			if got != tc.want || (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%v, %v; want %v, %q", got, err, tc.want, tc.fails)
			}
		})
	}
}

func TestRequirements(t *testing.T) {
	for _, tc := range []struct {
		text string
		want requirement
		ok   bool
	}{
		{"left", requirement{name: "left"}, true},
		{"Left_Right.x==1.0", requirement{name: "left-right-x", conditions: "==1.0"}, true},
		{"left (>=1,<2)", requirement{name: "left", conditions: ">=1,<2"}, true},
		{`left[fast, Slow_er] >= 1 ; extra == "x"`, requirement{name: "left", extras: []string{"fast", "slow-er"}, conditions: ">= 1", marker: `extra == "x"`}, true},
		{"left @ https://x.example/left.whl", requirement{}, false},
		{"-e .", requirement{}, false},
		{"", requirement{}, false},
	} {
		t.Run(tc.text, func(t *testing.T) {
			got, err := parseRequirement(tc.text)
			if tc.ok {
				tc.want.text = tc.text
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(requirement{})); diff != "" || (err == nil) != tc.ok {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	for _, tc := range []struct {
		conditions string
		want, ok   bool
	}{
		{"", true, true}, {">=3.9", true, true}, {">=3.9,<3.13", true, true}, {">=3.11.3", false, true}, {"<3.11", false, true},
		{"==3.11.*", true, true}, {"!=3.11.*,>=3", false, true}, {"!=3.11.1", true, true}, {"<=3.11.2", true, true}, {">3.11.2", false, true},
		{"==3.11.2.0", true, true}, {"~=3.9", true, true}, {"~=3.10.1", false, true}, {">=3.7.*", true, true}, {" >= 3.9 , < 4 ", true, true},
		{"<3.13.0rc1", true, true}, {">=3.11.3a1", false, true}, {"<=3.11.2b1", false, true}, {">3.11.2b1", true, true}, {"==3.11.2rc1", false, true}, {"~=3.11a1", false, false},
		{"~=3", false, false}, {"<4.*", false, false}, {"3.11", false, false}, {">=3.9.post1", false, false}, {">=3,evil", false, false}, {"===3.11.2", false, false},
	} {
		t.Run(tc.conditions, func(t *testing.T) {
			got, err := debian().release().satisfies(tc.conditions)
			if got != tc.want || (err == nil) != tc.ok {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
