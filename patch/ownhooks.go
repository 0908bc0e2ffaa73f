package patch

import (
	"os"
	"path/filepath"
	"strings"
)

// commitHooks are the hooks that run on a commit.
func commitHooks() []string {
	return []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}
}

// keepsHooks refuses a change that alters the very hooks that are to run, brings
// some where there are none yet, or turns a link on the way to them.
func (p *plan) keepsHooks(dir string) error {
	at := []string{dir}
	if filepath.Base(dir) == "_" { // husky's hooks run those in the folder above
		at = append(at, filepath.Dir(dir))
	}
	for _, name := range commitHooks() {
		at = append(at, filepath.Join(dir, name))
	}
	top := trail(p.q.repo.Dir)
	for _, start := range at {
		for _, passed := range trail(start) {
			rel, err := filepath.Rel(top[len(top)-1], passed)
			if err != nil || rel == "." || !filepath.IsLocal(rel) {
				continue
			}
			if c := p.changed(filepath.ToSlash(rel)); c != "" {
				return &UnsafeError{Path: c, Why: "is one of the hooks that would run on this commit"}
			}
		}
	}
	return nil
}

// changed names a path of the change that is at, below it or in its way, "" where
// there is none. Case does not count.
func (p *plan) changed(at string) string {
	at = foldPath(at) + "/"
	for _, c := range p.changes {
		if own := foldPath(c.Path) + "/"; strings.HasPrefix(own, at) || strings.HasPrefix(at, own) {
			return c.Path
		}
	}
	return ""
}

// trail follows an absolute path through its links, also to what is not there
// yet, and returns each link that it passes and where it ends.
func trail(p string) []string {
	root := filepath.VolumeName(p) + string(filepath.Separator)
	at, passed := root, []string{}
	todo := strings.Split(filepath.ToSlash(p[len(filepath.VolumeName(p)):]), "/")
	for len(todo) > 0 {
		next := filepath.Join(at, todo[0])
		todo = todo[1:]
		target, err := os.Readlink(next)
		if err != nil || len(passed) > maxHops {
			at = next
			continue
		}
		passed = append(passed, next)
		if filepath.IsAbs(target) {
			at, target = root, target[len(filepath.VolumeName(target)):]
		}
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	return append(passed, at)
}
