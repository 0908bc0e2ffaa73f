package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// newShell is a shell in a repository that has one file, one task and one agent.
func newShell(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "two words.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(dir, ".git", "git-ftl")
	if err := os.MkdirAll(filepath.Join(state, "tasks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "tasks", "pvkq.json"), []byte(`{"id":"pvkq","files":[{"path":"sub/x.go","change":"added"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&cli{}, kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	s := &session.Session{Repo: &git.Repo{Dir: dir, State: state}, Config: config.Default()}
	return &shell{app: &app{dir: dir, env: os.Environ()}, s: s, verbs: parser.Model.Node}
}

// TestShellLine: what is a verb, and what is a task.
func TestShellLine(t *testing.T) {
	sh := newShell(t)
	verb := func(bare bool, args ...string) typed { return typed{args: args, bare: bare} }
	for _, row := range []struct {
		name, text string
		want       typed
	}{
		{"a task", "mend the parser", typed{text: "mend the parser"}},
		{"nothing", "", typed{}},
		{"an apostrophe", "show what's wrong", typed{text: "show what's wrong"}},
		{"a verb alone", "diff", verb(true, "diff")},
		{"an alias", "merge", verb(true, "merge")},
		{"a verb with a flag", "apply -p", verb(true, "apply", "-p")},
		{"a flag with a value", `apply --commit -m 'two words'`, verb(true, "apply", "--commit", "-m", "two words")},
		{"git's own flag", "diff --stat -U 5", verb(true, "diff", "--stat", "-U", "5")},
		{"an ID", "show pvkq", verb(true, "show", "pvkq")},
		{"the beginning of an ID and a flag", "apply pv --index", verb(true, "apply", "pv", "--index")},
		{"an ID with a slip in it", "diff pvkx", verb(true, "diff", "pvkx")},
		{"paths", "diff -- no/such file", verb(true, "diff", "--", "no/such", "file")},
		{"a file", "diff a.txt", verb(true, "diff", "a.txt")},
		{"a file with a space", `diff -- "two words.txt"`, verb(true, "diff", "--", "two words.txt")},
		{"a sentence that begins as a verb", "diff the two files", typed{text: "diff the two files"}},
		{"another one", "undo my last change", typed{text: "undo my last change"}},
		{"words of the letters of IDs", "merge tools now", typed{text: "merge tools now"}},
		{"test is no verb of a sentence", "test the parser", typed{text: "test the parser"}},
		{"a question", "ask why is that?", verb(true, "ask", "--", "why is that?")},
		{"a question mark", "? why is that", verb(false, "ask", "--", "why is that")},
		{"without a space", "?why 'that'", verb(false, "ask", "--", "why 'that'")},
		{"a question that begins with a dash", "? -- or not", verb(false, "ask", "--", "-- or not")},
		{"an ID is a word of a question", "ask what is pvkq", verb(true, "ask", "--", "what is pvkq")},
		{"another result", "/ask 'why' pvkq", verb(false, "ask", "why", "pvkq")},
		{"a question alone", "?", typed{help: shellHelp}},
		{"new", "new diff the two files", typed{text: "diff the two files", fresh: true}},
		{"new, with lines", "new one\n two", typed{text: "one\n two", fresh: true}},
		{"new before a line", "new\none", typed{text: "one", fresh: true}},
		{"new alone", "new", typed{args: []string{"run"}}},
		{"a space", " diff", typed{text: "diff"}},
		{"a quote", `"undo"`, typed{text: "undo"}},
		{"a quote within", `"a" and "b"`, typed{text: `a" and "b`}},
		{"a slash", "/diff --stat", verb(false, "diff", "--stat")},
		{"a slash before any verb", "/config --json", verb(false, "config", "--json")},
		{"as a hint has it", `git ftl continue pvkq "more of it"`, verb(false, "continue", "pvkq", "more of it")},
		{"an unknown slash", "/frob x", typed{help: "no verb is called frob; new /frob … makes a task of it"}},
		{"a path is no slash", "/etc/hosts is wrong", typed{text: "/etc/hosts is wrong"}},
		{"exit", "exit", typed{leave: true}},
		{"exit in a sentence", "exit with code 3", typed{text: "exit with code 3"}},
		{"help of a verb", "help diff", verb(false, "diff", "--help")},
		{"an agent", "agent codex", typed{setAgent: true, agent: "codex"}},
		{"no agent", "agent should retry", typed{text: "agent should retry"}},
		{"nobody's name", "agent nobody", typed{text: "agent nobody"}},
		{"standard input is no task", "-", typed{help: shellHelp}},
		{"a dash", "- tidy up", typed{text: "- tidy up"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := sh.parse(row.text)
			if got.args != nil {
				got.text = ""
			}
			if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(typed{})); diff != "" {
				t.Errorf("%q (-want +got):\n%s", row.text, diff)
			}
		})
	}
}

func TestRemembered(t *testing.T) {
	for text, want := range map[string]bool{
		"/auth set X": false, " /auth set X": false, "git ftl auth set X": false, "auth set X": false,
		"mend the auth module": true, "authors have to be listed": true, "/allow host": true,
	} {
		if got := remembered(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestSplitWords(t *testing.T) {
	for _, row := range []struct {
		name, line string
		want       []string
		whole      bool
	}{
		{"plain", "a  b\tc", []string{"a", "b", "c"}, true},
		{"quotes", `a 'b c' "d e"f`, []string{"a", "b c", "d ef"}, true},
		{"an empty word", `a '' b`, []string{"a", "", "b"}, true},
		{"backslashes", `a\ b "c\"d" '\e'`, []string{"a b", `c"d`, `\e`}, true},
		{"no end", `it's`, []string{"its"}, false},
		{"a last backslash", `a\`, []string{"a"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, whole := splitWords(row.line)
			if diff := cmp.Diff(row.want, got); diff != "" || whole != row.whole {
				t.Errorf("whole %v, words (-want +got):\n%s", whole, diff)
			}
		})
	}
}

// TestShellComplete: what Tab offers.
func TestShellComplete(t *testing.T) {
	sh := newShell(t)
	sh.current = "pvkq"
	for _, row := range []struct {
		name, before string
		want         []string
	}{
		{"verbs", "rej", []string{"reject"}},
		{"words of the shell", "he", []string{"help"}},
		{"any verb", "/conf", []string{"/config"}},
		{"flags", "apply --ind", []string{"--index"}},
		{"agents", "agent code", []string{"codex"}},
		{"files of a task", "mend a", []string{"a.txt"}},
		{"files below a verb that was meant as a word", "continue a", []string{"a.txt"}},
		{"nothing of git's own", "mend .g", nil},
		{"help", "help undo", []string{"undo"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, all := sh.complete(row.before)
			var got []string
			for _, c := range all {
				got = append(got, c.Word)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
