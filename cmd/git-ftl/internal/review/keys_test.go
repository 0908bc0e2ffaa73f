package review

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-ftl/git-ftl/patch"
)

// TestEveryKey: each key of the help changes the screen or does something to the
// program, where it is of use.
func TestEveryKey(t *testing.T) {
	t.Parallel()
	after := map[string][]string{ // keys that are pressed before, n and n otherwise
		"N": {"/", "'conn", "enter"}, "h": {"n", "n", "l"}, "left": {"n", "n", "l"}, "o": {"a", "'x", "enter", "esc"},
	}
	ask := func(context.Context, string, func(string)) error { return nil }
	for _, b := range bindings() {
		for _, key := range b.keys {
			t.Run(key, func(t *testing.T) {
				t.Parallel()
				s := newScreen(t, Review{Change: example(), Ask: ask}, 130, 12)
				before, ok := after[key]
				if !ok {
					before = []string{"n", "n"}
				}
				s.types(before...)
				was := s.plain()
				_, cmd := s.Update(keyOfName(t, key))
				if s.plain() == was && cmd == nil {
					t.Error("it does nothing")
				}
				if strings.Contains(s.message, "no key") || strings.Contains(s.message, "there is none") || key != "S" && strings.Contains(s.message, "cannot") {
					t.Error(s.message)
				}
			})
		}
	}
}

// TestKeysAreBoundOnce: a key has one meaning.
func TestKeysAreBoundOnce(t *testing.T) {
	t.Parallel()
	var all []string
	for _, b := range bindings() {
		all = append(all, b.keys...)
	}
	slices.Sort(all)
	if got := slices.Compact(slices.Clone(all)); len(got) != len(all) {
		t.Errorf("a key is there twice in %v", all)
	}
}

// TestOutcomes: what is decided is what the caller is given.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	c := example()
	added, dial, closing, docs, mode := c.Files[0].Pieces[0], c.Files[1].Pieces[0], c.Files[1].Pieces[1], c.Files[2].Pieces[0], c.Files[3].Pieces[0]
	for _, tc := range []struct {
		name string
		keys []string
		want Outcome
		left map[string]Mark // by the names of hunks
	}{
		{"leave", []string{"n", "y", "q"}, Outcome{}, nil},
		{"all", []string{"A", "y"}, Outcome{Action: Apply}, nil},
		{"all with tests", []string{"T", "y"}, Outcome{Action: Apply, Tests: true}, nil},
		{"the accepted ones with tests", []string{"n", "y", "T", "y"}, Outcome{Action: Apply, Tests: true, Pieces: []patch.Piece{added}}, map[string]Mark{}},
		{"all in spite of marks", []string{"n", "x", "A", "a"}, Outcome{Action: Apply}, nil},
		{"the accepted ones", []string{"n", "y", "n", "x", "n", "y", "A", "y"}, Outcome{Action: Apply, Pieces: []patch.Piece{added, closing}},
			map[string]Mark{newHunk(dial, 0).key: Rejected}},
		{"all but the rejected ones", []string{"n", "n", "x", "A", "x"}, Outcome{Action: Apply, Pieces: []patch.Piece{added, closing, docs, mode}},
			map[string]Mark{newHunk(dial, 0).key: Rejected}},
		{"a file", []string{"}", "}", "y", "A", "y"}, Outcome{Action: Apply, Pieces: []patch.Piece{dial, closing}}, map[string]Mark{}},
		{"reject", []string{"R", "y"}, Outcome{Action: Reject}, nil},
		{"send words alone", []string{"s", "'more tests", "enter"}, Outcome{Action: Send, Text: "more tests"}, nil},
		{"send a comment", []string{"]", "]", "j", "j", "j", "j", "c", "'too long", "enter", "s", "enter"}, Outcome{Action: Send,
			Text: introduction + "About api/client.go:\n\nLine 12 `\t// One attempt is not enough: \u202eevil\u202c`: too long\n"}, nil},
		{"send a rejected hunk", []string{"}", "}", "}", "}", "x", "]", "c", "'as it was", "enter", "s", "'Again.", "enter"}, Outcome{Action: Send,
			Text: "Again.\n\n" + introduction + "Rejected, run.sh:\n\n    executable bit: old mode 100644, new mode 100755\n\nas it was\n"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(t, Review{Change: c}, 80, 24)
			s.types(tc.keys...)
			if !s.quit {
				t.Error("the screen is still there")
			}
			got := s.outcome
			if d := cmp.Diff(tc.left, got.Left.Marks); d != "" {
				t.Error(d)
			}
			got.Left = Decisions{}
			if d := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(patch.Piece{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestNothingIsDoneUnasked: any key but the one that is asked for leaves all as it
// is.
func TestNothingIsDoneUnasked(t *testing.T) {
	t.Parallel()
	for _, ask := range []string{"A", "T", "R"} {
		for _, key := range []string{"n", "enter", "esc", "space", "q", "Y", "ctrl+c", "down"} {
			s := newScreen(t, Review{Change: example()}, 80, 24)
			s.types(ask, key)
			if s.quit || s.prompt != nil {
				t.Errorf("%s %s: quit is %v", ask, key, s.quit)
			}
		}
	}
	bare := example()
	bare.Keepable = 0
	s := newScreen(t, Review{Change: bare}, 80, 24)
	s.types("T")
	if s.prompt != nil || !strings.Contains(s.message, "there are no tests to keep") {
		t.Errorf("without tests: %q", s.message)
	}
	s.types("s", "enter")
	if s.quit || !strings.Contains(s.message, "nothing to send") {
		t.Errorf("an empty instruction: %q", s.message)
	}
}

// TestPrompt edits a line.
func TestPrompt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		keys []string
		want string
	}{
		{"text", []string{"'a b"}, "a b"},
		{"in the middle", []string{"'ac", "left", "'b"}, "abc"},
		{"both ends", []string{"'b", "home", "'a", "end", "'c"}, "abc"},
		{"deleted", []string{"'abc", "backspace", "left", "delete"}, "a"},
		{"nothing to delete", []string{"backspace", "delete", "'a", "right", "delete"}, "a"},
		{"a word", []string{"'one two", "ctrl+w"}, "one "},
		{"up to the cursor, and from it", []string{"'one two three", "ctrl+w", "ctrl+a", "right", "right", "right", "right", "ctrl+u", "ctrl+k"}, ""},
		{"not one byte", []string{"'日本", "left", "backspace"}, "本"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(t, Review{Change: example()}, 40, 12)
			s.types("/")
			s.types(tc.keys...)
			if got := string(s.prompt.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestPaste: a pasted text is one line, and answers nothing.
func TestPaste(t *testing.T) {
	t.Parallel()
	s := newScreen(t, Review{Change: example()}, 80, 24)
	s.types("s")
	s.tell(tea.PasteMsg{Content: " one\r\n\ttwo\n"})
	if got := string(s.prompt.text); got != "one two" {
		t.Errorf("got %q", got)
	}
	s.types("esc", "A")
	s.tell(tea.PasteMsg{Content: "y"})
	if s.quit {
		t.Error("a paste has applied it")
	}
}

// TestKept: the newest decisions wait to be written, however many came before, and
// a later look begins with them.
func TestKept(t *testing.T) {
	t.Parallel()
	s := newScreen(t, Review{Change: example()}, 80, 24)
	s.types("n", "y", "n", "x", "c", "'no", "enter")
	kept := <-s.keeps
	if accepted, rejected := s.tally(); accepted != 1 || rejected != 1 || len(kept.Comments) != 1 {
		t.Errorf("%d accepted, %d rejected, %v", accepted, rejected, kept)
	}
	again := newScreen(t, Review{Change: example(), Decisions: kept}, 80, 24)
	again.types("n", "n")
	if d := cmp.Diff(again.plain(), s.plain()); d != "" {
		t.Errorf("(- the later look):\n%s", d)
	}
}

// TestAnswers: a new question ends the one before, whose words are dropped.
func TestAnswers(t *testing.T) {
	t.Parallel()
	ask := func(ctx context.Context, question string, say func(string)) error {
		say("about " + question)
		if question == "one" {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	s := newScreen(t, Review{Change: example(), Ask: ask}, 80, 24)
	s.ask("one") // goes on
	one := s.answer
	s.types("esc") // stops it
	s.running.Wait()
	s.tell(nil)
	if got := one.words(); got != "? one\n\nabout one\n[stopped]" {
		t.Errorf("got %q", got)
	}
	s.types("a", "'two", "enter")
	s.tell(answerMsg{of: one, text: "late"})
	if got := s.answer.words(); got != "? two\n\nabout two" {
		t.Errorf("got %q", got)
	}
}
