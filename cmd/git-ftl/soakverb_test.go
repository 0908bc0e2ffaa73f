//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
)

// soakAct is one command, and what it is to do to the work tree.
type soakAct struct {
	name    string
	place   *soakPlace
	args    []string
	env     []string
	agent   bool       // it runs the agent of this step
	engine  bool       // it may use the engine
	detach  bool       // a worker of its own does the task
	id      string     // of the result or snapshot
	after   *soakState // where it succeeds; nil where the work tree stays as it is
	undoes  bool
	refuses bool // it cannot succeed
}

// listed lists the tasks of a repository.
func (s *soak) listed(p *soakPlace) []taskLine {
	code, out := s.ftl(p, "list", "--json")
	var lines []taskLine
	if err := json.Unmarshal([]byte(out), &lines); code != 0 || err != nil {
		s.fail("list: exit %d, %v\n%s", code, err, out)
	}
	return lines
}

// choose picks a verb and what it is to act on.
func (s *soak) choose(p *soakPlace, rng *rand.Rand) *soakAct {
	tasks := s.listed(p)
	commands := false // a follow-up that is a command follows a command
	pick := func(states ...string) string {
		var fit []string
		for _, t := range tasks {
			if t.Result != "" && slices.Contains(states, t.State) && (!commands || t.Agent == agent.ExecName) {
				fit = append(fit, t.ID)
			}
		}
		if len(fit) == 0 {
			return ""
		}
		slices.Sort(fit)
		return fit[rng.IntN(len(fit))]
	}
	switch n := rng.IntN(100); {
	case n < 30:
		if id := pick("undecided", "undone", "partial"); id != "" {
			partly := slices.ContainsFunc(tasks, func(t taskLine) bool { return t.ID == id && t.State == "partial" })
			return s.applies(p, id, partly, rng)
		}
	case n < 42 && len(p.applied) > 0:
		return s.undoes(p)
	case n < 50:
		if id := pick("undecided", "undone", "partial"); id != "" {
			return &soakAct{name: "reject", place: p, id: id, args: []string{"reject", id}}
		}
	case n < 58:
		return &soakAct{name: "gc", place: p, engine: true, args: []string{"gc"}, env: []string{"FTL_RETENTION=1s"}}
	case n < 63:
		if id := pick("undecided", "undone", "partial", "applied", "rejected"); id != "" {
			return s.restores(p, id)
		}
	case n < 73:
		commands = true
		if id := pick("undecided"); id != "" {
			return s.agents("continue", p, "continue", id, "--", "sh", "-c", agentScript(s.n))
		}
	}
	return s.runs(p, rng)
}

func (s *soak) agents(name string, p *soakPlace, args ...string) *soakAct {
	return &soakAct{name: name, place: p, args: args, agent: true, engine: true, detach: slices.Contains(args, "-d")}
}

func (s *soak) runs(p *soakPlace, rng *rand.Rand) *soakAct {
	script := agentScript(s.n)
	switch rng.IntN(5) {
	case 0:
		return s.agents("run", p, "run", script)
	case 1:
		return s.agents("exec -d", p, "exec", "-d", "--", "sh", "-c", script)
	case 2:
		return s.agents("exec --attempts", p, "exec", "--attempts", "2", "--", "sh", "-c", script)
	}
	return s.agents("exec", p, "exec", "--", "sh", "-c", script)
}

// base is the snapshot that a result is based on: its newest ancestor that is none.
func (s *soak) base(p *soakPlace, ref string) string {
	for line := range strings.SplitSeq(s.git(p.dir, "log", "--first-parent", "--format=%H %(trailers:key=Ftl-Id,valueonly,separator=)", ref), "\n") {
		if commit, id, _ := strings.Cut(line, " "); id == "" {
			return commit
		}
	}
	s.fail("%s has no base", ref)
	return ""
}

// applies takes a result in one of the ways; one that is applied in part in the
// plain way alone, since what is left of it is not for git to know.
func (s *soak) applies(p *soakPlace, id string, partly bool, rng *rand.Rand) *soakAct {
	a := &soakAct{place: p, id: id}
	way, take := "", func(string) bool { return true }
	a.name, a.args = "apply", []string{"apply", id}
	ref := "refs/ftl/results/" + id
	base := s.base(p, ref)
	switch n := rng.IntN(6); {
	case partly:
	case n < 2:
		way = "--index"
	case n == 2:
		way = "--commit"
		a.args = append(a.args, "-m", fmt.Sprintf("apply %s", id))
	case n == 3:
		way = "--merge"
	case n == 4:
		way = "--"
	}
	if way != "" {
		a.name, a.args = "apply "+way, append(a.args, way)
	}
	o := s.newOracle(p)
	defer o.close()
	if way == "--" {
		paths := strings.Fields(o.git("diff-tree", "-r", "--no-renames", "--name-only", base, ref))
		only := paths[rng.IntN(len(paths))]
		a.args = append(a.args, only)
		take = func(path string) bool { return path == only }
	}
	if after, ok := o.applied(s.state(p), base, ref, way, take); ok {
		a.after = &after
	} else {
		a.refuses = true
		if way == "--merge" { // it would write markers
			a.name, a.args = "apply", a.args[:2]
		}
	}
	return a
}

func (s *soak) restores(p *soakPlace, id string) *soakAct {
	o := s.newOracle(p)
	defer o.close()
	after := s.state(p)
	to := o.git("rev-parse", "refs/ftl/snapshots/"+id+"^{tree}")
	after.Files = o.onDisk(after.Files, o.workTree(), to, func(string) bool { return true })
	return &soakAct{name: "snapshots restore", place: p, id: id, args: []string{"snapshots", "restore", id}, after: &after}
}

// undoes asks which apply is the newest one: gc drops old ones. The rest is ours to
// know.
func (s *soak) undoes(p *soakPlace) *soakAct {
	a := &soakAct{name: "undo", place: p, args: []string{"undo"}, undoes: true}
	code, out := s.ftl(p, "undo", "-n", "--json")
	if code != 0 {
		a.refuses = true
		return a
	}
	var would applied
	s.must(json.Unmarshal([]byte(out), &would))
	for len(p.applied) > 0 && p.applied[len(p.applied)-1].id != would.ID {
		last := p.applied[len(p.applied)-1]
		if s.hasRef(p, "refs/ftl/results/"+last.id) && !last.restore {
			s.fail("undo takes back %s, and %s was applied after it\n%s", would.ID, last.id, out)
		}
		p.applied = p.applied[:len(p.applied)-1]
	}
	if len(p.applied) == 0 {
		s.fail("undo takes back %s, which was not applied\n%s", would.ID, out)
	}
	after := p.applied[len(p.applied)-1].undone(s.state(p))
	a.after = &after
	return a
}

func (s *soak) hasRef(p *soakPlace, ref string) bool {
	return s.git(p.dir, "for-each-ref", ref) != ""
}

// soakEntries parts what ls-files -s prints by path.
func soakEntries(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if info, path, ok := strings.Cut(line, "\t"); ok {
			all[path] = info
		}
	}
	return all
}

func joinEntries(all map[string]string) string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		lines = append(lines, all[path]+"\t"+path)
	}
	return strings.Join(lines, "\n")
}
