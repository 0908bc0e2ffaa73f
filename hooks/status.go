package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Status is what git runs as hooks here.
type Status struct {
	Dir     string       `json:"folder"`     // absolute; "" where core.hooksPath is empty
	Setting *Setting     `json:"hooks_path"` // nil where core.hooksPath is not set
	Manager string       `json:"manager"`    // of hooks, by its files in the work tree; "" for none
	Hooks   []HookStatus `json:"hooks"`      // in the order of Names

	refused error
}

// HookStatus is one hook.
type HookStatus struct {
	Name  string `json:"name"`
	State string `json:"state"`          // installed, chained, called, edited, foreign, shadowed or missing
	With  string `json:"with,omitempty"` // chained: what runs before; called: the file that calls; foreign: whose it is
	Why   string `json:"why,omitempty"`
}

// Hints are what makes the missing ones run where Install would refuse, a line each.
func (s Status) Hints() []string {
	var e *PathError
	if errors.As(s.refused, &e) {
		return e.ways
	}
	return nil
}

// Look says what is installed in a repository. It writes nothing.
func Look(ctx context.Context, repo *git.Repo) (Status, error) {
	p, err := find(ctx, repo)
	if err != nil {
		return Status{}, err
	}
	rec, err := readRecord(repo)
	if err != nil {
		return Status{}, err
	}
	s := Status{Dir: p.dir, Setting: p.setting, refused: p.writable(Default())}
	if m, ok := managerOf(repo.Dir); ok {
		s.Manager = m.name
	}
	for _, name := range Names() {
		h, err := p.status(name, rec, s.refused != nil)
		if err != nil {
			return s, err
		}
		s.Hooks = append(s.Hooks, h)
	}
	return s, nil
}

// status looks at one hook. elsewhere says that git's folder is not git-ftl's to
// write to.
func (p place) status(name string, rec record, elsewhere bool) (HookStatus, error) {
	dir := p.dir
	if elsewhere {
		dir = filepath.Join(p.repo.CommonDir, "hooks")
	}
	had := hookRecord{}
	if folder := rec[key(p.repo, dir)]; folder != nil {
		had = folder.Hooks[name]
	}
	h, err := look(dir, name, had)
	if err != nil {
		return HookStatus{}, err
	}
	s := h.status(had.Shim != "")
	switch {
	case elsewhere && (h.kind == absent || h.kind == foreign):
		s = HookStatus{Name: name, State: "missing"}
	case elsewhere:
		s.State, s.Why = "shadowed", "by core.hooksPath"
	}
	if s.State == "installed" || s.State == "chained" {
		return s, nil
	}
	if file := p.caller(name); file != "" {
		return HookStatus{Name: name, State: "called", With: file}, nil
	}
	return s, nil
}

func (h hook) status(was bool) HookStatus {
	s := HookStatus{Name: h.name}
	switch h.kind {
	case ours:
		s.State = "installed"
		if s.With = h.with(); s.With != "" {
			s.State = "chained"
		}
		if h.path != filepath.Join(filepath.Dir(h.path), h.name) {
			s.State, s.With = "chained", "pre-commit"
		}
		if h.is.Mode&0o111 == 0 && os.PathSeparator == '/' {
			s.State, s.Why = "edited", "it is not executable, so git does not run it"
		}
	case edited:
		s.State = "edited"
	case foreign:
		s.State, s.With = "foreign", author(h.data)
		if was {
			s.Why = "it replaced git-ftl's"
		}
	default:
		s.State = "missing"
	}
	return s
}

// caller finds the file that makes a hook of others run git-ftl's.
func (p place) caller(name string) string {
	if p.dir == "" {
		return ""
	}
	own := filepath.Join(p.dir, name)
	text, err := os.ReadFile(own)
	if err != nil {
		return ""
	}
	files := []string{own}
	m := p.manager()
	for _, f := range m.files {
		files = append(files, filepath.Join(p.repo.Dir, f), filepath.Join(p.repo.Dir, f, name))
	}
	if by := author(text); by != "" && by != m.name {
		files = files[:1]
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && calls(data, name) {
			return f
		}
	}
	return ""
}
