package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// manText is the prose of the manual page, in roff.
//
//go:embed man.roff
var manText string

type manCmd struct{}

// Run implements the verb: the page is the prose with each verb and flag as the
// command line describes itself, so that it cannot fall behind.
func (c *manCmd) Run(a *app) error {
	verbs, err := a.verbs()
	if err != nil {
		return err
	}
	before, after, _ := strings.Cut(manText, ".\\\" VERBS\n")
	fmt.Fprint(a.stdout, before)
	writeVerbs(a.stdout, verbs, "git ftl")
	_, err = fmt.Fprint(a.stdout, after)
	return err
}

func writeVerbs(w io.Writer, n *kong.Node, path string) {
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		full := path + " " + child.Name
		if len(child.Children) > 0 {
			writeVerbs(w, child, full)
			continue
		}
		fmt.Fprintf(w, ".SS %s\n%s\n", roff(full+arguments(child)), roff(child.Help))
		if len(child.Aliases) > 0 {
			fmt.Fprintf(w, "Also called %s.\n", roff(strings.Join(child.Aliases, ", ")))
		}
		for _, arg := range takes(child) {
			fmt.Fprintf(w, ".TP\n.I %s\n%s\n", roff(arg.Name), roff(arg.Help))
		}
		for _, flag := range child.Flags {
			writeFlag(w, flag)
		}
	}
}

// takes are the arguments of a verb, without those that it reads to refuse them.
func takes(n *kong.Node) []*kong.Positional {
	return slices.DeleteFunc(slices.Clone(n.Positional), func(p *kong.Positional) bool { return p.Tag.Hidden })
}

func arguments(n *kong.Node) string {
	var b strings.Builder
	for _, arg := range takes(n) {
		fmt.Fprintf(&b, " %s", arg.Summary())
	}
	return b.String()
}

func writeFlag(w io.Writer, f *kong.Flag) {
	if f.Hidden || f.Name == "help" {
		return
	}
	name := "--" + f.Name
	if f.Short != 0 {
		name = fmt.Sprintf("-%c, %s", f.Short, name)
	}
	if !f.IsBool() {
		name += " " + f.FormatPlaceHolder()
	}
	fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(name), roff(f.Help))
}

// roff escapes what troff would take as its own.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "'", `\(aq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
