package devcontainer

import (
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Copies are the paths of its context that a Dockerfile copies, as patterns of
// path.Match for each of their parts, sorted; "." is all of it. Only these go to a
// build: what this reading misses makes the build fail, and never an image older than
// what it is made of.
func Copies(file []byte) []string {
	var all []string
	for line := range strings.SplitSeq(joined(string(file)), "\n") {
		all = append(all, sources(line)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// joined puts lines together that a backslash continues. Blank lines and comments in
// between are none.
func joined(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if part, ok := strings.CutSuffix(trimmed, `\`); ok {
			b.WriteString(part)
			continue
		}
		b.WriteString(trimmed + "\n")
	}
	return b.String()
}

// remote matches a source of ADD that is fetched.
var remote = lazyregexp.New(`^(?:[a-z]+://|git@)`)

// sources are those of one COPY or ADD; "." where the line is in a form that this
// does not read.
func sources(line string) []string {
	words := strings.Fields(line)
	if len(words) > 0 && strings.EqualFold(words[0], "ONBUILD") {
		words = words[1:]
	}
	if len(words) == 0 || !strings.EqualFold(words[0], "COPY") && !strings.EqualFold(words[0], "ADD") {
		return nil
	}
	words = words[1:]
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		if strings.HasPrefix(words[0], "--from=") {
			return nil // from another image or stage
		}
		words = words[1:]
	}
	if len(words) > 0 && strings.HasPrefix(words[0], "[") {
		return []string{"."} // a list in JSON
	}
	var all []string
	for _, s := range words[:max(0, len(words)-1)] {
		if remote.MatchString(s) {
			continue
		}
		if strings.ContainsAny(s, "\"'$<\\`[") {
			return []string{"."}
		}
		all = append(all, strings.TrimPrefix(path.Clean("/"+s), "/"))
	}
	for i, s := range all {
		if s == "" {
			all[i] = "."
		}
	}
	return all
}
