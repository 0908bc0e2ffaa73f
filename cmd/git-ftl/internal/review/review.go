// Package review is the screen on which a person decides on a result: its files
// and hunks with what lint, tests and a reviewer say of them, marks, comments,
// questions.
//
// It holds no result and changes none: it shows what it is given, escaped, and
// returns what was decided, for the caller to do. Only questions and the keeping
// of marks go out while it runs.
package review

import (
	"context"
	"errors"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/git-ftl/git-ftl/patch"
)

// Change is what is under review. Its text may be from anywhere.
type Change struct {
	ID       string
	Task     string // as it was given
	About    string // one line: who did it, how it ended
	Files    []File
	Findings []Finding // in any order; those whose path no file has are shown above all files
	Blocked  bool      // a finding keeps the change from being applied
	Tests    Verdict   // of the change as a whole
	Verdicts []Test    // in the order that they are shown in
	Touched  []string  // what the change does to the project's own tests, said first; one line each
	Keepable int       // files of tests that can come along with an apply
	Summary  string    // what the reviewer says of the whole, "" where none was asked
	Notes    []string  // one line each
}

// File is what is left of one path of the change.
type File struct {
	Path    string
	Change  patch.Kind
	Pieces  []patch.Piece // in the order of lines
	Tests   Verdict       // of the tests in the file
	Touched bool          // it is one of the project's own tests, or says how they run
	Summary string        // what the reviewer says of the file
}

// Finding is what lint or a reviewer says about a line.
type Finding struct {
	Rule     string
	Severity string // block, warn or info
	Path     string
	Line     int // of the file as the change leaves it, from 1; 0 for the whole file
	Message  string
}

// Verdict is what came of tests.
type Verdict struct {
	Status string // passed, failed, invalid, skipped; "" where there are none
	Detail string
}

// Test is the verdict of one test.
type Test struct {
	Path   string
	Name   string
	Status string // passed, failed, invalid or skipped
	Own    bool   // it is the project's own
	Proves bool   // it failed before the change, and passes now
	Detail string
	Output string // of a test that fails
}

// Review is one look at a change.
type Review struct {
	Change    Change
	Decisions Decisions

	// Keep is given the decisions after they changed, in one call at a time; the
	// last of them always.
	Keep func(Decisions)
	// Ask answers a question about the change, in parts, by calling say. Nil where
	// there is nobody to ask.
	Ask func(ctx context.Context, question string, say func(string)) error
	// Note is said once, at the start.
	Note string
}

// Action is what a person decided.
type Action int

// The ends of a review.
const (
	Leave  Action = iota // nothing yet
	Apply                // Pieces, or all where there are none
	Reject               // the result
	Send                 // Text to the agent, as its next instruction
)

// Outcome is the end of a review.
type Outcome struct {
	Action Action
	Pieces []patch.Piece
	Tests  bool // of Apply: the tests come along
	Text   string
	Left   Decisions // on what is not in Pieces, to be kept once those are applied
}

// Terminal is where the screen is shown.
type Terminal struct {
	In     io.Reader
	Out    io.Writer
	Env    []string
	Colour bool
}

// Run shows the screen until the person leaves it or decides. Errors: that of
// ctx where it ended the screen.
func (r Review) Run(ctx context.Context, t Terminal) (Outcome, error) {
	m := newModel(r)
	var cancel context.CancelFunc
	m.ctx, cancel = context.WithCancel(ctx)
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithoutSignalHandler(),
	}
	if !t.Colour {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(m, options...)
	m.send = p.Send
	m.background(func() {
		for d := range m.keeps {
			r.Keep(d)
		}
	})
	_, err := p.Run()
	cancel()
	close(m.keeps)
	m.running.Wait()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return m.outcome, err
}

// firstLine is the first line of a text that has something to say.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
