package container

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSelfGuest: where no guest was built in, a program is its own, from what it
// gives as the guest to a task that it serves.
func TestSelfGuest(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: a program is its own guest on Linux only")
	}
	e := engine(t)
	program := compile(t)
	bin, err := exec.Command(program, runtime.GOARCH).Output()
	if err != nil {
		t.Fatal(err)
	}
	if own, err := os.ReadFile(program); err != nil || !bytes.Equal(own, bin) {
		t.Fatalf("the guest of %d bytes is not the program of %d", len(bin), len(own))
	}
	p := pool(t, e)
	spec := specOf(t, Spec{})
	spec.Guest = loaded(bin)
	s, err := p.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer release(t, s)
	r := newRepository(t)
	reset(t, s, r.base(s, map[string]string{"a": "1\n"}))
	shell(t, s, "echo 2 >a")
	if patch := diff(t, s); !strings.Contains(patch, "-1\n+2\n") {
		t.Errorf("patch %s", patch)
	}
	// Another architecture has none, and the message says what to do.
	out, err := exec.Command(program, "other").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "make build") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestSelfGuestNeedsNoLibraries: a program with a loader would not start in an
// image of another C library.
func TestSelfGuestNeedsNoLibraries(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: a program is its own guest on Linux only")
	}
	for program, want := range map[string]string{
		"/bin/sh":  "linked to libraries",
		compile(t): "",
	} {
		bin, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := standsAlone(bin); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", program, err)
		}
	}
}

// compile builds the program that can be its own guest.
func compile(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "selfguest")
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "./testdata/selfguest")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
