package container

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestTask is one after the other what a task does, with the export mounted and
// without: the results are the same.
func TestTask(t *testing.T) {
	for _, mounted := range []bool{true, false} {
		name := "mounted"
		if !mounted {
			name = "sent"
		}
		t.Run(name, func(t *testing.T) {
			e := engine(t)
			e.mounts.Store(mounted)
			s := acquire(t, pool(t, e), Spec{})
			if s.con.hello.Dirs != mounted {
				t.Fatalf("the guest sees mounts: %v", s.con.hello.Dirs)
			}
			r := newRepository(t)
			reset(t, s, r.base(s, map[string]string{"a": "1\n", "dir/b": "b\n", "old": "x\n", "gr\u00fc\u00df e": "y\n"}))
			if got := shell(t, s, "cat a dir/b old gr*; echo 2 >a; rm dir/b"); got != "1\nb\nx\ny\n" {
				t.Errorf("first base: %q", got)
			}
			if patch := diff(t, s); !strings.Contains(patch, "-1\n+2\n") || !strings.Contains(patch, "deleted file") {
				t.Errorf("patch %s", patch)
			}
			// A change of the base, sent as one.
			reset(t, s, r.base(s, map[string]string{"dir/b": "B\n", "new/c": "c\n"}, "old"))
			if got := shell(t, s, "cat a dir/b new/c; ls old 2>/dev/null"); got != "1\nB\nc\n" {
				t.Errorf("second base: %q", got)
			}
			if patch := diff(t, s); patch != "" {
				t.Errorf("patch %s", patch)
			}
			// The guest is not at this From: all is sent.
			b := r.base(s, map[string]string{"a": "3\n"})
			b.From = strings.Repeat("0", 40)
			reset(t, s, b)
			if got := shell(t, s, "cat a dir/b new/c; ls /mnt/snapshot"); got != "3\nB\nc\na\ndir\ngr\u00fc\u00df e\nnew\n" {
				t.Errorf("third base: %q", got)
			}
		})
	}
}

func TestGuestDeathKillsTheAgent(t *testing.T) {
	s := acquire(t, pool(t, engine(t)), Spec{})
	r := newRepository(t)
	reset(t, s, r.base(s, map[string]string{"a": "1\n"}))
	out := &onWrite{}
	out.do = func() {
		// As the engine's user: the agent itself cannot signal the guest.
		stream, err := s.pool.Engine.Attach(t.Context(), s.rec.ID, []string{"/bin/sh", "-c",
			"for p in /proc/[0-9]*; do grep -qz serve $p/cmdline && kill -9 ${p#/proc/}; done"})
		if err != nil {
			t.Error(err)
			return
		}
		defer stream.Close()
		_, _ = stream.Read(make([]byte, 1))
	}
	exit, err := s.Run(t.Context(), Cmd{
		Argv: []string{"/bin/sh", "-c", "echo 2 >a; sleep 1000 & echo started; wait"}, Env: agentEnv(), Stdout: out,
	})
	if err != nil || !exit.Died || exit.Code == 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if patch := diff(t, s); !strings.Contains(patch, "-1\n+2\n") {
		t.Errorf("patch %s", patch)
	}
	if got := shell(t, s, "grep -l ^sleep /proc/[0-9]*/comm 2>/dev/null; true"); got != "" {
		t.Errorf("the agent lives: %s", got)
	}
}

// TestBombs: whatever an agent does to its sandbox ends, says so, and leaves its
// change.
func TestBombs(t *testing.T) {
	for _, row := range []struct {
		name, script string
		spec         Spec
		bound        time.Duration
		said         func(Exit) bool
	}{
		{"forks", "echo 2 >a; f() { f & f & wait; }; f; sleep 3", Spec{Pids: 64}, 6 * time.Second,
			func(e Exit) bool { return e.Died || e.Pids > 0 }},
		{"memory", "echo 2 >a; for i in 1 2 3 4; do tail /dev/zero & done; wait; exit 9", Spec{Memory: 128 << 20}, time.Minute,
			func(e Exit) bool { return e.OOM > 0 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := acquire(t, pool(t, engine(t)), row.spec)
			r := newRepository(t)
			reset(t, s, r.base(s, map[string]string{"a": "1\n"}))
			ctx, cancel := context.WithTimeout(t.Context(), row.bound)
			defer cancel()
			exit, err := s.Run(ctx, Cmd{Argv: []string{"/bin/sh", "-c", row.script}, Env: agentEnv(), Grace: time.Second})
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			if !row.said(exit) {
				t.Errorf("nothing is said: %+v", exit)
			}
			var patch bytes.Buffer
			until(t, "a diff", func() bool {
				patch.Reset()
				_, err := s.Diff(t.Context(), &patch, 1<<20)
				return err == nil
			})
			if !strings.Contains(patch.String(), "-1\n+2\n") {
				t.Errorf("patch %s", &patch)
			}
			if got := shell(t, s, "cat a"); got != "2\n" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

// TestPauseEndsNothing: a suspended machine or a paused sandbox is only late.
func TestPauseEndsNothing(t *testing.T) {
	e := engine(t)
	s := acquire(t, pool(t, e), Spec{})
	paused := make(chan error, 1)
	out := &onWrite{}
	out.do = func() {
		if out.Len() > 0 {
			return
		}
		if err := e.api.ContainerPause(t.Context(), s.rec.ID); err != nil {
			t.Error(err)
		}
		time.AfterFunc(5*time.Second, func() { paused <- e.api.ContainerUnpause(t.Context(), s.rec.ID) })
	}
	exit, err := s.Run(t.Context(), Cmd{
		Argv: []string{"/bin/sh", "-c", "echo one; sleep 1; echo two; exit 4"}, Env: agentEnv(), Stdout: out,
	})
	if err != nil || exit.Code != 4 || exit.Died || out.String() != "one\ntwo\n" {
		t.Errorf("%+v, %v, output %q", exit, err, out)
	}
	if err := <-paused; err != nil {
		t.Error(err)
	}
}

func TestKillDuringRun(t *testing.T) {
	s := acquire(t, pool(t, engine(t)), Spec{})
	out := &onWrite{do: func() {
		if err := s.Kill(t.Context()); err != nil {
			t.Error(err)
		}
	}}
	exit, err := s.Run(t.Context(), Cmd{
		Argv: []string{"/bin/sh", "-c", "trap '' TERM; setsid sleep 1000 & echo started; wait"}, Env: agentEnv(), Stdout: out,
	})
	if err != nil || exit.Code != 137 || exit.Died {
		t.Errorf("%+v, %v", exit, err)
	}
	if got := shell(t, s, "grep -l ^sleep /proc/[0-9]*/comm 2>/dev/null; true"); got != "" {
		t.Errorf("alive: %s", got)
	}
}

// TestContextEndsRealRun: SIGTERM first, which a program may use to save its work,
// and then the end of all, whoever ignores it.
func TestContextEndsRealRun(t *testing.T) {
	s := acquire(t, pool(t, engine(t)), Spec{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &onWrite{do: cancel}
	exit, err := s.Run(ctx, Cmd{
		Argv: []string{"/bin/sh", "-c", "trap 'echo saved' TERM; echo started; while :; do sleep 0.1; done"},
		Env:  agentEnv(), Stdout: out, Grace: time.Second,
	})
	if !errors.Is(err, context.Canceled) || exit.Code != 137 || exit.Died || out.String() != "started\nsaved\n" {
		t.Errorf("%+v, %v, output %q", exit, err, out)
	}
}

// TestTerminal: a program sees a terminal of the size that was asked for, and its
// changes.
func TestTerminal(t *testing.T) {
	s := acquire(t, pool(t, engine(t)), Spec{})
	sizes := make(chan TTY, 1)
	out := &onWrite{do: func() {
		select {
		case sizes <- TTY{Rows: 30, Cols: 100}:
		default:
		}
	}}
	exit, err := s.Run(t.Context(), Cmd{
		Argv: []string{"/bin/sh", "-c", "trap 'stty size; exit 5' WINCH; stty size; while :; do sleep 0.1; done"},
		Env:  agentEnv(), Stdout: out, TTY: &TTY{Rows: 24, Cols: 80, Resize: sizes},
	})
	if err != nil || exit.Code != 5 || out.String() != "24 80\r\n30 100\r\n" {
		t.Errorf("%+v, %v, output %q", exit, err, out)
	}
}

func TestRunNotFound(t *testing.T) {
	s := acquire(t, pool(t, engine(t)), Spec{})
	var errs bytes.Buffer
	exit, err := s.Run(t.Context(), Cmd{Argv: []string{"no-such-program"}, Env: agentEnv(), Stderr: &errs})
	if err != nil || exit.Code != 127 || !strings.Contains(errs.String(), "no-such-program") {
		t.Errorf("%+v, %v, %q", exit, err, &errs)
	}
}
