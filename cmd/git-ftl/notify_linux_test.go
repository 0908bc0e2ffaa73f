package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// TestNotify: the end of a long run is told at a terminal and on a desktop, as the
// setting has it, with ID and state alone.
func TestNotify(t *testing.T) {
	const osc = "\x1b]9;git-ftl: pvkq failed\x1b\\"
	for _, row := range []struct {
		name, mode, term string
		took             time.Duration
		env              string
		bell, osc, note  bool
	}{
		{"by default", "", "xterm", 11 * time.Second, "", true, true, true},
		{"bell", "bell", "xterm", 11 * time.Second, "", true, true, false},
		{"desktop", "desktop", "xterm", 11 * time.Second, "", false, false, true},
		{"off", "off", "xterm", 11 * time.Second, "", false, false, false},
		{"a short run", "on", "xterm", 9 * time.Second, "", false, false, false},
		{"in CI", "on", "xterm", 11 * time.Second, "CI=true", false, false, false},
		{"a dumb terminal", "on", "dumb", 11 * time.Second, "", true, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			bin := t.TempDir()
			told := filepath.Join(bin, "told")
			script := "#!/bin/sh\nfor a; do echo \"$a\"; done > " + told + ".part; mv " + told + ".part " + told + "\n"
			if err := os.WriteFile(filepath.Join(bin, "notify-send"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			host, guest := openPTY(t)
			a := &app{stdout: io.Discard, stderr: guest, env: []string{"TERM=" + row.term, "PATH=" + os.Getenv("PATH"), row.env}, now: time.Now}
			a.ui = newUI(a)
			c := config.Default()
			if row.mode != "" {
				if err := c.Set("notify", "a test", row.mode); err != nil {
					t.Fatal(err)
				}
			}
			now := time.Now()
			out := session.Outcome{ID: "pvkq", Task: "\x07do it", Status: session.Failed, Created: now.Add(-row.took), Started: now, Ended: now}
			_ = a.finish(&session.Session{Config: c}, &taskFlags{Quiet: true}, []ending{{out: out}})
			if _, err := guest.WriteString("the end\n"); err != nil {
				t.Fatal(err)
			}
			shown := readUntil(t, host, "the end")
			if got := strings.HasPrefix(shown, "\a"); got != row.bell {
				t.Errorf("bell: %v, %q", got, shown)
			}
			if got := strings.Contains(shown, osc); got != row.osc {
				t.Errorf("OSC 9: %v, %q", got, shown)
			}
			if row.note {
				waitFor(t, told, "--app-name=git-ftl\n--\ngit-ftl\ngit-ftl: pvkq failed\n")
			} else if _, err := os.Stat(told); err == nil {
				t.Error("notify-send was run")
			}
		})
	}
}

// TestNotifyNowhere: off a terminal nothing is told.
func TestNotifyNowhere(t *testing.T) {
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out, env: []string{"TERM=xterm"}}
	now := time.Now()
	a.notify("bell", []session.Outcome{{ID: "pvkq", Created: now.Add(-time.Hour), Ended: now}})
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}

// TestDesktopNote: the text is an argument of its own, on every system.
func TestDesktopNote(t *testing.T) {
	for system, want := range map[string]string{"linux": "notify-send", "freebsd": "notify-send", "darwin": "osascript"} {
		argv := desktopNote(system, "a text")
		if argv[0] != want || argv[len(argv)-1] != "a text" || strings.Contains(strings.Join(argv[:len(argv)-1], " "), "a text") {
			t.Errorf("%s: %q", system, argv)
		}
	}
	if argv := desktopNote("windows", "a text"); argv != nil {
		t.Errorf("windows: %q", argv)
	}
}

func readUntil(t *testing.T, r io.Reader, end string) string {
	t.Helper()
	var all strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(all.String(), end) {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, all.String())
		}
		all.Write(buf[:n])
	}
	return all.String()
}

func waitFor(t *testing.T, file, want string) {
	t.Helper()
	var got []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got, _ = os.ReadFile(file); string(got) == want {
			return
		}
	}
	t.Errorf("%s has %q, want %q", file, got, want)
}
