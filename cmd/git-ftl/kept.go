package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/patch"
)

// withTests lets the written tests of the result come along, where they are wanted.
func (v *applying) withTests(wanted bool) error {
	if !wanted {
		return nil
	}
	files, left, err := v.s.Keepable(v.r.ID)
	if len(left) > 0 {
		v.ui.note("not kept, since not every test in it says something: " + strings.Join(firstOf(left), ", "))
	}
	if errors.Is(err, session.ErrNoTests) {
		return &exitError{code: exitFailed, err: err, hints: []string{
			"git ftl test --write " + v.r.ID + " has some written, where ftl.tester names a model", "git ftl apply " + v.r.ID + " takes the result alone",
		}}
	}
	v.o.Beside = files
	return err
}

// withoutTests adds to the error of an apply, where it is about tests that were to
// come along, that it can do without.
func (v *applying) withoutTests(err error) error {
	if len(v.o.Beside) == 0 {
		return err
	}
	tests := func(p string) bool {
		return slices.ContainsFunc(v.o.Beside, func(f patch.NewFile) bool { return f.Path == p })
	}
	var (
		conflict *patch.ConflictError
		unsafe   *patch.UnsafeError
		blocked  *session.BlockedError
		hints    []string
	)
	switch {
	case errors.As(err, &conflict) && slices.ContainsFunc(conflict.Paths, func(c patch.Conflict) bool { return tests(c.Path) }):
	case errors.As(err, &unsafe) && tests(unsafe.Path):
	case errors.As(err, &blocked) && slices.ContainsFunc(blocked.Blocking, func(f lint.Finding) bool { return tests(f.Path) }):
		hints = []string{"git ftl apply --waive --with-tests " + v.r.ID + " takes the tests as they are"}
	default:
		return err
	}
	told := *explain(err, v.env)
	if hints == nil {
		hints = told.hints[:len(told.hints):len(told.hints)]
	}
	told.hints = append(hints, "git ftl apply "+v.r.ID+" takes the result without its tests")
	return &told
}
