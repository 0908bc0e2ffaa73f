//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// soakRepo is a small repository that lives through many kills.
type soakRepo struct {
	name   string
	common string // git dir
	places []*soakPlace
	tasks  map[string]*soakTask // by ID: what is known of them
	age    int                  // steps
}

// soakPlace is a work tree.
type soakPlace struct {
	repo    *soakRepo
	dir     string
	gitDir  string
	applied []*soakApply // not undone yet, the newest last
}

// soakTask is what the harness knows of a task's agent.
type soakTask struct {
	place *soakPlace
	turns []soakTurn
}

// soakTurn is one run of an agent; n is the step of it, which its files name.
type soakTurn struct {
	n        int
	finished bool
	wrote    []string // parts that it has said to be written
}

// soakApply is a change of the work tree that undo takes back.
type soakApply struct {
	id            string
	restore       bool // of the snapshot of that ID
	before, after soakState
}

// What agents and users edit: the lines are far enough apart for git to merge them.
const (
	soakLines = 40 // of big.txt that agents edit; each is followed by three others
	soakDrops = 8  // files that agents may delete
)

// newRepo makes a repository of one of the kinds: its work tree has files modified,
// staged, untracked and ignored.
func (s *soak) newRepo(kind string) *soakRepo {
	s.made++
	r := &soakRepo{name: kind, tasks: map[string]*soakTask{}}
	dir := filepath.Join(s.dir, fmt.Sprintf("%s-%d", kind, s.made))
	r.common = filepath.Join(dir, ".git")
	s.must(os.MkdirAll(dir, 0o755))
	s.git(dir, "init", "-q")
	if kind == "autocrlf" {
		s.git(dir, "config", "core.autocrlf", "true")
	}
	end := map[bool]string{true: "\r\n", false: "\n"}[kind == "autocrlf"]
	var big strings.Builder
	for i := range soakLines {
		fmt.Fprintf(&big, "line %d%sa%sb%sc%s", i, end, end, end, end)
	}
	s.write(dir, "big.txt", big.String())
	for i := range soakDrops {
		s.write(dir, fmt.Sprintf("drop/%d.txt", i), "to go"+end)
	}
	s.write(dir, "user/a.txt", "mine"+end)
	s.write(dir, "run.sh", "#!/bin/sh\n")
	s.must(os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	s.must(os.Symlink("user/a.txt", filepath.Join(dir, "link")))
	s.write(dir, ".gitignore", "*.log\n")
	s.git(dir, "add", ".")
	s.git(dir, "commit", "-qm", "first")
	r.places = []*soakPlace{{repo: r, dir: dir, gitDir: r.common}}
	if kind == "linked" {
		tree := dir + "-tree"
		s.git(dir, "worktree", "add", "-q", "-b", "other", tree)
		r.places = append(r.places, &soakPlace{repo: r, dir: tree, gitDir: filepath.Join(r.common, "worktrees", filepath.Base(tree))})
	}
	for _, p := range r.places {
		s.write(p.dir, "user/a.txt", "mine, modified"+end)
		s.write(p.dir, "user/staged.txt", "staged"+end)
		s.git(p.dir, "add", "user/staged.txt")
		s.write(p.dir, "user/untracked.txt", "untracked"+end)
		s.write(p.dir, "ignored.log", "ignored\n")
	}
	return r
}

func (s *soak) write(dir, name, text string) {
	path := filepath.Join(dir, name)
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	s.must(os.WriteFile(path, []byte(text), 0o644))
}

// edit is what a user may do between two commands.
func (s *soak) edit(p *soakPlace, rng *rand.Rand) string {
	switch rng.IntN(8) {
	case 0:
		s.write(p.dir, "user/a.txt", fmt.Sprintf("mine, at step %d\n", s.n))
		return "modified"
	case 1:
		s.write(p.dir, fmt.Sprintf("user/new-%d.txt", s.n), "new\n")
		return "untracked"
	case 2:
		s.write(p.dir, "user/staged.txt", fmt.Sprintf("staged at step %d\n", s.n))
		s.git(p.dir, "add", "user/staged.txt")
		return "staged"
	case 3:
		s.git(p.dir, "add", "-A")
		s.git(p.dir, "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("all, at step %d", s.n))
		return "committed"
	}
	return ""
}

// agentScript is what the agent of a step does. It says what it has done, in words
// that the script itself does not have.
func agentScript(n int) string {
	return fmt.Sprintf(`n=%d; mkdir -p agent
printf 'one %%s\ntwo\n' $n > agent/$n-a.txt && echo "wrote $n a"
sleep 0.04
sed 's/^line %d\b.*/line %d by agent '$n'/' big.txt > /tmp/big && cat /tmp/big > big.txt && echo "wrote $n b"
sleep 0.04
printf 'bin %%s\001\377' $n > agent/$n-c.bin && chmod +x agent/$n-c.bin && echo "wrote $n c"
rm -f drop/%d.txt
echo "agent finished $n"`, n, soakLine(n), soakLine(n), n%soakDrops)
}

func soakLine(n int) int { return n * 7 % soakLines }

// parts are what the agent of a turn writes: the whole content of a path, or a line
// of it.
func (t soakTurn) parts() map[string]soakPart {
	return map[string]soakPart{
		"a": {path: fmt.Sprintf("agent/%d-a.txt", t.n), mode: "100644", text: fmt.Sprintf("one %d\ntwo\n", t.n)},
		"b": {path: "big.txt", mode: "100644", text: fmt.Sprintf("\nline %d by agent %d\n", soakLine(t.n), t.n), line: true},
		"c": {path: fmt.Sprintf("agent/%d-c.bin", t.n), mode: "100755", text: fmt.Sprintf("bin %d\x01\xff", t.n)},
	}
}

// soakPart is one thing that an agent writes.
type soakPart struct {
	path, mode, text string
	line             bool // text is in the file
}

// paths are all that an agent of a turn may touch.
func (t soakTurn) paths() []string {
	all := []string{t.drops()}
	for _, part := range t.parts() {
		all = append(all, part.path)
	}
	return all
}

// drops is the file that the agent of a turn deletes.
func (t soakTurn) drops() string { return fmt.Sprintf("drop/%d.txt", t.n%soakDrops) }
