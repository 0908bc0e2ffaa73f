package container

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A reset that fails replaces the sandbox: an agent may have left it so.
func TestFailedResetReplaces(t *testing.T) {
	resets := 0
	s, _ := sandboxOf(t, map[string]http.HandlerFunc{"POST /reset": func(w http.ResponseWriter, _ *http.Request) {
		if resets++; resets == 1 {
			http.Error(w, "cannot remove /workspace/x", http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `{"files":7}`)
	}})
	s.spec.Guest.Load = func() ([]byte, error) { return []byte("x"), nil }
	if err := s.Hold("task"); err != nil {
		t.Fatal(err)
	}
	report, err := s.Reset(t.Context(), Base{ID: "i", From: "base"})
	if err != nil || report.Files != 7 {
		t.Fatalf("%+v, %v", report, err)
	}
	if want := "its reset failed: post reset: the guest says: cannot remove /workspace/x"; s.Replaced != want || s.Warm() {
		t.Errorf("replaced %q, warm %v", s.Replaced, s.Warm())
	}
	if rec, err := s.pool.read(s.name); err != nil || rec.Hold != "task" {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestReleasedSandboxIsNotUsed(t *testing.T) {
	s, e := sandboxOf(t, nil)
	if err := errors.Join(s.Release(), s.Release()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), Cmd{Argv: []string{"x"}}); err == nil || !strings.Contains(err.Error(), "released") {
		t.Error(err)
	}
	if e.stops != 0 {
		t.Error("another task's sandbox was stopped")
	}
}
