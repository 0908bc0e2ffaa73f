package lint

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// IgnoreFile is where a repository says what it accepts. It counts as the base
// has it, once the user has trusted it, and never as a change brings it.
const IgnoreFile = ".ftllint"

// Setting makes findings of a rule count more or less.
type Setting struct {
	Rule     string   // "danger/sql-drop", or a family: "danger"
	Path     string   // where it holds: a path, a folder with a slash, or a pattern of path.Match; "" is everywhere
	Severity Severity // or Off
	By       string   // whose it is, as Finding.Waived names it
}

// Acceptance is what the user, or who they trust, has said of findings. Of several
// settings for a finding the last one counts.
type Acceptance struct {
	IDs      map[string]string // by whom, for each finding that is accepted
	Advice   []string          // families of which nothing blocks, unless a setting says so
	Settings []Setting
}

// judge applies what was said to a finding; false where it is not to be told.
func (a Acceptance) judge(f Finding) (Finding, bool) {
	family, _, _ := strings.Cut(f.Rule, "/")
	if f.Severity == Block && slices.Contains(a.Advice, family) {
		f.Severity = Warn
	}
	for _, s := range a.Settings {
		if s.covers(f) {
			f.Severity = s.Severity
		}
	}
	f.Waived = a.IDs[f.ID]
	return f, f.Severity != Off
}

func (s Setting) covers(f Finding) bool {
	if f.Rule != s.Rule && !strings.HasPrefix(f.Rule, s.Rule+"/") {
		return false
	}
	if s.Path == "" || s.Path == f.Path || strings.HasSuffix(s.Path, "/") && strings.HasPrefix(f.Path, s.Path) {
		return true
	}
	ok, _ := path.Match(s.Path, f.Path)
	return ok
}

// And adds to what is accepted; where both speak of a finding, b counts.
func (a Acceptance) And(b Acceptance) Acceptance {
	both := Acceptance{Advice: append(a.Advice[:len(a.Advice):len(a.Advice)], b.Advice...), IDs: map[string]string{}, Settings: append(a.Settings[:len(a.Settings):len(a.Settings)], b.Settings...)}
	for _, ids := range []map[string]string{a.IDs, b.IDs} {
		for id, by := range ids {
			both.IDs[id] = by
		}
	}
	return both
}

var (
	wholeID  = lazyregexp.New(`^f[0-9a-f]{32}$`)
	ruleName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)?$`)
)

// maxIgnoreLines bounds an ignore file.
const maxIgnoreLines = 10_000

// ParseIgnore reads an ignore file. A line is the whole id of a finding, or a rule
// or family, a severity or "off", and where that holds ("danger/sql-drop off
// migrations/"). "#" begins a comment. What a repository cannot excuse is an error
// of its line: real values and shadows. Lines that are wrong cost only themselves.
func ParseIgnore(data []byte) (Acceptance, []error) {
	a := Acceptance{IDs: map[string]string{}}
	var wrong []error
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
		if number++; number > maxIgnoreLines {
			return a, append(wrong, fmt.Errorf("%s: more than %d lines", IgnoreFile, maxIgnoreLines))
		}
		text, _, _ := strings.Cut(string(line), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if err := a.line(fields); err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", IgnoreFile, number, err))
		}
	}
	return a, wrong
}

func (a *Acceptance) line(fields []string) error {
	if len(fields) == 1 && wholeID.MatchString(fields[0]) {
		a.IDs[fields[0]] = IgnoreFile
		return nil
	}
	if len(fields) < 2 || len(fields) > 3 {
		return fmt.Errorf("a line is the 33 characters of an id, or RULE off|info|warn|block [PATH]")
	}
	s, err := NewSetting(fields[0], fields[1], IgnoreFile)
	if err != nil {
		return err
	}
	if strings.HasPrefix(s.Rule, "value") {
		return fmt.Errorf("%s: a repository cannot excuse real secrets", s.Rule)
	}
	if len(fields) == 3 {
		s.Path = fields[2]
	}
	if _, err := path.Match(s.Path, ""); err != nil {
		return fmt.Errorf("%q is no pattern", s.Path)
	}
	a.Settings = append(a.Settings, s)
	return nil
}

// NewSetting checks a rule or family and a severity.
func NewSetting(rule, severity, by string) (Setting, error) {
	rule = strings.ToLower(rule)
	if !ruleName.MatchString(rule) {
		return Setting{}, fmt.Errorf("%q is no rule", rule)
	}
	switch s := Severity(strings.ToLower(severity)); s {
	case Block, Warn, Info, Off:
		return Setting{Rule: rule, Severity: s, By: by}, nil
	}
	return Setting{}, fmt.Errorf("%q is none of off, info, warn, block", severity)
}
