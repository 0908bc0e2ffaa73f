// Command lintbench measures what the linter finds of a corpus that it makes from
// a seed, and what it tells of code that nobody meant harm with. It ends with 1
// where a limit is missed.
//
//	go run ./lint/internal/lintbench [-seed 1] [-n 5] [-v]
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/trial"
)

// What must hold.
const (
	leastRecall = 0.98 // of tokens of providers
	mostTold    = 1.0  // findings that block or warn in 1,000 lines of clean code
)

func main() {
	b := bench{}
	flag.Uint64Var(&b.seed, "seed", 1, "of the corpus")
	flag.IntVar(&b.n, "n", 5, "tokens of each kind")
	flag.BoolVar(&b.all, "v", false, "list every sample that was missed or told for nothing, and all that blocks")
	flag.Parse()
	fmt.Printf("seed %d, %d of each kind\n", b.seed, b.n)
	for _, part := range []func() error{b.families, b.values, b.bypasses, b.standard, b.modules} {
		if err := part(); err != nil {
			fmt.Fprintln(os.Stderr, "lintbench:", err)
			os.Exit(1)
		}
	}
	for _, missed := range b.missed {
		fmt.Println("MISSED:", missed)
	}
	if len(b.missed) > 0 {
		os.Exit(1)
	}
}

type bench struct {
	seed   uint64
	n      int
	all    bool
	missed []string // limits
}

// must notes a limit that is missed.
func (b *bench) must(ok bool, format string, args ...any) {
	if !ok {
		b.missed = append(b.missed, fmt.Sprintf(format, args...))
	}
}

// families is the table of recall and precision.
func (b *bench) families() error {
	rows, err := trial.Credentials(b.seed, b.n)
	if err != nil {
		return err
	}
	b.must(rows[0].Recall() >= leastRecall, "%s: recall %.1f %%, at least %.0f %%", rows[0].Name, 100*rows[0].Recall(), 100*leastRecall)
	for _, measure := range []func() (trial.Row, error){
		func() (trial.Row, error) { return trial.Shadows(b.seed) },
		func() (trial.Row, error) {
			return trial.Files("surface, hidden characters", corpus.Surface(b.seed), "surface", "text", "ci", "manifest")
		},
		func() (trial.Row, error) {
			return trial.Files("dangerous operations", corpus.Operations(b.seed), "danger")
		},
	} {
		row, err := measure()
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	fmt.Printf("\n%-32s %11s %9s %11s %14s\n", "family", "found", "recall", "precision", "near misses")
	for _, r := range rows {
		fmt.Printf("%-32s %5d/%-5d %7.1f %% %9.1f %% %14d\n", r.Name, r.Found, r.Of, 100*r.Recall(), 100*r.Precision(), r.Clean)
		b.list(r.Wrong)
	}
	return nil
}

// list shows lines where all are asked for.
func (b *bench) list(lines []string) {
	if !b.all {
		return
	}
	for _, l := range lines {
		fmt.Println("    " + l)
	}
}

// values is the table of real values.
func (b *bench) values() error {
	rows, err := trial.Mutations(b.seed)
	if err != nil {
		return err
	}
	fmt.Printf("\n%-32s %11s %9s\n", "real values, written down as", "found", "false")
	for _, r := range rows {
		fmt.Printf("%-32s %5d/%-5d %9d\n", r.Name, r.Found, r.Of, r.False)
		b.list(r.Wrong)
		b.must(r.Found == r.Of && r.False == 0, "real values, %s: %d of %d found, %d told as another", r.Name, r.Found, r.Of, r.False)
	}
	return nil
}

// bypasses is the table of what a change says of itself.
func (b *bench) bypasses() error {
	rows, err := trial.Bypasses(b.seed)
	if err != nil {
		return err
	}
	fmt.Printf("\n%-32s\n", "a valid token, past the linter by")
	for _, r := range rows {
		outcome := "blocked"
		if r.Found == 0 {
			outcome = "PASSES"
		}
		fmt.Printf("%-32s %s\n", r.Name, outcome)
		b.must(r.Found > 0, "bypass: %s", r.Name)
	}
	return nil
}

// standard looks through Go's own source for what blocks.
func (b *bench) standard() error {
	roots, err := lines("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	c, err := b.clean("Go's own source", roots[0]+"/src")
	if err != nil {
		return err
	}
	for _, found := range c.Blocking {
		rule, where, _ := strings.Cut(found, " ")
		isFalse := strings.HasPrefix(rule, "value/") || strings.HasPrefix(rule, "credential/") && rule != "credential/private-key"
		b.must(!isFalse, "a false alarm that blocks: %s in %s", rule, where)
	}
	return nil
}

// modules looks through the modules that this one is built from.
func (b *bench) modules() error {
	roots, err := lines("go", "list", "-m", "-f", "{{if not .Main}}{{.Dir}}{{end}}", "all")
	if err != nil {
		return err
	}
	c, err := b.clean("modules", roots...)
	if err != nil {
		return err
	}
	b.must(c.Told() <= mostTold, "%.2f findings in 1,000 lines of modules, at most %.0f", c.Told(), mostTold)
	return nil
}

// clean prints what is told of trees, with the secrets of a user known.
func (b *bench) clean(name string, roots ...string) (*trial.Clean, error) {
	_, l := trial.Values(b.seed)
	c := &trial.Clean{}
	for _, root := range roots {
		if err := c.Add(l, root, os.DirFS(root)); err != nil {
			return nil, err
		}
	}
	fmt.Printf("\n%s: %d files, %d lines, %.1f MB as if all were new: %.2f findings that block or warn in 1,000 lines\n", name, c.Files, c.Lines, float64(c.Bytes)/1e6, c.Told())
	for _, rule := range slices.Sorted(maps.Keys(c.Rules)) {
		if b.all || strings.HasPrefix(rule, string(lint.Block)) {
			fmt.Printf("%7d %s\n", c.Rules[rule], rule)
		}
	}
	b.list(c.Blocking)
	return c, nil
}

// lines are what a command prints.
func lines(name string, args ...string) ([]string, error) {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.Fields(string(out)), nil
}
