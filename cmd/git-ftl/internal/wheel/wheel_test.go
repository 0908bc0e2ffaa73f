package wheel

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/testdata/pypi"
)

// debian is the interpreter of an image by Debian.
func debian() Python {
	return Python{Path: "/usr/bin/python3.11", Version: "3.11.2", minor: 11, machine: "x86_64", libc: 36}
}

// tool is a program that needs left and, but on Windows, right.
func tool() pypi.Wheel {
	return pypi.Wheel{
		Name: "Tool-Chat", Version: "1.2", Python: ">=3.8",
		Requires: []string{"left==1.0", `right ==2.0.post1 ; sys_platform != "win32"`, `win==9; platform_system == "Windows"`, `pytest; extra == "dev"`},
		Files: map[string]string{
			"tool/__init__.py": "", "tool_chat-1.2.data/scripts/tool": "#!python\n", "tool_chat-1.2.data/purelib/tool/more.py": "more\n",
			"tool_chat-1.2.data/data/etc/passwd": "root\n", "tool_chat-1.2.data/headers/x.h": "",
		},
	}
}

func left() pypi.Wheel {
	return pypi.Wheel{
		Name: "left", Version: "1.0", Yanked: true, Requires: []string{"Right[fast]>=2"},
		Files: map[string]string{"left.py": "left\n", "LICENSE": "of left\n", "left-1.0.data/platlib/tool/__init__.py": "not the program's\n"},
	}
}

func right() pypi.Wheel {
	return pypi.Wheel{
		Name: "right", Version: "2.0.post1", Tags: "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64",
		Files: map[string]string{"right/c.so": "\x7fELF", "LICENSE": "of right\n"}, Requires: []string{`left; extra == "fast"`, `win; extra == "slow"`},
	}
}

// added are the files that an installer adds: path, mode and size.
func added(t *testing.T, in *Installer, w agent.Wheel) ([]string, string, error) {
	t.Helper()
	var got []string
	digest, err := in.Add(t.Context(), w, debian(), func(name string, mode, size int64, content io.Reader) error {
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		if int64(len(data)) != size {
			return fmt.Errorf("%s: %d bytes of %d", name, len(data), size)
		}
		got = append(got, fmt.Sprintf("%s %o %d", name, mode, size))
		return nil
	})
	slices.Sort(got)
	return got, digest, err
}

func pin(w pypi.Wheel) agent.Wheel {
	return agent.Wheel{
		Name: w.Name, Version: w.Version, SHA256: w.SHA256(), Into: "/opt/x", Command: "tool", Flags: "-IS", Launcher: "import tool\n",
	}
}

// serve starts an index over TLS.
func serve(t *testing.T, s *pypi.Server) (*Installer, *httptest.Server) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	x := registry.Index{URL: server.URL + "/simple/"}
	if user, password, ok := strings.Cut(s.Login, ":"); ok {
		x.User, x.Password = shadow.NewSecret(user), shadow.NewSecret(password)
	}
	return &Installer{Client: server.Client(), Indexes: []registry.Index{x}}, server
}

func TestAdd(t *testing.T) {
	want := []string{
		"/opt/x/lib/LICENSE 644 8",
		"/opt/x/lib/Tool_Chat-1.2.dist-info/METADATA", "/opt/x/lib/Tool_Chat-1.2.dist-info/RECORD", "/opt/x/lib/Tool_Chat-1.2.dist-info/WHEEL",
		"/opt/x/lib/left-1.0.dist-info/METADATA", "/opt/x/lib/left-1.0.dist-info/RECORD", "/opt/x/lib/left-1.0.dist-info/WHEEL",
		"/opt/x/lib/left.py 644 5",
		"/opt/x/lib/right-2.0.post1.dist-info/METADATA", "/opt/x/lib/right-2.0.post1.dist-info/RECORD", "/opt/x/lib/right-2.0.post1.dist-info/WHEEL",
		"/opt/x/lib/right/c.so 644 4",
		"/opt/x/lib/tool/__init__.py 644 0", "/opt/x/lib/tool/more.py 644 5",
		"/opt/x/tool 755 38",
	}
	for _, html := range []bool{false, true} {
		for _, login := range []string{"", "bob:password-of-bob-4711"} {
			t.Run(fmt.Sprintf("html %v, login %v", html, login != ""), func(t *testing.T) {
				old := pypi.Wheel{Name: "left", Version: "0.9"}
				in, _ := serve(t, &pypi.Server{HTML: html, Login: login, Wheels: []pypi.Wheel{tool(), old, left(), right()}})
				got, digest, err := added(t, in, pin(tool()))
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if strings.Contains(got[i], ".dist-info/") {
						got[i], _, _ = strings.Cut(got[i], " ")
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				if _, again, _ := added(t, in, pin(tool())); again != digest || len(digest) != 64 {
					t.Errorf("%q and then %q", digest, again)
				}
			})
		}
	}
}

func TestAddRefuses(t *testing.T) {
	edit := func(w pypi.Wheel, f func(*pypi.Wheel)) pypi.Wheel { f(&w); return w }
	for _, tc := range []struct {
		name  string
		tool  func(*pypi.Wheel)
		left  func(*pypi.Wheel)
		right func(*pypi.Wheel)
		extra []string
		pin   func(*agent.Wheel)
		fails string
	}{
		{name: "another program than was pinned", pin: func(w *agent.Wheel) { w.SHA256 = strings.Repeat("0", 64) }, fails: "tool-chat 1.2: Tool_Chat-1.2-py3-none-any.whl is not what was pinned"},
		{name: "another file than the index says", left: func(w *pypi.Wheel) { w.Sum = strings.Repeat("0", 64) }, fails: "fetch left 1.0: left-1.0-py3-none-any.whl is not what was pinned"},
		{name: "a file that the index has no sum of", left: func(w *pypi.Wheel) { w.Sum = "none" }, fails: "left-1.0-py3-none-any.whl has no SHA-256 in its index"},
		{name: "a version that is not pinned", tool: func(w *pypi.Wheel) { w.Requires = []string{"left>=1"} }, fails: `the requirement "left>=1" does not pin a version`},
		{name: "any version", tool: func(w *pypi.Wheel) { w.Requires = []string{"left"} }, fails: `the requirement "left" does not pin a version`},
		{name: "versions by prefix", tool: func(w *pypi.Wheel) { w.Requires = []string{"left==1.*"} }, fails: `does not pin a version`},
		{name: "two conditions", tool: func(w *pypi.Wheel) { w.Requires = []string{"left==1.0,!=1.0.1"} }, fails: `does not pin a version`},
		{name: "an address", tool: func(w *pypi.Wheel) { w.Requires = []string{"left @ https://x.example/left.whl"} }, fails: `is not understood`},
		{name: "a marker that is not understood", tool: func(w *pypi.Wheel) { w.Requires = []string{`left==1.0; moon == "full"`} }, fails: `"moon" is no variable`},
		{name: "twice", tool: func(w *pypi.Wheel) { w.Requires = []string{"left==1.0", "left==1.0"} }, fails: "left is pinned twice"},
		{name: "a package that is not pinned", left: func(w *pypi.Wheel) { w.Requires = []string{"third>1"} }, fails: `left needs "third>1", which tool-chat does not pin for CPython 3.11 on x86_64, glibc 2.36`},
		{name: "one of an extra", left: func(w *pypi.Wheel) { w.Requires = []string{"right[slow]"} }, fails: `right needs "win; extra == \"slow\""`},
		{name: "no such version", left: func(w *pypi.Wheel) { w.Version = "1.0.1" }, fails: "fetch left 1.0: "},
		{name: "a source", left: func(w *pypi.Wheel) { w.Version = "1.0.1" }, extra: []string{"left-1.0.tar.gz"}, fails: "left-1.0.tar.gz is its source, and nothing is built"},
		{name: "for another Python", left: func(w *pypi.Wheel) { w.Python = ">=3.12" }, fails: "is for Python >=3.12"},
		{name: "for who knows which Python", left: func(w *pypi.Wheel) { w.Python = "new" }, fails: "which is not understood"},
		{name: "for another machine", right: func(w *pypi.Wheel) { w.Tags = "cp311-cp311-manylinux_2_17_aarch64" }, fails: "is for another"},
		{name: "for a newer C library", right: func(w *pypi.Wheel) { w.Tags = "cp311-cp311-manylinux_2_39_x86_64" }, fails: "is for another"},
		{name: "another format", left: func(w *pypi.Wheel) {
			w.Edit = map[string]string{"left-1.0.dist-info/WHEEL": "Wheel-Version: 2.0\n"}
		}, fails: "format"},
		{name: "metadata of another", left: func(w *pypi.Wheel) { w.Files["right-2.0.dist-info/METADATA"] = "" }, fails: `it has metadata of "right-2.0"`},
		{name: "out of its folder", left: func(w *pypi.Wheel) { w.Files["../../etc/passwd"] = "" }, fails: `"../../etc/passwd" is no path of a wheel`},
		{name: "out of its folder by .data", left: func(w *pypi.Wheel) { w.Files["left-1.0.data/purelib/../../x"] = "" }, fails: "is no path of a wheel"},
		{name: "from the top", left: func(w *pypi.Wheel) { w.Files["/etc/passwd"] = "" }, fails: "is no path of a wheel"},
		{name: "a backslash", left: func(w *pypi.Wheel) { w.Files[`..\x`] = "" }, fails: "is no path of a wheel"},
		{name: "a link", left: func(w *pypi.Wheel) { w.Links = []string{"left.py"} }, fails: "is no regular file"},
		{name: "a folder of another wheel", right: func(w *pypi.Wheel) { w.Files["left.py/x"] = "" }, fails: `unpack "left.py/x": a file of one wheel is a folder of another`},
		{name: "a file for a folder", right: func(w *pypi.Wheel) { w.Files["tool"] = "" }, fails: `unpack "tool": a file of one wheel is a folder of another`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			keep := func(*pypi.Wheel) {}
			or := func(f func(*pypi.Wheel)) func(*pypi.Wheel) {
				if f == nil {
					return keep
				}
				return f
			}
			program := edit(tool(), or(tc.tool))
			in, _ := serve(t, &pypi.Server{Wheels: []pypi.Wheel{program, edit(left(), or(tc.left)), edit(right(), or(tc.right))}, Extra: tc.extra})
			w := pin(program)
			if tc.pin != nil {
				tc.pin(&w)
			}
			if _, _, err := added(t, in, w); err == nil || !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("got %v, want %q", err, tc.fails)
			}
		})
	}
}

// TestIndexes: they are asked in turn until one has the version, and none after one
// that does not answer.
func TestIndexes(t *testing.T) {
	all := &pypi.Server{Wheels: []pypi.Wheel{tool(), left(), right()}}
	in, _ := serve(t, all)
	good := in.Indexes[0]
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer broken.Close()
	for _, tc := range []struct {
		name    string
		indexes []registry.Index
		fails   string
	}{
		{"the second one", []registry.Index{{URL: empty.URL + "/"}, good}, ""},
		{"none has it", []registry.Index{{URL: empty.URL + "/"}}, "404"},
		{"one does not answer", []registry.Index{{URL: broken.URL + "/"}, good}, "502"},
		{"over plain http", []registry.Index{{URL: "http://pypi.example/simple/"}}, "only https says who answers"},
		{"none", nil, "pip has no index"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := added(t, &Installer{Client: in.Client, Indexes: tc.indexes}, pin(tool()))
			if tc.fails == "" && err != nil || tc.fails != "" && (err == nil || !strings.Contains(err.Error(), tc.fails)) {
				t.Errorf("got %v, want %q", err, tc.fails)
			}
		})
	}
}

// TestLoginStays: an index that sends to another host does not send its login along,
// and one that sends to plain http is not followed.
func TestLoginStays(t *testing.T) {
	var heard []string
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = append(heard, r.Header.Get("Authorization"))
		(&pypi.Server{Wheels: []pypi.Wheel{tool(), left(), right()}}).ServeHTTP(w, r)
	}))
	defer other.Close()
	to := other.URL
	index := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); !ok {
			t.Error("the index got no login")
		}
		http.Redirect(w, r, to+r.URL.Path, http.StatusFound)
	}))
	defer index.Close()
	t.Setenv("TMPDIR", t.TempDir())
	in := &Installer{Client: index.Client(), Indexes: []registry.Index{{URL: index.URL + "/simple/", User: shadow.NewSecret("bob"), Password: shadow.NewSecret("password-of-bob")}}}
	if _, _, err := added(t, in, pin(tool())); err != nil {
		t.Fatal(err)
	}
	if len(heard) == 0 || strings.Join(heard, "") != "" {
		t.Errorf("the other host heard %q", heard)
	}
	to = "http://pypi.example"
	if _, _, err := added(t, in, pin(tool())); err == nil || !strings.Contains(err.Error(), "only https") || strings.Contains(err.Error(), "password-of-bob") {
		t.Error(err)
	}
}

// FuzzWheel: no file makes the reader panic, or writes beside its folder.
func FuzzWheel(f *testing.F) {
	f.Add(left().Bytes())
	odd := left()
	odd.Files["left-1.0.data/platlib/more.py"], odd.Links = "", []string{"left.py"}
	f.Add(odd.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := openArchive(bytes.NewReader(data), int64(len(data)), "left", "1.0")
		if err != nil {
			return
		}
		_, _ = a.requires()
		out := &tree{dir: "/opt/x/lib", taken: map[string]kind{}, add: func(name string, mode, size int64, content io.Reader) error {
			if !strings.HasPrefix(name, "/opt/x/lib/") || path.Clean(name) != name || mode&^0o755 != 0 {
				t.Errorf("%q %o", name, mode)
			}
			_, err := io.CopyN(io.Discard, content, size)
			return err
		}}
		_ = out.unpack(a)
	})
}
