// Package ignore decides what git would ignore, from the ignore files of a tree
// that lies elsewhere. Patterns are brought into a form that go-gitignore
// matches as git's wildmatch does, byte by byte; order, negation, folders and
// nesting are handled here.
package ignore

import (
	"bytes"
	"path"
	"strings"
	"sync"

	gitignore "github.com/sabhiram/go-gitignore"
)

// Rules are the ignore files of one tree. Once all files are added, any number
// of goroutines may call Match.
type Rules struct {
	exclude []pattern
	files   map[string][]pattern // by folder, "" is the top

	mu   sync.Mutex
	memo map[string]bool // folders already judged
}

type pattern struct {
	negative bool
	dirOnly  bool
	nameOnly bool // compared with the last element alone
	matcher  *gitignore.GitIgnore
}

// New returns rules that hold the lines of an info/exclude file.
func New(exclude []string) *Rules {
	return &Rules{
		exclude: parse([]byte(strings.Join(exclude, "\n"))),
		files:   map[string][]pattern{},
		memo:    map[string]bool{},
	}
}

// Add gives the content of the .gitignore file in folder dir, "" for the top.
func (r *Rules) Add(dir string, content []byte) {
	r.files[dir] = parse(content)
}

// Match says whether git ignores an untracked path. A path below an ignored
// folder is ignored.
func (r *Rules) Match(p string, dir bool) bool {
	if p == "" {
		return false
	}
	if !dir {
		return r.Match(parent(p), true) || r.judge(p, false)
	}
	r.mu.Lock()
	ignored, known := r.memo[p]
	r.mu.Unlock()
	if known {
		return ignored
	}
	ignored = r.Match(parent(p), true) || r.judge(p, true)
	r.mu.Lock()
	r.memo[p] = ignored
	r.mu.Unlock()
	return ignored
}

// judge applies the last pattern that matches, nearest file first.
func (r *Rules) judge(p string, dir bool) bool {
	for at := parent(p); ; at = parent(at) {
		if hit := last(r.files[at], strings.TrimPrefix(p[len(at):], "/"), dir); hit != nil {
			return !hit.negative
		}
		if at == "" {
			break
		}
	}
	hit := last(r.exclude, p, dir)
	return hit != nil && !hit.negative
}

func last(patterns []pattern, rel string, dir bool) *pattern {
	if len(patterns) == 0 {
		return nil
	}
	whole := latin1(rel)
	name := whole[strings.LastIndexByte(whole, '/')+1:]
	for i := len(patterns) - 1; i >= 0; i-- {
		p := &patterns[i]
		if p.dirOnly && !dir {
			continue
		}
		subject := whole
		if p.nameOnly {
			subject = name
		}
		if p.matcher.MatchesPath(subject) {
			return p
		}
	}
	return nil
}

func parent(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// latin1 makes each byte one rune, since git compares bytes and the regular
// expressions below compare runes.
func latin1(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

func parse(content []byte) []pattern {
	var all []pattern
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	for line := range strings.SplitSeq(string(content), "\n") {
		if p, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			all = append(all, p)
		}
	}
	return all
}

// parseLine leaves out lines that can match nothing.
func parseLine(line string) (pattern, bool) {
	var p pattern
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimSpaces(line)
	line, p.negative = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.nameOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	expr, ok := normalise(line, p.nameOnly)
	if !ok {
		return p, false
	}
	p.matcher = gitignore.CompileIgnoreLines(expr)
	return p, true
}

// trimSpaces removes spaces at the end but keeps one that a backslash quotes.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			end = min(i+1, len(s))
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}
