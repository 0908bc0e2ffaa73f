package review

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/patch"
)

var update = flag.Bool("update", false, "write the golden files anew")

// example is a change with one of everything.
func example() Change {
	client := func(text string) patch.Piece {
		return patch.Piece{Path: "api/client.go", Change: patch.Modified, Hunk: true, Text: text}
	}
	return Change{
		ID: "pvkq", Task: "Retry with backoff in the http client, with tests\n\nAt most five times.", About: "claude-code, 4 files, +84 -6",
		Files: []File{
			{Path: "api/backoff.go", Change: patch.Added, Summary: "The waiting between attempts.", Tests: Verdict{"passed", "2 of 2"}, Pieces: []patch.Piece{{
				Path: "api/backoff.go", Change: patch.Added, Header: "new file mode 100644\n", Text: "@@ -0,0 +1,9 @@\n+package api\n+\n+// wait is how long to wait.\n+func wait(n int) time.Duration {\n+\tif n > 5 {\n+\t\tn = 5\n+\t}\n+\treturn time.Second << n\n+}\n",
			}}},
			{Path: "api/client.go", Change: patch.Modified, Pieces: []patch.Piece{
				client("@@ -10,7 +10,8 @@ func Dial(addr string) (*Client, error) {\n \tc := &Client{}\n \tc.addr = addr\n-\tconn, err := net.Dial(\"tcp\", addr)\n+\t// One attempt is not enough: \u202eevil\u202c\n+\tconn, err := dialAgain(addr)\n \tif err != nil {\n \t\treturn nil, err\n \t}\n \treturn c, nil\n"),
				client("@@ -40,5 +41,6 @@ func (c *Client) Close() error {\n \tc.mu.Lock()\n-\tdefer c.mu.Unlock()\n-\treturn c.conn.Close()\n+\terr := c.conn.Close() // " + strings.Repeat("long ", 60) + "\n+\tc.mu.Unlock()\n+\treturn err\n }\n \n"),
			}},
			{Path: "docs/名前.md", Change: patch.Modified, Tests: Verdict{"failed", "1 of 3"}, Pieces: []patch.Piece{{
				Path: "docs/名前.md", Change: patch.Modified, Hunk: true, Text: "@@ -1,2 +1,2 @@\n # 日本語の見出し\n-old \x1b[31mred\x1b[0m\r\n\\ No newline at end of file\n+ｎｅｗ 👍🏽 é\n\\ No newline at end of file\n",
			}}},
			{Path: "run.sh", Change: patch.Modified, Touched: true, Pieces: []patch.Piece{
				{Path: "run.sh", Change: patch.Mode, Header: "old mode 100644\nnew mode 100755\n"},
			}},
		},
		Findings: []Finding{
			{Rule: "unicode/bidi", Severity: "block", Path: "api/client.go", Line: 12, Message: "characters that change the order of a line"},
			{Rule: "shell/executable", Severity: "info", Path: "run.sh", Message: "the file can be executed now"},
			{Rule: "scope", Severity: "warn", Path: "gone.txt", Line: 3, Message: "has no place in the task"},
		},
		Blocked: true,
		Tests:   Verdict{"failed", "1 failed, 2 passed (1 failed before), 1 invalid; sh run.sh: 1 new failure"},
		Verdicts: []Test{
			{Path: "run.sh", Name: "long lines", Status: "failed", Own: true, Output: "not ok 3 - long lines\n"},
			{Path: "api/ftl_backoff_test.go", Name: "TestWaitIsBounded", Status: "failed", Detail: "it passed before the change",
				Output: "    ftl_backoff_test.go:12: wait(9) is 8m32s\n\twant at most \x1b[31m32s\x1b[0m\n--- FAIL: TestWaitIsBounded (0.00s)\n"},
			{Path: "api/ftl_dial_test.go", Name: "api/ftl_dial_test.go", Status: "invalid", Detail: "it does not compile, before the change and after it", Output: "undefined: Dail\n"},
			{Path: "api/ftl_backoff_test.go", Name: "TestWaitGrows", Status: "passed", Proves: true},
			{Path: "api/ftl_backoff_test.go", Name: "TestWaitOfNone", Status: "passed"},
		},
		Touched:  []string{"the change edits 1 of the project's own tests: run.sh"},
		Keepable: 1,
		Summary:  "Adds retries to the client. The file mode of run.sh has nothing to do with the task.",
		Notes:    []string{"it was made on branch other"},
	}
}

// screen is a model without a terminal: what would be sent to it is kept until it
// is wanted.
type screen struct {
	*model
	t     *testing.T
	mu    sync.Mutex
	queue []tea.Msg
	quit  bool
}

func newScreen(t *testing.T, r Review, width, height int) *screen {
	s := &screen{model: newModel(r), t: t}
	s.ctx = t.Context()
	s.send = func(msg tea.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.queue = append(s.queue, msg)
	}
	s.tell(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// tell gives the model a message, and what comes of it.
func (s *screen) tell(msg tea.Msg) {
	_, cmd := s.Update(msg)
	if cmd != nil {
		if _, ok := cmd().(tea.QuitMsg); ok {
			s.quit = true
		}
	}
	s.running.Wait()
	for len(s.queue) > 0 {
		msg := s.queue[0]
		s.queue = s.queue[1:]
		s.Update(msg)
		s.running.Wait()
	}
}

// types presses keys, in words: "j", "ctrl+d", "space"; 'text' types a text.
func (s *screen) types(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if text, ok := strings.CutPrefix(k, "'"); ok {
			for _, r := range text {
				s.tell(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		s.tell(keyOfName(s.t, k))
	}
}

// keyOfName is the key that bubbletea calls so.
func keyOfName(t testing.TB, name string) tea.KeyPressMsg {
	t.Helper()
	var k tea.KeyPressMsg
	base, isCtrl := strings.CutPrefix(name, "ctrl+")
	if isCtrl {
		k.Mod = tea.ModCtrl
	}
	codes := map[string]rune{
		"space": tea.KeySpace, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "delete": tea.KeyDelete,
	}
	if code, ok := codes[base]; ok {
		k.Code = code
		if base == "space" && !isCtrl {
			k.Text = " "
		}
	} else {
		k.Code = []rune(base)[0]
		if !isCtrl {
			k.Text = base
		}
	}
	if k.String() != name {
		t.Fatalf("key %q is called %q", name, k.String())
	}
	return k
}

// plain is the frame without its colours. Each of its lines has to fit.
func (s *screen) plain() string {
	s.t.Helper()
	lines := strings.Split(ansi.Strip(s.View().Content), "\n")
	if len(lines) != max(s.height, 1) {
		s.t.Errorf("%d lines on a screen of %d", len(lines), s.height)
	}
	for i, l := range lines {
		if w := s.method.StringWidth(l); w != s.width {
			s.t.Errorf("line %d is %d wide, the screen %d: %q", i, w, s.width, l)
		}
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// golden compares with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-update writes it anew):\n%s", name, d)
	}
}

// TestScreens: every screen as a person sees it.
func TestScreens(t *testing.T) {
	t.Parallel()
	answers := func(_ context.Context, question string, say func(string)) error {
		say("You asked: " + question + "\n\nIt waits ")
		say("one second, then two, and never more than 32.")
		return nil
	}
	fails := func(_ context.Context, _ string, say func(string)) error {
		say("It ")
		return errors.New("the model went away")
	}
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 12}} {
		for _, tc := range []struct {
			name string
			ask  func(context.Context, string, func(string)) error
			keys []string
		}{
			{"overview", nil, nil},
			{"help", nil, []string{"?"}},
			{"hunk", nil, []string{"n", "n"}},
			{"files", nil, []string{"tab", "j", "j"}},
			{"marks", nil, []string{"n", "y", "n", "x", "j", "j", "j", "j", "c", "'why a comment?", "enter", "tab"}},
			{"comment", nil, []string{"n", "n", "j", "c", "'not " + strings.Repeat("so ", 30) + "sure"}},
			{"search", nil, []string{"/", "'conn", "enter", "n"}},
			{"side", nil, []string{"v", "n", "n"}},
			{"shifted", nil, []string{"n", "n", "n", "l", "l", "l"}},
			{"end", nil, []string{"G"}},
			{"wide-characters", nil, []string{"}", "}", "}", "right", "n"}},
			{"tests", nil, []string{"j", "j", "j", "space"}},
			{"apply", nil, []string{"A"}},
			{"apply-tests", nil, []string{"T"}},
			{"apply-tests-some", nil, []string{"n", "y", "T"}},
			{"apply-some", nil, []string{"n", "y", "n", "x", "A"}},
			{"reject", nil, []string{"R"}},
			{"send", nil, []string{"n", "x", "s", "'please"}},
			{"nobody-to-ask", nil, []string{"a"}},
			{"answer", answers, []string{"n", "a", "'How long does it wait?", "enter"}},
			{"no-answer", fails, []string{"a", "'Why?", "enter"}},
		} {
			name := fmt.Sprintf("%s-%dx%d", tc.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newScreen(t, Review{Change: example(), Ask: tc.ask}, size[0], size[1])
				s.types(tc.keys...)
				golden(t, name, s.plain())
			})
		}
	}
}

// TestColours: a screen with its colours, as a dark terminal of 256 gets them.
func TestColours(t *testing.T) {
	t.Parallel()
	s := newScreen(t, Review{Change: example()}, 80, 24)
	s.tell(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
	s.theme = newTheme(colorprofile.ANSI256, true, true)
	s.types("n", "n")
	golden(t, "colours", strings.ReplaceAll(s.View().Content, "\x1b", "␛")+"\n")
}
