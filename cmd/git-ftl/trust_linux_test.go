package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrustAtTerminal: only a y trusts, and only what was shown: a file that takes
// its place before the answer stays untrusted.
func TestTrustAtTerminal(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(repo, ".ftlconfig"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"image": "shown\u001b]0;title\u0007"}`)
	term := openTerminal(t, repo)

	for _, answer := range []string{"", "n", "yep"} {
		term.forget()
		term.types("git ftl trust; echo code $? after '<" + answer + ">'\n")
		term.until("1 thing: trust image (y/N)? ")
		term.forget()
		term.types(answer + "\n")
		term.until("code 1 after <" + answer + ">")
		if !strings.Contains(term.text(), "nothing was trusted") {
			t.Errorf("after %q: %s", answer, term.text())
		}
	}
	term.forget()
	term.types("git ftl trust | cat; echo piped $((40+1))\n")
	term.until(`image: "shown\x1b]0;title\a"`) // what is agreed to is seen, wherever stdout goes
	term.until("(y/N)? ")
	term.types("\n")
	term.until("piped 41")
	if strings.Contains(term.text(), "\x1b]0;") {
		t.Errorf("the title was set: %q", term.text())
	}

	term.forget()
	term.types("git ftl trust; echo code $? $((20+2))\n")
	term.until("(y/N)? ")
	term.forget()
	write(`{"image": "replaced"}`)
	term.types("y\n")
	term.until("code 0 22")
	if !strings.Contains(term.text(), "the files have changed since they were shown") {
		t.Errorf("the change is not said: %s", term.text())
	}
	term.forget()
	term.types("git ftl config; echo done $((30+3))\n")
	term.until("done 33")
	if text := term.text(); !strings.Contains(text, `needs trust: "replaced" of .ftlconfig`) || strings.Contains(text, ".ftlconfig  trusted") {
		t.Errorf("what was never shown: %s", text)
	}
	write(`{"image": "shown\u001b]0;title\u0007"}`)
	term.forget()
	term.types("git ftl config; echo done $((40+4))\n")
	term.until("done 44")
	if !strings.Contains(term.text(), ".ftlconfig  trusted") {
		t.Errorf("what was shown is not trusted: %s", term.text())
	}
}
