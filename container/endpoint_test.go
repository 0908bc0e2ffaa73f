package container

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// write puts a file below dir.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// contextOf writes a docker context and gives the folder of its certificates.
func contextOf(t *testing.T, home, name, meta string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	write(t, home, ".docker/contexts/meta/"+id+"/meta.json", meta)
	return filepath.Join(home, ".docker", "contexts", "tls", id, "docker")
}

func TestEndpoints(t *testing.T) {
	home := t.TempDir()
	contextOf(t, home, "lab", `{"Name":"lab","Metadata":{},"Endpoints":{"docker":{"Host":"tcp://lab:2376","SkipTLSVerify":false}}}`)
	certs := contextOf(t, home, "loose", `{"Endpoints":{"docker":{"Host":"tcp://loose:2376","SkipTLSVerify":true}}}`)
	write(t, certs, "ca.pem", "x")
	contextOf(t, home, "far", `{"Endpoints":{"docker":{"Host":"ssh://me@far:2222"}}}`)
	contextOf(t, home, "kube", `{"Endpoints":{"kubernetes":{"Host":"https://k"}}}`)
	for _, row := range []struct {
		name    string
		env     []string
		current string
		want    endpoint
		err     string
	}{
		{name: "host wins over context", env: []string{"DOCKER_HOST=unix:///a", "DOCKER_CONTEXT=lab"}, current: "lab",
			want: endpoint{Host: "unix:///a", From: "DOCKER_HOST"}},
		{name: "last value counts", env: []string{"DOCKER_HOST=unix:///a", "DOCKER_HOST=unix:///b"},
			want: endpoint{Host: "unix:///b", From: "DOCKER_HOST"}},
		{name: "host with certificates", env: []string{"DOCKER_HOST=tcp://h:2376", "DOCKER_TLS_VERIFY=1", "DOCKER_CERT_PATH=/c"},
			want: endpoint{Host: "tcp://h:2376", From: "DOCKER_HOST", TLS: "/c", Verify: true}},
		{name: "certificates of the config folder", env: []string{"DOCKER_HOST=tcp://h:2376", "DOCKER_TLS_VERIFY=1"},
			want: endpoint{Host: "tcp://h:2376", From: "DOCKER_HOST", TLS: filepath.Join(home, ".docker"), Verify: true}},
		{name: "context by variable", env: []string{"DOCKER_CONTEXT=lab"}, current: "loose",
			want: endpoint{Host: "tcp://lab:2376", From: "DOCKER_CONTEXT", Verify: true}},
		{name: "current context", current: "loose",
			want: endpoint{Host: "tcp://loose:2376", From: "docker context loose", TLS: certs}},
		{name: "default context", current: "default", want: endpoint{Host: defaultHost, From: "default socket"}},
		{name: "nothing said", want: endpoint{Host: defaultHost, From: "default socket"}},
		{name: "ssh", current: "far", err: "ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock -p 2222 me@far"},
		{name: "no docker endpoint", current: "kube", err: `"kube" has no docker endpoint`},
		{name: "unknown context", env: []string{"DOCKER_CONTEXT=none"}, err: `"none" is not there`},
		{name: "unknown scheme", env: []string{"DOCKER_HOST=carrier://pigeon"}, err: "unknown kind"},
	} {
		t.Run(row.name, func(t *testing.T) {
			write(t, home, ".docker/config.json", `{"currentContext":"`+row.current+`"}`)
			got, err := endpoints(row.env, home)
			if row.err != "" {
				if !errors.Is(err, ErrNoEngine) || !strings.Contains(err.Error(), row.err) {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(row.want, got[0]); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEndpointsUsual(t *testing.T) {
	var got []string
	for _, e := range usual(environ{"XDG_RUNTIME_DIR=/run/user/7"}, "/home/u") {
		got = append(got, e.Host)
	}
	want := []string{
		defaultHost, "unix:///run/user/7/docker.sock", "unix:///home/u/.docker/run/docker.sock",
		"unix:///run/user/7/podman/podman.sock", "unix:///run/podman/podman.sock",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNoEngine(t *testing.T) {
	silent, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, host := range map[string]string{
		"no socket":      "unix:///does/not/exist.sock",
		"never answers":  "unix://" + silent.Addr().String(),
		"refused":        "tcp://127.0.0.1:1",
		"no certificate": "tcp://127.0.0.1:1",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			env := []string{"DOCKER_HOST=" + host}
			if name == "no certificate" {
				env = append(env, "DOCKER_TLS_VERIFY=1")
			}
			_, err := Docker(t.Context(), env, t.TempDir())
			if !errors.Is(err, ErrNoEngine) || !strings.Contains(err.Error(), host) {
				t.Error(err)
			}
			if took := time.Since(start); took > answerTime+time.Minute { // and not for ever
				t.Errorf("took %s", took)
			}
		})
	}
}
