package patch

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// left is the patch of what is left of r.
func (l *lab) left(r Result, paths ...string) string {
	l.t.Helper()
	var out bytes.Buffer
	l.must(l.q.WriteLeft(l.t.Context(), r, paths, &out))
	return out.String()
}

// The patch of what is left leads to the result again, whatever is in it and
// whatever the user's settings are.
func TestTakePatch(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, kv := range []string{"diff.noprefix=true", "diff.context=0", "apply.whitespace=fix", "core.whitespace=tab-in-indent", "diff.suppressBlankEmpty=true",
		"apply.ignoreWhitespace=change", "core.autocrlf=true", "color.ui=always", "diff.external=false", "diff.renames=copies"} {
		name, value, _ := strings.Cut(kv, "=")
		l.git("config", name, value)
	}
	l.write("a", lines(30, nil))
	l.write("blank", "x\n\n\ny\n")
	l.write("crlf", "a\r\nb\r\n")
	l.write("bin", "\x00\x01")
	l.write("kind", "k\n")
	l.write("gone", "g\n")
	l.write("file", "f\n")
	l.write("folder/x", "x\n")
	l.write("empty", "")
	r := l.store(l.snapshot(), executable("a", lines(30, map[int]string{2: "\ttwo  ", 20: "twenty"})), file("blank", "x\n\n\nz \n"), file("crlf", "a\r\nc\r\n"),
		file("bin", "\x00\x02"), link("kind", "a"), gone("gone"), gone("file"), file("file/a", "a\n"), gone("folder/x"), file("folder", "n"),
		file("new é\n\"", "no end"), file("empty", "full\n"), file(" sp ace ", "s\n"), file("none", ""))
	part, err := l.q.TakePatch(t.Context(), r, strings.NewReader(l.left(r)))
	if err != nil || part.Tree != r.Tree || part.Have != r.Have {
		t.Errorf("got %s, want %s, %v", part.Tree, r.Tree, err)
	}
	if got := l.left(r, "gone", "crlf"); strings.Count(got, "diff --git") != 2 {
		t.Errorf("patch of two paths is\n%s", got)
	}
	// A line taken out, and one changed: the counts of the hunk are wrong.
	edited := strings.Replace(l.left(r, "a"), "+twenty\n", "+20\n+more\n", 1)
	part, err = l.q.TakePatch(t.Context(), r, strings.NewReader(edited))
	l.must(err)
	if got := l.git("show", part.Tree.String()+":a"); got+"\n" != lines(30, map[int]string{2: "\ttwo  ", 20: "20\nmore"}) {
		t.Errorf("a is %q", got)
	}
	for name, text := range map[string]string{
		"other context": strings.Replace(edited, "-line", "-lime", 1),
		"into dot git":  "diff --git a/.GIT/x b/.GIT/x\nnew file mode 100644\n--- /dev/null\n+++ b/.GIT/x\n@@ -0,0 +1 @@\n+x\n",
		"out of it":     "diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n",
		"no patch":      "hello\n",
	} {
		if _, err := l.q.TakePatch(t.Context(), r, strings.NewReader(text)); !errors.Is(err, ErrPatch) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
