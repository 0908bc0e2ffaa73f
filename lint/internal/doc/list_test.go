package doc

import (
	"bytes"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

func regular() git.Entry {
	return git.Entry{Mode: filemode.Regular, Hash: plumbing.Hash{1}}
}

func TestListKeepsNewLinesOnly(t *testing.T) {
	d := New("f", regular(), regular(), []byte("old\nnew\n"), []byte("old\n"))
	l := NewList(d)
	l.Add(Hit{Rule: "r", Start: 0, End: 3})
	l.Add(Hit{Rule: "r", Start: 4, End: 7})
	l.Add(Hit{Rule: "r", Start: 0, End: 3, Anywhere: true})
	l.Add(Hit{Rule: "r"})
	if got := len(l.All()); got != 3 {
		t.Fatalf("%d hits, want the new one, the one that counts anywhere and the path's", got)
	}
}

func TestListEndsWithTheRest(t *testing.T) {
	rest := func(last string) Hit {
		text := []byte("x\n" + last)
		l := NewList(New("f", git.Entry{}, regular(), text, nil))
		for range maxAlike + 6 {
			l.Add(Hit{Rule: "r", Severity: Warn, Start: 0, End: 1, Message: "m"})
		}
		l.Add(Hit{Rule: "r", Severity: Block, Start: 2, End: len(text), Message: "m"})
		all := l.All()
		if len(all) != maxAlike+1 {
			t.Fatalf("%d hits, want %d", len(all), maxAlike+1)
		}
		return all[maxAlike]
	}
	a, b := rest("a"), rest("b")
	if a.Severity != Block {
		t.Errorf("severity %s: the gravest of the rest counts", a.Severity)
	}
	if a.Message != "7 more like it: m" {
		t.Errorf("message %q", a.Message)
	}
	if bytes.Equal(a.Match, b.Match) {
		t.Error("one match for two different rests: an acceptance would cover what comes later")
	}
}
