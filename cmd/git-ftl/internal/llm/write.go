package llm

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
)

// Bounds of what a model may write.
const (
	maxTestFiles = 10
	maxTestFile  = 64 << 10  // bytes
	maxTests     = 256 << 10 // bytes of all
)

// Bounds of what a model is shown, in bytes.
const (
	maxTask    = 20 << 10
	maxExample = 8 << 10
)

// TestFile is a file of tests, by its path from the repository's root with
// slashes.
type TestFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// TestInput is what tests are written from: the task and the repository as it was
// before, never the change.
type TestInput struct {
	Task     string
	Map      string   // of RepoMap
	Language string   // Python, TypeScript, JavaScript, Go, Java, C++ or Rust, in any case
	Runner   string   // the command that runs them, such as "go test ./..."
	Style    string   // what a file must be like for it, in sentences
	Names    []string // examples of paths where it finds them; nil for the language's usual one
	Examples []TestFile
	// Exists reports whether the repository has a file: none is replaced. nil says
	// that it has none.
	Exists func(path string) bool
	// Check refuses a path that the runner would not find. nil takes all that are named
	// as the language's tests are.
	Check func(path string) error
}

// written is the answer's shape.
type written struct {
	Files []TestFile `json:"files"`

	language string
	in       TestInput
}

// Check implements chat.Checker.
func (w *written) Check() error {
	if len(w.Files) == 0 {
		return fmt.Errorf("no test file")
	}
	total := 0
	for i, f := range w.Files {
		if err := w.checkPath(f.Path); err != nil {
			return err
		}
		if w.in.Exists != nil && w.in.Exists(f.Path) {
			return fmt.Errorf("the repository has a file %q already", f.Path)
		}
		for _, other := range w.Files[:i] {
			if strings.EqualFold(other.Path, f.Path) {
				return fmt.Errorf("file %q is there twice", f.Path)
			}
		}
		if strings.ContainsRune(f.Content, 0) {
			return fmt.Errorf("file %q holds a NUL", f.Path)
		}
		total += len(f.Content)
	}
	if total > maxTests {
		return fmt.Errorf("the files have %d bytes together, more than %d", total, maxTests)
	}
	return nil
}

func (w *written) checkPath(p string) error {
	if err := checkPath(w.language, p); err != nil || w.in.Check == nil {
		return err
	}
	return w.in.Check(p)
}

// WriteTests has a model write tests: at most 10 new files of 64 KiB, each named as
// a test of its language or in a folder ftl_tests. Files that break a rule are
// asked for once more and then refused as a whole.
func (m Model) WriteTests(ctx context.Context, in TestInput) ([]TestFile, chat.Reply, error) {
	lang, spoken, err := speak(in.Language)
	if err != nil {
		return nil, chat.Reply{}, err
	}
	f, err := m.fence()
	if err != nil {
		return nil, chat.Reply{}, err
	}
	var examples []string
	for i, e := range in.Examples[:min(len(in.Examples), 3)] {
		examples = append(examples, f.data(fmt.Sprintf("example %d", i+1), e.Path+"\n\n"+clip(e.Content, maxExample)))
	}
	p, err := prompt("tests", map[string]string{
		"fence": string(f), "language": spoken.name, "runner": runner(in.Runner), "style": strings.TrimRight(" "+in.Style, " "),
		"names": names(in.Names, spoken.example), "helpers": testFolder + "/",
		"task": f.data("task", clip(in.Task, maxTask)), "map": f.data("map", clip(in.Map, maxMap)), "examples": strings.Join(examples, "\n"),
	})
	if err != nil {
		return nil, chat.Reply{}, err
	}
	out := written{language: lang, in: in}
	reply, err := m.Client.JSON(ctx, p, testSchema(), &out)
	if err != nil {
		return nil, reply, fmt.Errorf("write tests: %w", err)
	}
	return out.Files, reply, nil
}

// runner is the command as a few words that stand in a sentence; it comes from the
// repository's config.
func runner(command string) string {
	command = strings.Join(strings.Fields(command), " ")
	if command == "" {
		return "the usual runner of that language"
	}
	return fmt.Sprintf("the command %q", clip(command, 200))
}

// names are the examples of paths, which have folders of the repository in them.
func names(all []string, usual string) string {
	if len(all) == 0 {
		all = []string{usual}
	}
	var quoted []string
	for _, name := range all[:min(len(all), 3)] {
		quoted = append(quoted, fmt.Sprintf("%q", clip(name, 100)))
	}
	return strings.Join(quoted, " or ")
}

func testSchema() *chat.Schema {
	return &chat.Schema{Type: "object", Properties: map[string]*chat.Schema{
		"files": {Type: "array", Max: maxTestFiles, Items: &chat.Schema{Type: "object", Properties: map[string]*chat.Schema{
			"path":    {Type: "string", Description: "from the root of the repository, with slashes"},
			"content": {Type: "string", Description: "the whole file", Max: maxTestFile},
		}}},
	}}
}
