package container

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	err := progress(strings.NewReader(`{"stream":"Step 1/2 : FROM x\n"}
{"status":"Downloading","id":"abc","progressDetail":{"current":1,"total":9}}
{"status":"Pull complete","id":"abc","progressDetail":{}}
{"stream":"\u001b[31mred\n"}
{"aux":{"ID":"sha256:1"}}
{"errorDetail":{"message":"no \u001b[0m"},"error":"no \u001b[0m"}`), &out)
	if err == nil || err.Error() != "no \ufffd[0m" {
		t.Error(err)
	}
	if want := "Step 1/2 : FROM x\nabc Pull complete\n\ufffd[31mred\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

func TestBuildProxyArguments(t *testing.T) {
	e := &DockerEngine{env: []string{"https_proxy=http://p:1", "NO_PROXY=x", "SECRET=s"}}
	got := e.buildArgs()
	if len(got) != 2 || *got["https_proxy"] != "http://p:1" || *got["NO_PROXY"] != "x" {
		t.Errorf("%v", got)
	}
}

func TestBuildNetwork(t *testing.T) {
	for _, row := range []struct{ variable, host, want string }{
		{"HTTPS_PROXY=http://127.0.0.1:3128", "unix:///x", "host"},
		{"http_proxy=localhost:3128", "unix:///x", "host"},
		{"https_proxy=http://[::1]:3128/", "unix:///x", "host"},
		{"https_proxy=http://127.0.0.1:3128", "tcp://far:2375", ""},
		{"https_proxy=http://proxy.example:3128", "unix:///x", ""},
		{"NO_PROXY=localhost", "unix:///x", ""},
		{"https_proxy=%%", "unix:///x", ""},
	} {
		e := &DockerEngine{env: []string{row.variable}, at: endpoint{Host: row.host}}
		if got := e.buildNetwork(e.buildArgs()); got != row.want {
			t.Errorf("%s at %s: %q, not %q", row.variable, row.host, got, row.want)
		}
	}
}

// TestBuildBehindProxy: a build whose only way out is a proxy on the loopback of
// this machine, to a mirror whose certificate only the user's own file vouches for.
// Nothing of either is in the image.
func TestBuildBehindProxy(t *testing.T) {
	e := engine(t)
	pem, mint := authority(t)
	mirror := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) != "Packages" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, "Package: from-the-mirror\nVersion: 1\nArchitecture: all\nFilename: x.deb\nSize: 1\nSHA256: "+strings.Repeat("0", 64)+"\n")
	}))
	mirror.TLS = &tls.Config{GetCertificate: mint}
	mirror.StartTLS()
	defer mirror.Close()
	asked := make(chan string, 100)
	proxy := httptest.NewServer(connects(mirror.Listener.Addr().String(), asked))
	defer proxy.Close()
	roots := filepath.Join(t.TempDir(), "company.pem")
	if err := os.WriteFile(roots, pem, 0o644); err != nil {
		t.Fatal(err)
	}
	e.env = append(slices.Clone([]string(e.env)), "https_proxy="+proxy.URL, "SSL_CERT_FILE="+roots)
	ca, own := e.certificates()
	if !own || !bytes.Equal(ca, pem) {
		t.Fatalf("certificates: %v, own %v", len(ca), own)
	}
	r := recipe{tag: "git-ftl/test-proxy:" + strings.ToLower(rand.Text()), file: []byte("FROM " + testImage + "\nENV LANG=C.UTF-8\n" +
		"RUN echo 'deb [trusted=yes] https://mirror.example/ ./' > /etc/apt/sources.list && apt-get update -o Acquire::Retries=0 && apt-cache show from-the-mirror > /found\n")}
	var out strings.Builder
	if err := e.buildFrom(t.Context(), r.trusting(ca), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	defer func() {
		_, _ = e.api.ImageRemove(context.WithoutCancel(t.Context()), r.tag, image.RemoveOptions{Force: true, PruneChildren: true})
	}()
	if host := <-asked; host != "mirror.example:443" {
		t.Errorf("the proxy was asked for %q", host)
	}
	img, err := e.Image(t.Context(), r.tag)
	if err != nil || !slices.Contains(img.Env, "LANG=C.UTF-8") || strings.Contains(strings.Join(img.Env, " "), "ftl-build") {
		t.Errorf("%v, %v", img.Env, err)
	}
	history, err := e.api.ImageHistory(t.Context(), r.tag)
	if text := fmt.Sprint(history); err != nil || strings.Contains(text, proxy.URL) || strings.Contains(text, "BEGIN CERT") {
		t.Errorf("%v: %s", err, text)
	}
	s := acquire(t, pool(t, e), Spec{Image: r.tag})
	got := shell(t, s, "cat /found | head -n 1; ls -d /ftl-build; id -un; stat -c %a /tmp /usr/bin/passwd; find / -xdev -type f -newer /found -size -20k 2>/dev/null | xargs grep -ls 'BEGIN CERT'")
	if !strings.HasPrefix(got, "Package: from-the-mirror\n") || !strings.Contains(got, "ftl\n1777\n4755\n") || strings.Contains(got, "\n/ftl-build") {
		t.Errorf("inside: %q", got)
	}
}

// connects is a proxy that knows one host, wherever it is asked to go.
func connects(to string, asked chan<- string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Host
		if r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		up, err := net.Dial("tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer up.Close()
		down, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer down.Close()
		// Only now: what a client sends behind an answer might be read by the server still.
		if _, err := io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return
		}
		go func() { _, _ = io.Copy(up, down) }()
		_, _ = io.Copy(down, up)
	})
}

func TestBuildImage(t *testing.T) {
	e := engine(t)
	var out strings.Builder
	img, err := e.BuildImage(t.Context(), &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if img.Size > 450<<20 {
		t.Errorf("the image has %d MB", img.Size>>20)
	}
	s := acquire(t, pool(t, e), Spec{Image: BaseImage()})
	got := shell(t, s, "id -un; for c in git curl rg jq patch make less ps python3; do command -v $c >/dev/null || echo no $c; done; command -v gcc")
	if got != "ftl\n" {
		t.Errorf("inside: %q", got)
	}
	again, err := e.BuildImage(t.Context(), writer(func([]byte) (int, error) { return 0, errors.New("built again") }))
	if err != nil || again.ID != img.ID {
		t.Errorf("second build: %v, %v", again, err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
