package container

import (
	"archive/tar"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"
	"github.com/google/go-cmp/cmp"
)

// TestForeignProxies: of the user's proxies somebody else's commands get none that
// holds a password, nor the way to this machine's loopback.
func TestForeignProxies(t *testing.T) {
	for _, row := range []struct {
		variable string
		passes   bool
	}{
		{"https_proxy=http://proxy.example:3128", true},
		{"HTTP_PROXY=proxy.example:3128", true},
		{"NO_PROXY=localhost,127.0.0.1", true},
		{"https_proxy=http://me:word@proxy.example:3128", false},
		{"https_proxy=me:word@proxy.example:3128", false},
		{"https_proxy=http://127.0.0.1:3128", false},
		{"https_proxy=localhost:3128", false},
		{"https_proxy=http://[::1]:3128/", false},
		{"https_proxy=%%", false},
	} {
		e := &DockerEngine{env: []string{row.variable}}
		if got := openProxies(e.buildArgs()); (len(got) == 1) != row.passes {
			t.Errorf("%s: %v", row.variable, slices.Collect(maps.Keys(got)))
		}
	}
}

// TestForeignRef: the name of an image is another where anything that makes it is.
func TestForeignRef(t *testing.T) {
	seen := map[string]int{}
	for i, f := range []Foreign{
		{}, {Dockerfile: []byte("a")}, {Target: "a"}, {Key: "a"}, {Owner: "a"}, {Args: []string{"a"}}, {Args: []string{"a", "b"}}, {Args: []string{"ab"}}, {Args: []string{"a\n1 b"}},
	} {
		if j, ok := seen[f.Ref()]; ok {
			t.Errorf("%d and %d are %s", i, j, f.Ref())
		}
		seen[f.Ref()] = i
	}
}

// TestBuildForeign: a build has its context and arguments, is done once, and a context
// that cannot be read ends it with the reason.
func TestBuildForeign(t *testing.T) {
	e := engine(t)
	f := Foreign{
		Dockerfile: []byte("FROM " + testImage + " AS first\nARG A\nCOPY dir/file link /x/\nENV GOT=$A\nFROM first AS second\nENV SECOND=1\n"),
		Target:     "first", Args: []string{"A=a b"}, Owner: "test", Key: t.Name(),
	}
	times := 0
	f.Context = func(w *tar.Writer) error {
		times++
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "dir/file", Mode: 0o755, Size: 2})
		_, err2 := w.Write([]byte("hi"))
		return errors.Join(err, err2, w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "dir/file"}))
	}
	_, _ = e.api.ImageRemove(t.Context(), f.Ref(), image.RemoveOptions{})
	for range 2 {
		img, err := e.BuildForeign(t.Context(), f, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(img.Env, func(kv string) bool { return !strings.HasPrefix(kv, "GOT=") && !strings.HasPrefix(kv, "SECOND=") })
		if diff := cmp.Diff([]string{"GOT=a b"}, got); diff != "" {
			t.Error(diff)
		}
	}
	if times != 1 {
		t.Errorf("built %d times", times)
	}
	if err := e.RemoveImage(t.Context(), f.Ref()); err != nil {
		t.Error(err)
	}
	bad := errors.New("no such object")
	f.Context = func(*tar.Writer) error { return bad }
	if _, err := e.BuildForeign(t.Context(), f, t.Output()); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	if _, err := e.Pull(t.Context(), "nowhere.invalid/x:1", t.Output()); !errors.Is(err, ErrNoImage) {
		t.Errorf("pull: %v", err)
	}
}
