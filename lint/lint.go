// Package lint looks at a change before it reaches anybody: for credentials, for
// the user's real secrets, for dangerous operations, and for whatever would run
// on the user's machine by itself.
//
// It reads blobs, never the text of a diff, and believes nothing that a change
// says of itself: what excuses a finding comes from the base or from the user. It
// executes nothing, writes nothing and sends nothing.
package lint

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/lint/internal/credential"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/lint/internal/value"
)

// Severity says what a finding does to a change.
type Severity = doc.Severity

// The severities.
const (
	Block          = doc.Block // an apply needs the user's word
	Warn           = doc.Warn
	Info           = doc.Info
	Off   Severity = "off" // of a Setting: the finding is dropped
)

// Finding is one thing to look at. Its JSON is part of a task's record.
type Finding struct {
	ID       string   `json:"id"` // "f" and 32 hex digits over rule, path and the bytes that matched
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`
	Line     int      `json:"line"`    // from 1; 0 is the path itself
	Message  string   `json:"message"` // one line
	Excerpt  string   `json:"excerpt"` // of the line, secrets hidden
	Remedy   string   `json:"remedy,omitempty"`
	Waived   string   `json:"waived,omitempty"` // who accepted it, "" for nobody
}

// Value is a real secret to look for.
type Value = value.Value

// Options say what to look for beside what is known of credentials.
type Options struct {
	Values  []Value
	Watched map[string]string // tracked paths, folders with a slash, and what of the user's own reads them
	Now     time.Time         // tells whether a token has expired
}

// Terms are what counts for one change.
type Terms struct {
	Task     string // what was asked for: it may name a dangerous operation
	Accepted Acceptance
}

// Linter checks changes. It is safe for concurrent use.
type Linter struct {
	o      Options
	rules  *credential.Rules
	values *value.Index
}

// New makes a linter.
func New(o Options) *Linter {
	return &Linter{o: o, rules: credential.New(credential.Options{Now: o.Now}), values: value.New(o.Values)}
}

// Report is what a check found and how much it looked at.
type Report struct {
	Findings []Finding `json:"findings"` // blocking ones first, then by path and line
	Files    int       `json:"files"`    // that were read
	Bytes    int64     `json:"bytes"`
	Skipped  []string  `json:"skipped"` // what was not looked at, and why
	More     int       `json:"more"`    // findings beyond the bound
}

// Blocked reports whether a finding blocks that nobody has accepted.
func (r Report) Blocked() bool { return slices.ContainsFunc(r.Findings, Finding.Blocks) }

// Add joins the report of another part of the same change.
func (r *Report) Add(o Report) {
	for _, f := range o.Findings {
		if !slices.ContainsFunc(r.Findings, func(have Finding) bool { return have.ID == f.ID }) {
			r.Findings = append(r.Findings, f)
		}
	}
	r.sort()
	r.Files, r.Bytes, r.More = r.Files+o.Files, r.Bytes+o.Bytes, r.More+o.More
	r.Skipped = append(r.Skipped, o.Skipped...)
}

// sort puts what blocks first, whether it was accepted or not: a number in the
// list stays with its finding.
func (r *Report) sort() {
	order := map[Severity]int{Block: 0, Warn: 1, Info: 2}
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(order[a.Severity]-order[b.Severity], strings.Compare(a.Path, b.Path), a.Line-b.Line, strings.Compare(a.Rule, b.Rule), strings.Compare(a.ID, b.ID))
	})
	if over := len(r.Findings) - maxFindings; over > 0 {
		r.Findings, r.More = r.Findings[:maxFindings], r.More+over
	}
}

// Blocks reports whether the finding alone keeps a change from being applied.
func (f Finding) Blocks() bool { return f.Severity == Block && f.Waived == "" }

// minPrefix is how many digits of an id name a finding: less could be "f1".
const minPrefix = 5

// Find picks findings by what a person types: "f1" for the first of the list, an
// id, or five and more digits of one; none where the word fits none or several.
func Find(all []Finding, word string) (Finding, bool) {
	word = strings.ToLower(word)
	if n, ok := ordinal(word); ok && n <= len(all) {
		return all[n-1], true
	}
	var found Finding
	for _, f := range all {
		if len(word) >= 1+minPrefix && strings.HasPrefix(f.ID, word) {
			if found.ID != "" && found.ID != f.ID {
				return Finding{}, false
			}
			found = f
		}
	}
	return found, found.ID != ""
}

// ordinal reads f1 to f9999.
func ordinal(word string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(word, "f")
	if !ok || digits == "" || len(digits) >= minPrefix || digits[0] == '0' {
		return 0, false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int(d-'0')
	}
	return n, true
}
