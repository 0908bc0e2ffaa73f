package credential

import (
	"bytes"
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// lineMost is how long a line may be for its names to count: longer ones were
// written by a program.
const lineMost = 2000

// named is what a name, a URL or a header says is secret. All of it is a warning,
// so a path may lessen it.
type named struct {
	text  []byte
	class fileClass
	hits  []doc.Hit
}

// meet takes a word that says so.
func (n *named) meet(f trigger, at, end int) {
	if len(n.hits) >= maxHits || longLine(n.text, at) {
		return
	}
	if h, ok := suggest(f, n.text, at, end, n.class); ok {
		n.hits = append(n.hits, h)
	}
}

func suggest(f trigger, text []byte, at, end int, class fileClass) (h doc.Hit, ok bool) {
	switch f {
	case userinfo:
		h, ok = urlHit(text, at)
	case header:
		h, ok = headerHit(text, end)
	case dataSource:
		h, ok = dataSourceHit(text, at)
	case userOption:
		h, ok = userHit(text, at, end)
	case passOption:
		h, ok = passHit(text, at, end)
	case loginCall:
		h, ok = loginHit(text, end)
	default:
		h, ok = assignedHit(text, at, end, class)
	}
	switch {
	case !ok || class == made && h.Rule != "credential/url":
		return h, false
	case class == made:
		h.Severity = doc.Info
	}
	return h, true
}

func longLine(text []byte, at int) bool {
	before := text[max(0, at-lineMost):at]
	after := text[at:min(len(text), at+lineMost)]
	length := len(before) - 1 - bytes.LastIndexByte(before, '\n')
	if i := bytes.IndexByte(after, '\n'); i >= 0 {
		return length+i > lineMost
	}
	return length+len(after) > lineMost
}

// fileClass says how values are written in a file.
type fileClass uint8

const (
	settings fileClass = iota // a value may stand without quotes
	code                      // a value is a literal
	prose                     // it is one, or plainly drawn
	made                      // by a program, or by somebody else
)

// classify tells a file's class from its path.
func classify(file string) fileClass {
	base := strings.ToLower(path.Base(file))
	switch base {
	case "go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "bun.lockb", "packages.lock.json":
		return made
	}
	for _, dir := range []string{"vendor/", "node_modules/", "bower_components/"} {
		if strings.HasPrefix(file, dir) || strings.Contains(file, "/"+dir) {
			return made
		}
	}
	if strings.Contains(base, ".min.") || strings.Contains(base, ".bundle.") {
		return made
	}
	for _, dir := range []string{"locale", "locales", "i18n", "l10n", "lang", "langs", "translations", "messages"} {
		if strings.HasPrefix(file, dir+"/") || strings.Contains(file, "/"+dir+"/") {
			return code // a value is a message
		}
	}
	switch path.Ext(base) {
	case ".lock", ".sum", ".svg", ".map", ".snap":
		return made
	case ".go", ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".java", ".kt", ".kts", ".scala", ".groovy", ".rb", ".php", ".c", ".h",
		".cc", ".cpp", ".hpp", ".m", ".cs", ".fs", ".vb", ".rs", ".swift", ".dart", ".ex", ".exs", ".erl", ".hs", ".lua", ".pl", ".pm", ".r",
		".jl", ".clj", ".sql", ".vue", ".svelte", ".vim", ".el", ".tcl", ".tm", ".zsh", ".def", ".fish", ".html", ".htm", ".css", ".scss", ".tmpl", ".s", ".zig", ".nim", ".proto":
		return code
	case ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".asciidoc":
		return prose
	}
	return settings
}
