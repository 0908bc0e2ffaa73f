package registry

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/proxy"
	"github.com/google/go-cmp/cmp"
)

// fake makes a value that nobody has, with a prefix that providers use.
func fake(prefix string) string {
	raw := make([]byte, 12)
	_, _ = rand.Read(raw)
	return prefix + hex.EncodeToString(raw)
}

// source is a user's machine: files by their path, variables.
func source(files map[string]string, env ...string) Source {
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[strings.TrimPrefix(strings.Replace(name, "~", "/home/u", 1), "/")] = &fstest.MapFile{Data: []byte(text), Mode: 0o600}
	}
	mint := shadow.NewMint(shadow.NewSecret(strings.Repeat("k", 32)), "project")
	return Source{Home: "/home/u", OS: "linux", Env: env, Shadow: mint.Shadow, Open: func(path string) (fs.File, error) {
		return tree.Open(strings.TrimPrefix(path, "/"))
	}}
}

// result is what a test looks at, with the name of a shadow in its place.
type result struct {
	Hosts       []string
	Credentials []string
	Files       map[string]string
	Notes       []string
}

// resultOf leaves out the public registries of the tools that a test is not about.
func resultOf(rs Registries, tool string) result {
	out := result{Files: map[string]string{}}
	for _, h := range rs.Hosts {
		if h.Tool == tool {
			out.Hosts = append(out.Hosts, fmt.Sprintf("%s:%d%s%s", h.Host, h.Port, h.PathPrefix, map[bool]string{true: " private"}[h.Private]))
		}
	}
	for _, c := range rs.Credentials {
		b := c.Binding
		out.Credentials = append(out.Credentials, fmt.Sprintf("%s %s %v %v %v = %s", c.Name, b.Kind, b.Hosts, b.Places, b.Paths, c.Real.Reveal()))
	}
	for _, f := range rs.Files {
		out.Files[f.Path] = withNames(string(f.Content), rs.Credentials)
	}
	for _, n := range rs.Notes {
		out.Notes = append(out.Notes, n.String())
	}
	return out
}

func withNames(text string, all []shadow.Credential) string {
	for _, c := range all {
		text = strings.ReplaceAll(text, c.Shadow, "<"+c.Name+">")
	}
	return text
}

// row is a case of a tool: what is configured, and what becomes of it.
type row struct {
	name  string
	files map[string]string
	env   []string
	want  result
}

func (test row) run(t *testing.T, tool string) {
	t.Run(test.name, func(t *testing.T) {
		rs := Read(source(test.files, test.env...))
		if test.want.Files == nil {
			test.want.Files = map[string]string{}
		}
		if diff := cmp.Diff(test.want, resultOf(rs, tool)); diff != "" {
			t.Errorf("registries (-want +got):\n%s", diff)
		}
		mustHide(t, rs)
	})
}

// mustHide looks for real values in all that a sandbox or a user sees.
func mustHide(t *testing.T, rs Registries) {
	t.Helper()
	seen := fmt.Sprintf("%+v %v", rs, rs.Rules())
	for _, f := range rs.Files {
		seen += string(f.Content)
	}
	for _, c := range rs.Credentials {
		seen = strings.ReplaceAll(seen, c.Shadow, " ")
	}
	for _, c := range rs.Credentials {
		for _, form := range shadow.Encodings(c.Real.Reveal()) {
			if form != nil && strings.Contains(seen, string(form)) {
				t.Errorf("the value of %s is seen: %s", c.Name, form)
			}
		}
		if diff := cmp.Diff([]string{"GET", "HEAD"}, c.Binding.Methods); diff != "" {
			t.Errorf("methods of %s: %s", c.Name, diff)
		}
	}
	mustTake(t, rs)
}

// mustTake makes sure that a proxy takes rules and credentials.
func mustTake(t *testing.T, rs Registries) {
	t.Helper()
	authority, err := proxy.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(proxy.Config{Authority: authority, Policy: proxy.Policy{Rules: rs.Rules(), Credentials: rs.Credentials}})
	if err != nil {
		t.Fatalf("the proxy refuses the policy: %v", err)
	}
	p.Close()
}

// TestStandard: a user without any configuration has the tools' own registries.
func TestStandard(t *testing.T) {
	rs := Read(source(nil))
	if len(rs.Credentials)+len(rs.Files)+len(rs.Notes) != 0 {
		t.Errorf("from nothing: %+v", rs)
	}
	var got []string
	for _, h := range rs.Hosts {
		if h.Private || h.Port != 443 || h.PathPrefix != "" {
			t.Errorf("public registry %+v", h)
		}
		got = append(got, h.Tool+" "+h.Host)
	}
	var want []string
	for _, s := range standards() {
		want = append(want, s.tool+" "+s.host)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	mustHide(t, rs)
}

// TestRules: reading only, below the path; an audit is posted where no credential
// is bound.
func TestRules(t *testing.T) {
	rs := Read(source(map[string]string{"~/.npmrc": "registry=https://npm.acme.dev:8443/team/\n@a:registry=https://other.acme.dev/\n//other.acme.dev/:_authToken=" + fake("npm_") + "\n"}))
	reads := []string{"GET", "HEAD"}
	want := []proxy.Rule{
		{Host: "npm.acme.dev", Port: 8443, Methods: []string{"POST"}, Private: true,
			Paths: []string{"/team/-/npm/v1/security/advisories/bulk", "/team/-/npm/v1/security/audits"}},
		{Host: "npm.acme.dev", Port: 8443, Methods: reads, Private: true, Registry: true, Paths: []string{"/team"}},
		{Host: "other.acme.dev", Port: 443, Methods: reads, Private: true, Registry: true},
	}
	got := slices.DeleteFunc(rs.Rules(), func(r proxy.Rule) bool { return !strings.HasSuffix(r.Host, "acme.dev") })
	byHost := func(a, b proxy.Rule) int { return strings.Compare(a.Host, b.Host) }
	slices.SortStableFunc(got, byHost)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	for _, r := range rs.Rules() {
		if !r.Registry && (len(r.Methods) == 0 || len(r.Paths) == 0) {
			t.Errorf("a rule for anything: %+v", r)
		}
	}
}

// TestOdd: what cannot be read costs itself, and a value that stands in two
// places costs the file.
func TestOdd(t *testing.T) {
	big := strings.Repeat("#", maxFile) + "\n"
	secret := fake("")
	for _, test := range []struct {
		name  string
		files map[string]string
		notes []string
	}{
		{"too large", map[string]string{"~/.npmrc": big}, []string{"~/.npmrc: cannot be read, or is larger than 256 KiB"}},
		{"a value that is a scope, too", map[string]string{"~/.npmrc": "//npm.acme.dev/:_authToken=" + secret + "\n@" + secret + ":registry=https://npm.acme.dev\n"},
			[]string{"~/.npmrc: left out of the sandbox: the value of npm:npm.acme.dev stands in it in another place"}},
		{"TOML", map[string]string{"~/.config/uv/uv.toml": "a = 1\nb = \"" + secret + "\n"}, []string{"~/.config/uv/uv.toml:2: not TOML that can be read here: the file is left out"}},
		{"XML", map[string]string{"~/.m2/settings.xml": "<settings>\n<servers><password>" + secret + "</servers></settings>"},
			[]string{"~/.m2/settings.xml:2: not a settings.xml that can be read: the file is left out"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := Read(source(test.files))
			if diff := cmp.Diff(test.notes, resultOf(rs, "").Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if len(rs.Files) != 0 {
				t.Errorf("files: %v", slices.Collect(maps.Keys(resultOf(rs, "").Files)))
			}
		})
	}
}

// TestUnreadable: an error other than a missing file is said.
func TestUnreadable(t *testing.T) {
	s := source(nil)
	s.Open = func(path string) (fs.File, error) {
		if path == "/home/u/.npmrc" {
			return nil, fs.ErrPermission
		}
		return nil, fs.ErrNotExist
	}
	want := []Note{{File: "~/.npmrc", Text: "cannot be read"}}
	if diff := cmp.Diff(want, Read(s).Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// TestSystems: each system keeps its files elsewhere; the sandbox is Linux.
func TestSystems(t *testing.T) {
	for _, test := range []struct {
		name, os, home, file, text string
		env                        []string
		want                       string // the file for the sandbox
	}{
		{"pip on macOS", "darwin", "/home/u", "~/Library/Application Support/pip/pip.conf", "[global]\nindex-url=https://a.acme.dev\n", nil, ".config/pip/pip.conf"},
		{"go on macOS", "darwin", "/home/u", "~/Library/Application Support/go/env", "GOPROXY=https://a.acme.dev\n", nil, ".config/go/env"},
		{"npm of Homebrew", "darwin", "/home/u", "/opt/homebrew/etc/npmrc", "registry=https://a.acme.dev\n", nil, ".npmrc"},
		{"pip on Windows", "windows", `C:\Users\u`, "C:/Users/u/AppData/Roaming/pip/pip.ini", "[global]\r\nindex-url=https://a.acme.dev\r\n", nil, ".config/pip/pip.conf"},
		{"go on Windows", "windows", `C:\Users\u`, "D:/conf/go/env", "GOPROXY=https://a.acme.dev\r\n", []string{`APPDATA=D:\conf`}, ".config/go/env"},
		{"cargo by a variable on Windows", "windows", `C:\Users\u`, "D:/c/config.toml", "[registries.a]\r\nindex = 'sparse+https://a.acme.dev/'\r\n", []string{`CARGO_HOME=D:\c`}, ".cargo/config.toml"},
		{"the configuration folder of XDG", "linux", "/home/u", "/x/go/env", "GOPROXY=https://a.acme.dev\n", []string{"XDG_CONFIG_HOME=/x"}, ".config/go/env"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := source(map[string]string{test.file: test.text}, test.env...)
			s.OS, s.Home = test.os, test.home
			rs := Read(s)
			if len(rs.Files) != 1 || rs.Files[0].Path != test.want || !strings.Contains(string(rs.Files[0].Content), "https://a.acme.dev") {
				t.Errorf("files %v, want %s; notes %v", resultOf(rs, "").Files, test.want, rs.Notes)
			}
			mustHide(t, rs)
		})
	}
	s := source(map[string]string{"C:/Users/u/_netrc": "machine a.acme.dev login bob password " + fake("") + "\r\n"}, "GOPROXY=https://a.acme.dev")
	s.OS, s.Home = "windows", `C:\Users\u`
	if rs := Read(s); len(rs.Credentials) != 1 {
		t.Errorf("_netrc on Windows: %+v", rs)
	}
}
