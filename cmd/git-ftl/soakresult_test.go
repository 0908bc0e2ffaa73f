//go:build linux

package main

import (
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
)

// checkAgents wants the results of the agents of this step.
func (s *soak) checkAgents(c *soakCase, tasks []taskLine) {
	finished := fmt.Sprintf("agent finished %d", s.n)
	found := 0
	for _, t := range tasks {
		if !strings.Contains(t.Task, fmt.Sprintf("n=%d;", s.n)) {
			continue
		}
		log := c.printed(t.ID)
		_, kept := s.ftl(c.place, "logs", t.ID)
		log += kept // which lacks what came in the last moment before a kill
		turn := soakTurn{n: s.n, finished: strings.Contains(log, finished)}
		for part := range turn.parts() {
			if strings.Contains(log, fmt.Sprintf("wrote %d %s", s.n, part)) {
				turn.wrote = append(turn.wrote, part)
			}
		}
		if turn.finished {
			found++
		}
		if c.place.repo.tasks[t.ID] == nil {
			c.place.repo.tasks[t.ID] = &soakTask{place: c.place}
		}
		task := c.place.repo.tasks[t.ID]
		task.turns = append(task.turns, turn)
		s.checkResult(t.ID, task)
	}
	if found == 0 && (strings.Contains(c.out, finished) || c.code == 0 && !c.detach) {
		s.fail("the agent has finished, and no task knows it\n%s\nthen:\n%s", c.out, c.said)
	}
}

// printed is what the command printed of a task.
func (c *soakCase) printed(id string) string {
	if !strings.Contains(c.name, "--attempts") {
		return c.out
	}
	var b strings.Builder
	for line := range strings.Lines(c.out) {
		if strings.Contains(line, id) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// checkResult wants all that the agent of a task's newest turn has said to be
// written in its result, and nothing that no agent of it wrote. What an earlier turn
// wrote may be the user's by then.
func (s *soak) checkResult(id string, task *soakTask) {
	p, ref := task.place, "refs/ftl/results/"+id
	var newest soakTurn
	allowed := map[string]bool{"": true}
	for _, turn := range task.turns {
		for _, path := range turn.paths() {
			allowed[path] = true
		}
		if len(turn.wrote) > 0 {
			newest = turn
		}
	}
	if !s.hasRef(p, ref) {
		if newest.n > 0 {
			_, record := s.ftl(p, "show", id)
			s.fail("%s has no result, and its agent wrote: %+v\n%s", id, task.turns, record)
		}
		return
	}
	tree := soakTree(s.git(p.dir, "ls-tree", "-r", ref))
	for name, part := range newest.parts() {
		if slices.Contains(newest.wrote, name) {
			s.checkPart(p, ref, tree, part)
		}
	}
	if gone := newest.drops(); newest.finished && tree[gone] != "" {
		s.fail("%s has %s, which its agent deleted", id, gone)
	}
	for path := range strings.SplitSeq(s.git(p.dir, "diff-tree", "-r", "--no-renames", "--name-only", s.base(p, ref), ref), "\n") {
		if !allowed[path] {
			s.fail("%s changes %s, which no agent of it wrote", id, path)
		}
	}
}

func (s *soak) checkPart(p *soakPlace, ref string, tree map[string]string, part soakPart) {
	want := fmt.Sprintf("%s %x", part.mode, sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(part.text), part.text)))
	has := tree[part.path] == want
	if part.line {
		has = strings.Contains("\n"+s.git(p.dir, "cat-file", "blob", ref+":"+part.path)+"\n", part.text)
	}
	if !has {
		s.fail("%s:%s is %q, and not as its agent wrote it: %q", ref, part.path, tree[part.path], part.text)
	}
}

// soakTree maps the paths of ls-tree to mode and object.
func soakTree(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if info, path, ok := strings.Cut(line, "\t"); ok {
			f := strings.Fields(info)
			all[path] = f[0] + " " + f[2]
		}
	}
	return all
}

// checkRefs wants every result that was there, but for those that gc may take.
func (s *soak) checkRefs(c *soakCase, tasks []taskLine) {
	p := c.place
	results := map[string]bool{}
	for line := range strings.SplitSeq(s.git(p.dir, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/ftl/results"), "\n") {
		results[line] = true
	}
	for id := range p.repo.tasks {
		was := c.states[id]
		known := slices.ContainsFunc(tasks, func(t taskLine) bool { return t.ID == id })
		decided := slices.Contains([]string{"applied", "rejected", "undone"}, was) || !results[id]
		switch {
		case results[id] && known, was == "" && known:
		case c.name == "gc" && decided && was != "undecided" && was != "partial":
			delete(p.repo.tasks, id)
		case was != "" && !results[id] && known && !slices.Contains([]string{"undecided", "partial", "applied", "undone", "rejected"}, was):
		default:
			s.fail("%s was %q, and is gone\n%s\nthen:\n%s", id, was, c.out, c.said)
		}
	}
	for _, at := range p.repo.places {
		s.checkPending(at)
	}
}

// checkPending wants a commit of a result, which a follow-up may have gone beyond
// from another work tree.
func (s *soak) checkPending(p *soakPlace) {
	for _, ref := range []string{"refs/ftl/pending", "refs/worktree/ftl/pending"} {
		if s.hasRef(p, ref) && s.git(p.dir, "log", "-1", "--format=%(trailers:key=Ftl-Id)", ref) == "" {
			s.fail("%s of %s is no result", ref, p.dir)
		}
	}
}
