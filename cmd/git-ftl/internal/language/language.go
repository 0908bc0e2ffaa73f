// Package language tells what a tree is written in, and how its own tests run. It
// looks at the names of files and at a few manifests, which its caller hands over:
// it reads nothing itself, and believes nothing that it is shown to be more than a
// guess. The commands that it gives are meant for a sandbox.
package language

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Names of languages, as settings have them.
const (
	Python     = "python"
	TypeScript = "typescript"
	JavaScript = "javascript"
	Go         = "go"
	Java       = "java"
	Cpp        = "c++"
	Rust       = "rust"
)

// Parse returns the name of a language, which may be given in any case and by
// another common name.
func Parse(name string) (string, error) {
	low := strings.ToLower(strings.TrimSpace(name))
	others := map[string]string{"cpp": Cpp, "cxx": Cpp, "c": Cpp, "golang": Go, "ts": TypeScript, "js": JavaScript, "py": Python, "node": JavaScript}
	if other, ok := others[low]; ok {
		low = other
	}
	all := []string{Python, TypeScript, JavaScript, Go, Java, Cpp, Rust}
	if !slices.Contains(all, low) {
		return "", fmt.Errorf("%q is not one of: %s", name, strings.Join(all, ", "))
	}
	return low, nil
}

// Override says what the files of a pattern are written in, whatever they look
// like.
type Override struct {
	Pattern  string // as in .gitignore, without negation: "web", "*.h", "tools/**/gen"; a folder is all below it
	Language string
}

// ParseOverride reads PATTERN=LANGUAGE.
func ParseOverride(text string) (Override, error) {
	i := strings.LastIndexByte(text, '=')
	if i < 1 {
		return Override{}, fmt.Errorf("%q is not PATTERN=LANGUAGE", text)
	}
	o := Override{Pattern: strings.TrimSpace(text[:i])}
	for segment := range strings.SplitSeq(o.Pattern, "/") {
		if _, err := path.Match(segment, ""); err != nil {
			return Override{}, fmt.Errorf("pattern %q: %w", o.Pattern, err)
		}
	}
	if strings.Trim(o.Pattern, "/") == "" {
		return Override{}, fmt.Errorf("%q has no pattern", text)
	}
	var err error
	o.Language, err = Parse(text[i+1:])
	return o, err
}

// String writes an override as ParseOverride reads it.
func (o Override) String() string { return o.Pattern + "=" + o.Language }

// Matches reports whether a file, by its path with slashes, is one of the pattern.
func (o Override) Matches(file string) bool {
	pattern, names := strings.Trim(o.Pattern, "/"), strings.Split(file, "/")
	if !strings.Contains(strings.TrimSuffix(o.Pattern, "/"), "/") {
		return slices.ContainsFunc(names, func(name string) bool {
			ok, _ := path.Match(pattern, name) // ParseOverride has seen it
			return ok
		})
	}
	return below(strings.Split(pattern, "/"), names)
}

// below matches a pattern with the beginning of a path, segment by segment. reach
// holds how many segments of the path the pattern may have used so far.
func below(pattern, names []string) bool {
	reach := map[int]bool{0: true}
	for _, segment := range pattern {
		next := map[int]bool{}
		for n := range reach {
			switch ok, _ := path.Match(segment, at(names, n)); {
			case segment == "**":
				for ; n <= len(names); n++ {
					next[n] = true
				}
			case n < len(names) && ok:
				next[n+1] = true
			}
		}
		reach = next
	}
	return len(reach) > 0
}

func at(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return ""
}

// Of gives the language of a file, "" where it is none of these. The last override
// that matches decides, else the name.
func Of(file string, overrides []Override) string {
	for _, o := range slices.Backward(overrides) {
		if o.Matches(file) {
			return o.Language
		}
	}
	return map[string]string{
		".py": Python, ".pyi": Python, ".ts": TypeScript, ".tsx": TypeScript, ".mts": TypeScript, ".cts": TypeScript,
		".js": JavaScript, ".jsx": JavaScript, ".mjs": JavaScript, ".cjs": JavaScript, ".go": Go, ".java": Java, ".rs": Rust,
		".c": Cpp, ".cc": Cpp, ".cpp": Cpp, ".cxx": Cpp, ".h": Cpp, ".hh": Cpp, ".hpp": Cpp, ".hxx": Cpp,
	}[strings.ToLower(path.Ext(file))]
}
