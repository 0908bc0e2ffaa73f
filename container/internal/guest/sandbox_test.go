//go:build linux

package guest

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

const image = "debian:bookworm-slim"

// program is the guest, built once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "guest")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, "github.com/git-ftl/git-ftl/container/guest")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build guest: %w: %s", err, text)
	}
	return out, nil
})

// box is a real sandbox.
type box struct{ id string }

// newBox starts a sandbox as the host does; args are more for docker create.
func newBox(t *testing.T, idle int, args ...string) *box {
	t.Helper()
	if out, err := exec.Command("docker", "image", "inspect", image).CombinedOutput(); err != nil {
		if os.Getenv("FTL_REQUIRE_DOCKER") != "" {
			t.Fatalf("no engine with %s: %s", image, out)
		}
		t.Skipf("SKIPPED: NO ENGINE WITH %s; set FTL_REQUIRE_DOCKER=1 to make this a failure: %s", image, out)
	}
	bin, err := program()
	must(t, err)
	create := []string{"create", "--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--env", "LEAK=image"}
	for _, c := range []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID", "KILL"} {
		create = append(create, "--cap-add", c)
	}
	create = append(append(create, args...), image, "/guest", "init", strconv.Itoa(idle))
	b := &box{strings.TrimSpace(docker(t, create...))}
	t.Cleanup(func() { docker(t, "rm", "-f", b.id) })
	docker(t, "cp", bin, b.id+":/guest")
	docker(t, "start", b.id)
	return b
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("docker", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("docker %q: %v: %s", args, err, &stderr)
	}
	return string(out)
}

// sh runs a command as root beside the guest.
func (b *box) sh(t *testing.T, script string) string {
	t.Helper()
	return docker(t, "exec", b.id, "sh", "-c", script)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// link is a connection to one guest.
type link struct {
	web     *http.Client
	session *yamux.Session
	cmd     *exec.Cmd
	stderr  bytes.Buffer
	n       int
}

type pipes struct {
	io.Reader
	io.WriteCloser
}

func (b *box) serve(t *testing.T) *link {
	t.Helper()
	l := &link{cmd: exec.Command("docker", "exec", "-i", b.id, "/guest", "serve")}
	in, err := l.cmd.StdinPipe()
	must(t, err)
	out, err := l.cmd.StdoutPipe()
	must(t, err)
	l.cmd.Stderr = &l.stderr
	must(t, l.cmd.Start())
	config := yamux.DefaultConfig()
	config.EnableKeepAlive = false
	config.LogOutput = io.Discard
	l.session, err = yamux.Client(pipes{out, in}, config)
	must(t, err)
	l.web = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return l.session.Open() },
	}}
	t.Cleanup(func() { l.close() })
	return l
}

func (l *link) close() error {
	l.session.Close()
	return l.cmd.Wait()
}

// call returns status, body and the response, whose trailers are there.
func (l *link) call(t *testing.T, method, path string, body io.Reader) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, "http://guest"+path, body)
	must(t, err)
	resp, err := l.web.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v; guest: %s", method, path, err, &l.stderr)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v; guest: %s", method, path, err, &l.stderr)
	}
	return resp, string(text)
}

func (l *link) ok(t *testing.T, method, path string, in, out any) {
	t.Helper()
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		must(t, err)
		body = bytes.NewReader(data)
	}
	resp, text := l.call(t, method, path, body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if out != nil {
		must(t, json.Unmarshal([]byte(text), out))
	}
}

// reset sends a base of regular files and resets to it.
func (l *link) reset(t *testing.T, id string, base map[string]string) wire.ResetReport {
	t.Helper()
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	for _, top := range []string{"tree", "objects"} {
		must(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: top, Format: tar.FormatPAX, PAXRecords: map[string]string{wire.GonePAX: "1"}}))
	}
	r := wire.Reset{ID: id, All: true, Keep: []string{"node_modules"}, History: []string{".agent/history"}}
	for p, content := range base {
		must(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "tree/" + p, Mode: 0o644, Size: int64(len(content)), Format: tar.FormatPAX}))
		_, err := io.WriteString(w, content)
		must(t, err)
		sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
		r.Changed = append(r.Changed, wire.File{Path: wire.Path(p), Mode: 0o100644, Object: hex.EncodeToString(sum[:])})
	}
	must(t, w.Close())
	if resp, text := l.call(t, http.MethodPut, "/base", &data); resp.StatusCode != http.StatusOK {
		t.Fatalf("put base: %s", text)
	}
	slices.SortFunc(r.Changed, func(a, b wire.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	var report wire.ResetReport
	l.ok(t, http.MethodPost, "/reset", r, &report)
	return report
}

// result is how a run ended.
type result struct {
	Code     int
	Out, Err string
	Note     wire.RunNote
}

// start begins a run; the head has arrived when it returns.
func (l *link) start(t *testing.T, r wire.Run, stdin io.Reader) (id string, wait func() result) {
	t.Helper()
	if r.ID == "" {
		l.n++
		r.ID = fmt.Sprint("r", l.n)
	}
	if r.Env == nil {
		r.Env = []string{"PATH=/usr/bin:/bin", "HOME=/home/ftl"}
	}
	data, err := json.Marshal(r)
	must(t, err)
	head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	req, err := http.NewRequest(http.MethodPost, "http://guest/run", io.MultiReader(bytes.NewReader(append(head, data...)), stdin))
	must(t, err)
	resp, err := l.web.Do(req)
	if err != nil {
		t.Fatalf("run: %v; guest: %s", err, &l.stderr)
	}
	return r.ID, func() result {
		t.Helper()
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(resp.Body)
			t.Fatalf("run: %s: %s", resp.Status, text)
		}
		return read(t, resp)
	}
}

func read(t *testing.T, resp *http.Response) result {
	t.Helper()
	var res result
	buf := make([]byte, wire.MaxFrame)
	for {
		stream, n, err := wire.ReadFrame(resp.Body, buf)
		if err == io.EOF {
			break
		}
		must(t, err)
		if stream == wire.Stdout {
			res.Out += string(buf[:n])
		} else {
			res.Err += string(buf[:n])
		}
	}
	code, err := strconv.Atoi(resp.Trailer.Get(wire.ExitTrailer))
	must(t, err)
	must(t, json.Unmarshal([]byte(resp.Trailer.Get(wire.NoteTrailer)), &res.Note))
	res.Code = code
	return res
}

func (l *link) sh(t *testing.T, script string) result {
	t.Helper()
	_, wait := l.start(t, wire.Run{Argv: []string{"sh", "-c", script}}, nil)
	return wait()
}

// eventually polls until done, at most two minutes.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if done() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within two minutes", what)
		}
	}
}
