package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// StartError is a command that could not be started; Code is what a shell would
// exit with.
type StartError struct {
	Code int
	Text string
}

// Error says what could not be started and why.
func (e *StartError) Error() string { return e.Text }

// Start starts a command in a session of its own. Errors: *StartError.
func (r *Runner) Start(c Command) (*Process, error) {
	dir := filepath.Join(r.Root, filepath.Clean("/"+c.Dir))
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, &StartError{127, fmt.Sprintf("folder %q is not in the workspace", c.Dir)}
	}
	if len(c.Argv) == 0 {
		return nil, &StartError{127, "no command"}
	}
	name, err := lookup(c.Argv[0], dir, c.Env)
	if err != nil {
		return nil, err
	}
	p := &Process{run: r, cmd: c, start: limits(), disk: newDiskGuard(r.Root, c.Disk)}
	child, err := p.streams()
	defer closeAll(child)
	if err == nil {
		err = p.spawn(name, dir, child)
	}
	if err != nil {
		p.close()
		return nil, startError(c.Argv[0], err)
	}
	return p, nil
}

// lookup finds a command as a shell does, in absolute folders of PATH only.
func lookup(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	found := false
	for _, folder := range filepath.SplitList(variable(env, "PATH")) {
		file := filepath.Join(folder, name)
		st, err := os.Stat(file)
		if !filepath.IsAbs(folder) || err != nil || st.IsDir() {
			continue
		}
		found = true
		if st.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	if found {
		return "", &StartError{126, fmt.Sprintf("%q is not executable", name)}
	}
	return "", &StartError{127, fmt.Sprintf("command %q not found", name)}
}

func variable(env []string, name string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

func startError(name string, err error) error {
	var known *StartError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, fs.ErrNotExist):
		return &StartError{127, fmt.Sprintf("command %q not found", name)}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ENOEXEC):
		return &StartError{126, fmt.Sprintf("%q is not executable", name)}
	}
	return &StartError{126, fmt.Sprintf("start %q: %v", name, err)}
}

// streams opens the process's standard files and returns the child's sides.
func (p *Process) streams() ([]*os.File, error) {
	if p.cmd.TTY {
		return p.terminal()
	}
	var child []*os.File
	in, err := p.input()
	if err != nil {
		return nil, err
	}
	child = append(child, in)
	for _, stream := range []byte{wire.Stdout, wire.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return child, err
		}
		child = append(child, w)
		p.outs = append(p.outs, output{stream, r})
	}
	return child, nil
}

func (p *Process) input() (*os.File, error) {
	if !p.cmd.Stdin {
		return os.Open(os.DevNull)
	}
	r, w, err := os.Pipe()
	p.stdin = w
	return r, err
}

func (p *Process) spawn(name, dir string, child []*os.File) error {
	// A zero environment would be the guest's own.
	env := append(make([]string, 0, len(p.cmd.Env)+1), p.cmd.Env...)
	attr := &os.ProcAttr{Dir: dir, Env: env, Files: child, Sys: &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: uint32(p.run.UID), Gid: uint32(p.run.UID), Groups: []uint32{}},
		Setsid:     true,
		Setctty:    p.tty != nil,
	}}
	var err error
	raised := p.run.withOOMScore(func() { p.proc, err = os.StartProcess(name, p.cmd.Argv, attr) })
	return errors.Join(err, raised)
}

func (p *Process) close() {
	for _, o := range p.outs {
		o.file.Close()
	}
	if p.stdin != nil {
		p.stdin.Close()
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
