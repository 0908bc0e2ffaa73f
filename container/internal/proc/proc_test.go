//go:build linux

package proc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestKillerRefusesTheHost: outside a sandbox the agent's uid is somebody's.
func TestKillerRefusesTheHost(t *testing.T) {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	uid := 1000
	if ns != hostNamespace {
		uid = 0
	}
	if k, err := NewKiller(uid); err == nil {
		k.Close()
		t.Error("no error")
	}
}

func TestInitRefusesToBeAnotherProcess(t *testing.T) {
	if err := Init(1); err == nil {
		t.Error("no error")
	}
}

func TestLives(t *testing.T) {
	for _, tt := range []struct {
		name, status string
		want         bool
	}{
		{"running", "Name:\tsh\nState:\tR (running)\nUid:\t1000\t1000\t1000\t1000\nThreads:\t1\n", true},
		{"stopped", "State:\tT (stopped)\nUid:\t1000\t1000\t1000\t1000\nThreads:\t1\n", true},
		{"zombie", "State:\tZ (zombie)\nUid:\t1000\t1000\t1000\t1000\nThreads:\t1\n", false},
		{"zombie leader with threads that live", "State:\tZ (zombie)\nUid:\t1000\t1000\t1000\t1000\nThreads:\t2\n", true},
		{"other user", "State:\tR (running)\nUid:\t0\t0\t0\t0\nThreads:\t1\n", false},
		{"user as one of four", "State:\tR (running)\nUid:\t0\t0\t1000\t0\nThreads:\t1\n", true},
		{"name like a line", "Name:\tState: Z\nState:\tR (running)\nUid:\t1000\t1000\t1000\t1000\nThreads:\t1\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := lives([]byte(tt.status), 1000); got != tt.want {
				t.Errorf("lives is %v", got)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"run": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, command, path, want string
		code                      int
	}{
		{"in PATH", "run", "/nope:" + dir, filepath.Join(dir, "run"), 0},
		{"relative PATH does not count", "run", ".", "", 127},
		{"empty PATH element does not count", "run", "", "", 127},
		{"not executable", "data", dir, "", 126},
		{"relative path", "./run", "", filepath.Join(dir, "run"), 0},
		{"absolute path", "/bin/x", "", "/bin/x", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lookup(tt.command, dir, []string{"A=b", "PATH=" + tt.path})
			code := 0
			if refused, ok := err.(*StartError); ok {
				code = refused.Code
			}
			if got != tt.want || code != tt.code {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestCounter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.events")
	if err := os.WriteFile(file, []byte("low 0\noom 3\noom_kill 2\noom_group_kill 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := counter(file, "oom_kill"); got != 2 {
		t.Errorf("oom_kill is %d", got)
	}
	if got := counter(file+".none", "oom_kill"); got != 0 {
		t.Errorf("a missing file has %d", got)
	}
}

func TestOwned(t *testing.T) {
	for name, row := range map[string]struct {
		table string
		want  []int
	}{
		"shm":   {"key shmid perms size cpid lpid nattch uid gid\n0 3 600 8192 1 0 0 1000 1000\n0 4 600 8192 1 0 0 0 0\n", []int{3}},
		"sem":   {"key semid perms nsems uid gid\n7 0 600 3 1000 1000\n8 32769 600 3 1000 1000\n", []int{0, 32769}},
		"none":  {"key msqid perms cbytes qnum lspid lrpid uid gid\n", nil},
		"short": {"key msqid uid\n1\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := owned([]byte(row.table), 1000); !slices.Equal(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}
