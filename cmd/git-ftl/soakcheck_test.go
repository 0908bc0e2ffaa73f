//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// check looks at all that a kill must not have harmed.
func (s *soak) check(c *soakCase) {
	s.checkLeftovers(c.place.repo)
	s.checkSandboxes(c.place.repo)
	tasks := s.listed(c.place)
	for _, t := range tasks {
		if t.Status == session.Running {
			s.fail("%s is running still:\n%s\nafter:\n%s", t.ID, c.said, c.out)
		}
	}
	moved := s.checkTree(c)
	s.checkState(c, tasks, moved)
	if c.agent {
		s.checkAgents(c, tasks)
	}
	s.checkRefs(c, tasks)
	s.fsck(c.place.repo)
	s.tally[[3]string{c.name, map[bool]string{true: "(measured)", false: c.struck}[c.struck == ""], c.came(moved)}]++
}

// came says what the next command found.
func (c *soakCase) came(moved bool) string {
	for _, word := range []string{"finished the interrupted", "took back the interrupted", "is stored", "had changed nothing", "is gone"} {
		if strings.Contains(c.said, word) {
			return strings.TrimPrefix(word, "is ") + " by the next command"
		}
	}
	switch {
	case c.code == 0:
		return "all done"
	case c.code > 0:
		return fmt.Sprintf("exit %d", c.code)
	case moved:
		return "cut off, after"
	}
	return "cut off, before"
}

// checkTree wants the work tree, index and HEAD as before or as after, together. It
// gives true where they are as after.
func (s *soak) checkTree(c *soakCase) (moved bool) {
	for p, was := range c.was {
		now := s.state(p)
		if p != c.place { // which has a branch of its own
			now.Refs = was.Refs
		}
		isBefore := now.same(was)
		isAfter := p == c.place && c.after != nil && now.same(*c.after)
		switch {
		case p == c.place && c.code == 0 && c.after != nil && !isAfter, !isBefore && !isAfter:
			s.fail("exit %d, and %s is neither as before nor as after\n%s\nthen:\n%s\nfrom before to now:\n%s\nfrom after to now:\n%s",
				c.code, p.dir, c.out, c.said, cmp.Diff(was, now), c.diffAfter(now))
		case c.code > 0 && !isBefore && c.struck == "nothing":
			s.fail("exit %d, and something was written:\n%s", c.code, c.out)
		}
		if now.Index == was.Index && c.index[p] != s.indexBytes(p) && !strings.Contains(c.name, "--") && c.name != "undo" {
			s.fail("the bytes of the index of %s changed", p.dir)
		}
		moved = moved || isAfter && !isBefore
	}
	if c.code == 0 && c.refuses {
		s.fail("it succeeded, and was not to:\n%s", c.out)
	}
	return moved
}

func (c *soakCase) diffAfter(now soakState) string {
	if c.after == nil {
		return "(nothing was to change)"
	}
	return cmp.Diff(*c.after, now)
}

// checkState follows what is applied.
func (s *soak) checkState(c *soakCase, tasks []taskLine, moved bool) {
	p := c.place
	switch {
	case c.undoes && moved:
		p.applied = p.applied[:len(p.applied)-1]
	case moved:
		p.applied = append(p.applied, &soakApply{id: c.id, restore: c.name == "snapshots restore", before: c.was[p], after: *c.after})
	}
	at := slices.IndexFunc(tasks, func(t taskLine) bool { return t.ID == c.id })
	switch {
	case at < 0:
	case c.name == "reject" && c.code == 0 && tasks[at].State != "rejected":
		s.fail("%s was rejected, and is %s", c.id, tasks[at].State)
	case moved && strings.HasPrefix(c.name, "apply") && c.name != "apply --" && tasks[at].State != "applied":
		s.fail("%s was applied, and is %s", c.id, tasks[at].State)
	}
}

// checkLeftovers wants no lock, half-written file or mount.
func (s *soak) checkLeftovers(r *soakRepo) {
	var left []string
	for _, root := range append([]string{r.common}, s.dirs(r)...) {
		s.must(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := d.Name()
			if d.IsDir() && (name == "exports" || s.scratch(r, path)) {
				return filepath.SkipDir
			}
			if strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "stage-") || strings.HasPrefix(name, ".git-ftl-") ||
				s.unknown(r, path) {
				left = append(left, path)
			}
			return nil
		}))
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	s.must(err)
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); strings.HasPrefix(f[1], s.dir) {
			left = append(left, "mount "+f[1])
		}
	}
	if len(left) > 0 {
		s.fail("left over: %s", strings.Join(left, "\n"))
	}
	s.checkLocks(r)
}

func (s *soak) dirs(r *soakRepo) (dirs []string) {
	for _, p := range r.places {
		dirs = append(dirs, p.dir)
	}
	return dirs
}

// soakStateFolder is what the state folder may have.
var soakStateFolder = []string{
	"allow.json", "applied", "apt", "ca", "egress", "exports", "folders.json", "gc.json", "identity.json", "index", "journal", "locks", "results", "running",
	"mint.key", "sandboxes", "setup", "shown", "spool", "stop", "tasks", "transcripts", "trust.json", "unbound",
}

// unknown reports whether a path is in the state folder and no one's, or of a
// folder that only has something while a command runs.
func (s *soak) unknown(r *soakRepo, path string) bool {
	rel, ok := strings.CutPrefix(path, filepath.Join(r.common, "git-ftl")+"/")
	if !ok || strings.HasPrefix(filepath.Base(rel), ".new-") {
		return false // a cut-off write of a record, which the next recovery or gc removes
	}
	top, rest, _ := strings.Cut(rel, "/")
	return !slices.Contains(soakStateFolder, top) || rest != "" && slices.Contains([]string{"running", "spool", "stop", "journal"}, top)
}

// scratch reports whether a path is a folder of a moment's files, whose name is
// random: gc removes it once it is a day old.
func (s *soak) scratch(r *soakRepo, path string) bool {
	kind, _, _ := strings.Cut(filepath.Base(path), "-")
	return filepath.Dir(path) == filepath.Join(r.common, "git-ftl") && slices.Contains([]string{"fsck", "index", "merge"}, kind)
}

// checkLocks wants every lock free.
func (s *soak) checkLocks(r *soakRepo) {
	locks, err := filepath.Glob(filepath.Join(r.common, "git-ftl", "locks", "*"))
	s.must(err)
	for _, name := range locks {
		f, err := os.Open(name)
		s.must(err)
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			s.fail("the lock %s is held: %v", name, err)
		}
		s.must(f.Close())
	}
}

// soakRecord is what the state folder knows of a sandbox.
type soakRecord struct{ ID, Engine, Hold string }

func (s *soak) records(r *soakRepo) (all []soakRecord) {
	names, err := filepath.Glob(filepath.Join(r.common, "git-ftl", "sandboxes", "*.json"))
	s.must(err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		s.must(err)
		var rec soakRecord
		s.must(json.Unmarshal(data, &rec))
		all = append(all, rec)
	}
	return all
}

// checkSandboxes wants a record for every container of the repository, and none
// that holds work after it was stored.
func (s *soak) checkSandboxes(r *soakRepo) {
	cmd := exec.Command("docker", "ps", "-a", "--no-trunc", "--filter", "label=git-ftl.dir="+filepath.Join(r.common, "git-ftl"), "--format", "{{.ID}} {{.Names}}")
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.fail("docker ps: %v\n%s", err, out)
	}
	records := s.records(r)
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !slices.ContainsFunc(records, func(rec soakRecord) bool { return rec.ID == id || rec.ID == "" && rec.Engine == name }) {
			s.fail("container %s (%s) has no record: %+v", id, name, records)
		}
	}
	for _, rec := range records {
		if rec.Hold != "" {
			s.fail("sandbox %s holds %s still", rec.Engine, rec.Hold)
		}
	}
}

// fsck lets git check the repository.
func (s *soak) fsck(r *soakRepo) {
	s.git(r.places[0].dir, "fsck", "--strict", "--no-dangling", "--no-progress")
}

// gc lets git collect, after which every result is readable still.
func (s *soak) gc(r *soakRepo) {
	p := r.places[0]
	s.git(p.dir, "gc", "--quiet", "--prune=now")
	s.fsck(r)
	for id, task := range r.tasks {
		s.checkResult(id, task)
	}
}

// drop removes a repository with its sandboxes.
func (s *soak) drop(r *soakRepo) {
	if code, out := s.ftl(r.places[0], "sandbox", "rm", "--all", "--force"); code != 0 {
		s.fail("sandbox rm: exit %d\n%s", code, out)
	}
	for _, dir := range s.dirs(r) {
		s.must(os.RemoveAll(dir))
	}
}
