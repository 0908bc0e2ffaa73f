package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetupChoosesStore: on a machine without a keyring, setup asks where the key
// of a vault is to be, and whatever is answered leads on.
func TestSetupChoosesStore(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT RUN: setup at a terminal (-short)")
	}
	needEngine(t)
	home := t.TempDir()
	term := openTerminal(t, home)
	term.types("export DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus; unset FTL_PASSPHRASE FTL_MASTER_KEY; echo value-of-a-key-4711 > value\n")
	for _, row := range []struct {
		name, before string
		answers      []string // and what is shown before each
		shows        string
		works        bool
	}{
		{"none", "", []string{"which one (1-4, empty for none)? ", ""}, "none for now: git ftl setup asks again", false},
		{"later", "", []string{"which one", "4"}, "none for now", false},
		{"nonsense", "", []string{"which one", "yes", "it is a number from 1 to 4", ""}, "none for now", false},
		{"passphrase", "", []string{"which one", "1", "passphrase of the vault: ", "open sesame", "the same again: ", "open barley",
			"these are two passphrases", "1", "passphrase of the vault: ", "open sesame", "the same again: ", "open sesame"}, "its key: a passphrase", true},
		{"identity", "", []string{"which one", "2", "identity.txt): ", ""}, "its key: the identity file", true},
		{"identity elsewhere", "", []string{"which one", "2", "identity.txt): ", "mine.age"}, "mine.age", true},
		{"environment unset", "", []string{"which one", "3"}, "git ftl auth init --store env", false},
		{"environment", "FTL_MASTER_KEY=" + strings.Repeat("0f", 32), []string{"which one", "3"}, "its key: the environment", true},
		{"interrupted", "", []string{"which one", "\x03"}, "interrupted", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := filepath.Join(home, strings.ReplaceAll(row.name, " ", "-"))
			term.t = t
			with := "XDG_CONFIG_HOME=" + dir + " " + row.before + " "
			term.forget()
			term.types(with + "git ftl setup; echo code $? $((20+1))\n")
			term.until("code $?") // the echo of the line itself
			term.until("which agent")
			term.forget()
			term.types("\n")
			for i := 0; i+1 < len(row.answers); i += 2 {
				term.until(row.answers[i])
				term.forget()
				keys := row.answers[i+1]
				if keys != "\x03" {
					keys += "\n"
				}
				term.types(keys)
			}
			if row.name != "interrupted" { // Ctrl-C ends the whole line
				term.until(" 21")
			}
			term.until(row.shows)
			if !row.works {
				if _, err := os.Stat(filepath.Join(dir, "git-ftl", "vault")); err == nil {
					t.Error("there is a vault")
				}
				return
			}
			term.forget()
			term.types(with + "FTL_PASSPHRASE='open sesame' git ftl auth set A_TOKEN < value; echo kept $? $((30+2))\n")
			term.until(" 32")
			if !strings.Contains(term.text(), "kept 0 32") {
				t.Errorf("auth set: %s", term.text())
			}
		})
	}
}

// TestSetupAsksForTester: at a terminal a person says whether a model writes tests
// at the cost of their key.
func TestSetupAsksForTester(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: setup at a terminal (-short)")
	}
	needEngine(t)
	needAgents(t, "claude-code", "codex")
	home := t.TempDir()
	term := openTerminal(t, home)
	term.types("export FTL_MASTER_KEY=" + strings.Repeat("0f", 32) + "; echo value-of-a-key-4711 > value; git ftl auth init --store env; for k in ANTHROPIC OPENAI; do git ftl auth set ${k}_API_KEY < value; done; echo made $((10+3))\n")
	term.until("made 13")
	for _, row := range []struct{ answer, shows, config string }{
		{"no", "tester    none: git config --global ftl.tester", "set to []"},
		{"\x03", "interrupted", "set to []"},
		{"", "in your git config: it writes tests for each task", "set to [anthropic/"},
	} {
		term.forget()
		term.types("git ftl setup -a claude-code,codex\n")
		term.until("(Y/n)? ")
		term.forget()
		if row.answer == "\x03" {
			term.types(row.answer)
		} else {
			term.types(row.answer + "\n")
		}
		term.until(row.shows)
		term.types("echo set to [$(git config --global ftl.tester)]; echo said $((20+1))\n")
		term.until("said 21")
		if !strings.Contains(term.text(), row.config) {
			t.Errorf("after %q: %s", row.answer, term.text())
		}
	}
}
