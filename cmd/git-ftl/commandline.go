package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// verb is what each verb of the command line implements.
type verb interface{ Run(*app) error }

// parse finds the verb that args ask for, filled with what they say; nil once
// --help or --version is answered.
//
// It is kong's own Parse and Run without hooks and injection. Those look methods
// up by name at run time, for which the linker keeps every exported method of
// every type: ten megabytes.
func (a *app) parse(args []string) (verb, error) { return a.parseAs(grammar(args), args) }

// parseAs is parse by a grammar.
func (a *app) parseAs(grammar any, args []string) (verb, error) {
	parser, err := a.parser(grammar)
	if err != nil {
		return nil, err
	}
	ctx, err := kong.Trace(parser, args)
	if err == nil {
		err = ctx.Error
	}
	if err != nil {
		return nil, usageError(ctx, err)
	}
	if informed, err := a.inform(ctx); err != nil || informed {
		return nil, err
	}
	if err = fill(ctx); err == nil {
		err = checkIDs(ctx.Selected())
	}
	if err != nil {
		return nil, usageError(ctx, err)
	}
	a.usage = func() error { return ctx.PrintUsage(false) }
	return ctx.Selected().Target.Addr().Interface().(verb), nil
}

// parser knows the command line of a grammar.
func (a *app) parser(grammar any) (*kong.Kong, error) {
	return kong.New(grammar, kong.Name("git ftl"), kong.Description(description), kong.Help(a.help), kong.Writers(a.stdout, a.stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}), kong.ExplicitGroups(groups()))
}

// verbs is the whole command line.
func (a *app) verbs() (*kong.Node, error) {
	parser, err := a.parser(&cli{})
	if err != nil {
		return nil, err
	}
	return parser.Model.Node, nil
}

// grammar is what of cli the args are about: the one verb that they begin with, all
// where they begin with another word. Kong looks at a verb in 0.1 ms, and there are
// forty.
func grammar(args []string) any {
	if len(args) == 0 {
		return &cli{}
	}
	whole := reflect.TypeFor[cli]()
	always := whole.Field(0) // --version
	if len(args) == 1 && args[0] == "--version" {
		return reflect.New(reflect.StructOf([]reflect.StructField{always})).Interface()
	}
	for i := 1; i < whole.NumField(); i++ {
		if f := whole.Field(i); called(f, args[0]) {
			return reflect.New(reflect.StructOf([]reflect.StructField{always, f})).Interface()
		}
	}
	return &cli{}
}

// called reports whether word is the name of a verb's field, or an alias.
func called(f reflect.StructField, word string) bool {
	name := f.Tag.Get("name")
	if name == "" {
		name = strings.ToLower(f.Name)
	}
	return word == name || word != "" && slices.Contains(strings.Split(f.Tag.Get("aliases"), ","), word)
}

// inform prints what --help and --version ask for.
func (a *app) inform(ctx *kong.Context) (asked bool, err error) {
	for _, p := range ctx.Path {
		if p.Flag == nil {
			continue
		}
		if p.Flag == ctx.Model.HelpFlag {
			asked, err = true, errors.Join(err, ctx.PrintUsage(false))
		} else if _, ok := p.Flag.Target.Interface().(kong.VersionFlag); ok {
			_, failed := fmt.Fprintln(a.stdout, version())
			asked, err = true, errors.Join(err, failed)
		}
	}
	return asked, err
}

// fill puts what was traced into the fields of the verb, and checks it as kong's
// own Validate does, as far as this command line has something to be checked.
func fill(ctx *kong.Context) error {
	if err := ctx.Reset(); err != nil {
		return err
	}
	if _, err := ctx.Apply(); err != nil {
		return err
	}
	for _, p := range ctx.Path {
		if node := p.Node(); node != nil {
			if err := checkEnums(node); err != nil {
				return err
			}
		}
	}
	if err := checkWhole(ctx); err != nil {
		return err
	}
	return checkExclusive(ctx.Flags())
}

// checkIDs refuses an ID that is there and empty, which a script's unset variable
// makes: it would stand for whatever is pending.
func checkIDs(verb *kong.Node) error {
	for _, p := range verb.Positional {
		if p.Name == "id" && p.Set && slices.Contains(words(p), "") {
			return errors.New("the ID is empty")
		}
	}
	return nil
}

// words are what a value was set to.
func words(v *kong.Value) []string {
	if all, several := v.Target.Interface().([]string); several {
		return all
	}
	return []string{v.Target.String()}
}

func checkEnums(node *kong.Node) error {
	for _, v := range node.Values() {
		if v.Enum == "" || v.Required && !v.Set {
			continue
		}
		for _, word := range words(v) {
			if !slices.Contains(v.EnumSlice(), word) {
				var quoted []string
				for _, allowed := range v.EnumSlice() {
					quoted = append(quoted, strconv.Quote(allowed))
				}
				return fmt.Errorf("%s must be one of %s but got %q", v.ShortSummary(), strings.Join(quoted, ","), word)
			}
		}
	}
	return nil
}

// checkWhole says which words are missing at the end.
func checkWhole(ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	var missing, args []string
	for _, arg := range node.Positional {
		if arg.Required && !arg.Set {
			args = append(args, arg.Summary())
		}
	}
	if len(args) > 0 {
		missing = append(missing, strconv.Quote(strings.Join(args, " ")))
	}
	for _, child := range node.Children {
		if !child.Hidden {
			missing = append(missing, strconv.Quote(child.Name))
		}
	}
	switch n := len(missing); {
	case n == 0:
		return nil
	case n == 1:
		return errors.New("expected " + missing[0])
	case n > 5:
		missing = append(missing[:5], "...")
	}
	return errors.New("expected one of " + strings.Join(missing, ", "))
}

func checkExclusive(flags []*kong.Flag) error {
	chosen := map[string]string{}
	for _, f := range flags {
		for _, group := range f.Xor {
			if other, ok := chosen[group]; ok && f.Set {
				return fmt.Errorf("--%s and --%s can't be used together", other, f.Name)
			}
			if f.Set {
				chosen[group] = f.Name
			}
		}
	}
	return nil
}

// usageError adds the way out to what is wrong with a command line.
func usageError(ctx *kong.Context, err error) error {
	verb := ""
	for n := ctx.Selected(); n != nil && n.Parent != nil; n = n.Parent {
		verb = n.Name + " " + verb
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	return &exitError{code: exitUsage, err: errors.New(text), hints: []string{"git ftl " + verb + "-h"}}
}
