package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// keyringVariable says that this process runs on the bus of a keyring for tests.
const keyringVariable = "FTL_TEST_KEYRING"

// keyringBus is the bus that scripts get: that of a keyring for tests, or none.
func keyringBus() string {
	if os.Getenv(keyringVariable) != "" {
		return os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	}
	return "unix:path=/nonexistent/bus"
}

// TestKeyring runs the scripts of a folder for each state of a real keyring.
func TestKeyring(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: scripts with a keyring (-short)")
	}
	for _, state := range []string{"unlocked", "locked"} {
		t.Run(state, func(t *testing.T) {
			cmd := exec.Command("sh", "../../testdata/keyring.sh", state, os.Args[0], "-test.run=^TestWithinKeyring$", "-test.v")
			cmd.Env = append(os.Environ(), keyringVariable+"="+state)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 77 {
				t.Skip(string(out))
			}
			if err != nil || !strings.Contains(string(out), "PASS: TestWithinKeyring") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestWithinKeyring is run by TestKeyring.
func TestWithinKeyring(t *testing.T) {
	state := os.Getenv(keyringVariable)
	if state == "" {
		t.Skip("run by TestKeyring")
	}
	testscript.Run(t, params("testdata/keyring-"+state))
}

// TestHiddenPrompt: what is typed as a secret is never shown; Ctrl-C at a prompt
// leaves the terminal as it was.
func TestHiddenPrompt(t *testing.T) {
	t.Parallel()
	const value = "typed-value-4711"
	home := t.TempDir()
	term := openTerminal(t, home)
	term.types("export DBUS_SESSION_BUS_ADDRESS=" + keyringBus() + " XDG_CONFIG_HOME=" + home + "; unset FTL_PASSPHRASE; git ftl auth init --store passphrase\n")
	term.until("passphrase of the vault: ")
	term.types("open sesame\n")
	term.until("the same again: ")
	term.types("open sesame\n")
	term.until("its key: a passphrase")

	term.types("git ftl auth set A_TOKEN; echo code $?\n")
	term.untilSeen(2, "passphrase of the vault: ")
	term.types("open sesame\n")
	term.until("value of A_TOKEN (not shown): ")
	term.types(value + "\n")
	term.until("code 0")
	for _, secret := range []string{value, "sesame"} {
		if strings.Contains(term.text(), secret) {
			t.Fatalf("the terminal shows %q: %s", secret, term.text())
		}
	}

	term.types("git ftl auth set B_TOKEN; echo code $?\n")
	term.untilSeen(3, "passphrase of the vault: ")
	term.types("\x03")
	term.until("code 130")
	term.types("echo shown-$((40+2))\n")
	term.until("shown-$((40+2))") // echoed again
	term.until("shown-42")

	term.types("FTL_PASSPHRASE='open sesame' git ftl auth set LINES; echo lines $?\n")
	term.until("value of LINES (not shown): ")
	term.types("\x1b[200~pasted-first\rpasted-last\r\x1b[201~\r")
	term.until("lines 0")
	if strings.Contains(term.text(), "pasted") {
		t.Errorf("the terminal shows what was pasted: %s", term.text())
	}
	term.types("FTL_PASSPHRASE='open sesame' git ftl auth reveal --force LINES | tr '\\n' +; echo\n")
	term.until("pasted-first+pasted-last")

	term.types("git ftl auth reveal A_TOKEN\n") // a terminal needs no --force
	term.untilSeen(4, "passphrase of the vault: ")
	term.types("open barley\n")
	term.until("the key does not open the vault")
	term.types("FTL_PASSPHRASE='open sesame' git ftl auth reveal A_TOKEN\n")
	term.until(value)
	if _, err := os.Stat(home + "/git-ftl/vault"); err != nil {
		t.Error(err)
	}
}

// untilSeen waits until the terminal has shown a text so many times.
func (term *terminal) untilSeen(times int, text string) {
	term.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Count(term.text(), text) >= times {
			return
		}
	}
	term.t.Fatalf("the terminal never shows %q %d times but %q", text, times, term.text())
}
