package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// TestColourIsOursAlone: what is shown cannot bring colours or imitate ours.
func TestColourIsOursAlone(t *testing.T) {
	var out bytes.Buffer
	u := newUI(&app{stdout: &out, stderr: &out})
	u.colour = true
	u.Event(session.Event{Kind: session.EventStage, Stage: "agent", Result: "\x1b[2mx\x00" + "0m\x1b[0m", Millis: 1000})
	want := "\x1b[1magent    \x1b[0m \\x1b[2mx\\x000m\\x1b[0m  \x1b[2m1.0s\x1b[0m\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestQuoteArgs(t *testing.T) {
	got := quoteArgs([]string{"sh", "-c", "it's", "", "a=b/c", "$x"})
	if want := `sh -c 'it'\''s' '' a=b/c '$x'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		12 * time.Millisecond: "0.01s", 1200 * time.Millisecond: "1.2s", 108*time.Second + 400*time.Millisecond: "1m48s",
	} {
		if got := took(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
