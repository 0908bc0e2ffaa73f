package git_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

const (
	hashA = "1111111111111111111111111111111111111111"
	hashB = "2222222222222222222222222222222222222222"
	none  = "0000000000000000000000000000000000000000"
)

func TestParseRaw(t *testing.T) {
	a, b := git.Entry{Mode: filemode.Regular, Hash: plumbing.NewHash(hashA)}, git.Entry{Mode: filemode.Executable, Hash: plumbing.NewHash(hashB)}
	for _, test := range []struct {
		name, out string
		want      []git.Change
		fails     bool
	}{
		{"nothing", "", nil, false},
		{"changed", ":100644 100755 " + hashA + " " + hashB + " M\x00a b\n\x00", []git.Change{{Path: "a b\n", Old: a, New: b}}, false},
		{"added and deleted", ":000000 100644 " + none + " " + hashA + " A\x00x\x00:100755 000000 " + hashB + " " + none + " D\x00y\x00", []git.Change{{Path: "x", New: a}, {Path: "y", Old: b}}, false},
		{"intended to be added", ":000000 100644 " + none + " " + none + " A\x00x\x00", []git.Change{{Path: "x"}}, false},
		{"no path", ":100644 100755 " + hashA + " " + hashB + " M\x00", nil, true},
		{"too few words", ":100644 " + hashA + " M\x00x\x00", nil, true},
		{"short names", ":100644 100755 1111111 2222222 M\x00x\x00", nil, true},
		{"no mode", ":1006x4 100755 " + hashA + " " + hashB + " M\x00x\x00", nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := git.ParseRaw([]byte(test.out))
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzParseRaw: what is read is written down again and read as the same.
func FuzzParseRaw(f *testing.F) {
	f.Add([]byte(":100644 100755 " + hashA + " " + hashB + " M\x00a b\x00"))
	f.Add([]byte(":000000 120000 " + none + " " + hashA + " A\x00\xff/\n\x00:160000 000000 " + hashB + " " + none + " D\x00y\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		changes, err := git.ParseRaw(out)
		if err != nil {
			return
		}
		if 2*len(changes) != bytes.Count(out, []byte{0})+1 && 2*len(changes) != bytes.Count(out, []byte{0}) {
			t.Fatalf("%d changes in %q", len(changes), out)
		}
		var again strings.Builder
		for _, c := range changes {
			fmt.Fprintf(&again, ":%06o %06o %s %s M\x00%s\x00", uint32(c.Old.Mode), uint32(c.New.Mode), c.Old.Hash, c.New.Hash, c.Path)
		}
		second, err := git.ParseRaw([]byte(again.String()))
		if diff := cmp.Diff(changes, second); err != nil || diff != "" {
			t.Fatalf("%v (-first +second):\n%s", err, diff)
		}
	})
}
