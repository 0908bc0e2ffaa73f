package testrun

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is read into testdata")

// captured is what a real runner said: a format, its exit code and its output, and
// what is to be read of it.
type captured struct {
	file    string
	archive *txtar.Archive
	format  string
	exit    int
}

func allCaptured(t testing.TB, pattern string) []captured {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of %s, %v", len(files), pattern, err)
	}
	var all []captured
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil || len(a.Files) != 2 {
			t.Fatalf("%s: %v", file, err)
		}
		head, _, _ := strings.Cut(string(a.Comment), "\n")
		format, code, _ := strings.Cut(head, ", exit ")
		exit, err := strconv.Atoi(code)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, captured{file, a, format, exit})
	}
	return all
}

func (c captured) out() []byte { return c.archive.Files[0].Data }

func (c captured) compare(t *testing.T, r Report) {
	t.Helper()
	var got strings.Builder
	if r.Missing != "" {
		fmt.Fprintf(&got, "missing: %s\n", r.Missing)
	}
	for _, one := range r.Cases {
		fmt.Fprintf(&got, "%s: %s\n", one.State, one.Name)
		if one.State != Passed {
			for line := range strings.Lines(one.Output) {
				got.WriteString("\t" + strings.TrimRight(line, "\n") + "\n")
			}
		}
	}
	want := &c.archive.Files[1].Data
	if diff := cmp.Diff(strings.Split(string(*want), "\n"), strings.Split(got.String(), "\n")); diff != "" && !*update {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if *update {
		*want = []byte(got.String())
		if err := os.WriteFile(c.file, txtar.Format(c.archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRead: what scripts of the kits printed in sandboxes.
func TestRead(t *testing.T) {
	for _, c := range allCaptured(t, "testdata/read/*.txtar") {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			c.compare(t, Run{Path: "src/calc.test.js", format: c.format}.Read(c.out(), c.exit))
		})
	}
}

// TestReadOwn: what the commands of projects print by themselves.
func TestReadOwn(t *testing.T) {
	for _, c := range allCaptured(t, "testdata/own/*.txtar") {
		t.Run(filepath.Base(c.file), func(t *testing.T) { c.compare(t, ReadOwn(c.format, c.out(), c.exit)) })
	}
}

// TestReadOdd: output that no runner means to print, and what stands for a file.
func TestReadOdd(t *testing.T) {
	long := strings.Repeat("x", 3*maxOutput)
	for _, row := range []struct {
		name, format, out string
		exit              int
		want              Report
	}{
		{"nothing and well", formatPlain, "", 0, Report{Cases: []Case{{State: Passed}}}},
		{"a program that fails", formatPlain, "built\n\nftl-tests: started\nassert\n", 134, Report{Cases: []Case{{State: Failed, Output: "built\n\nftl-tests: started\nassert"}}}},
		{"a program that does not build", formatPlain, "error\n", 1, Report{Cases: []Case{{State: Broken, Output: "error"}}}},
		{"no case and well", formatGo, "", 0, Report{Cases: []Case{{State: Broken, Output: silence}}}},
		{"killed", formatGo, "", 137, Report{Cases: []Case{{State: Failed, Output: silence}}}},
		{"timed out", formatReport, "collecting", 124, Report{Cases: []Case{{State: Failed, Output: "collecting"}}}},
		{"good cases and a bad end", formatCargo, "test a ... ok\nthen it crashed\n", 101,
			Report{Cases: []Case{{Name: "a", State: Passed}, {State: Failed, Output: "test a ... ok\nthen it crashed"}}}},
		{"bad cases and a good end", formatCargo, "test a ... FAILED\n", 0, Report{Cases: []Case{{Name: "a", State: Failed, Output: "test a ... FAILED"}}}},
		{"a tool by the script", formatGo, "ftl-tests: missing go\n", 127, Report{Missing: "go"}},
		{"a tool that says so and ends otherwise", formatPlain, "ftl-tests: missing go\n", 0, Report{Cases: []Case{{State: Passed}}}},
		{"a tool by the shell", formatGo, "sh: 1: go: not found\n", 127, Report{Missing: "go"}},
		{"a tool by bash", formatGo, "bash: line 1: /opt/go/bin/go: No such file or directory\n", 127, Report{Missing: "go"}},
		{"a report of no known format", formatReport, "\nftl-tests: report x\nabc", 1, Report{Cases: []Case{{State: Broken, Output: silence}}}},
		{"a report that is none", formatReport, "said\n\nftl-tests: report junit\nnot XML", 1, Report{Cases: []Case{{State: Broken, Output: "said"}}}},
		{"a report that is cut", formatReport, "\nftl-tests: report junit\n<testsuite><testcase classname=\"T\" name=\"a\"/><testcase name=\"b", 1,
			Report{Cases: []Case{{Name: "T.a", State: Passed}, {State: Failed, Output: silence}}}},
		{"controls within XML", formatReport, "\nftl-tests: report junit\n<testcase name='a'><failure>\x00\x1b[31mred\x1b[0m\x07</failure></testcase>", 1,
			Report{Cases: []Case{{Name: "a", State: Failed, Output: "red"}}}},
		{"bytes that are no text", formatCargo, "test \xff ... ok\n", 0, Report{Cases: []Case{{Name: "\uFFFD", State: Passed}}}},
		{"long output", formatPlain, "\nftl-tests: started\n" + long, 1, Report{Cases: []Case{{State: Failed, Output: "…" + long[:maxOutput-len("…\n")]}}}},
		{"a name of many parts", formatGo, "{\"Action\":\"pass\",\"Test\":\"" + strings.Repeat("a/", 1<<19) + "\"}\n", 0,
			Report{Cases: []Case{{Name: strings.Repeat("a/", maxName/2) + "…", State: Passed}}}},
		{"a long name", formatCargo, "test " + long + " ... ok\n", 0, Report{Cases: []Case{{Name: long[:maxName] + "…", State: Passed}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, Run{format: row.format}.Read([]byte(row.out), row.exit)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadShortLines: reading copies little, however short the lines are of which an
// output is made.
func TestReadShortLines(t *testing.T) {
	lines := strings.Repeat("x\n", 3*maxOutput)
	for _, row := range []struct {
		format, head string
		read         func(r Run, out []byte) Report
	}{
		{formatUnittest, "FAIL: x%d (m.C)\n", func(r Run, out []byte) Report { return r.Read(out, 1) }},
		{formatCargo, "test x%[1]d ... FAILED\n---- x%[1]d stdout ----\n", func(r Run, out []byte) Report { return r.Read(out, 1) }},
		{formatTAP, "not ok 1 - x%d\n", func(r Run, out []byte) Report { return r.Read(out, 1) }},
		{"pytest", "FAILED a::x%d\n", func(_ Run, out []byte) Report { return ReadOwn("make test", out, 1) }},
	} {
		t.Run(row.format, func(t *testing.T) {
			var out bytes.Buffer
			n := 0
			for ; out.Len() < maxOut-len(lines); n++ {
				fmt.Fprintf(&out, row.head+lines, n)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := row.read(Run{format: row.format}, out.Bytes())
			runtime.ReadMemStats(&after)
			if len(r.Cases) != n {
				t.Errorf("%d cases, want %d", len(r.Cases), n)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 64 {
				t.Errorf("reading %d MiB took %d MiB", maxOut>>20, took)
			}
		})
	}
}

// TestReadOwnOdd: commands that tell nothing, or lack their tool.
func TestReadOwnOdd(t *testing.T) {
	for _, row := range []struct {
		name, out string
		exit      int
		want      Report
	}{
		{"well, whatever it says", "--- FAIL: TestX (0.00s)\n", 0, Report{Cases: []Case{{Name: "make test", State: Passed}}}},
		{"no known runner", "it is bad\n", 2, Report{Cases: []Case{{Name: "make test", State: Failed, Output: "it is bad"}}}},
		{"nothing at all", "", 2, Report{Cases: []Case{{Name: "make test", State: Failed, Output: silence}}}},
		{"no tool", "/bin/sh: 1: pytest: not found\n", 127, Report{Missing: "pytest"}},
		{"make without its tool", "make: go: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n", 2, Report{Missing: "go"}},
		{"a module of Python", "/usr/bin/python3: No module named pytest\n", 1, Report{Missing: "pytest"}},
		{"a test that lacks a tool", "sh: 1: jq: not found\n--- FAIL: TestX (0.00s)\nFAIL\tm/p\t0.1s\n", 1,
			Report{Cases: []Case{{Name: "m/p TestX", State: Failed, Output: "--- FAIL: TestX (0.00s)"}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, ReadOwn("make test", []byte(row.out), row.exit)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
