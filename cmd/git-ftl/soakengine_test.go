//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const soakImage = "debian:bookworm-slim"

// privateEngine is an engine of its own, so that one may be killed. Only root can
// have it.
type privateEngine struct {
	dir    string // short: it holds the socket
	group  string // parent cgroup of its containers
	cmd    *exec.Cmd
	exited chan struct{}
}

// newPrivateEngine starts one with the image inside; nil, and why, where that
// cannot be.
func newPrivateEngine(t *testing.T) (*privateEngine, string) {
	t.Helper()
	for _, name := range []string{"dockerd", "containerd", "runc"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, err.Error()
		}
	}
	if os.Getuid() != 0 {
		return nil, "only root can start one"
	}
	dir, err := os.MkdirTemp("/tmp", "ftl-soak-")
	if err != nil {
		t.Fatal(err)
	}
	e := &privateEngine{dir: dir, group: filepath.Base(dir)}
	e.takeDownAtEnd(t)
	if err := e.start(); err != nil {
		t.Fatalf("start a private engine: %v", err)
	}
	save := exec.Command("docker", "save", soakImage)
	load := exec.Command("docker", "load")
	load.Env = append(os.Environ(), "DOCKER_HOST="+e.host())
	if load.Stdin, err = save.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := save.Start(); err != nil {
		t.Fatal(err)
	}
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("load %s: %v\n%s", soakImage, err, out)
	}
	if err := save.Wait(); err != nil {
		t.Fatalf("save %s: %v", soakImage, err)
	}
	return e, ""
}

// takeDownAtEnd leaves the end to a script of its own session, which a pipe tells
// of it: also where this process is killed, nothing of the engine stays.
func (e *privateEngine) takeDownAtEnd(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "testdata", "engine", "down.sh"))
	if err != nil {
		t.Fatal(err)
	}
	down := exec.Command("sh", script, e.dir, e.group)
	down.Stdin, down.Stderr, down.SysProcAttr = r, os.Stderr, &syscall.SysProcAttr{Setsid: true}
	if err := down.Start(); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(func() {
		_ = w.Close()
		if err := down.Wait(); err != nil {
			t.Errorf("take the private engine down: %v", err)
		}
	})
}

func (e *privateEngine) host() string { return "unix://" + filepath.Join(e.dir, "s") }

// start runs dockerd, which starts its containerd, until it answers.
func (e *privateEngine) start() error {
	log, err := os.OpenFile(filepath.Join(e.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	at := func(name string) string { return filepath.Join(e.dir, name) }
	_ = os.Remove(at("pid")) // a number that another process may have by now
	// Without a network of its own it would take the bridge of the machine's engine away.
	e.cmd = exec.Command("dockerd", "--data-root", at("data"), "--exec-root", at("exec"), "--pidfile", at("pid"),
		"--cgroup-parent", "/"+e.group, "--config-file", at("none.json"), "--bridge=none", "--iptables=false",
		"--ip-forward=false", "--ip-masq=false", "--log-level=warn", "-H", e.host())
	e.cmd.Stdout, e.cmd.Stderr, e.cmd.SysProcAttr = log, log, &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNET}
	if err := os.WriteFile(at("none.json"), []byte("{}\n"), 0o600); err != nil {
		return err
	}
	if err := e.cmd.Start(); err != nil {
		return err
	}
	e.exited = make(chan struct{})
	go func(cmd *exec.Cmd, exited chan struct{}) {
		_ = cmd.Wait()
		close(exited)
	}(e.cmd, e.exited)
	return e.answers()
}

func (e *privateEngine) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		info := exec.CommandContext(ctx, "docker", "-H", e.host(), "info")
		if info.Run() == nil {
			return nil
		}
		select {
		case <-e.exited:
			return fmt.Errorf("dockerd ended:\n%s", e.lastLog())
		case <-ctx.Done():
			return fmt.Errorf("dockerd does not answer:\n%s", e.lastLog())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (e *privateEngine) lastLog() string {
	data, _ := os.ReadFile(filepath.Join(e.dir, "log"))
	return string(data[max(0, len(data)-4000):])
}

// kill ends dockerd, and at once its containerd and the shims of its containers where
// they are to go too; else containerd ends by the signal that dockerd's death sends.
func (e *privateEngine) kill(containerd, shims bool) {
	_ = e.cmd.Process.Kill()
	if containerd {
		e.killAll("containerd")
	}
	if shims {
		e.killAll("containerd-shim")
	}
	<-e.exited
	deadline := time.Now().Add(5 * time.Second)
	for len(e.running("containerd")) > 0 {
		if time.Now().After(deadline) {
			e.killAll("containerd")
		}
		time.Sleep(5 * time.Millisecond)
	}
	// The next dockerd would wait for a process of that number, also for one that
	// nobody reaps.
	_ = os.Remove(filepath.Join(e.dir, "exec", "containerd", "containerd.pid"))
}

// running are the engine's processes of that name; for shims it is how theirs begins.
func (e *privateEngine) running(name string) (pids []int) {
	for _, p := range processes() {
		base := filepath.Base(p.argv[0])
		fits := base == name || name != "containerd" && strings.HasPrefix(base, name)
		if fits && strings.Contains(strings.Join(p.argv, " "), e.dir+"/exec/") {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

func (e *privateEngine) killAll(name string) {
	for _, pid := range e.running(name) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// process is one of the machine, as /proc shows it.
type process struct {
	pid  int
	argv []string
}

// processes lists them but for those that have ended.
func processes() []process {
	entries, _ := os.ReadDir("/proc")
	var all []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err == nil && len(data) > 0 {
			argv := strings.Split(string(bytes.TrimSuffix(data, []byte{0})), "\x00")
			all = append(all, process{pid, argv})
		}
	}
	return all
}

// in reports whether a process belongs to a container.
func (p process) in(container string) bool {
	f, err := os.Open(fmt.Sprintf("/proc/%d/cgroup", p.pid))
	if err != nil {
		return false
	}
	defer f.Close()
	data, _ := io.ReadAll(f)
	return strings.Contains(string(data), container)
}

// cwd is where a process stands, "" where it has ended.
func (p process) cwd() string {
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid))
	return dir
}
