package devcontainer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/devcontainer"
)

type container = devcontainer.Container

const name = ".devcontainer/devcontainer.json"

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       container
	}{
		{"nothing", `{}`, container{}},
		{"of an editor", `{"name": "x", "customizations": {"vscode": {}}, "forwardPorts": [3000], "$schema": "s"}`, container{}},
		{"an image", `{"image": "ghcr.io/a/b:1@sha256:0a"}`, container{Image: "ghcr.io/a/b:1@sha256:0a"}},
		{"comments and commas", "\xef\xbb\xbf// a\n{ /* \"image\": \"no\", */ \"image\" : \"a//b\", // c\n \"containerEnv\": {\"A\": \"/* x */, }\",},\n}\n// end", container{
			Image: "a//b", Env: []string{"A=/* x */, }"}}},
		{"a build", `{"build": {"dockerfile": "Dockerfile", "context": "..", "target": "dev", "args": {"B": "2", "A": "1"}}}`, container{
			Dockerfile: ".devcontainer/Dockerfile", Context: ".", Target: "dev", Args: []string{"A=1", "B=2"}}},
		{"a build of old", `{"dockerFile": "../docker/Dev.Dockerfile", "context": "../docker"}`, container{Dockerfile: "docker/Dev.Dockerfile", Context: "docker"}},
		{"a build beside its file", `{"build": {"dockerfile": "Containerfile"}}`, container{Dockerfile: ".devcontainer/Containerfile", Context: ".devcontainer"}},
		{"a build before an image", `{"image": "a", "dockerFile": "Dockerfile"}`, container{Dockerfile: ".devcontainer/Dockerfile", Context: ".devcontainer", Left: []string{"image"}}},
		{"setup as a line", `{"postCreateCommand": "make ${x:-y} && ls ${containerWorkspaceFolder}"}`, container{Setup: "make ${x:-y} && ls /workspace"}},
		{"setup as words", `{"postCreateCommand": ["echo", "it's", "$HOME; rm"]}`, container{Setup: `'echo' 'it'\''s' '$HOME; rm'`}},
		{"setup side by side", `{"postCreateCommand": {"b": ["two"], "a": "one # why"}}`, container{Setup: "( one # why\n) && ( 'two'\n)"}},
		{"variables", `{"containerEnv": {"A": "x=y", "B": "${containerWorkspaceFolder}/b"}}`, container{Env: []string{"A=x=y", "B=/workspace/b"}}},
		{"a user", `{"remoteUser": "vscode", "containerUser": "node"}`, container{User: "vscode"}},
		{"the user of the container", `{"containerUser": "node"}`, container{User: "node"}},
		{"no user for an agent", `{"remoteUser": "0"}`, container{Left: []string{"remoteUser"}}},
		{"a user that is more", `{"remoteUser": "a:0:0"}`, container{Left: []string{"remoteUser"}}},
		{"a user of the host", `{"remoteUser": "${localEnv:USER}"}`, container{Left: []string{"remoteUser"}}},

		{"what a sandbox cannot have", `{"initializeCommand": "x", "runArgs": ["--privileged"], "mounts": [], "workspaceMount": "x", "workspaceFolder": "/", "privileged": true,
			"capAdd": [], "securityOpt": [], "appPort": 1, "features": {}, "dockerComposeFile": "c.yml", "service": "s", "onCreateCommand": "x", "remoteEnv": {}, "remoteUser": "root", "Image": "a"}`,
			container{Left: []string{"Image", "appPort", "capAdd", "dockerComposeFile", "features", "initializeCommand", "mounts", "onCreateCommand", "privileged", "remoteEnv", "remoteUser",
				"runArgs", "securityOpt", "service", "workspaceFolder", "workspaceMount"}}},
		{"options of the engine", `{"build": {"dockerfile": "Dockerfile", "options": ["--network=host"], "cacheFrom": "x"}}`,
			container{Dockerfile: ".devcontainer/Dockerfile", Context: ".devcontainer", Left: []string{"build.cacheFrom", "build.options"}}},
		{"variables of the host", `{"image": "a:${localEnv:HOME}", "containerEnv": {"A": "${localEnv:AWS_SECRET_ACCESS_KEY}", "B": "${env:X}", "C": "${localWorkspaceFolder}", "D": "d"}, "postCreateCommand": "curl x/${localEnv:TOKEN:none}"}`,
			container{Env: []string{"D=d"}, Left: []string{"containerEnv.A", "containerEnv.B", "containerEnv.C", "image", "postCreateCommand"}}},
		{"variables of the host in a build", `{"build": {"dockerfile": "Dockerfile", "args": {"T": "${localEnv:T}", "U": "u"}, "target": "${localEnv:T}"}}`,
			container{Dockerfile: ".devcontainer/Dockerfile", Context: ".devcontainer", Args: []string{"U=u"}, Left: []string{"build.args.T", "build.target"}}},
		{"an image that is more", `{"image": "a\nRUN evil"}`, container{Left: []string{"image"}}},
		{"an image that is a flag", `{"image": "--platform=x"}`, container{Left: []string{"image"}}},
		{"a Dockerfile outside", `{"dockerFile": "../../Dockerfile"}`, container{Left: []string{"dockerFile"}}},
		{"one of the machine", `{"dockerFile": "/etc/Dockerfile"}`, container{Left: []string{"dockerFile"}}},
		{"one of a drive", `{"dockerFile": "C:\\Dockerfile"}`, container{Left: []string{"dockerFile"}}},
		{"one with backslashes", `{"dockerFile": "..\\..\\Dockerfile"}`, container{Left: []string{"dockerFile"}}},
		{"one of git", `{"dockerFile": "../.GIT/Dockerfile"}`, container{Left: []string{"dockerFile"}}},
		{"a secret as one", `{"dockerFile": "../.env"}`, container{Left: []string{"dockerFile"}}},
		{"a context outside", `{"build": {"dockerfile": "Dockerfile", "context": "../..", "args": {"A": "1"}}}`, container{Left: []string{"build.context"}}},
		{"names that are none", `{"containerEnv": {"A=B": "x", "": "y", "C D": "z"}}`, container{Left: []string{"containerEnv.", "containerEnv.A=B", "containerEnv.C D"}}},
		{"values of other kinds", `{"image": 1, "build": [], "containerEnv": {"A": {}}, "postCreateCommand": 3, "remoteUser": null}`,
			container{Left: []string{"build", "containerEnv.A", "image", "postCreateCommand", "remoteUser"}}},
		{"NUL", `{"containerEnv": {"A": "a\u0000b"}, "postCreateCommand": "\u0000"}`, container{Left: []string{"containerEnv.A", "postCreateCommand"}}},
		{"a name twice", `{"image": "a", "image": "b"}`, container{Image: "b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := devcontainer.Parse(name, []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Name = name
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseAtTheTop(t *testing.T) {
	got, err := devcontainer.Parse(".devcontainer.json", []byte(`{"dockerFile": "Dockerfile"}`))
	want := container{Name: ".devcontainer.json", Dockerfile: "Dockerfile", Context: "."}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestNotAnObject(t *testing.T) {
	for _, text := range []string{"", "null", "[]", `"x"`, `{"a": 1`, `{"a": 1} x`, "/", "{} /", `{"a" "b"}`, `{1//` + "\n" + `2: 3}`, strings.Repeat("[", 100000)} {
		if got, err := devcontainer.Parse(name, []byte(text)); err == nil {
			t.Errorf("%.40q: %+v", text, got)
		}
	}
}

func TestCopies(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		want       []string
	}{
		{"none", "FROM a\nRUN COPY x y\n# COPY c d\n", nil},
		{"files", "FROM a\nCOPY --chown=1:1 b ./c/ /d/\ncopy a /x\nADD z.tar /\n", []string{"a", "b", "c", "z.tar"}},
		{"patterns", "COPY package*.json src/?.go /x/\n", []string{"package*.json", "src/?.go"}},
		{"all", "COPY . .\n", []string{"."}},
		{"all by its root", "COPY / /x\n", []string{"."}},
		{"out of it", "COPY ../../a /x\n", []string{"a"}},
		{"of a stage", "COPY --from=made --chown=1 /a /b\n", nil},
		{"of the network", "ADD https://e.example/x git@e.example:x.git y /z\n", []string{"y"}},
		{"a list", "COPY [\"a b\", \"/c\"]\nADD [\"a\",\"b\"]\n", []string{"."}},
		{"an argument", "COPY $SRC /x\n", []string{"."}},
		{"text", "COPY <<EOF /x\nhello\nEOF\n", []string{"."}},
		{"over lines", "COPY a \\\n  # why\n\n  b \\\n /x/\n", []string{"a", "b"}},
		{"for later", "ONBUILD COPY a /x\n", []string{"a"}},
		{"without an end", "COPY", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, devcontainer.Copies([]byte(tc.file))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzParse: nothing panics, JSON says the same as without comments, and what counts
// leads nowhere.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"image": "a", /* x */ "build": {"dockerfile": "Dockerfile", "context": "..",},}`))
	f.Add([]byte("{// \"\n}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := devcontainer.Parse(name, data)
		var fields map[string]json.RawMessage
		if strict := json.Unmarshal(data, &fields); strict == nil && fields != nil && err != nil {
			t.Errorf("JSON is refused: %v", err)
		}
		for _, p := range []string{got.Dockerfile, got.Context} {
			if strings.HasPrefix(p, "/") || p == ".." || strings.HasPrefix(p, "../") {
				t.Errorf("it leads to %q", p)
			}
		}
		if all := strings.Join(append(got.Env, got.Image, got.Setup), " "); strings.Contains(all, "${localEnv:}") || strings.Contains(all, "\x00") {
			t.Errorf("it counts: %q", all)
		}
		devcontainer.Copies(data)
	})
}
