package vault

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// TestKeyring runs the test below it against a real Secret Service in each of
// its states.
func TestKeyring(t *testing.T) {
	script, err := filepath.Abs("../../testdata/keyring.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ state, want string }{
		{"unlocked", "unlocked"},
		{"locked", "locked"},
		{"locked", "prompt"}, // which nobody answers
		{"locked", "quiet"},  // and is never shown
		{"no-service", "no-service"},
		{"no-bus", "no-bus"},
	} {
		t.Run(test.want, func(t *testing.T) {
			cmd := exec.Command("sh", script, test.state, os.Args[0], "-test.run=^TestWithinKeyring$", "-test.v")
			cmd.Env = append(os.Environ(), "FTL_TEST_KEYRING="+test.want)
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

// TestWithinKeyring is run by TestKeyring, on the bus of the state it names.
func TestWithinKeyring(t *testing.T) {
	state := os.Getenv("FTL_TEST_KEYRING")
	if state == "" {
		t.Skip("run by TestKeyring")
	}
	o := Options{File: filepath.Join(t.TempDir(), "v"), Ring: System(), Timeout: time.Minute}
	if state == "quiet" {
		quietly(t)
		return
	}
	want := map[string]error{"locked": ErrLocked, "prompt": ErrTimeout, "no-service": ErrNoService, "no-bus": ErrNoBus}[state]
	prompts := func() int { return 1 }
	if state == "prompt" {
		o.Timeout, prompts = time.Second, silentPrompter(t)
	}
	start := time.Now()
	v, err := Create(t.Context(), InKeyring, o)
	for ; prompts() == 0 && o.Timeout < time.Minute; o.Timeout *= 2 { // the deadline was of something else
		v, err = Create(t.Context(), InKeyring, o)
	}
	t.Logf("%s: %v after %v", state, err, time.Since(start))
	if !errors.Is(err, want) {
		t.Fatalf("%v, want %v", err, want)
	}
	if state != "unlocked" {
		if _, err := os.Stat(o.File); !errors.Is(err, os.ErrNotExist) {
			t.Error("a vault was made")
		}
		return
	}
	set(t, v, "A", "", planted)
	if got := get(t, open(t, o), "A", ""); got != planted {
		t.Errorf("%q comes back", got)
	}
	if err := o.Ring.Delete(service, account(v.head)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), o); !errors.Is(err, ErrAbsent) {
		t.Errorf("a key that is gone: %v", err)
	}
}

// quietly reads from a locked keyring by a ring that shows no prompt.
func quietly(t *testing.T) {
	prompts := silentPrompter(t)
	start := time.Now()
	if _, err := Quiet().Get(service, "any"); !errors.Is(err, ErrLocked) {
		t.Errorf("%v, want %v", err, ErrLocked)
	}
	if n := prompts(); n > 0 {
		t.Errorf("%d prompts were shown", n)
	}
	t.Logf("after %v", time.Since(start))
}

// silentPrompter takes the place of the desktop's dialogs: it is asked to show
// one and never answers. It counts how often.
func silentPrompter(t *testing.T) func() int {
	t.Helper()
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bus.Close() })
	p := &prompter{}
	asked := make(chan struct{}, 100)
	p.asked = asked
	if err := bus.Export(p, "/org/gnome/keyring/Prompter", "org.gnome.keyring.internal.Prompter"); err != nil {
		t.Fatal(err)
	}
	if reply, err := bus.RequestName("org.gnome.keyring.SystemPrompter", dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	return func() int { return len(asked) }
}

type prompter struct{ asked chan<- struct{} }

// BeginPrompting is the first call for a prompt.
func (p *prompter) BeginPrompting(dbus.ObjectPath) *dbus.Error {
	p.asked <- struct{}{}
	return nil
}
