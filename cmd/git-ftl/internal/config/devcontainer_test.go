package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/devcontainer"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
)

const inFolder, atTop = ".devcontainer/devcontainer.json", ".devcontainer.json"

func files(pairs ...string) trust.Content {
	var c trust.Content
	for i := 0; i+1 < len(pairs); i += 2 {
		c.Files = append(c.Files, trust.File{Name: pairs[i], Data: []byte(pairs[i+1])})
	}
	return c
}

// TestReadDevcontainer: the first devcontainer.json, and the Dockerfile that it names.
func TestReadDevcontainer(t *testing.T) {
	const builds = `{"build": {"dockerfile": "../Dockerfile"}}`
	for _, tc := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"none", []string{"Dockerfile", "FROM a"}, nil},
		{"an image", []string{inFolder, `{"image": "a"}`, "Dockerfile", "FROM a"}, []string{inFolder}},
		{"a build", []string{inFolder, builds, "Dockerfile", "FROM a"}, []string{inFolder, "Dockerfile"}},
		{"a build of nothing", []string{inFolder, builds}, []string{inFolder}},
		{"at the top", []string{atTop, `{"dockerFile": "Dockerfile"}`, "Dockerfile", "FROM a"}, []string{atTop, "Dockerfile"}},
		{"both", []string{inFolder, `{}`, atTop, `{"dockerFile": "Dockerfile"}`, "Dockerfile", "FROM a"}, []string{inFolder}},
		{"one that is no JSON", []string{inFolder, `{`, atTop, `{}`}, []string{inFolder}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for i := 0; i+1 < len(tc.files); i += 2 {
				path := filepath.Join(dir, tc.files[i])
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(tc.files[i+1]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var names []string
			for _, f := range config.Read(dir).Files {
				names = append(names, f.Name)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDevcontainer: what counts without trust and with it, and what is said.
func TestDevcontainer(t *testing.T) {
	const needs = ".devcontainer needs trust: git ftl trust"
	dockerfile := "FROM a\n# why\nRUN b\n"
	build := devcontainer.Container{Name: inFolder, Dockerfile: ".devcontainer/Dockerfile", Context: ".devcontainer"}
	for _, tc := range []struct {
		name           string
		content        trust.Content
		env            string
		asks           []config.Ask
		want           config.Container // trusted
		setup          string           // trusted
		notes, trusted []string
	}{
		{name: "of an editor alone", content: files(inFolder, `{"name": "x"}`)},
		{name: "nothing that counts", content: files(inFolder, `{"runArgs": ["--privileged"], "features": {}}`)},
		{
			name: "an image", content: files(inFolder, `{"image": "a", /* b */}`), notes: []string{needs},
			asks: []config.Ask{{inFolder, "image", []string{"a"}, true, "image"}},
			want: config.Container{Container: devcontainer.Container{Name: inFolder, Image: "a"}},
		},
		{
			name: "at the top", content: files(atTop, `{"image": "a"}`), notes: []string{".devcontainer.json needs trust: git ftl trust"},
			asks: []config.Ask{{atTop, "image", []string{"a"}, true, "image"}},
			want: config.Container{Container: devcontainer.Container{Name: atTop, Image: "a"}},
		},
		{
			name: "a build", content: files(inFolder, `{"dockerFile": "Dockerfile"}`, ".devcontainer/Dockerfile", dockerfile), notes: []string{needs},
			asks: []config.Ask{
				{inFolder, "build.dockerfile", []string{".devcontainer/Dockerfile"}, true, "image"}, {inFolder, "build.context", []string{".devcontainer"}, true, ""},
				{".devcontainer/Dockerfile", "", []string{"FROM a", "# why", "RUN b"}, true, ""},
			},
			want: config.Container{Container: build, File: []byte(dockerfile)},
		},
		{
			name: "a build of nothing", content: files(inFolder, `{"dockerFile": "Dockerfile", "postCreateCommand": "x"}`),
			notes:   []string{inFolder + " does not count: its .devcontainer/Dockerfile cannot be read"},
			trusted: []string{inFolder + " does not count: its .devcontainer/Dockerfile cannot be read"},
		},
		{
			name: "setup and what is refused", content: files(inFolder, `{"postCreateCommand": "make", "mounts": [], "privileged": true}`), notes: []string{needs},
			asks: []config.Ask{
				{inFolder, "postCreateCommand", []string{"make"}, true, "setup"}, {inFolder, "mounts", []string{}, false, ""}, {inFolder, "privileged", []string{}, false, ""},
			},
			want:  config.Container{Container: devcontainer.Container{Name: inFolder, Setup: "make", Left: []string{"mounts", "privileged"}}},
			setup: "make", trusted: []string{inFolder + ": without effect in a sandbox: mounts, privileged"},
		},
		{
			name: "setup of the user's own", content: files(inFolder, `{"postCreateCommand": "make"}`), env: "FTL_SETUP=mine", notes: []string{needs},
			asks:  []config.Ask{{inFolder, "postCreateCommand", []string{"make"}, true, "setup"}},
			want:  config.Container{Container: devcontainer.Container{Name: inFolder, Setup: "make"}},
			setup: "mine",
		},
		{
			name: "beside settings", content: files(".ftlconfig", `{"image": "b", "setup": "s"}`, atTop, `{"image": "a", "agent": "x", "agents.x.command": "y"}`),
			notes: []string{".ftlconfig: image needs trust; .devcontainer.json needs trust: git ftl trust"},
			asks: []config.Ask{
				{".ftlconfig", "image", []string{"b"}, true, "image"}, {atTop, "image", []string{"a"}, true, "image"},
				{atTop, "agent", []string{}, false, ""}, {atTop, "agents.x.command", []string{}, false, ""},
			},
			want:  config.Container{Container: devcontainer.Container{Name: atTop, Image: "a", Left: []string{"agent", "agents.x.command"}}},
			setup: "s", trusted: []string{atTop + ": without effect in a sandbox: agent, agents.x.command"},
		},
		{name: "no JSON", content: files(inFolder, `{"image": `), notes: []string{inFolder + " does not count: not a JSON object: unexpected end of JSON input"},
			trusted: []string{inFolder + " does not count: not a JSON object: unexpected end of JSON input"}},
		{name: "a link", content: trust.Content{Refused: map[string]string{inFolder: "it is a link"}}, notes: []string{inFolder + " does not count: it is a link"},
			trusted: []string{inFolder + " does not count: it is a link"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo, env := setup(t, "", nil)
			for _, trusted := range []bool{false, true} {
				c, err := config.Load(t.Context(), repo, config.Source{Env: append(env, tc.env), Content: tc.content, Trusted: trusted})
				if err != nil {
					t.Fatal(err)
				}
				asks, _ := c.Asks()
				want, notes := config.Container{}, tc.notes
				if trusted {
					want, notes = tc.want, tc.trusted
					if c.Setup != tc.setup {
						t.Errorf("setup %q", c.Setup)
					}
				}
				for what, diff := range map[string]string{"asks": cmp.Diff(tc.asks, asks), "counts": cmp.Diff(want, c.Container), "notes": cmp.Diff(notes, c.Notes())} {
					if diff != "" {
						t.Errorf("trusted %v, %s: %s", trusted, what, diff)
					}
				}
				if c.Asked("agent") || len(c.AskedAgents()) > 0 {
					t.Error("it chooses an agent")
				}
			}
		})
	}
}

// TestTrustOfDevcontainer: what no one can read cannot be trusted, and each change is
// named.
func TestTrustOfDevcontainer(t *testing.T) {
	if err := config.Check(files(inFolder, "{")); err == nil {
		t.Error("it can be trusted")
	}
	before := files(inFolder, `{"image": "a", "mounts": []}`, "Dockerfile", "FROM a\n# escape\n")
	after := files(inFolder, `{"image": "b", "runArgs": []}`, "Dockerfile", "FROM a\n# escape=x\n")
	want := []config.Difference{
		{File: inFolder, Key: "image", Old: []string{"a"}, New: []string{"b"}}, {File: inFolder, Key: "mounts", Old: []string{}}, {File: inFolder, Key: "runArgs", New: []string{}},
		{File: "Dockerfile", Old: []string{"# escape"}}, {File: "Dockerfile", New: []string{"# escape=x"}},
	}
	if diff := cmp.Diff(want, config.Compare(before, after)); diff != "" {
		t.Error(diff)
	}
}
