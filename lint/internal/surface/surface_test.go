package surface

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/lint/internal/linear"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

func entry(mode filemode.FileMode, id byte) git.Entry {
	e := git.Entry{Mode: mode}
	e.Hash[0] = id
	return e
}

func added(path, text string) *doc.Document {
	return doc.New(path, git.Entry{}, entry(filemode.Regular, 1), []byte(text), nil)
}

func changed(path, was, text string) *doc.Document {
	return doc.New(path, entry(filemode.Regular, 1), entry(filemode.Regular, 2), []byte(text), []byte(was))
}

func deleted(path string) *doc.Document {
	return doc.New(path, entry(filemode.Regular, 1), git.Entry{}, nil, []byte("was\n"))
}

func link(path, target string) *doc.Document {
	return doc.New(path, git.Entry{}, entry(filemode.Symlink, 1), []byte(target), nil)
}

// found is what a document gives: rule, severity and line of each hit.
func found(d *doc.Document, c Context) []string {
	var out []string
	for _, h := range Hits(d, c) {
		line := 0
		if h.End > h.Start {
			line = d.Line(h.Start)
		}
		out = append(out, fmt.Sprintf("%s %s %d", h.Rule, h.Severity, line))
	}
	return out
}

type test struct {
	name string
	doc  *doc.Document
	want []string
}

func run(t *testing.T, tests []test) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, found(tt.doc, Context{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		".git/config":                      "surface/dot-git block",
		"a/.GIT/hooks/pre-commit":          "surface/dot-git block",
		"a/.g\u200cit/config":              "surface/dot-git block",
		"a/.git::$INDEX_ALLOCATION/config": "surface/dot-git block",
		".git":                             "surface/dot-git block",
		".ｇｉｔ/config":                      "surface/dot-git block",
		".husky/pre-commit":                "surface/hook block",
		"scripts/hooks/pre-push":           "surface/hook block",
		"sub/.Gitattributes":               "surface/git-attributes block",
		".gitmodules":                      "surface/git-modules block",
		"dot/.gitconfig":                   "surface/git-config block",
		".lfsconfig":                       "surface/git-config block",
		".ftlconfig":                       "surface/ftl-file block",
		"a/.ftlignore":                     "surface/ftl-file block",
		".envrc":                           "surface/shell block",
		".vscode/tasks.json":               "surface/editor-task block",
		".vscode/launch.json":              "surface/editor-task block",
		".vscode/settings.json":            "surface/editor-settings warn",
		"x.code-workspace":                 "surface/editor-task block",
		".idea/runConfigurations/x.xml":    "surface/editor-task block",
		".idea/misc.xml":                   "surface/editor-settings warn",
		".dir-locals.el":                   "surface/editor-task block",
		".exrc":                            "surface/editor-task block",
		".zed/tasks.json":                  "surface/editor-task block",
		".claude/settings.local.json":      "surface/agent-config block",
		".claude/commands/x.md":            "surface/agent-config block",
		".claude/CLAUDE.md":                "surface/agent-instructions warn",
		"CLAUDE.md":                        "surface/agent-instructions warn",
		"pkg/AGENTS.md":                    "surface/agent-instructions warn",
		".mcp.json":                        "surface/agent-config block",
		".cursor/mcp.json":                 "surface/agent-config block",
		".cursor/rules/x.mdc":              "surface/agent-instructions warn",
		".cursorrules":                     "surface/agent-instructions warn",
		".codex/config.toml":               "surface/agent-config block",
		".gemini/settings.json":            "surface/agent-config block",
		".aider.conf.yml":                  "surface/agent-config block",
		".kiro/hooks/x.kiro.hook":          "surface/agent-config block",
		"opencode.json":                    "surface/agent-config block",
		".windsurf/workflows/x.md":         "surface/agent-config block",
		".continue/config.yaml":            "surface/agent-config block",
		".devcontainer/Dockerfile":         "surface/devcontainer warn",
		"lefthook.yml":                     "surface/hook block",
		".pre-commit-config.yaml":          "surface/hook block",
		"lib/x.pth":                        "surface/interpreter block",
		"sitecustomize.py":                 "surface/interpreter block",
		"tests/conftest.py":                "surface/test-setup info",
		"a/__pycache__/b.cpython-312.pyc":  "surface/interpreter block",
		".github/workflows/ci.yml":         "ci/change warn",
		".gitlab-ci.yml":                   "ci/change warn",
		"Jenkinsfile":                      "ci/change warn",
		"Makefile":                         "surface/build-file info",
		"build.rs":                         "surface/build-file info",
		"Dockerfile.dev":                   "surface/build-file info",
		"pip.conf":                         "manifest/registry block",
		".cargo/config.toml":               "manifest/registry block",
		"NuGet.Config":                     "manifest/registry block",
		".gitleaks.toml":                   "surface/ignore-file info",
		".github/CODEOWNERS":               "surface/owners warn",
		"a/GITATT~1":                       "surface/short-name block",
		"a/x. ":                            "surface/name block",
		"a/\x1bx":                          "text/name block",
		"a/x\u202etxt.go":                  "text/name block",
		"a/x\u2066.go":                     "text/name block",
		"src/main.go":                      "",
		"docs/git.md":                      "",
		"a/.gitignore":                     "",
		"git~notes/README":                 "surface/dot-git block",
		"claude/settings.json":             "",
		"vscode/tasks.json":                "",
		"hooks/useState.ts":                "",
		"a/.github/x.md":                   "",
		"नमस्\u200dते.txt":                 "",
	} {
		t.Run(path, func(t *testing.T) {
			got := found(added(path, "x\n"), Context{})
			if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want+" 0") {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestRowsAreReached makes a path of each pattern: a row above must not take it
// with another meaning unless that is meant.
func TestRowsAreReached(t *testing.T) {
	meant := map[string]bool{"*.gitlab-ci.yml": true, ".gitlab/codeowners": true, ".cursor/": true}
	for _, r := range rows() {
		for _, g := range r.match {
			p := strings.Join(g.names, "/")
			path := strings.ReplaceAll(p, "*", "q")
			if g.below {
				p, path = p+"/", path+"/q"
			}
			if got, ok := find(foldPath(path), false); (!ok || got.name != r.name) && !meant[p] {
				t.Errorf("pattern %s of %s: %q goes to %q", p, r.name, path, got.name)
			}
			if p != strings.ToLower(p) {
				t.Errorf("pattern %s of %s is not folded", p, r.name)
			}
		}
	}
}

func TestDeletions(t *testing.T) {
	run(t, []test{
		{"attributes", deleted(".gitattributes"), []string{"surface/git-attributes block 0"}},
		{"ignore list", deleted(".ftlignore"), []string{"surface/ftl-file block 0"}},
		{"hook", deleted(".husky/pre-commit"), []string{"surface/hook warn 0"}},
		{"editor task", deleted(".vscode/tasks.json"), []string{"surface/editor-task info 0"}},
		{"licence", deleted("LICENSE.txt"), []string{"surface/deletes-notice info 0"}},
		{"security policy", deleted("SECURITY.md"), []string{"surface/deletes-notice info 0"}},
		{"test", deleted("a/x_test.go"), []string{"surface/deletes-test info 0"}},
		{"source", deleted("a/x.go"), nil},
	})
}

func TestModes(t *testing.T) {
	executable := func(old git.Entry) *doc.Document {
		return doc.New("run", old, entry(filemode.Executable, 2), []byte("x\n"), []byte("x\n"))
	}
	run(t, []test{
		{"new executable", executable(git.Entry{}), []string{"surface/executable block 0"}},
		{"becomes executable", executable(entry(filemode.Regular, 1)), []string{"surface/executable block 0"}},
		{"was executable", executable(entry(filemode.Executable, 1)), nil},
		{"submodule", doc.New("sub", git.Entry{}, entry(filemode.Submodule, 1), nil, nil), []string{"surface/submodule block 0"}},
		{"binary", added("x.bin", "\x00\x01\x02\x03\x04\xff"), []string{"surface/binary warn 0"}},
		{"text with a NUL first", added("x.py", "\x00"+strings.Repeat("import os\n", 20)), []string{"surface/nul warn 0", "text/control warn 1"}},
		{"UTF-16", added("x.txt", "\xff\xfex\x00\n\x00"), nil},
	})
}

func TestLinks(t *testing.T) {
	tree := map[string]string{"up": "..", "a/up": "../..", "loop": "loop2", "loop2": "loop", "git": ".git", "ok": "a"}
	c := Context{Link: func(p string) (string, bool) { target, ok := tree[p]; return target, ok }}
	const inside, outside = "surface/link block 0", "surface/link-outside block 0"
	for _, tt := range []struct{ path, target, want string }{
		{"x", "a/b", inside},
		{"a/x", "../b", inside},
		{"a/x", "../../b", outside},
		{"x", "..", outside},
		{"x", "/etc/passwd", outside},
		{"x", `\\server\share`, outside},
		{"x", `..\..\b`, outside},
		{"x", "C:/x", outside},
		{"x", "~/.ssh", outside},
		{"x", "", outside},
		{"x", "a\u202eb", outside},
		{"x", ".git/config", outside},
		{"x", "a/.GIT /config", outside},
		{"x", "git~1/config", outside},
		{"x", "ok/b", inside},
		{"x", "ok/up/b", outside},
		{"x", "up/b", outside},
		{"x", "loop/b", outside},
		{"x", "git/config", outside},
		{"x", "a/../../b", outside},
		{"x", "a/./b//c", inside},
	} {
		t.Run(tt.path+"->"+tt.target, func(t *testing.T) {
			got := found(link(tt.path, tt.target), c)
			if len(got) == 0 || got[len(got)-1] != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if got := found(link(".vscode", "tools"), c); len(got) != 2 || got[0] != "surface/editor-task block 0" {
		t.Errorf("a link in place of a folder: %q", got)
	}
}

func TestWatched(t *testing.T) {
	c := Context{Watched: map[string]string{"tools/git/": "where core.hooksPath points", "conf/my.inc": "included by your .git/config"}}
	for path, want := range map[string]bool{"tools/git/pre-push": true, "Tools/GIT/x": true, "conf/my.inc": true, "tools/gitx": false, "my.inc": false} {
		hits := Hits(added(path, "x\n"), c)
		if got := len(hits) > 0 && hits[0].Rule == "surface/watched" && hits[0].Severity == doc.Block; got != want {
			t.Errorf("%s: %+v", path, hits)
		}
	}
}

// TestAcceptanceEndsWithTheContent: what a waiver names changes with the blob.
func TestAcceptanceEndsWithTheContent(t *testing.T) {
	match := func(id byte) string {
		d := doc.New(".envrc", git.Entry{}, entry(filemode.Regular, id), []byte("x\n"), nil)
		return string(Hits(d, Context{})[0].Match)
	}
	if match(1) == match(2) {
		t.Error("two contents share one identity")
	}
}

func TestHostileInput(t *testing.T) {
	parts := map[string]string{
		"bidi": "\u202e", "lines of bidi": "\u202e\n", "joiners": "\u200d", "selectors": "x\ufe0f", "Persian": "می\u200cخواهم ", "lookalikes": "pаypal ",
		"brackets": "[", "objects": `{"a":`, "keys": `{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":1,`, "strings": `"\`, "scalars": `"a",`, "comments": "/*", "escapes": `\u0041`, "joined": "\\\n ",
		"secrets": "secrets.x ", "uses": "uses: a/b ", "blank secrets": "                secrets.x\n", "addresses": `"resolved":"https://h"`, "urls": "url https://a.b ", "sections": "[core]\n", "alias": "[alias]x=", "spaces": " ",
	}
	for name, part := range parts {
		for _, path := range []string{".github/workflows/x.yml", "package-lock.json", "yarn.lock", "package.json", "a.py", "x"} {
			t.Run(name+"/"+path, func(t *testing.T) {
				text := func(size int) *doc.Document { return added(path, strings.Repeat(part, size/len(part))) }
				linear.Check(t, func(size int) func() {
					d := text(size)
					return func() { Hits(d, Context{}) }
				})
				if hits := Hits(text(1<<17), Context{}); len(hits) > 1000 {
					t.Errorf("%d hits", len(hits))
				}
			})
		}
	}
}

func FuzzHits(f *testing.F) {
	for _, path := range []string{".vscode/settings.json", "package.json", ".github/workflows/x.yml", "yarn.lock", "package-lock.json", ".npmrc", "x", "a.md"} {
		f.Add(path, "{\"scripts\":{\"install\":\"x\"}}\nuses: a/b@v1\n[core]\nfsmonitor = x\n\u202e", "x", uint32(filemode.Regular))
	}
	f.Add("x", "../../y", "", uint32(filemode.Symlink))
	f.Fuzz(func(t *testing.T, path, text, was string, mode uint32) {
		d := doc.New(path, entry(filemode.Regular, 1), entry(filemode.FileMode(mode), 2), []byte(text), []byte(was))
		for _, h := range Hits(d, Context{Link: func(string) (string, bool) { return text, true }}) {
			if h.Start < 0 || h.End < h.Start || h.End > len(d.Text) || h.Message == "" || h.Rule == "" {
				t.Errorf("%+v of %d bytes", h, len(d.Text))
			}
		}
	})
}
