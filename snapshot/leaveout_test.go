package snapshot_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// files lists a tree.
func (w *world) files(tree string) []string {
	w.Helper()
	out := w.git("ls-tree", "-r", "-z", "--name-only", tree)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
}

func leftPaths(left []snapshot.LeftOut) []string {
	var paths []string
	for _, l := range left {
		paths = append(paths, l.Path)
	}
	return paths
}

func TestLeaveOut(t *testing.T) {
	tests := []struct {
		name  string
		opt   snapshot.Options
		setup func(w *world)
		files []string
		left  []string
		dirty int
	}{
		{"env files, untracked", snapshot.Options{}, func(w *world) {
			w.writeAll(".env", "d/.env.local", ".ENV.Prod", ".env.example", ".env.local.sample", ".env.x.TEMPLATE", ".env.dist", ".env.defaults", "env", "x.env", ".env-old", ".environment")
		}, []string{".env.defaults", ".env.dist", ".env.example", ".env.local.sample", ".env.x.TEMPLATE", ".environment", "env", "x.env"},
			[]string{".ENV.Prod", ".env", ".env-old", "d/.env.local"}, 8},
		{"env files, tracked", snapshot.Options{}, func(w *world) {
			w.writeAll(".env", "d/.env.local", "a")
			w.commitAll("first")
			w.write(".env", "edited")
		}, []string{"a"}, []string{".env", "d/.env.local"}, 0},
		{"env file, tracked and then deleted", snapshot.Options{}, func(w *world) {
			w.writeAll(".env", "a")
			w.commitAll("first")
			w.remove(".env")
		}, []string{"a"}, nil, 0},
		{"env files, ignored", snapshot.Options{}, func(w *world) {
			w.write(".gitignore", ".env\n")
			w.write(".env", "x")
		}, []string{".gitignore"}, []string{".env"}, 1},
		{"env files, ignore rules say otherwise", snapshot.Options{Include: true}, func(w *world) {
			w.write(".gitignore", "!.env\n")
			w.write(".ftlignore", "!.env\n!*.pem\n")
			w.write(".ftlinclude", ".env\n*.pem\n")
			w.writeAll(".env", "x.pem")
		}, []string{".ftlignore", ".ftlinclude", ".gitignore"}, []string{".env", "x.pem"}, 3},
		{"credentials, untracked", snapshot.Options{}, func(w *world) {
			w.writeAll("server.PEM", "a.key", "a.p12", "a.pfx", "a.jks", "a.keystore", "id_rsa", "d/id_ed25519.old", "id_ecdsa_sk", ".npmrc", ".netrc",
				".pypirc", ".aws/config", "d/.ssh/known_hosts", ".kube/config", ".gnupg/x/y", "credentials.json", "service-account-prod.json",
				".git-credentials", ".docker/config.json", "d/config.json", "monkey", "key.txt", "aws/config")
		}, []string{"aws/config", "d/config.json", "key.txt", "monkey"},
			[]string{".aws/config", ".docker/config.json", ".git-credentials", ".gnupg/x/y", ".kube/config", ".netrc", ".npmrc", ".pypirc",
				"a.jks", "a.key", "a.keystore", "a.p12", "a.pfx", "credentials.json", "d/.ssh/known_hosts", "d/id_ed25519.old",
				"id_ecdsa_sk", "id_rsa", "server.PEM", "service-account-prod.json"}, 4},
		{"credentials, tracked, stay", snapshot.Options{}, func(w *world) {
			w.writeAll("test/server.pem", ".npmrc")
			w.commitAll("first")
			w.write(".npmrc", "edited")
		}, []string{".npmrc", "test/server.pem"}, nil, 1},
		{"credentials, removed from the index", snapshot.Options{}, func(w *world) {
			w.writeAll("server.pem", "a")
			w.commitAll("first")
			w.stage()
			w.git("rm", "-q", "--cached", "server.pem")
		}, []string{"a"}, []string{"server.pem"}, 0},
		{".ftlignore, tracked and not", snapshot.Options{}, func(w *world) {
			w.writeAll("big/a", "big/keep", "d/x.bin", "d/deep/y.bin", "src")
			w.write("d/.ftlignore", "*.bin\n")
			w.commitAll("first")
			w.write(".ftlignore", "/big/*\n!/big/keep\n[!a-z]*.dat\nnew/\n")
			w.writeAll("new/a", "1.dat", "a.dat", "d/z.bin", "z.bin")
		}, []string{".ftlignore", "a.dat", "big/keep", "d/.ftlignore", "src", "z.bin"},
			[]string{"1.dat", "big/a", "d/deep/y.bin", "d/x.bin", "d/z.bin", "new/a"}, 3},
		{".ftlignore, taken back", snapshot.Options{}, func(w *world) {
			w.writeAll("a", "b")
			w.commitAll("first")
			w.write("c", "1")
			w.write(".ftlignore", "*\n!.ftlignore\n")
			if got := w.files(w.stage().Tree.String()); !slices.Equal(got, []string{".ftlignore"}) {
				w.Errorf("with .ftlignore: %q", got)
			}
			w.remove(".ftlignore")
		}, []string{"a", "b", "c"}, nil, 1},
		{".ftlignore, on what an earlier snapshot has", snapshot.Options{}, func(w *world) {
			w.writeAll("a", "b")
			w.stage()
			w.write(".ftlignore", "a\n")
		}, []string{".ftlignore", "b"}, []string{"a"}, 2},
		{"large untracked", snapshot.Options{MaxFile: 10}, func(w *world) {
			w.write("tracked", strings.Repeat("x", 100))
			w.commitAll("first")
			w.write("small", "0123456789")
			w.write("large", "0123456789a")
		}, []string{"small", "tracked"}, []string{"large"}, 1},
		{"large, grown after a snapshot", snapshot.Options{MaxFile: 10}, func(w *world) {
			w.write("grows", "1")
			w.stageWith(snapshot.Options{MaxFile: 10})
			w.write("grows", "0123456789a")
		}, nil, []string{"grows"}, 0},
		{".ftlinclude", snapshot.Options{MaxFile: 40, Include: true}, func(w *world) {
			w.write(".gitignore", "gen/\n*.log\n")
			w.write(".ftlinclude", "/gen/keep/\n/large\n")
			w.writeAll("gen/keep/a", "gen/other", "x.log", "gen/keep/.env")
			w.write("large", strings.Repeat("x", 41))
		}, []string{".ftlinclude", ".gitignore", "gen/keep/a", "large"}, []string{"gen/keep/.env"}, 4},
		{".ftlinclude, not trusted", snapshot.Options{}, func(w *world) {
			w.write(".gitignore", "gen/\n")
			w.write(".ftlinclude", "/gen/\n")
			w.write("gen/a", "x")
		}, []string{".ftlinclude", ".gitignore"}, nil, 2},
		{"lines of .ftlinclude, trusted; the files on disk do not count", snapshot.Options{MaxFile: 40, Lines: "/gen/keep/\n*.log\n!/no.log\n.env\n*.pem\n/large\n"}, func(w *world) {
			w.write(".gitignore", "gen/\n*.log\n.env\n*.pem\n*.tmp\n")
			w.write(".ftlinclude", "*.tmp\n")
			w.write("sub/.ftlinclude", "*.tmp\n")
			w.writeAll("gen/keep/a", "gen/other", "sub/x.log", "no.log", ".env", "gen/keep/.env", "x.pem", "a.tmp", "sub/a.tmp")
			w.write("large", strings.Repeat("x", 41))
		}, []string{".ftlinclude", ".gitignore", "gen/keep/a", "large", "sub/.ftlinclude", "sub/x.log"}, []string{".env", "gen/keep/.env", "x.pem"}, 6},
		{"lines of .ftlinclude, taken back", snapshot.Options{}, func(w *world) {
			w.write(".gitignore", "gen/\n")
			w.write("gen/a", "x")
			if got := w.files(w.stageWith(snapshot.Options{Lines: "gen\n"}).Tree.String()); !slices.Contains(got, "gen/a") {
				w.Errorf("with the line: %q", got)
			}
		}, []string{".gitignore"}, nil, 1},
		{".ftlinclude, taken back", snapshot.Options{Include: true}, func(w *world) {
			w.write(".gitignore", "gen/\n")
			w.write(".ftlinclude", "gen\n")
			w.write("gen/a", "x")
			if got := w.files(w.stageWith(snapshot.Options{Include: true}).Tree.String()); !slices.Contains(got, "gen/a") {
				w.Errorf("with .ftlinclude: %q", got)
			}
			w.remove(".ftlinclude")
		}, []string{".gitignore"}, nil, 1},
		{"nested repositories", snapshot.Options{}, func(w *world) {
			w.write("a", "1")
			w.git("init", "-q", "empty")
			w.git("init", "-q", "full")
			w.write("full/x", "1")
			inner := &world{TB: w.TB, dir: w.path("full")}
			inner.git("add", "x")
			inner.git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x")
		}, []string{"a"}, []string{"empty", "full"}, 1},
		{"names that git refuses", snapshot.Options{}, func(w *world) { w.writeAll("a", "d/git~1") }, []string{"a"}, []string{"d/git~1"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.setup(w)
			for _, pass := range []string{"first", "again"} {
				st := w.stageWith(tt.opt)
				if d := cmp.Diff(tt.files, w.files(st.Tree.String()), cmpopts.EquateEmpty()); d != "" {
					t.Errorf("%s: files (-want +got):\n%s", pass, d)
				}
				if d := cmp.Diff(tt.left, leftPaths(st.LeftOut)); d != "" {
					t.Errorf("%s: left out (-want +got):\n%s", pass, d)
				}
				if st.Dirty != tt.dirty {
					t.Errorf("%s: dirty %d, want %d", pass, st.Dirty, tt.dirty)
				}
			}
		})
	}
}

func (w *world) writeAll(names ...string) {
	w.Helper()
	for _, name := range names {
		w.write(name, "content of "+name)
	}
}

func (w *world) stageWith(o snapshot.Options) snapshot.Staged {
	w.Helper()
	st, err := w.store.Stage(context.Background(), o)
	if err != nil {
		w.Fatal(err)
	}
	return st
}

// TestLeftOutFilesNeverBecomeObjects looks for their blobs.
func TestLeftOutFilesNeverBecomeObjects(t *testing.T) {
	w := newWorld(t)
	w.write(".ftlignore", "private\n")
	names := []string{".env", "id_rsa", "private", "large"}
	w.writeAll(names...)
	w.write("large", strings.Repeat("large", 100))
	w.write("a", "1")
	w.stageWith(snapshot.Options{MaxFile: 400})
	w.writeAll("b", "c/d")
	w.stageWith(snapshot.Options{MaxFile: 400})
	for _, name := range names {
		hash := w.git("hash-object", name)
		if out, err := w.try("cat-file", "-e", hash); err == nil {
			t.Errorf("%s is in the object store %s", name, out)
		}
	}
	w.git("cat-file", "-e", w.git("hash-object", "a"))
}

func TestWhyNamesTheIncludeLine(t *testing.T) {
	w := newWorld(t)
	w.write("data/large", strings.Repeat("x", 60<<20))
	st := w.stage()
	want := []snapshot.LeftOut{{Path: "data/large", Why: `larger than 50 MB; the line "/data/large" in .ftlinclude brings it along, once git ftl trust took it or git config ftl.include is true`}}
	if d := cmp.Diff(want, st.LeftOut); d != "" {
		t.Error(d)
	}
	if err := os.Remove(w.path("data/large")); err != nil {
		t.Fatal(err)
	}
	if st = w.stage(); st.LeftOut != nil {
		t.Errorf("after its removal: %v", st.LeftOut)
	}
}
