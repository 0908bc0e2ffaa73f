//go:build linux

package guest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// TestSandbox goes through one warm sandbox with one guest.
func TestSandbox(t *testing.T) {
	b := newBox(t, 600)
	l := b.serve(t)
	base := map[string]string{"a.txt": "one\n", "d/b": "two\n", ".gitignore": "node_modules\n"}
	report := l.reset(t, "b1", base)
	if !report.Setup || report.Written != 3 || report.FreeDisk <= 0 {
		t.Errorf("first reset: %+v", report)
	}
	t.Run("hello", func(t *testing.T) { testHello(t, b, l) })
	t.Run("run", func(t *testing.T) { testRuns(t, l) })
	t.Run("identity", func(t *testing.T) { testIdentity(t, b, l) })
	t.Run("stdin", func(t *testing.T) { testStdin(t, l) })
	t.Run("terminal", func(t *testing.T) { testTerminal(t, l) })
	t.Run("signal", func(t *testing.T) { testSignal(t, b, l) })
	t.Run("held stdout does not hang a run", func(t *testing.T) { testHeldStdout(t, l) })
	t.Run("daemons die with the run", func(t *testing.T) { testDaemons(t, b, l) })
	t.Run("System V objects go", func(t *testing.T) { testIPC(t, b, l) })
	t.Run("fork chains die", func(t *testing.T) { testForkChains(t, b, l) })
	t.Run("concurrent runs", func(t *testing.T) { testConcurrent(t, l) })
	t.Run("diff and reset", func(t *testing.T) { testDiffAndReset(t, l) })
	t.Run("poisoned home reverts", func(t *testing.T) { testPoisonedHome(t, b, l, base) })
	t.Run("a second guest is busy", func(t *testing.T) { testBusy(t, b) })
	t.Run("end of stdin ends the agent", func(t *testing.T) { testEnd(t, b, l) })
}

func testHello(t *testing.T, b *box, l *link) {
	var hello wire.Hello
	l.ok(t, http.MethodGet, "/hello", nil, &hello)
	version := strings.TrimSpace(docker(t, "exec", b.id, "/guest", "version"))
	if diff := cmp.Diff(wire.Hello{Version: version, Base: "b1"}, hello); diff != "" || len(version) != 64 {
		t.Errorf("hello (-want +got):\n%s", diff)
	}
}

func testRuns(t *testing.T, l *link) {
	long := strings.Repeat("0123456789abcdef\n", 100_000)
	for _, tt := range []struct {
		name string
		run  wire.Run
		want result
	}{
		{"streams", wire.Run{Argv: []string{"sh", "-c", "echo out; echo err >&2; exit 3"}}, result{Code: 3, Out: "out\n", Err: "err\n"}},
		{"environment is the run's own", wire.Run{Argv: []string{"env"}, Env: []string{"PATH=/usr/bin", "X=a\nb"}}, result{Out: "PATH=/usr/bin\nX=a\nb\n"}},
		{"folder", wire.Run{Argv: []string{"/bin/pwd"}, Dir: "d"}, result{Out: "/workspace/d\n"}},
		{"folder stays inside", wire.Run{Argv: []string{"/bin/pwd"}, Dir: "../../d"}, result{Out: "/workspace/d\n"}},
		{"no folder", wire.Run{Argv: []string{"true"}, Dir: "nope"}, result{Code: 127, Err: "git-ftl: folder \"nope\" is not in the workspace\n"}},
		{"signal", wire.Run{Argv: []string{"sh", "-c", "kill -9 $$"}}, result{Code: 137}},
		{"not found", wire.Run{Argv: []string{"nope"}}, result{Code: 127, Err: "git-ftl: command \"nope\" not found\n"}},
		{"not found by path", wire.Run{Argv: []string{"/nope"}}, result{Code: 127, Err: "git-ftl: command \"/nope\" not found\n"}},
		{"not executable", wire.Run{Argv: []string{"./a.txt"}}, result{Code: 126, Err: "git-ftl: \"./a.txt\" is not executable\n"}},
		{"no stdin", wire.Run{Argv: []string{"cat"}}, result{}},
		{"much output", wire.Run{Argv: []string{"sh", "-c", "yes 0123456789abcdef | head -100000"}}, result{Out: long}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, wait := l.start(t, tt.run, nil)
			if diff := cmp.Diff(tt.want, wait()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// testIdentity: agents have no more than their own user, and die first.
func testIdentity(t *testing.T, b *box, l *link) {
	got := l.sh(t, `id; umask; ulimit -c; cat /proc/self/oom_score_adj; grep -E "^(CapEff|CapPrm|CapAmb|NoNewPrivs|SigIgn)" /proc/self/status; `+
		`ps -o sid= -p $$ | tr -d " " | grep -qx $$ && echo leader; cat /var/lib/ftl/manifest; ls -d ~; true`).Out
	want := "uid=1000(ftl) gid=1000(ftl) groups=1000(ftl)\n0022\n0\n600\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
	for _, line := range []string{"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "SigIgn:\t0000000000000000"} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	if got := b.sh(t, "stat -c '%a %u' /var/lib/ftl /workspace /home/ftl /mnt/snapshot | tr '\n' ' '; cat /proc/1/oom_score_adj; "+
		"tr '\\0' '\n' < /proc/$(pgrep -f 'guest serve' | head -1)/environ | grep LEAK; "+
		"for p in /proc/[0-9]*; do case $(tr '\\0' ' ' < $p/cmdline) in '/guest serve ') cat $p/oom_score_adj;; esac; done"); got[:len("700 0 755 1000 755 1000 755 0 0\n")] != "700 0 755 1000 755 1000 755 0 0\n" || !strings.HasSuffix(got, "\n0\n") {
		t.Errorf("got %q", got)
	}
}

func testStdin(t *testing.T, l *link) {
	r, w := io.Pipe()
	_, wait := l.start(t, wire.Run{Argv: []string{"cat"}, Stdin: true}, r)
	big := strings.Repeat("x", 300_000)
	go func() {
		io.WriteString(w, big)
		w.Close()
	}()
	if got := wait(); got.Code != 0 || got.Out != big {
		t.Errorf("code %d, %d bytes", got.Code, len(got.Out))
	}
	// A host that keeps standard input open does not hold a run that ended.
	r, w = io.Pipe()
	defer w.Close()
	_, wait = l.start(t, wire.Run{Argv: []string{"true"}, Stdin: true}, r)
	if got := wait(); got.Code != 0 {
		t.Errorf("%+v", got)
	}
}

func testTerminal(t *testing.T, l *link) {
	id, wait := l.start(t, wire.Run{
		Argv: []string{"sh", "-c", "tty; stty size; read x; stty size; sleep 100"}, TTY: true, Stdin: true, Rows: 30, Cols: 90,
	}, strings.NewReader("\n"))
	l.ok(t, http.MethodPost, "/resize?run="+id+"&rows=40&cols=100", nil, nil)
	l.ok(t, http.MethodPost, "/signal?run="+id+"&signal=15", nil, nil)
	got := wait()
	if got.Code != 128+15 {
		t.Errorf("%+v", got)
	}
	_, wait = l.start(t, wire.Run{Argv: []string{"sh", "-c", "tty; stty size"}, TTY: true, Rows: 30, Cols: 90}, nil)
	if got := wait(); !strings.HasPrefix(got.Out, "/dev/pts/") || !strings.HasSuffix(got.Out, "\r\n30 90\r\n") {
		t.Errorf("%+v", got)
	}
}

func testSignal(t *testing.T, b *box, l *link) {
	id, wait := l.start(t, wire.Run{Argv: []string{"sh", "-c", "trap 'echo int; exit 5' INT; : > /tmp/ready; sleep 100 & wait"}}, nil)
	eventually(t, "the trap is set", func() bool { return b.sh(t, "ls /tmp") == "ready\n" })
	l.ok(t, http.MethodPost, "/signal?run="+id+"&signal=2", nil, nil)
	if got := wait(); got.Code != 5 || got.Out != "int\n" {
		t.Errorf("%+v", got)
	}
	if resp, _ := l.call(t, http.MethodPost, "/signal?run="+id+"&signal=2", nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("signal after the end: %s", resp.Status)
	}
}

func testHeldStdout(t *testing.T, l *link) {
	start := time.Now()
	got := l.sh(t, "(trap '' HUP; echo early; exec sleep 300) & exit 4")
	if got.Code != 4 || got.Out != "early\n" || time.Since(start) > 2*time.Minute { // of five
		t.Errorf("%+v after %s", got, time.Since(start))
	}
}

// testDaemons: what leaves the session is gone when the run has ended.
func testIPC(t *testing.T, b *box, l *link) {
	got := l.sh(t, "ipcmk -M 8192 && ipcmk -Q && ipcmk -S 3 && grep -c 1000 /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem")
	if got.Code != 0 || strings.Count(got.Out, ":1") != 3 {
		t.Fatalf("%+v", got)
	}
	if left := b.sh(t, "tail -q -n +2 /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem"); left != "" {
		t.Errorf("left: %s", left)
	}
}

func testDaemons(t *testing.T, b *box, l *link) {
	if got := l.sh(t, "setsid -f sh -c 'exec sleep 301' >/dev/null 2>&1 </dev/null; (setsid sleep 302 >/dev/null 2>&1 </dev/null &)"); got.Code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := b.sh(t, "pgrep -u 1000 -r R,S,D,T || true"); got != "" {
		t.Errorf("alive: %q", got)
	}
}

// testForkChains: processes that fork and exit win against a scan of /proc.
func testForkChains(t *testing.T, b *box, l *link) {
	chain := `perl -e 'use POSIX; for (1..16) { next if fork; POSIX::setsid(); close STDOUT; close STDERR; while (1) { exit if fork } }'`
	if got := l.sh(t, chain); got.Code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := b.sh(t, "pgrep -u 1000 -r R,S,D,T || true"); got != "" {
		t.Errorf("alive: %q", got)
	}
	_, wait := l.start(t, wire.Run{Argv: []string{"sh", "-c", chain + "; sleep 300"}}, nil)
	l.ok(t, http.MethodPost, "/kill", nil, nil)
	if got := wait(); got.Code != 137 {
		t.Errorf("%+v", got)
	}
	// Process 1 has reaped them all.
	eventually(t, "no zombies", func() bool { return b.sh(t, "pgrep -u 1000 || true") == "" })
}

func testConcurrent(t *testing.T, l *link) {
	r, w := io.Pipe()
	_, wait := l.start(t, wire.Run{Argv: []string{"cat"}, Stdin: true}, r)
	if got := l.sh(t, "true"); got.Code != 0 {
		t.Errorf("%+v", got)
	}
	io.WriteString(w, "still here")
	w.Close()
	if got := wait(); got.Code != 0 || got.Out != "still here" {
		t.Errorf("the end of another run ended this one: %+v", got)
	}
}

func testDiffAndReset(t *testing.T, l *link) {
	l.sh(t, "echo more >> a.txt; rm d/b; mkdir -p node_modules/x é; echo 12345 > node_modules/x/y; mkfifo é/p; sleep 300 &")
	resp, patch := l.call(t, http.MethodGet, "/diff?max=1000000", nil)
	var dropped []wire.Dropped
	must(t, json.Unmarshal([]byte(resp.Header.Get(wire.DroppedHeader)), &dropped))
	want := []wire.Dropped{{Path: "node_modules", Bytes: 6, Why: "litter"}, {Path: "é/p", Why: "special"}}
	if diff := cmp.Diff(want, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if !strings.Contains(patch, "+more\n") || !strings.Contains(patch, "deleted file mode 100644") || !strings.Contains(patch, "\nftl-end files=2 ") {
		t.Errorf("patch:\n%s", patch)
	}
	if resp, text := l.call(t, http.MethodGet, "/diff?max=10", nil); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("over the bound: %s: %s", resp.Status, text)
	}
	if resp, _ := l.call(t, http.MethodPost, "/reset", strings.NewReader(`{"id":"b2","from":"other"}`)); resp.StatusCode != http.StatusConflict {
		t.Errorf("reset from another base: %s", resp.Status)
	}
	var report wire.ResetReport
	l.ok(t, http.MethodPost, "/reset", wire.Reset{ID: "b1", From: "b1", Keep: []string{"node_modules"}}, &report)
	if report.Written != 2 || !cmp.Equal(report.Kept, []string{"node_modules"}) || report.Setup {
		t.Errorf("reset: %+v", report)
	}
	if got := l.sh(t, "cat a.txt d/b; ls -A"); got.Out != "one\ntwo\n.git\n.gitignore\na.txt\nd\nnode_modules\n" {
		t.Errorf("after the reset: %q", got.Out)
	}
	l.ok(t, http.MethodPost, "/reset", wire.Reset{ID: "b1", From: "b1", Keep: []string{"node_modules"}, Clean: true}, &report)
	if got := l.sh(t, "ls"); got.Out != "a.txt\nd\n" {
		t.Errorf("after a clean reset: %q", got.Out)
	}
}

// testPoisonedHome: history and caches stay, what would steer the next task
// does not, and links in their places neither.
func testPoisonedHome(t *testing.T, b *box, l *link, base map[string]string) {
	l.sh(t, `cd ~ && mkdir -p .agent/history .cache/pip .cargo .local/bin && ln -s /etc .npm && echo x > .agent/settings.json && echo h > .agent/history/h &&
		echo c > .cache/pip/c && echo x > .cargo/config.toml && echo r > .cargo/r && echo evil > .bashrc && echo x > /tmp/x && echo x > /var/tmp/x &&
		echo x > /dev/shm/x; mkdir -p /tmp/d/.git; chmod 0 .cache`)
	l.reset(t, "b1", base)
	got := l.sh(t, "cd ~; find . -mindepth 1 | LC_ALL=C sort; find /tmp /var/tmp /dev/shm -mindepth 1; cmp .bashrc /etc/skel/.bashrc").Out
	want := []string{"./.agent", "./.agent/history", "./.agent/history/h", "./.bash_logout", "./.bashrc", "./.cache", "./.cache/pip", "./.cache/pip/c",
		"./.cargo", "./.cargo/r", "./.local", "./.local/bin", "./.profile", ""}
	if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" {
		t.Errorf("home (-want +got):\n%s", diff)
	}
	l.sh(t, "cd ~; rm -rf .agent .cache; ln -s /workspace .cache; mkdir .agent; ln -s /etc .agent/history")
	l.reset(t, "b1", base)
	if got := l.sh(t, "cd ~; find . -type l; ls -d .cache .agent/history 2>/dev/null").Out; got != "" {
		t.Errorf("links stayed: %q", got)
	}
}

func testBusy(t *testing.T, b *box) {
	var out bytes.Buffer
	cmd := exec.Command("docker", "exec", "-i", b.id, "/guest", "serve")
	cmd.Stderr = &out
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitBusy || !strings.Contains(out.String(), "busy") {
		t.Errorf("exit %d: %s", code, &out)
	}
}

func testEnd(t *testing.T, b *box, l *link) {
	l.start(t, wire.Run{Argv: []string{"sh", "-c", "setsid -f sleep 303; sleep 304"}}, nil)
	must(t, l.close())
	eventually(t, "the agent is gone", func() bool { return b.sh(t, "pgrep -u 1000 || true") == "" })
	var hello wire.Hello
	b.serve(t).ok(t, http.MethodGet, "/hello", nil, &hello)
	if hello.Base != "b1" {
		t.Errorf("another guest finds base %q", hello.Base)
	}
}

// TestNotes hits the limits of a small sandbox; the guest outlives both.
func TestNotes(t *testing.T) {
	b := newBox(t, 600, "--memory", "128m", "--memory-swap", "128m", "--pids-limit", "120")
	l := b.serve(t)
	l.reset(t, "b1", map[string]string{"a": "x"})
	got := l.sh(t, "perl -e '$x = \"x\" x 400_000_000; print length $x'")
	if got.Code != 137 || got.Note.OOM < 1 {
		t.Errorf("out of memory: %+v", got)
	}
	got = l.sh(t, "perl -e 'for (1..200) { defined(my $p = fork) or last; sleep 60 if !$p } kill 9, $$'")
	if got.Note.Pids < 1 {
		t.Errorf("process limit: %+v", got)
	}
	if out := b.sh(t, "pgrep -u 1000 -r R,S,D,T || true"); out != "" {
		t.Errorf("alive after the process limit: %q", out)
	}
	_, wait := l.start(t, wire.Run{Argv: []string{"sh", "-c", "head -c 300000000 /dev/zero > big; sleep 60"}, Disk: 100 << 20}, nil)
	if got := wait(); !got.Note.Disk || got.Code < 128 {
		t.Errorf("disk bound: %+v", got)
	}
	if _, text := l.call(t, http.MethodGet, "/diff?max=1000000000", nil); !strings.Contains(text, "ftl-end files=1 ") {
		t.Errorf("no diff: %.300s", text)
	}
}

// TestInitEnds: process 1 hibernates when idle, not while a guest is there, and
// ends at once when told so.
func TestInitEnds(t *testing.T) {
	b := newBox(t, 1)
	l := b.serve(t)
	l.reset(t, "b1", map[string]string{"a": "x"})
	if got := l.sh(t, "sleep 2; echo done"); got.Out != "done\n" {
		t.Errorf("%+v", got)
	}
	must(t, l.close())
	state := func() string {
		return strings.TrimSpace(docker(t, "inspect", "-f", "{{.State.Status}} {{.State.ExitCode}}", b.id))
	}
	eventually(t, "idle end", func() bool { return state() == "exited 0" })
	docker(t, "start", b.id)
	start := time.Now()
	docker(t, "stop", "-t", "60", b.id)
	if got := state(); got != "exited 0" || time.Since(start) > 50*time.Second { // of a minute
		t.Errorf("stop: %s after %s", got, time.Since(start))
	}
}
