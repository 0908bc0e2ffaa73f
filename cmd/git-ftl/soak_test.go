//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"
)

// soak kills git-ftl, its guest and its engine at random moments, and looks at what
// the next command makes of it.
type soak struct {
	t      *testing.T
	seed   uint64
	n      int    // of the step
	doing  string // for the report of a failure
	dir    string
	bin    string
	env    []string
	engine *privateEngine // nil: the engine at hand, which is not ours to kill
	made   int            // repositories
	repos  []*soakRepo
	usual  map[string]time.Duration // that a verb takes undisturbed
	tally  map[[3]string]int        // verb, victim, what came of it
}

// soakReserve is the time that the last step and the end may take.
const soakReserve = 4 * time.Minute

// TestSoak kills at random as often as FTL_SOAK says (50 otherwise), by the choices
// of FTL_SOAK_SEED.
func TestSoak(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT RUN: kills at random moments (-short)")
	}
	needEngine(t)
	s := newSoak(t)
	kills := soakNumber(t, "FTL_SOAK", 50)
	t.Logf("%d kills, FTL_SOAK_SEED=%d", kills, s.seed)
	defer s.report()
	for _, kind := range []string{"plain", "linked", "autocrlf"} {
		s.repos = append(s.repos, s.newRepo(kind))
	}
	deadline, bounded := t.Deadline()
	for done := uint64(0); done < kills; s.n++ {
		if bounded && time.Until(deadline) < soakReserve {
			t.Fatalf("only %d of %d kills in the time that go test has", done, kills)
		}
		if s.step() {
			done++
		}
	}
	for _, r := range s.repos {
		s.gc(r)
		s.drop(r)
	}
}

func newSoak(t *testing.T) *soak {
	s := &soak{
		t: t, n: 1, seed: soakNumber(t, "FTL_SOAK_SEED", uint64(time.Now().UnixNano())),
		usual: map[string]time.Duration{}, tally: map[[3]string]int{},
	}
	var why string
	if s.engine, why = newPrivateEngine(t); s.engine == nil {
		t.Logf("NOT RUN: kills of the engine and of the guest: %s", why)
	}
	s.dir = t.TempDir()
	s.bin = filepath.Join(s.dir, "bin", "git-ftl")
	home := filepath.Join(s.dir, "home")
	s.must(errors.Join(os.MkdirAll(filepath.Dir(s.bin), 0o755), os.MkdirAll(home, 0o755)))
	self, err := os.Executable()
	s.must(err)
	data, err := os.ReadFile(self)
	s.must(err)
	s.must(os.WriteFile(s.bin, data, 0o755))
	config := gitConfig + "[ftl]\n\timage = " + soakImage + "\n\tagent = soak\n[ftl \"agents.soak\"]\n\tcommand = sh\n[gc]\n\tauto = 0\n"
	s.must(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644))
	s.env = []string{
		"HOME=" + home, "PATH=" + filepath.Dir(s.bin) + ":" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(s.dir), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C",
	}
	if s.engine != nil {
		s.env = append(s.env, "DOCKER_HOST="+s.engine.host())
	} else if host := os.Getenv("DOCKER_HOST"); host != "" {
		s.env = append(s.env, "DOCKER_HOST="+host)
	}
	return s
}

func soakNumber(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%s: %v", name, text, err)
	}
	return n
}

// fail ends the test, and says how to choose the same once more.
func (s *soak) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("seed %d, step %d (timing is random): %s\n%s", s.seed, s.n, s.doing, fmt.Sprintf(format, args...))
}

func (s *soak) must(err error) {
	s.t.Helper()
	if err != nil {
		s.fail("%v", err)
	}
}

// git runs git as the user, and gives what it prints.
func (s *soak) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, s.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.fail("git %q in %s: %v\n%s", args, dir, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// soakRun is a command of git-ftl on its way.
type soakRun struct {
	cmd   *exec.Cmd
	out   bytes.Buffer
	ended chan error
	took  time.Duration
}

// hang is when a command is taken to be stuck.
const hang = 3 * time.Minute

func (s *soak) start(p *soakPlace, env []string, args ...string) *soakRun {
	r := &soakRun{cmd: exec.Command(s.bin, args...), ended: make(chan error, 1)}
	r.cmd.Dir, r.cmd.Env = p.dir, append(slices.Clone(s.env), env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.WaitDelay = time.Second // a child that outlives it has its output
	began := time.Now()
	s.must(r.cmd.Start())
	go func() {
		err := r.cmd.Wait()
		r.took = time.Since(began)
		r.ended <- err
	}()
	return r
}

// wait gives the exit code, -1 for a killed one.
func (s *soak) wait(r *soakRun) int {
	select {
	case <-r.ended:
		return r.cmd.ProcessState.ExitCode()
	case <-time.After(hang):
		_ = r.cmd.Process.Signal(syscall.SIGQUIT)
		<-r.ended
		s.fail("%q hangs:\n%s", r.cmd.Args[1:], r.out.String())
		return 0
	}
}

// ftl runs a command to its end.
func (s *soak) ftl(p *soakPlace, args ...string) (code int, out string) {
	r := s.start(p, nil, args...)
	code = s.wait(r)
	return code, r.out.String()
}

// report prints what was killed, how often, and what came of it.
func (s *soak) report() {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "verb\tkilled\ttimes\tthen")
	for _, key := range slices.SortedFunc(maps.Keys(s.tally), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", key[0], key[1], s.tally[key], key[2])
	}
	s.must(w.Flush())
	s.t.Logf("seed %d, %d steps\n%s", s.seed, s.n-1, b.String())
}

// step does one command and its kill; false where nothing was killed.
func (s *soak) step() bool {
	rng := rand.New(rand.NewPCG(s.seed, uint64(s.n)))
	i := rng.IntN(len(s.repos))
	if r := s.repos[i]; r.age > 30 {
		s.doing = "replace the repository"
		s.gc(r)
		s.drop(r)
		s.repos[i] = s.newRepo(r.name)
	}
	r := s.repos[i]
	r.age++
	p := r.places[rng.IntN(len(r.places))]
	s.doing = "prepare in " + p.dir
	edited := s.edit(p, rng)
	a := s.choose(p, rng)
	s.doing = fmt.Sprintf("%s in %s (%s): %q", a.name, p.dir, edited, a.args)
	c := s.before(a)
	killed := s.act(c, rng)
	s.check(c)
	if s.n%10 == 0 {
		s.doing += "; then git gc"
		s.gc(r)
	}
	return killed
}
