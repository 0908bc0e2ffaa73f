package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
)

// agentClients are those of agent.sh.
func agentClients() []string { return []string{"curl", "python", "node", "go"} }

// demand is every server: it wants the real value in its place, and sends it back
// in every encoding, in the body and in headers.
func (w *secretWorld) demand(out http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/") // /index/NAME/client
	i := slices.IndexFunc(w.kept, func(k keptSecret) bool { return len(parts) == 4 && k.name == parts[2] && k.host() == r.Host })
	if i < 0 {
		http.NotFound(out, r)
		return
	}
	k := w.kept[i]
	fault := ""
	if sentIn(r, k.place) != k.value {
		fault = "came without the real value"
		out.WriteHeader(http.StatusUnauthorized)
	}
	w.mu.Lock()
	w.got[k.name+" by "+parts[3]] = fault
	w.mu.Unlock()
	if !strings.ContainsFunc(k.value, func(c rune) bool { return c < ' ' }) {
		out.Header().Set("X-Seen", k.value)
	}
	out.Header().Set("X-Location", "https://elsewhere.example/?"+url.QueryEscape(k.value))
	for _, form := range shadow.Encodings(k.value) {
		_, _ = fmt.Fprintf(out, "<%s>\n", form)
	}
}

// sentIn is what a request has in a place.
func sentIn(r *http.Request, place string) string {
	kind, field, _ := strings.Cut(place, ":")
	user, password, _ := r.BasicAuth()
	switch kind {
	case "auth":
		return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	case "token":
		return r.Header.Get("Authorization")
	case "basic-user":
		return user
	case "basic-password":
		return password
	case "header":
		return r.Header.Get(field)
	case "query":
		return r.URL.Query().Get(field)
	case "form":
		return r.PostFormValue(field)
	}
	var doc map[string]any
	_ = json.NewDecoder(r.Body).Decode(&doc)
	text, _ := doc[field].(string)
	return text
}

// refused are the clients that did not get through, by secret.
func (w *secretWorld) refused() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, k := range w.kept {
		for _, client := range agentClients() {
			fault, came := w.got[k.name+" by "+client]
			if !came {
				fault = "never came"
			}
			if fault != "" {
				all = append(all, k.name+" by "+client+" "+fault)
			}
		}
	}
	return all
}

// unusual are lines of the agent and of the audit that say why a request failed.
func (w *secretWorld) unusual(run *agentRun) string {
	var all []string
	audits, _ := filepath.Glob(filepath.Join(w.repo, ".git", "git-ftl", "egress", "*"))
	text := run.text()
	for _, name := range audits {
		data, _ := os.ReadFile(name)
		text += string(data)
	}
	for line := range strings.Lines(text) {
		answered := strings.Contains(line, `"verdict"`) && !strings.Contains(line, `"status":200`) && !strings.Contains(line, "nowhere.example")
		if answered || strings.Contains(line, "failed: ") || strings.Contains(line, "curl: ") || strings.Contains(line, "rror") {
			all = append(all, line)
		}
	}
	return strings.Join(all, "")
}

// agentRun is a git-ftl that is under way.
type agentRun struct {
	w    *secretWorld
	cmd  *exec.Cmd
	done chan error

	mu     sync.Mutex
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func (w *secretWorld) start(args ...string) *agentRun {
	w.t.Helper()
	r := &agentRun{w: w, cmd: exec.Command(w.bin, args...), done: make(chan error, 1)}
	r.cmd.Dir, r.cmd.Env = w.repo, w.env
	r.cmd.Stdout, r.cmd.Stderr = r, &r.stderr
	w.check(r.cmd.Start())
	go func() { r.done <- r.cmd.Wait(); close(r.done) }()
	w.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		for range r.done {
		}
	})
	return r
}

// Write implements io.Writer for stdout.
func (r *agentRun) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.Write(p)
}

func (r *agentRun) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.String()
}

// until waits for a line of the agent.
func (r *agentRun) until(line string) {
	r.w.t.Helper()
	for end := time.Now().Add(4 * time.Minute); !strings.Contains(r.text(), `"`+line+`"`); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-r.done:
			text := r.text()
			r.w.t.Fatalf("the task ended: %v\n%s\n%s", err, text[max(0, len(text)-800):], r.stderr.Bytes())
		default:
		}
		if time.Now().After(end) {
			_ = r.cmd.Process.Kill()
			<-r.done
			text := r.text()
			r.w.t.Fatalf("the agent does not get to its end: %s\n%s", r.stderr.Bytes(), text[max(0, len(text)-800):])
		}
	}
}

func (r *agentRun) end() {
	r.w.t.Helper()
	if err := <-r.done; err != nil {
		r.w.t.Fatalf("the task failed: %v\n%s", err, r.stderr.Bytes())
	}
}

// box is the container of the repository's one sandbox.
func (w *secretWorld) box() string {
	w.t.Helper()
	ids := strings.Fields(string(w.docker("", "ps", "--no-trunc", "-q", "--filter", "label=git-ftl.dir="+filepath.Join(w.repo, ".git", "git-ftl"))))
	if len(ids) != 1 {
		w.t.Fatalf("containers: %q", ids)
	}
	return ids[0]
}

// root runs a script inside as no agent can.
func (w *secretWorld) root(box, stdin, script string, args ...string) []byte {
	w.t.Helper()
	return w.docker(stdin, slices.Concat([]string{"exec", "-i", "-u", "0", box, "sh", "-c", script, "sh"}, args)...)
}

// both runs one as root and as the agent's user: root has few rights in a sandbox,
// and sees into its own processes alone.
func (w *secretWorld) both(box, script string) []byte {
	w.t.Helper()
	return slices.Concat(w.root(box, "", script), w.docker("", "exec", "-i", "-u", "1000", box, "sh", "-c", script))
}

// plantInside puts the planted value where an agent cannot, and where what an agent
// left is cleared away.
func (w *secretWorld) plantInside(box, forms string) {
	w.t.Helper()
	w.root(box, forms, "cat >/etc/planted; for d in /.ftl /root /home/ftl /tmp /var/tmp /dev/shm; do cp /etc/planted $d/by-root; done")
}

// changedFiles is every file and link inside that changed since the secrets were
// made, in a tar; those of the image are older.
const changedFiles = `find / \( -path /proc -o -path /sys \) -prune -o \( -type f -o -type l \) -newerct "$1" -print0 |
	tar --create --null --no-recursion --absolute-names --sparse --files-from - 2>/tmp/tar-said || cat /tmp/tar-said >&2`

// deletedFiles are those that a process still has open.
const deletedFiles = `for f in /proc/[0-9]*/fd/*; do
	case $(readlink "$f" 2>/dev/null || true) in *"(deleted)") cat "$f" 2>/dev/null || true ;; esac
done`

// lookInside goes through all that is in the sandbox.
func (w *secretWorld) lookInside(when, box string) {
	w.t.Helper()
	see := func(place string, data []byte) { w.sweep.look(when+": "+place, data) }
	files := tar.NewReader(bytes.NewReader(w.root(box, "", changedFiles, w.began.Format(time.RFC3339Nano))))
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		w.check(err)
		data, err := io.ReadAll(files)
		w.check(err)
		top, _, _ := strings.Cut(strings.TrimPrefix(head.Name, "/"), "/")
		see("/"+top, data)
		see("names of files", []byte(head.Name+"\x00"+head.Linkname))
	}
	see("environments", w.both(box, "cat /proc/[0-9]*/environ 2>/dev/null || true"))
	see("command lines", w.both(box, "cat /proc/[0-9]*/cmdline 2>/dev/null || true"))
	see("deleted files", w.both(box, deletedFiles))
}

// outside are the places of the host.
func outside() []string {
	return []string{
		"the container", "the image", "objects of git", "notes", "records", "transcripts", "audit lines",
		"stdout", "stderr", "logs", "show", "show as JSON", "diff",
	}
}

// lookOutside goes through what the engine and git-ftl keep and say. Where only they
// write, what is planted is in another one of the same kind.
func (w *secretWorld) lookOutside(box, forms string, run *agentRun) {
	w.t.Helper()
	see := w.sweep.look
	other := strings.TrimSpace(string(w.docker("", "create", "--label", "planted="+forms, w.image, "true")))
	defer w.docker("", "rm", "-f", other)
	see("the container", w.docker("", "inspect", box, other))
	labelled := strings.TrimSpace(string(w.docker("FROM "+w.image+"\nLABEL planted=\""+forms+"\"\n", "build", "-q", "-")))
	defer w.docker("", "rmi", labelled)
	see("the image", slices.Concat(w.docker("", "image", "inspect", w.image, labelled), w.docker("", "history", "--no-trunc", w.image)))
	if kept := strings.TrimSpace(string(w.docker("", "inspect", "-f", "{{.HostConfig.LogConfig.Type}}", box))); kept != "none" {
		w.t.Errorf("the engine keeps what the container prints: %s", kept)
	}

	w.git("notes", "--ref=planted", "add", "-m", forms, "HEAD")
	for ref := range strings.FieldsSeq(string(w.git("for-each-ref", "--format=%(refname)", "refs/notes"))) {
		see("notes", w.git("log", "--all", "--no-show-signature", "--notes="+ref, "--format=%N%B%an%ae"))
	}
	see("objects of git", w.git("cat-file", "--batch-all-objects", "--batch"))
	w.lookAtState()
	see("stdout", []byte(run.text()))
	see("stderr", run.stderr.Bytes())
	for place, args := range map[string][]string{"logs": {"logs"}, "show": {"show"}, "show as JSON": {"show", "--json"}, "diff": {"diff"}} {
		see(place, w.git(append([]string{"ftl"}, args...)...))
	}
	loud := w.start("exec", "--", "sh", "-c", "env; cat .env api/.env.local ~/.npmrc ~/.netrc ~/.config/pip/pip.conf ~/.cargo/* canary.txt")
	loud.end()
	see("stdout", []byte(loud.text()))
	see("stderr", loud.stderr.Bytes())
}

// lookAtState goes through the git dir, but for objects.
func (w *secretWorld) lookAtState() {
	w.t.Helper()
	named := map[string]string{"tasks": "records", "transcripts": "transcripts", "egress": "audit lines"}
	top := filepath.Join(w.repo, ".git")
	w.check(filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		place := "the git dir"
		if parts := strings.Split(filepath.ToSlash(rel), "/"); parts[0] == "git-ftl" && named[parts[1]] != "" {
			place = named[parts[1]]
		}
		data, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(path, ".gz") {
			data, err = unzipped(data)
		}
		w.sweep.look(place, data)
		return err
	}))
	vault, err := os.ReadFile(filepath.Join(w.home, ".config", "git-ftl", "vault"))
	w.check(err)
	w.sweep.look("the vault's file", vault)
}

// unzipped is what a transcript says.
func unzipped(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
