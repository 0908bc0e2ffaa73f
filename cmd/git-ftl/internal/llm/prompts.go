package llm

import (
	"embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

//go:embed prompts
var files embed.FS

// shape is the form of a prompt's file.
var shape = lazyregexp.New(`(?s)^version: (\d+)\n\n--- system\n\n(.*)\n\n--- user\n\n(.*)\n$`)

// prompt fills a prompt's file in. Values are put in once: what stands in one is
// not looked at again.
func prompt(name string, values map[string]string) (chat.Prompt, error) {
	text, err := files.ReadFile("prompts/" + name + ".md")
	if err != nil {
		return chat.Prompt{}, fmt.Errorf("read prompt: %w", err)
	}
	m := shape.FindStringSubmatch(string(text))
	if m == nil {
		return chat.Prompt{}, fmt.Errorf("read prompt %s: not of its form", name)
	}
	var pairs []string
	for key, value := range values {
		pairs = append(pairs, "{{"+key+"}}", value)
	}
	fill := strings.NewReplacer(pairs...)
	user := m[3]
	for key, value := range values {
		if value == "" {
			user = strings.ReplaceAll(user, "{{"+key+"}}\n", "")
		}
	}
	return chat.Prompt{Name: name + "/" + m[1], System: fill.Replace(m[2]), User: fill.Replace(user)}, nil
}

// fence marks data in a prompt.
type fence string

// data is a block of a prompt. An empty one is left out. Invalid UTF-8 is replaced,
// and characters that a reader cannot see are made visible but line ends.
func (f fence) data(name, text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = escape.Text(line)
	}
	return fmt.Sprintf("BEGIN %s %s\n%s\nEND %s", f, name, strings.Join(lines, "\n"), f)
}

// clip cuts a text after n bytes, between characters, and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}
