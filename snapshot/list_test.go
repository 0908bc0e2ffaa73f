package snapshot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

func ids(list []snapshot.Info) string {
	var all []string
	for _, i := range list {
		all = append(all, i.ID)
	}
	return strings.Join(all, " ")
}

func TestListShareDrop(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	if list, err := w.store.List(ctx); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
	w.write("a", "one")
	w.commitAll("first")
	old := w.take(snapshot.Options{ID: "kkkk", Now: time.Unix(1_700_000_000, 0)})
	w.write("a", "two")
	w.write(".env", "x")
	w.take(snapshot.Options{ID: "mmmm", Now: time.Unix(1_700_000_001, 0)})
	shared, err := w.store.Share(ctx, old, "zzzz")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := w.store.Load(ctx, "zzzz")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(shared, loaded, cmpopts.EquateEmpty()); d != "" || shared.Commit != old.Commit || shared.ID != "zzzz" {
		t.Errorf("shared %v\n%s", shared, d)
	}
	if _, err := w.store.Share(ctx, old, "mmmm"); !errors.Is(err, git.ErrMoved) {
		t.Errorf("share as a taken id: %v", err)
	}
	if _, err := w.store.Share(ctx, old, "../x"); err == nil {
		t.Error("shared as ../x")
	}

	// Refs that no snapshot can have are passed over.
	w.git("update-ref", "refs/ftl/snapshots/abc", "HEAD")
	w.git("update-ref", "refs/ftl/snapshots/tree", "HEAD^{tree}")
	w.git("update-ref", "refs/ftl/snapshots/vvvv", "HEAD:a")
	list, err := w.store.List(ctx)
	if err != nil || ids(list) != "mmmm kkkk zzzz" {
		t.Fatal(ids(list), err)
	}
	for _, i := range list {
		want, err := w.store.Load(ctx, i.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, i.Snapshot); d != "" {
			t.Errorf("%s: %s", i.ID, d)
		}
	}
	if got := list[0]; got.Created.Unix() != 1_700_000_001 || got.Branch != "main" || got.Dirty != 1 || len(got.LeftOut) != 1 {
		t.Errorf("newest is %+v", got)
	}

	if err := w.store.Drop(ctx); err != nil {
		t.Error(err)
	}
	if err := w.store.Drop(ctx, "kkkk", "abc"); !errors.Is(err, snapshot.ErrUnknown) {
		t.Errorf("drop of an invalid id: %v", err)
	}
	if err := w.store.Drop(ctx, "mmmm", "kkkk", "mmmm", "nnnn"); err != nil {
		t.Error(err)
	}
	if list, err := w.store.List(ctx); err != nil || ids(list) != "zzzz" {
		t.Error(ids(list), err)
	}
}

// A result is a commit with a tree of its own; a Snapshot made by hand exports it.
func TestExportOfAnyCommit(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	w.write("a", "one")
	w.commitAll("first")
	snap := w.take(snapshot.Options{ID: "kkkk"})
	if _, err := w.store.Export(ctx, snap, "one"); err != nil {
		t.Fatal(err)
	}
	w.write("a", "two")
	w.write("b", "new")
	w.commitAll("a result")
	commit, tree := w.git("rev-parse", "HEAD"), w.git("rev-parse", "HEAD^{tree}")
	w.git("reset", "-q", "--hard", "HEAD^")
	by := snapshot.Snapshot{ID: "kkkk", Commit: plumbing.NewHash(commit), Tree: plumbing.NewHash(tree), Branch: "main"}
	out, err := w.store.Export(ctx, by, "one")
	if err != nil {
		t.Fatal(err)
	}
	if out.ID != tree || out.From != snap.Tree.String() || len(out.Changed) != 2 {
		t.Errorf("export %+v", out)
	}
	got, err := os.ReadFile(filepath.Join(out.Dir, "tree", "b"))
	if err != nil || string(got) != "new" {
		t.Error(string(got), err)
	}
	cat := w.command("cat-file", "commit", out.Base.String())
	cat.Env = append(cat.Env, "GIT_OBJECT_DIRECTORY="+filepath.Join(out.Dir, "objects"))
	text, err := cat.Output()
	if err != nil || !strings.HasPrefix(string(text), "tree "+tree) || !strings.Contains(string(text), "author Ada") {
		t.Error(string(text), err)
	}
}
