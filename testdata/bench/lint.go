package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// mostMemory is what a lint may take, in MB.
const mostMemory = 40

// staged is a change that is only staged.
type staged struct {
	name   string
	files  int
	size   int64 // of all together, in bytes
	sparse bool  // one file of zeros
	bound  float64
}

// measureLint times a look at what is staged beside git's own, as a hook pays it.
func measureLint(bin string, rounds int) (err error) {
	scratch, err := os.MkdirTemp("", "ftl-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	source, err := goSource()
	if err != nil {
		return err
	}
	fmt.Printf("\ngit ftl lint --staged, beside git diff --cached\n")
	for i, s := range []staged{
		{"5 files, 20 KB", 5, 20_000, false, 25},
		{"50 files, 1.5 MB", 50, 1_500_000, false, 110},
		{"a sparse file, 12 MB", 1, 12 << 20, true, 400},
	} {
		b := &bench{bin: bin, dir: filepath.Join(scratch, fmt.Sprint(i)), scratch: scratch, rounds: rounds}
		b.env = append(os.Environ(), "HOME="+scratch, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1", "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
		if err := b.stage(s, source); err != nil {
			return err
		}
		if err := b.lint(s); err != nil {
			return err
		}
	}
	return nil
}

// goSource is some MB of code that somebody else wrote.
func goSource() (all []byte, err error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"net/http", "go/types", "crypto/tls", "runtime"} {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			all = append(all, text...)
		}
	}
	return all, nil
}

// stage makes a repository whose index has more than its only commit.
func (b *bench) stage(s staged, source []byte) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "b"}, {"config", "user.email", "b@example.com"}, {"commit", "-q", "--allow-empty", "-m", "none"},
	} {
		if err := b.run(b.dir, "git", args...); err != nil {
			return err
		}
	}
	if s.sparse {
		f, err := os.Create(filepath.Join(b.dir, "big"))
		if err != nil {
			return err
		}
		if err := errors.Join(f.Truncate(s.size), f.Close()); err != nil {
			return err
		}
		return b.run(b.dir, "git", "add", "-A")
	}
	each := int(s.size) / s.files
	for i := range s.files {
		if err := os.WriteFile(filepath.Join(b.dir, fmt.Sprintf("f%02d.go", i)), source[i*each:(i+1)*each], 0o644); err != nil {
			return err
		}
	}
	return b.run(b.dir, "git", "add", "-A")
}

// spend runs a command and returns its time and the processor's, in ms.
func (b *bench) spend(name string, args ...string) (wall, cpu float64, err error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return ms(time.Since(start)), ms(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()), nil
}

// memory is what a command takes at most, in MB; 0 where nothing tells. What our
// own children are accounted with includes what we have.
func (b *bench) memory(name string, args ...string) (mb float64, err error) {
	const timer = "/usr/bin/time"
	if _, err := os.Stat(timer); err != nil {
		return 0, nil
	}
	to := filepath.Join(b.scratch, "memory")
	if err := b.run(b.dir, timer, append([]string{"-f", "%M", "-o", to, name}, args...)...); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(to)
	if err != nil {
		return 0, err
	}
	kb, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return kb / 1024, err
}

// lint prints one row.
func (b *bench) lint(s staged) error {
	var walls, cpus, floors []float64
	for round := range b.rounds + 1 {
		wall, cpu, err := b.spend(b.bin, "lint", "--staged")
		if err != nil {
			return err
		}
		floor, _, err := b.spend("git", "diff", "--cached")
		if err != nil {
			return err
		}
		if round > 0 {
			walls, cpus, floors = append(walls, wall), append(cpus, cpu), append(floors, floor)
		}
	}
	memory, err := b.memory(b.bin, "lint", "--staged")
	if err != nil {
		return err
	}
	told := "NOT MEASURED: memory (no /usr/bin/time)"
	if memory > 0 {
		told = fmt.Sprintf("%.1f MB (aim <= %d MB)", memory, mostMemory)
	}
	ok := median(walls) <= s.bound && memory <= mostMemory
	fmt.Printf("  %-46s %9.1f ms %9.1f ms           (aim <= %.0f ms)%s\n    %-44s %9.1f ms of processor, %s\n",
		s.name, median(walls), median(floors), s.bound, verdict(ok), "", median(cpus), told)
	return nil
}
