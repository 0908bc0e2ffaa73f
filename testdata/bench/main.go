// Command bench measures git-ftl beside plain git and beside the same steps done
// by hand, in one run and in turn, and prints medians and ratios.
//
//	go run ./testdata/bench -bin bin/git-ftl [-sizes 1000,27000] [-n 7] [-tunnel=false] [-lint=false] [-tests=false]
//
// Absolute times say little on a shared machine; the ratios are what counts.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

func main() {
	bin := flag.String("bin", "bin/git-ftl", "the `program` to measure")
	sizes := flag.String("sizes", "1000,27000", "numbers of files")
	n := flag.Int("n", 7, "rounds; medians are printed")
	tunnels := flag.Bool("tunnel", true, "measure the tunnel too")
	lints := flag.Bool("lint", true, "measure a lint of what is staged too")
	tests := flag.Bool("tests", true, "measure the writing of tests beside an agent too")
	flag.Parse()
	if *tests {
		if err := measureTests(*bin); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	if *lints {
		if err := measureLint(*bin, *n); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	if *tunnels {
		if err := measureTunnels(*n); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	if *sizes == "" {
		return
	}
	for size := range strings.SplitSeq(*sizes, ",") {
		files, err := strconv.Atoi(size)
		if err == nil {
			err = measure(*bin, files, *n)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
}

// bench is one repository under measurement.
type bench struct {
	bin, dir, scratch string
	files, rounds     int
	env               []string
	edit              int
}

func measure(bin string, files, rounds int) (err error) {
	scratch, err := os.MkdirTemp("", "ftl-bench-*")
	if err != nil {
		return err
	}
	bin, err = filepath.Abs(bin)
	if err != nil {
		return err
	}
	b := &bench{bin: bin, dir: filepath.Join(scratch, "repo"), scratch: scratch, files: files, rounds: rounds}
	b.env = append(os.Environ(), "HOME="+scratch, "GIT_CONFIG_NOSYSTEM=1", "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
	defer b.clean()
	if err := b.makeRepo(); err != nil {
		return err
	}
	fmt.Printf("\n%d files\n", files)
	for _, part := range []func() error{b.status, b.snapshots, b.task, b.agent} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) clean() {
	_ = b.run(b.dir, b.bin, "sandbox", "rm", "--all", "--force")
	_ = exec.Command("docker", "rm", "-f", "ftl-bench-hand").Run()
	_ = os.RemoveAll(b.scratch)
}

func (b *bench) run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

func (b *bench) makeRepo() error {
	for i := range b.files {
		path := b.file(i)
		if i%50 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
		}
		text := strings.Repeat(fmt.Sprintf("line of file %d, which is like many a line of source\n", i), 20+i%60)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "b"}, {"config", "user.email", "b@example.com"},
		{"config", "gc.auto", "0"}, {"add", "-A"}, {"commit", "-qm", "all"}, {"gc", "-q"},
	} {
		if err := b.run(b.dir, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) file(i int) string {
	return filepath.Join(b.dir, fmt.Sprintf("d%02d", i/2500), fmt.Sprintf("e%02d", i/50%50), fmt.Sprintf("f%05d.txt", i))
}

// touch edits ten files, others each time.
func (b *bench) touch() error {
	for range 10 {
		b.edit++
		f, err := os.OpenFile(b.file(b.edit*37%b.files), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, "edit", b.edit)
		if err := f.Close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pair is two ways to one end.
type pair struct {
	name         string
	bound        float64      // that ours / theirs should not exceed
	before       func() error // of each side, not timed
	ours, theirs func() error
}

// compare times both in turn, after one round that does not count.
func (b *bench) compare(p pair) error {
	var a, o []float64
	for round := range b.rounds + 1 {
		for _, side := range []struct {
			do    func() error
			times *[]float64
		}{{p.ours, &a}, {p.theirs, &o}} {
			if err := p.before(); err != nil {
				return err
			}
			start := time.Now()
			if err := side.do(); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if round > 0 {
				*side.times = append(*side.times, float64(time.Since(start).Microseconds())/1000)
			}
		}
	}
	b.row(p.name, a, o, p.bound)
	return nil
}

// row prints the medians of two ways and their ratio.
func (b *bench) row(name string, ours, theirs []float64, bound float64) {
	ratio := median(ours) / median(theirs)
	fmt.Printf("  %-46s %9.1f ms %9.1f ms   %5.2f x  (aim <= %.2f)%s\n", name, median(ours), median(theirs), ratio, bound, verdict(ratio <= bound))
}

func verdict(ok bool) string {
	if ok {
		return ""
	}
	return "  OVER"
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// status times "git ftl status" with nothing pending.
func (b *bench) status() error {
	for _, row := range []struct {
		name  string
		args  []string
		bound float64
	}{
		{"git ftl status, nothing pending", []string{"status"}, 25},
		{"git ftl status --short, for a prompt", []string{"status", "--short"}, 15},
	} {
		var all []float64
		for round := range b.rounds + 1 {
			start := time.Now()
			if err := b.run(b.dir, b.bin, row.args...); err != nil {
				return err
			}
			if round > 0 {
				all = append(all, float64(time.Since(start).Microseconds())/1000)
			}
		}
		fmt.Printf("  %-46s %9.1f ms                           (aim <= %.0f ms)%s\n", row.name, median(all), row.bound, verdict(median(all) <= row.bound))
	}
	return nil
}

// snapshots times a warm snapshot beside a warm git status.
func (b *bench) snapshots() error {
	ctx := context.Background()
	repo, err := git.Open(ctx, b.dir, b.env)
	if err != nil {
		return err
	}
	store := snapshot.New(repo)
	take := func() error {
		_, err := store.Take(ctx, snapshot.Options{Now: time.Now()})
		return err
	}
	status := func() error { return b.run(b.dir, "git", "status", "--porcelain") }
	nothing := func() error { return nil }
	if err := b.compare(pair{"snapshot / git status, nothing edited", 1.5, nothing, take, status}); err != nil {
		return err
	}
	return b.compare(pair{"snapshot / git status, 10 files edited before", 1.5, b.touch, take, status})
}

// outcome is what the bench reads of a task's record.
type outcome struct {
	Stages []struct {
		Name string  `json:"name"`
		MS   float64 `json:"ms"`
	} `json:"stages"`
	Reset struct {
		MS float64 `json:"ms"`
	} `json:"reset"`
}

// task times a whole warm task beside the same steps done by hand.
func (b *bench) task() error {
	hand, err := newHand(b)
	if err != nil {
		return err
	}
	stages := map[string][]float64{}
	ours := func() error {
		cmd := exec.Command(b.bin, "exec", "--json", "--", "sh", "-c", "echo agent >> "+b.inside(0))
		cmd.Dir, cmd.Env = b.dir, b.env
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		var o outcome
		if err := json.Unmarshal(out, &o); err != nil {
			return err
		}
		for _, s := range o.Stages {
			stages[s.Name] = append(stages[s.Name], s.MS)
		}
		stages["reset in the guest"] = append(stages["reset in the guest"], o.Reset.MS)
		return nil
	}
	bound := 0.15
	if b.files <= 1000 {
		bound = 0.36
	}
	if err := b.compare(pair{"warm task / the same steps by hand", bound, b.touch, ours, hand.task}); err != nil {
		return err
	}
	for _, name := range []string{"snapshot", "boot", "reset in the guest", "agent", "diff", "store"} {
		fmt.Printf("    %-44s %9.1f ms\n", name, median(stages[name][1:]))
	}
	return nil
}

// inside is a file's path in the workspace.
func (b *bench) inside(i int) string {
	rel, _ := filepath.Rel(b.dir, b.file(i))
	return rel
}
