package container

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFit(t *testing.T) {
	base := fit{Image: "i", Memory: 1 << 30, CPUs: 1, Pids: 10, Guest: "v", Export: "/e"}
	for _, row := range []struct {
		name   string
		change func(*fit)
		want   string
	}{
		{"same", func(*fit) {}, ""},
		{"image", func(f *fit) { f.Image = "j" }, "the image changed"},
		{"memory", func(f *fit) { f.Memory = 2 << 30 }, "memory was 1GiB and is to be 2GiB"},
		{"cpus", func(f *fit) { f.CPUs = 1.5 }, "cpus were 1 and are to be 1.5"},
		{"pids", func(f *fit) { f.Pids = 20 }, "the process limit was 10 and is to be 20"},
		{"default", func(f *fit) { f.Memory = 0 }, "memory was 1GiB and is to be the default"},
		{"runtime", func(f *fit) { f.Runtime = "runsc" }, `runtime was "" and is to be "runsc"`},
		{"guest", func(f *fit) { f.Guest = "w" }, "its guest is of another version of git-ftl"},
		{"export", func(f *fit) { f.Export = "/f" }, "the repository moved"},
	} {
		t.Run(row.name, func(t *testing.T) {
			want := base
			row.change(&want)
			if got := base.unlike(want); got != row.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestNamesStayInTheFolder(t *testing.T) {
	p := &Pool{Dir: t.TempDir()}
	for _, name := range []string{"", "../x", "a/b", ".hidden", "a\\b", "-x", strings.Repeat("a", 200)} {
		if _, _, err := p.claim(t.Context(), name); err == nil || !strings.Contains(err.Error(), "not allowed") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestWarmSandboxIsReused(t *testing.T) {
	p := pool(t, engine(t))
	first := acquire(t, p, Spec{})
	if first.Warm() || first.Name() != "repo-1" {
		t.Errorf("warm %v, name %s", first.Warm(), first.Name())
	}
	release(t, first)
	second := acquire(t, p, Spec{})
	if !second.Warm() || second.rec.ID != first.rec.ID || second.Replaced != "" {
		t.Errorf("warm %v, same %v, replaced %q", second.Warm(), second.rec.ID == first.rec.ID, second.Replaced)
	}
}

func TestConcurrentClaims(t *testing.T) {
	p := pool(t, engine(t))
	spec := specOf(t, Spec{})
	var mu sync.Mutex
	names := map[string]bool{}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			s, err := p.Acquire(t.Context(), spec)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			names[s.Name()] = true
			t.Cleanup(func() { release(t, s) })
		})
	}
	wg.Wait()
	if d := cmp.Diff(map[string]bool{"repo-1": true, "repo-2": true, "repo-3": true}, names); d != "" {
		t.Error(d)
	}
	list, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range list {
		if !info.Busy || info.State != Running {
			t.Errorf("%+v", info)
		}
	}
	if err := p.Remove(t.Context(), "repo-2"); !errors.Is(err, ErrBusy) {
		t.Errorf("remove gives %v", err)
	}
}

// TestKilledHolder: the claim ends with its process, and the sandbox is taken as
// it is. The holder is this test in a process of its own.
func TestKilledHolder(t *testing.T) {
	if dir := os.Getenv("FTL_TEST_HOLDER"); dir != "" {
		p := &Pool{Engine: engine(t), Dir: dir, Owner: os.Getenv("FTL_TEST_OWNER"), Now: time.Now}
		s := acquire(t, p, Spec{})
		if err := os.WriteFile(filepath.Join(dir, "claimed"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Run(t.Context(), Cmd{Argv: []string{"/bin/sleep", "100"}})
		return
	}
	p := pool(t, engine(t))
	guest := filepath.Join(t.TempDir(), "guest")
	bin, err := specOf(t, Spec{}).Guest.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(guest, bin, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledHolder$")
	cmd.Env = append(os.Environ(), "FTL_TEST_HOLDER="+p.Dir, "FTL_TEST_OWNER="+p.Owner, "FTL_TEST_GUEST="+guest)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the claim", func() bool { return exists(filepath.Join(p.Dir, "claimed")) })
	if err := p.Stop(t.Context(), "repo-1"); !errors.Is(err, ErrBusy) {
		t.Errorf("stop gives %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	s := acquire(t, p, Spec{})
	if s.Name() != "repo-1" || !s.Warm() {
		t.Errorf("name %s, warm %v, replaced %q", s.Name(), s.Warm(), s.Replaced)
	}
	until(t, "the end of what the dead holder ran", func() bool {
		return shell(t, s, "pgrep -c sleep 2>/dev/null || grep -l ^sleep /proc/[0-9]*/comm 2>/dev/null | wc -l") == "0\n"
	})
}

func TestHibernation(t *testing.T) {
	p := pool(t, engine(t))
	s := acquire(t, p, Spec{Idle: time.Second})
	r := newRepository(t)
	reset(t, s, r.base(s, map[string]string{"a": "1\n"}))
	shell(t, s, "mkdir -p ~/.cache && echo kept >~/.cache/x")
	release(t, s)
	until(t, "sleep", func() bool {
		list, err := p.List(t.Context())
		return err == nil && list[0].State == Stopped
	})
	awake := acquire(t, p, Spec{Idle: time.Second})
	if !awake.Warm() || awake.rec.ID != s.rec.ID {
		t.Error("another sandbox was made")
	}
	if got := shell(t, awake, "cat ~/.cache/x /workspace/a"); got != "kept\n1\n" {
		t.Errorf("%q", got)
	}
}

func TestVanishedSandbox(t *testing.T) {
	e := engine(t)
	p := pool(t, e)
	s := acquire(t, p, Spec{})
	release(t, s)
	if err := e.Remove(t.Context(), s.rec.ID); err != nil {
		t.Fatal(err)
	}
	if list, err := p.List(t.Context()); err != nil || len(list) != 1 || list[0].State != Gone {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := p.Reclaim(t.Context(), "repo-1"); !errors.Is(err, ErrGone) {
		t.Errorf("reclaim gives %v", err)
	}
	again := acquire(t, p, Spec{})
	if again.Warm() || again.Replaced != "the engine has it no more" || again.Name() != "repo-1" {
		t.Errorf("warm %v, replaced %q, name %s", again.Warm(), again.Replaced, again.Name())
	}
}

func TestChangedLimitReplaces(t *testing.T) {
	e := engine(t)
	p := pool(t, e)
	s := acquire(t, p, Spec{Memory: 256 << 20})
	release(t, s)
	again := acquire(t, p, Spec{Memory: 300 << 20})
	if want := "memory was 256MiB and is to be 300MiB"; again.Replaced != want || again.Warm() {
		t.Errorf("replaced %q, warm %v", again.Replaced, again.Warm())
	}
	list, err := e.List(t.Context(), map[string]string{labelOwner: p.Owner})
	if err != nil || len(list) != 1 || list[0].ID != again.rec.ID {
		t.Errorf("the engine has %v, %v", list, err)
	}
}

// TestHeldWork: a sandbox with work that is stored nowhere else is neither reused
// nor replaced nor removed, and recovery finds it as it was.
func TestHeldWork(t *testing.T) {
	p := pool(t, engine(t))
	s := acquire(t, p, Spec{})
	r := newRepository(t)
	reset(t, s, r.base(s, map[string]string{"a": "1\n"}))
	if err := s.Hold("kxyz"); err != nil {
		t.Fatal(err)
	}
	shell(t, s, "echo 2 >a")
	release(t, s)
	other := acquire(t, p, Spec{Memory: 300 << 20})
	if other.Name() != "repo-2" {
		t.Errorf("the held sandbox was taken: %s", other.Name())
	}
	if err := p.Remove(t.Context(), "repo-1"); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "kxyz") {
		t.Errorf("remove gives %v", err)
	}
	back, err := p.Reclaim(t.Context(), "repo-1")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(diff(t, back), "+2\n") {
		t.Error("the work is lost")
	}
	if err := errors.Join(back.Unhold(), back.Release()); err != nil {
		t.Fatal(err)
	}
	if err := p.Remove(t.Context(), "repo-1"); err != nil {
		t.Error(err)
	}
	if exists(p.export("repo-1")) || exists(p.recordPath("repo-1")) {
		t.Error("something is left")
	}
	// Work can be thrown away by name, and by nothing else.
	if err := errors.Join(other.Hold("mnop"), other.Release(), p.Discard(t.Context(), "repo-2")); err != nil {
		t.Error(err)
	}
}

// TestCrashWhileMaking: the record comes first, so a sandbox whose maker died is
// found and removed.
func TestCrashWhileMaking(t *testing.T) {
	e := engine(t)
	p := pool(t, e)
	s := acquire(t, p, Spec{})
	release(t, s)
	half := s.rec
	half.ID = ""
	if err := p.write("repo-1", &half); err != nil {
		t.Fatal(err)
	}
	again := acquire(t, p, Spec{})
	if again.Replaced != "it was never finished" {
		t.Errorf("replaced %q", again.Replaced)
	}
	list, err := e.List(t.Context(), map[string]string{labelOwner: p.Owner})
	if err != nil || len(list) != 1 || list[0].ID != again.rec.ID {
		t.Errorf("the engine has %v, %v", list, err)
	}
}

// TestSweep: sandboxes that no record names go, those of other state folders and
// installations stay.
func TestSweep(t *testing.T) {
	e := engine(t)
	p := pool(t, e)
	kept, lost := acquire(t, p, Spec{}), acquire(t, p, Spec{})
	other := pool(t, e)
	foreign := acquire(t, other, Spec{})
	vanished := &Pool{Engine: e, Dir: filepath.Join(t.TempDir(), "repository"), Owner: p.Owner, Now: time.Now}
	homeless := acquire(t, vanished, Spec{})
	for _, s := range []*Sandbox{kept, lost, foreign, homeless} {
		release(t, s)
	}
	if err := errors.Join(p.forget(lost.Name()), os.RemoveAll(vanished.Dir)); err != nil {
		t.Fatal(err)
	}
	swept, err := p.Sweep(t.Context())
	if err != nil || len(swept) != 2 {
		t.Errorf("%v, %v", swept, err)
	}
	left := map[string]bool{}
	for _, owner := range []string{p.Owner, other.Owner} {
		list, err := e.List(t.Context(), map[string]string{labelOwner: owner})
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range list {
			left[info.ID] = true
		}
	}
	if d := cmp.Diff(map[string]bool{kept.rec.ID: true, foreign.rec.ID: true}, left); d != "" {
		t.Error(d)
	}
}

func TestFreshReplaces(t *testing.T) {
	p := pool(t, engine(t))
	first := acquire(t, p, Spec{})
	release(t, first)
	second := acquire(t, p, Spec{Fresh: true})
	if second.Warm() || second.Name() != first.Name() || second.rec.ID == first.rec.ID || second.Replaced == "" {
		t.Errorf("warm %v, name %s, replaced %q", second.Warm(), second.Name(), second.Replaced)
	}
}
