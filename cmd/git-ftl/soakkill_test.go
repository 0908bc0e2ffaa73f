//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// soakCase is one command with what was before it and what came of it.
type soakCase struct {
	*soakAct
	was    map[*soakPlace]soakState
	index  map[*soakPlace]string // bytes
	states map[string]string     // of results
	code   int                   // -1: killed
	out    string                // of the command
	next   []string
	said   string // by the next command
	struck string
}

// before notes what there is.
func (s *soak) before(a *soakAct) *soakCase {
	c := &soakCase{soakAct: a, was: map[*soakPlace]soakState{}, index: map[*soakPlace]string{}, states: map[string]string{}}
	for _, p := range a.place.repo.places {
		c.was[p], c.index[p] = s.state(p), s.indexBytes(p)
	}
	for _, t := range s.listed(a.place) {
		c.states[t.ID] = t.State
	}
	return c
}

// victims picks what is killed.
func (s *soak) victims(a *soakAct, rng *rand.Rand) []string {
	ways := [][]string{{"git-ftl"}, {"group"}}
	if a.agent && a.detach {
		ways = append(ways, []string{"worker"}, []string{"worker"}, []string{"git-ftl", "worker"})
	}
	if s.engine != nil && a.agent {
		ways = append(ways, []string{"guest"}, []string{"init"}, []string{"guest", "git-ftl"})
	}
	if s.engine != nil && a.engine {
		ways = append(ways, []string{"engine"}, []string{"engine", "git-ftl"})
		if a.detach {
			ways = append(ways, []string{"engine", "worker"})
		}
	}
	return ways[rng.IntN(len(ways))]
}

// act runs a command, kills at a moment within its usual time, and runs the next
// one. It gives false where nothing was killed: all was over by then, or the usual time
// was not known yet.
func (s *soak) act(c *soakCase, rng *rand.Rand) bool {
	usual := s.usual[c.name]
	victims := s.victims(c.soakAct, rng)
	deep := rng.IntN(3) // how much of the engine is killed
	delay := time.Duration(rng.Float64() * 1.25 * float64(usual))
	atOnce := rng.IntN(2) == 0 // the engine comes back while git-ftl still deals with its end
	look := [][]string{{"status"}, {"status"}, {"list"}, {"gc", "-n"}, {"snapshots"}}[rng.IntN(5)]
	began := time.Now()
	r := s.start(c.place, c.env, c.args...)
	if usual > 0 {
		time.Sleep(delay)
		c.struck = strings.Join(s.strike(r, c, victims, deep), "+")
		s.doing += "; killed " + c.struck + " after " + delay.String()
	}
	down := slices.Contains(victims, "engine") && usual > 0
	if down && atOnce {
		s.must(s.engine.start())
	}
	c.code = s.wait(r)
	if c.detach && (down && !atOnce || usual == 0) {
		s.until("the worker ends", func() []process { return s.ours(c.place) })
	}
	if down && !atOnce {
		s.must(s.engine.start())
	}
	c.out = r.out.String()
	took := r.took
	if c.detach {
		took = time.Since(began)
	}
	if usual == 0 || c.struck == "nothing" && !c.detach {
		s.usual[c.name] = (3*usual + took) / max(1, map[bool]time.Duration{true: 1, false: 4}[usual == 0])
	}
	s.follow(c, look)
	return c.struck != "" && c.struck != "nothing"
}

// follow runs the next command, and waits until nothing of the last one runs.
func (s *soak) follow(c *soakCase, look []string) {
	c.next = look
	if c.detach && len(s.ours(c.place)) > 0 {
		c.next = []string{"wait"}
	}
	code, out := s.ftl(c.place, c.next...)
	c.said = out
	s.doing += "; then " + strings.Join(c.next, " ")
	if code != 0 && c.next[0] != "wait" {
		s.fail("exit %d:\n%s\nafter, exit %d:\n%s", code, out, c.code, c.out)
	}
	s.until("what was left ends", func() []process { return slices.Concat(s.ours(c.place), s.agentsLeft(c.place)) })
	if c.detach { // a worker that was about to begin may have been killed after it
		_, out := s.ftl(c.place, "status")
		c.said += out
	}
}

// until polls until no process is left.
func (s *soak) until(what string, left func() []process) {
	s.t.Helper()
	deadline := time.Now().Add(hang)
	for {
		all := left()
		if len(all) == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.fail("not so after %s: %s\n%s", hang, what, describe(all))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// describe shows processes with their state and what they wait in.
func describe(all []process) string {
	var b strings.Builder
	for _, p := range all {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		group, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", p.pid))
		fmt.Fprintf(&b, "%d %q in %s\n%s\n%s\n", p.pid, p.argv, p.cwd(), status[:min(len(status), 200)], group[:min(len(group), 200)])
	}
	return b.String()
}

// ours are the processes of git-ftl, and those of git that it started, in a
// repository.
func (s *soak) ours(p *soakPlace) []process {
	var all []process
	for _, pr := range processes() {
		mine := filepath.Base(pr.argv[0]) == "git-ftl" || filepath.Base(pr.argv[0]) == "git"
		if mine && strings.HasPrefix(pr.cwd(), s.dir) {
			all = append(all, pr)
		}
	}
	return all
}

// guests are the processes in the sandboxes of a repository, with their init.
func (s *soak) guests(p *soakPlace) []process {
	ids := s.records(p.repo)
	var all []process
	for _, pr := range processes() {
		if slices.ContainsFunc(ids, func(r soakRecord) bool { return r.ID != "" && pr.in(r.ID) }) {
			all = append(all, pr)
		}
	}
	return all
}

func (pr process) guest(verb string) bool {
	return strings.HasPrefix(filepath.Base(pr.argv[0]), "guest-") && len(pr.argv) > 1 && pr.argv[1] == verb
}

// agentsLeft are processes in sandboxes that are not the init, which stays. An
// engine that is killed between making a process and letting it go leaves "runc
// init" waiting until the container is used or removed: it has run nothing of ours.
func (s *soak) agentsLeft(p *soakPlace) []process {
	return slices.DeleteFunc(s.guests(p), func(pr process) bool {
		return pr.guest("init") || len(pr.argv) == 2 && pr.argv[0] == "runc" && pr.argv[1] == "init"
	})
}

// strike kills, and gives what there was to kill; "nothing" where all was over.
func (s *soak) strike(r *soakRun, c *soakCase, victims []string, deep int) []string {
	var struck []string
	kill := func(name string, fits func(process) bool, among []process) {
		for _, pr := range among {
			if fits(pr) && syscall.Kill(pr.pid, syscall.SIGKILL) == nil {
				struck = append(struck, name)
			}
		}
	}
	for _, v := range victims {
		alive := len(r.ended) == 0
		switch v {
		case "git-ftl":
			if alive && r.cmd.Process.Kill() == nil {
				struck = append(struck, v)
			}
		case "group":
			if alive && syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) == nil {
				struck = append(struck, v)
			}
		case "worker":
			kill(v, func(pr process) bool { return len(pr.argv) > 1 && pr.argv[1] == workerVerb }, s.ours(c.place))
		case "guest":
			kill(v, func(pr process) bool { return pr.guest("serve") }, s.guests(c.place))
		case "init":
			kill(v, func(pr process) bool { return pr.guest("init") }, s.guests(c.place))
		case "engine":
			s.engine.kill(deep > 0, deep > 1)
			struck = append(struck, []string{"dockerd", "dockerd+containerd", "dockerd+containerd+shims"}[deep])
		}
	}
	if len(struck) == 0 {
		return []string{"nothing"}
	}
	return slices.Compact(struck)
}
