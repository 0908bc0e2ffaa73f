package llm

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// What a file declares for others, by cheap patterns of one line: the last group
// is the name, the others say of what kind. They err on names that a reader can
// do without.
var (
	pythonNames = lazyregexp.New(`^(?:async )?(def|class) ([A-Za-z]\w*)`)
	goNames     = lazyregexp.New(`^(func|type) (\([^)]{1,60}\) )?([A-Z]\w*)`)
	scriptNames = lazyregexp.New(`^export (?:default |declare |async |abstract )*(function|class|const|let|var|interface|type|enum)\*? (\w+)`)
	javaNames   = lazyregexp.New(`^\s{0,8}(?:public|protected) (?:static |final |abstract |sealed )*(?:(class|interface|enum|record) |[\w<>\[\], .?]{1,60} )(\w+)\s*[({<]?`)
	cppNames    = lazyregexp.New(`^(class|struct|enum class|enum|namespace) (\w+)|^[A-Za-z_][\w:<>*&, ]{0,60}[ *&](\w+)\([^;]{0,200}[;{]?\s*$`)
	rustNames   = lazyregexp.New(`^\s{0,8}pub (?:async |unsafe |const )*(fn|struct|enum|trait|type|mod) (\w+)`)
)

// declared is the pattern of a file's language, nil for none.
func declared(file string) *lazyregexp.Regexp {
	switch strings.ToLower(path.Ext(file)) {
	case ".py", ".pyi":
		return pythonNames
	case ".go":
		return goNames
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return scriptNames
	case ".java":
		return javaNames
	case ".h", ".hh", ".hpp", ".hxx", ".c", ".cc", ".cpp", ".cxx":
		return cppNames
	case ".rs":
		return rustNames
	}
	return nil
}

// maxDeclared bounds a line that is looked at, in bytes: longer ones are no
// declarations that a person wrote.
const maxDeclared = 300

// declarations are the names in the beginning of a file, each once.
func declarations(pattern *lazyregexp.Regexp, text []byte) (all []string) {
	for line := range bytes.SplitSeq(text[:min(len(text), 64<<10)], []byte("\n")) {
		if len(all) == maxMapNames {
			return append(all, "…")
		}
		if len(line) > maxDeclared {
			continue
		}
		m := pattern.FindSubmatch(line)
		if m == nil {
			continue
		}
		words := make([]string, 0, len(m)-1)
		for _, group := range m[1:] {
			if len(group) > 0 {
				words = append(words, strings.TrimSpace(string(group)))
			}
		}
		if name := clip(strings.Join(words, " "), 100); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
