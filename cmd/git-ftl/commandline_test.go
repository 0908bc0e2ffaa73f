package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// said is what became of a command line.
type said struct {
	verb   any
	out    string
	failed string
}

// ours is what this program makes of a line, by the grammar of one verb or the whole.
func ours(t *testing.T, grammar any, line []string) said {
	t.Helper()
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out}
	v, err := a.parseAs(grammar, line)
	s := become(v, &out, err)
	s.out = strings.Replace(s.out, version(), "", 1) // which kong was not told
	return s
}

// kongs is what kong makes of it.
func kongs(t *testing.T, line []string) said {
	t.Helper()
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out}
	parser, err := a.parser(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	parser.Exit = func(int) { asked = true }
	ctx, err := parser.Parse(line)
	if err != nil || asked {
		if asked {
			err = nil
		}
		return become(nil, &out, err)
	}
	return become(ctx.Selected().Target.Addr().Interface().(verb), &out, nil)
}

func become(v verb, out *bytes.Buffer, err error) said {
	s := said{out: out.String()}
	if v != nil {
		s.verb = reflect.ValueOf(v).Elem().Interface()
	}
	if err != nil {
		s.failed = strings.Join(strings.Fields(err.Error()), " ")
	}
	return s
}

// every calls f with the words that lead to each verb, aliases and hidden ones too.
func every(t *testing.T, f func(words []string, n *kong.Node)) {
	t.Helper()
	root, err := (&app{}).verbs()
	if err != nil {
		t.Fatal(err)
	}
	var walk func(words []string, n *kong.Node)
	walk = func(words []string, n *kong.Node) {
		for _, child := range n.Children {
			for _, name := range append([]string{child.Name}, child.Aliases...) {
				named := append(words[:len(words):len(words)], name)
				f(named, child)
				walk(named, child)
			}
		}
	}
	walk(nil, root)
}

// TestCommandLineIsKongs: what is read without kong's Parse, and of one verb alone,
// is what kong reads of the whole.
func TestCommandLineIsKongs(t *testing.T) {
	lines := [][]string{
		{"--version"}, {"--help"}, {"-h"}, {"--version", "--help"}, {"--version", "status"}, {"--help", "status"}, {"--versio"},
		{"frobnicate"}, {"statu"}, {"frobnicate", "-h"}, {""}, {"--"}, {"-"},
		{"run", "--attempts", "x", "do"}, {"run", "--json", "--events", "do it"}, {"run", "--attempts=3", "-d", "do it"},
		{"trust", "--digest", "--forget"}, {"completion", "csh"}, {"completion", "fish"},
		{"auth", "init", "--store", "paper"}, {"auth", "init", "--store=identity"}, {"auth", "bind", "x", "h", "--kind", "odd"},
		{"hooks", "install", "--hook", "pre-commit", "--hook", "post-commit"}, {"hooks", "install", "--hook=pre-push"},
		{"diff", "--stat", "-h"}, {"exec", "--", "a", "-b"}, {"exec", "a", "--json"}, {"hook", "pre-push", "--x", "-y"},
		{"lint", "--staged", "a", "b"}, {"snapshots"}, {"snapshots", "--json"}, {"snapshots", "nope"}, {"__complete", "--", "a", "-"},
	}
	every(t, func(words []string, _ *kong.Node) {
		for _, more := range [][]string{nil, {"-h"}, {"--no-such-flag"}, {"a"}, {"a", "b"}, {"a", "b", "c", "d", "e"}, {"--json"}, {"--version"}, {"x", "--help"}} {
			lines = append(lines, append(words[:len(words):len(words)], more...))
		}
	})
	for _, line := range lines {
		want := kongs(t, line)
		for name, got := range map[string]said{"one verb": ours(t, grammar(line), line), "the whole": ours(t, &cli{}, line)} {
			if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
				t.Errorf("%q, read by %s (-kong +ours):\n%s", line, name, diff)
			}
		}
	}
}

// TestOneVerbIsEnough: what every verb is found by is no more than its own field.
func TestOneVerbIsEnough(t *testing.T) {
	every(t, func(words []string, _ *kong.Node) {
		if n := reflect.TypeOf(grammar(words)).Elem().NumField(); n != 2 {
			t.Errorf("%q is looked for among %d fields", words, n)
		}
	})
}

// TestCommandLineIsChecked: nothing of the command line asks for a check that fill
// does not do, and each verb can be run.
func TestCommandLineIsChecked(t *testing.T) {
	every(t, func(words []string, n *kong.Node) {
		_, runs := n.Target.Addr().Interface().(verb)
		if leaf := len(n.Children) == 0; leaf != runs {
			t.Errorf("%q: has a Run: %v, has verbs below it: %v", words, runs, !leaf)
		}
		for _, f := range n.Flags {
			if f.Required || len(f.And) > 0 || len(f.LastWins) > 0 || len(f.Envs) > 0 {
				t.Errorf("%q: --%s has what is not checked", words, f.Name)
			}
		}
		for _, v := range append([]reflect.Value{n.Target}, targets(n)...) {
			if m := v.Addr().MethodByName("Validate"); m.IsValid() {
				t.Errorf("%q: Validate of %s is not called", words, v.Type())
			}
			for _, hook := range []string{"BeforeReset", "BeforeResolve", "BeforeApply", "AfterApply", "AfterRun"} {
				if m := v.Addr().MethodByName(hook); m.IsValid() && v.Type() != reflect.TypeFor[kong.VersionFlag]() && !strings.HasSuffix(v.Type().String(), ".helpFlag") {
					t.Errorf("%q: %s of %s is not called", words, hook, v.Type())
				}
			}
			if v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.String {
				t.Errorf("%q: %s is not looked into", words, v.Type())
			}
		}
	})
}

func targets(n *kong.Node) (all []reflect.Value) {
	for _, v := range n.Values() {
		all = append(all, v.Target)
	}
	return all
}
