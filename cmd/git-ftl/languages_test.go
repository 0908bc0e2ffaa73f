package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/testrun"
	"github.com/git-ftl/git-ftl/container"
)

// TestLanguages runs written tests on a base and on a result, in sandboxes without a
// network. A file of testdata/languages begins with the names of its images; below
// base/ and result/ are the two trees (result/ has what differs), below tests/ the
// written tests, and verdicts is what they say.
func TestLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: written tests in Python, Node and Go (-short)")
	}
	runLanguages(t, languageImages())
}

// TestMoreLanguages has those whose images are large: make test-languages.
func TestMoreLanguages(t *testing.T) {
	if os.Getenv("FTL_TEST_LANGUAGES") == "" {
		t.Skip("NOT RUN: written tests in Java, C++ and Rust, and for vitest, jest, mocha, tsx and Django (make test-languages)")
	}
	runLanguages(t, moreLanguageImages())
}

func runLanguages(t *testing.T, images map[string]func() (string, error)) {
	t.Helper()
	needEngine(t)
	files, err := filepath.Glob("testdata/languages/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(f.Comment), "\n")
		for name := range strings.FieldsSeq(strings.TrimPrefix(head, "image:")) {
			image, ok := images[name]
			if !ok {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+name, func(t *testing.T) {
				ref, err := image()
				if err != nil {
					t.Fatal(err)
				}
				newWritten(t, f).check(t, ref)
			})
		}
	}
}

// written is one file of testdata/languages.
type written struct {
	base, result map[string]string
	tests        []testrun.File
	verdicts     string
}

func newWritten(t *testing.T, f *txtar.Archive) written {
	t.Helper()
	w := written{base: map[string]string{}, result: map[string]string{}}
	changed := map[string]string{}
	for _, file := range f.Files {
		side, name, _ := strings.Cut(file.Name, "/")
		switch side {
		case "base":
			w.base[name], w.result[name] = string(file.Data), string(file.Data)
		case "result":
			changed[name] = string(file.Data)
		case "tests":
			w.tests = append(w.tests, testrun.File{Path: name, Content: string(file.Data)})
		case "verdicts":
			w.verdicts = string(file.Data)
		default:
			t.Fatalf("file %s is of no known kind", file.Name)
		}
	}
	for name, text := range changed {
		w.result[name] = text
	}
	return w
}

func (w written) check(t *testing.T, image string) {
	t.Helper()
	var paths []string
	for name := range w.base {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	content := func(file string) string { return w.base[file] }
	kit, err := testrun.NewKit(language.Detect(paths, content, nil), paths, content)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range w.tests {
		if err := kit.Check(f.Path); err != nil {
			t.Error(err)
		}
	}
	box := newBox(t, image)
	before := box.runs(t, kit.Runs(w.tests), w.base, runTime)
	after := box.runs(t, kit.Runs(w.tests), w.result, 6*time.Second)
	got := []string{"runner: " + kit.Runner}
	for i, r := range kit.Runs(w.tests) {
		for _, v := range testrun.Compare(r.Path, before[i], after[i]) {
			line := fmt.Sprintf("%s %s: %s", v.Path, v.Name, v.State)
			if v.Proves {
				line += " proves"
			}
			if v.Detail != "" {
				line += " (" + v.Detail + ")"
			}
			got = append(got, strings.ReplaceAll(line, " :", ":"))
			if (v.State == "failed" || v.State == "invalid") && v.Output == "" {
				t.Errorf("%s %s says nothing of why", v.Path, v.Name)
			}
		}
	}
	slices.Sort(got[1:]) // cargo has its own order each time
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(w.verdicts), "\n"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// box is one sandbox without a network.
type box struct {
	*container.Sandbox
	env []string
}

func newBox(t *testing.T, ref string) box {
	t.Helper()
	e, err := container.Docker(t.Context(), os.Environ(), os.Getenv("HOME"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	image, err := e.Image(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := container.Guest(image.Arch)
	if err != nil {
		t.Fatal(err)
	}
	pool := &container.Pool{Engine: e, Dir: t.TempDir(), Owner: fmt.Sprintf("languages-%d", time.Now().UnixNano()), Now: time.Now}
	sandbox, err := pool.Acquire(t.Context(), container.Spec{Name: "languages", Image: image.ID, Guest: guest})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(sandbox.Release(), pool.Remove(context.WithoutCancel(t.Context()), sandbox.Name())); err != nil {
			t.Error(err)
		}
	})
	env := append([]string{"HOME=" + container.Home, "LANG=C.UTF-8", "TERM=dumb"}, image.Env...)
	if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }) {
		env = append(env, "PATH=/usr/local/bin:/usr/bin:/bin")
	}
	return box{sandbox, env}
}

// runTime is what a run may take that ends by itself.
const runTime = 3 * time.Minute

// runs makes each run in a tree that has nothing of those before. A test whose name
// has hangs in it is ended after a while.
func (b box) runs(t *testing.T, runs []testrun.Run, tree map[string]string, hangs time.Duration) []testrun.Report {
	t.Helper()
	var reports []testrun.Report
	b.sh(t, "find . -mindepth 1 -delete; rm -rf /tmp/ftl-tests*", nil)
	b.sh(t, "tar x --touch", tarOf(t, tree))
	for _, r := range runs {
		files, names := map[string]string{}, []string{}
		for _, f := range r.Files {
			files[f.Path] = f.Content
			names = append(names, "'"+f.Path+"'")
		}
		b.sh(t, "tar x --touch", tarOf(t, files))
		limit := runTime
		if strings.Contains(strings.ToLower(r.Path), "hangs") {
			limit = hangs
		}
		out, code := b.try(t, r.Script, nil, limit)
		t.Logf("%s: exit %d\n%s", r.Path, code, out)
		reports = append(reports, r.Read(out, code))
		b.sh(t, "rm -f "+strings.Join(names, " "), nil)
	}
	return reports
}

func (b box) try(t *testing.T, script string, in io.Reader, limit time.Duration) ([]byte, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var out bytes.Buffer
	exit, err := b.Run(ctx, container.Cmd{Argv: []string{"/bin/sh", "-c", script}, Env: b.env, Stdin: in, Stdout: &out, Stderr: &out, Grace: time.Second})
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return out.Bytes(), exit.Code
}

func (b box) sh(t *testing.T, script string, in io.Reader) {
	t.Helper()
	if out, code := b.try(t, script, in, runTime); code != 0 {
		t.Fatalf("%s: exit %d\n%s", script, code, out)
	}
}

func tarOf(t *testing.T, files map[string]string) io.Reader {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, text := range files {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}
