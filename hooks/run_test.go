package hooks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/hooks"
)

// history is a repository with branches whose commits have names:
//
//	first - base - left  - merge   (main)
//	            \- right -/        (right)
type history struct {
	*world
	is   map[string]string // object name by name
	name map[string]string // and back, trees too
}

const none = "0000000000000000000000000000000000000000"

func newHistory(t *testing.T) *history {
	h := &history{newWorld(t), map[string]string{"none": none, "": ""}, map[string]string{"": "nothing"}}
	h.repo("r")
	h.know("first", "HEAD")
	h.commit("base", "b.txt")
	h.git("r", "checkout", "-qb", "right")
	h.commit("right", "r.txt")
	h.git("r", "checkout", "-q", "main")
	h.commit("left", "l.txt")
	h.know("both", h.git("r", "merge-tree", "--write-tree", "known/left", "known/right"))
	h.git("r", "merge", "-q", "--no-ff", "-m", "merge", "right")
	h.know("merge", "HEAD")
	return h
}

// know gives an object a name, as a tag that does not count as one.
func (h *history) know(name, rev string) {
	id := h.git("r", "rev-parse", rev)
	h.is[name], h.name[id] = id, name
	h.git("r", "update-ref", "refs/known/"+name, id)
}

func (h *history) commit(name, file string) {
	h.write("r/"+file, name+"\n", 0o644)
	h.git("r", "add", ".")
	h.git("r", "commit", "-qm", name)
	h.know(name, "HEAD")
}

// run calls a hook with lines in which {NAME} is an object, and returns what it had
// checked, as "FROM..TO".
func (h *history) run(name string, args []string, stdin string) ([]string, hooks.Report, error) {
	h.t.Helper()
	for name, id := range h.is {
		stdin = strings.ReplaceAll(stdin, "{"+name+"}", id)
	}
	checked := []string{}
	call := hooks.Call{Name: name, Args: args, Stdin: strings.NewReader(stdin), Check: func(_ context.Context, from, to string) (hooks.Report, error) {
		checked = append(checked, h.name[from]+".."+strings.Replace(h.name[to], "nothing", "index", 1))
		return hooks.Report{Files: 1, Bytes: 10, Skipped: []string{"real values: the keyring is locked"}}, nil
	}}
	r, err := call.Run(h.t.Context(), h.open("r"))
	return checked, r, err
}

// TestRun: each hook asks for what git is about to record or send, and no more.
func TestRun(t *testing.T) {
	origin, staged := []string{"origin", "../o.git"}, []string{"nothing..index"}
	for _, row := range []struct {
		name  string
		make  func(h *history)
		hook  string
		args  []string
		stdin string
		want  []string
	}{
		{name: "commit", hook: "pre-commit", want: staged},
		{name: "merge", hook: "pre-merge-commit", want: staged},
		{name: "am", hook: "pre-applypatch", want: staged},
		{name: "initial commit", hook: "pre-commit", make: func(h *history) { h.git("r", "checkout", "-q", "--orphan", "new") }, want: staged},
		{name: "detached", hook: "pre-commit", make: func(h *history) { h.git("r", "checkout", "-q", "known/left") }, want: staged},

		{name: "push to an empty remote", hook: "pre-push", args: origin, stdin: "refs/heads/main {merge} refs/heads/main {none}\n",
			want: []string{"nothing..first", "first..base", "base..right", "base..left", "both..merge"}},
		{name: "push of more", hook: "pre-push", args: origin, stdin: "refs/heads/main {merge} refs/heads/main {left}\n",
			want: []string{"base..right", "both..merge"}},
		{name: "push of a new branch", hook: "pre-push", args: origin,
			make:  func(h *history) { h.git("r", "update-ref", "refs/remotes/origin/main", h.is["left"]) },
			stdin: "refs/heads/right {right} refs/heads/right {none}\n", want: []string{"base..right"}},
		{name: "push of nothing new", hook: "pre-push", args: origin,
			make:  func(h *history) { h.git("r", "update-ref", "refs/remotes/origin/main", h.is["merge"]) },
			stdin: "refs/heads/right {right} refs/heads/right {none}\n", want: []string{}},
		{name: "push to another remote", hook: "pre-push", args: []string{"other", "url"},
			make:  func(h *history) { h.git("r", "update-ref", "refs/remotes/origin/main", h.is["merge"]) },
			stdin: "refs/heads/main {base} refs/heads/main {first}\n", want: []string{"first..base"}},
		{name: "push to a URL", hook: "pre-push", args: []string{"*", "*"},
			make:  func(h *history) { h.git("r", "update-ref", "refs/remotes/origin/main", h.is["merge"]) },
			stdin: "refs/heads/main {base} refs/heads/main {first}\n", want: []string{"first..base"}},
		{name: "push over what is not here", hook: "pre-push", args: origin,
			stdin: "refs/heads/main {base} refs/heads/main 1111111111111111111111111111111111111111\n", want: []string{"nothing..first", "first..base"}},
		{name: "rewound push", hook: "pre-push", args: origin, stdin: "refs/heads/main {base} refs/heads/main {merge}\n", want: []string{}},
		{name: "push that deletes", hook: "pre-push", args: origin, stdin: "(delete) {none} refs/heads/main {merge}\n(delete) {none} refs/ftl/pending {left}\n", want: []string{}},
		{name: "push of an expression", hook: "pre-push", args: origin, stdin: "HEAD@{1 day ago} {base} refs/heads/x {first}\n", want: []string{"first..base"}},
		{name: "push of nothing", hook: "pre-push", args: origin, want: []string{}},
		{name: "push of a tag", hook: "pre-push", args: origin, make: func(h *history) {
			h.git("r", "tag", "-am", "t", "v1", "known/base")
			h.know("tag", "v1")
		}, stdin: "refs/tags/v1 {tag} refs/tags/v1 {none}\nrefs/heads/main {first} refs/heads/main {none}\n", want: []string{"nothing..first", "first..base"}},

		{name: "commit of any kind", hook: hooks.RefTransaction, args: []string{"prepared"}, make: func(h *history) { h.git("r", "update-ref", "refs/heads/main", "known/left") },
			stdin: "{left} {merge} HEAD\n{left} {merge} refs/heads/main\n", want: []string{"both..merge"}},
		{name: "new branch of what is known", hook: hooks.RefTransaction, args: []string{"prepared"}, stdin: "{none} {left} refs/heads/new\n", want: []string{}},
		{name: "new branch of new commits", hook: hooks.RefTransaction, args: []string{"prepared"}, make: func(h *history) {
			h.git("r", "update-ref", "refs/heads/main", "known/first")
			h.git("r", "update-ref", "-d", "refs/heads/right")
		}, stdin: "{none} {base} refs/heads/new\n", want: []string{"first..base"}},
		{name: "fetched", hook: hooks.RefTransaction, args: []string{"prepared"}, make: func(h *history) {
			h.git("r", "update-ref", "refs/remotes/origin/main", "known/merge")
			h.git("r", "update-ref", "refs/heads/main", "known/base")
		}, stdin: "{base} {merge} refs/heads/main\n", want: []string{}},
		{name: "deleted", hook: hooks.RefTransaction, args: []string{"prepared"}, stdin: "{merge} {none} refs/heads/main\n", want: []string{}},
		{name: "symbolic", hook: hooks.RefTransaction, args: []string{"prepared"}, stdin: "ref:refs/heads/a ref:refs/heads/b HEAD\n", want: []string{}},
		{name: "others", hook: hooks.RefTransaction, args: []string{"prepared"}, make: func(h *history) { h.git("r", "update-ref", "refs/heads/main", "known/first") },
			stdin: "{none} {merge} refs/ftl/pending\n{none} {merge} refs/stash\n{none} {merge} refs/remotes/o/main\n", want: []string{}},
		{name: "over", hook: hooks.RefTransaction, args: []string{"committed"}, stdin: "{none} {merge} refs/heads/main\n", want: []string{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t)
			if row.make != nil {
				row.make(h)
			}
			got, r, err := h.run(row.hook, row.args, row.stdin)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(row.want) // commits of the same second come in any order
			slices.Sort(got)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
			want := hooks.Report{Files: len(got), Bytes: int64(10 * len(got))}
			if len(got) > 0 {
				want.Skipped = []string{"real values: the keyring is locked"}
			}
			if diff := cmp.Diff(want, r); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPushOfPrivateRefs: what nobody has decided on is not pushed, by any name.
func TestPushOfPrivateRefs(t *testing.T) {
	for _, line := range []string{
		"refs/ftl/pending {left} refs/ftl/pending {none}\n",
		"refs/notes/ftl {left} refs/notes/ftl {none}\n",
		"refs/ftl/results/kkkk {left} refs/heads/kkkk {none}\n",
		"refs/worktree/ftl/pending {left} refs/heads/x {none}\n",
		"refs/heads/main {left} refs/ftl/x {none}\n",
	} {
		h := newHistory(t)
		checked, r, err := h.run("pre-push", []string{"origin", "url"}, "refs/heads/main {base} refs/heads/main {none}\n"+line)
		var refused *hooks.PushError
		if !errors.As(err, &refused) || len(refused.Refs) != 1 || !r.Blocked || len(checked) > 0 {
			t.Errorf("%s: %v, %v", line, err, checked)
		}
	}
}

// TestRunRefuses: what is no hook, and no line of git's.
func TestRunRefuses(t *testing.T) {
	h := newHistory(t)
	if _, _, err := h.run("post-commit", nil, ""); !errors.Is(err, hooks.ErrUnknown) {
		t.Errorf("post-commit: %v", err)
	}
	for _, stdin := range []string{"x\n", "a b c\n", "\n"} {
		if _, _, err := h.run("pre-push", []string{"origin", "url"}, stdin); err == nil {
			t.Errorf("%q was taken", stdin)
		}
	}
	gone := "refs/heads/main 1111111111111111111111111111111111111111 refs/heads/main {none}\n"
	if _, _, err := h.run("pre-push", []string{"origin", "url"}, gone); err == nil {
		t.Error("a commit that is not there was passed")
	}
}
