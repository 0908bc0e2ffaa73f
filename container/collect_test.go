package container

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRecorded: what the records say needs no engine, and tells who holds what.
func TestRecorded(t *testing.T) {
	p := &Pool{Dir: t.TempDir()}
	for name, rec := range map[string]*record{"main-1": {ID: "one", Hold: "kkkk", Fit: fit{Image: "img"}}, "main-2": {ID: "two"}} {
		if err := p.write(name, rec); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := p.lock("main-2")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	list, err := p.Recorded()
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if a := list[0]; a.Name != "main-1" || a.Holds != "kkkk" || a.Image != "img" || a.Busy || a.State != "" {
		t.Errorf("%+v", a)
	}
	if b := list[1]; b.Name != "main-2" || b.Holds != "" || !b.Busy {
		t.Errorf("%+v", b)
	}
}

// TestDropExport: an export goes only where no sandbox can see it.
func TestDropExport(t *testing.T) {
	p := &Pool{Dir: t.TempDir()}
	for _, name := range []string{"main-1", "main-2", "main-3"} {
		if err := os.MkdirAll(filepath.Join(p.export(name), "tree"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.write("main-1", &record{ID: "one"}); err != nil {
		t.Fatal(err)
	}
	unlock, err := p.lock("main-2")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for name, want := range map[string]error{"main-1": ErrBusy, "main-2": ErrBusy, "main-3": nil} {
		if err := p.DropExport(name); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if there := exists(p.export(name)); there != (want != nil) {
			t.Errorf("%s: is there: %v", name, there)
		}
	}
	if err := p.DropExport("../x"); err == nil {
		t.Error("a name out of the folder is taken")
	}
}

// TestImages: images that were built here are found with what they take, one that
// a container is made of stays, and no other name is removed.
func TestImages(t *testing.T) {
	e := engine(t)
	ref := imageFolder + "test-" + nonce(4) + ":1"
	build := exec.Command("docker", "build", "-q", "-t", ref, "-")
	build.Stdin = bytes.NewReader([]byte("FROM " + testImage + "\nLABEL x=" + ref + "\n"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", ref).Run() })
	find := func() *Built {
		t.Helper()
		all, err := e.Images(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, img := range all {
			if img.Ref == ref {
				return &img
			}
		}
		return nil
	}
	if img := find(); img == nil || img.Used || img.Size != 0 || img.Created.IsZero() {
		t.Fatalf("found %+v; it adds nothing to its base", img)
	}
	p := pool(t, e)
	sb := acquire(t, p, Spec{Image: ref})
	id := sb.rec.ID
	release(t, sb)
	if img := find(); img == nil || !img.Used || img.ID != sb.rec.Fit.Image {
		t.Errorf("with a sandbox: %+v", img)
	}
	if n := e.Size(t.Context(), id); n <= 0 {
		t.Errorf("the sandbox takes %d bytes", n)
	}
	if err := e.RemoveImage(t.Context(), ref); !errors.Is(err, ErrBusy) {
		t.Errorf("with a sandbox: %v", err)
	}
	if err := p.Remove(t.Context(), sb.Name()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // one that is gone is no error
		if err := e.RemoveImage(t.Context(), ref); err != nil {
			t.Error(err)
		}
	}
	if img := find(); img != nil {
		t.Errorf("still there: %+v", img)
	}
	if err := e.RemoveImage(t.Context(), testImage); err == nil {
		t.Error("an image of another's is removed")
	}
	if _, err := e.Image(t.Context(), testImage); err != nil {
		t.Error(err)
	}
}
