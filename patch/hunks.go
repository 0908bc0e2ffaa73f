package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Mode is the change of a file's executable bit alone, as a Piece.
const Mode Kind = "mode"

// Piece is a part of what is left of a result that can be taken by itself: a
// hunk, the executable bit of a file, or all of a file that comes, goes, changes
// its type, or is no text.
type Piece struct {
	Path   string
	Change Kind
	Hunk   bool   // lines of a file whose other lines are pieces of their own
	Header string // git's lines about the file, raw bytes; pieces of a file have the same
	Text   string // the lines of the change as git writes them, raw bytes; "" where Header says it all

	changes []git.Change // of the file; all that have to go together where it is no hunk
	hunk    hunk
}

// hunk is a run of lines. Each has its operation first, and its own end, which a
// last line may lack.
type hunk struct {
	old, new int // lines of both sides before it
	section  string
	lines    []string
}

// maxHunks bounds the files that come in hunks, in bytes, as git takes it.
const maxHunks = "64m"

// Pieces lists what is left of a result, of some paths where there are any, in
// the order of paths and lines. Errors: ErrForeign, ErrDecided, ErrPaths.
func (q *Queue) Pieces(ctx context.Context, r Result, paths []string) ([]Piece, error) {
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	left, tree, err := q.left(objs, r, paths)
	if err != nil {
		return nil, fmt.Errorf("list what is left of %s: %w", r.ID, err)
	}
	var out bytes.Buffer
	if err := q.diff(ctx, r.Have, tree, &out); err != nil {
		return nil, fmt.Errorf("list what is left of %s: %w", r.ID, err)
	}
	sections, err := parseDiff(out.String())
	if err != nil {
		return nil, fmt.Errorf("list what is left of %s: %w", r.ID, err)
	}
	return pieces(left, sections), nil
}

// left lists the changes of a result at some paths that are not applied, and the
// tree that they lead to.
func (q *Queue) left(objs *git.Objects, r Result, paths []string) ([]git.Change, plumbing.Hash, error) {
	if err := (ApplyOptions{}).fits(r); err != nil {
		return nil, r.Tree, err
	}
	all, err := objs.Diff(r.Have, r.Tree)
	if err != nil {
		return nil, r.Tree, err
	}
	picked, err := pick(all, paths)
	if err != nil {
		return nil, r.Tree, err
	}
	tree, err := objs.Rewrite(r.Have, picked)
	return picked, tree, err
}

// diff writes the patch between two trees, with nothing of the user's settings.
func (q *Queue) diff(ctx context.Context, old, new plumbing.Hash, w io.Writer, options ...string) error {
	args := []string{"diff-tree", "-p", "-r", "-U3", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", "--no-relative", "--submodule=short"}
	return q.repo.Do(ctx, git.Call{
		Args:   append(append(args, options...), old.String(), new.String()),
		Config: []string{"diff.suppressBlankEmpty=false", "core.quotePath=false", "core.bigFileThreshold=" + maxHunks},
		Stdout: w,
	})
}

// diffSection is what a diff says of one path.
type diffSection struct {
	header string
	text   string // all that follows the header
	hunks  []hunk
}

var hunkStart = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)\n$`)

// parseDiff reads git's own diff, by path. A change of type comes as two
// sections, which are joined.
func parseDiff(diff string) (map[string]*diffSection, error) {
	sections := map[string]*diffSection{}
	for part := range strings.SplitSeq("\n"+diff, "\n"+sectionStart) {
		if part == "" {
			continue // before the first
		}
		path, sec, err := parseSection(strings.TrimSuffix(part, "\n") + "\n")
		if err != nil {
			return nil, err
		}
		if was := sections[path]; was != nil {
			was.text += sec.header + sec.text
			continue
		}
		sections[path] = sec
	}
	return sections, nil
}

// parseSection reads what follows sectionStart.
func parseSection(text string) (path string, sec *diffSection, err error) {
	line, rest := cutLine(text)
	path, ok := bothNames(strings.TrimSuffix(line, "\n"))
	if !ok {
		return "", nil, fmt.Errorf("read the diff: %s names no path", quoted(line))
	}
	sec = &diffSection{header: sectionStart + line}
	for rest != "" && !strings.HasPrefix(rest, "@@ ") && !strings.HasPrefix(rest, "Binary files ") {
		line, rest = cutLine(rest)
		sec.header += line
	}
	sec.text = rest
	for strings.HasPrefix(rest, "@@ ") {
		var h hunk
		if h, rest, err = readHunk(rest); err != nil {
			return path, nil, err
		}
		sec.hunks = append(sec.hunks, h)
	}
	if rest != "" && len(sec.hunks) > 0 {
		return path, nil, errHunk
	}
	return path, sec, nil
}

func cutLine(s string) (line, rest string) {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1], s[i+1:]
	}
	return s, ""
}

var errHunk = errors.New("read the diff: a hunk is malformed")

// readHunk reads the hunk that a section's body begins with.
func readHunk(body string) (h hunk, rest string, err error) {
	line, rest := cutLine(body)
	m := hunkStart.FindStringSubmatch(line)
	if m == nil {
		return h, rest, errHunk
	}
	oldLines, newLines := 0, 0
	h.old, oldLines = hunkSide(m[1], m[2])
	h.new, newLines = hunkSide(m[3], m[4])
	h.section = m[5]
	for rest != "" && strings.IndexByte(" -+\\", rest[0]) >= 0 {
		line, rest = cutLine(rest)
		last := len(h.lines) - 1
		if line[0] == '\\' && last >= 0 {
			h.lines[last] = strings.TrimSuffix(h.lines[last], "\n")
			continue
		}
		h.lines = append(h.lines, line)
	}
	if old, new := h.sides(); old != oldLines || new != newLines {
		return h, rest, errHunk
	}
	return h, rest, nil
}

// hunkSide returns how many lines are before a side of a hunk, and in it.
func hunkSide(start, count string) (before, n int) {
	before, _ = strconv.Atoi(start)
	n = 1
	if count != "" {
		n, _ = strconv.Atoi(count)
	}
	if n > 0 {
		before--
	}
	return before, n
}

// sides counts the lines of the hunk on both sides.
func (h hunk) sides() (old, new int) {
	for _, line := range h.lines {
		if line[0] != '+' {
			old++
		}
		if line[0] != '-' {
			new++
		}
	}
	return old, new
}

// text writes the hunk as git does.
func (h hunk) text() string {
	var b strings.Builder
	side := func(before, n int) string {
		switch n {
		case 0:
			return fmt.Sprintf("%d,0", before)
		case 1:
			return strconv.Itoa(before + 1)
		}
		return fmt.Sprintf("%d,%d", before+1, n)
	}
	old, new := h.sides()
	fmt.Fprintf(&b, "@@ -%s +%s @@%s\n", side(h.old, old), side(h.new, new), h.section)
	for _, line := range h.lines {
		b.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return b.String()
}

// pieces parts changes. What cannot be had one without the other is one piece: a
// file, and what lies below its name on the other side.
func pieces(changes []git.Change, sections map[string]*diffSection) []Piece {
	var all []Piece
	at := map[string]int{} // piece of a path, where it is all of the file
	for _, c := range changes {
		sec := sections[c.Path]
		if sec == nil {
			sec = &diffSection{header: sectionStart + cQuote("a/"+c.Path) + " " + cQuote("b/"+c.Path) + "\n"}
		}
		if i, ok := above(at, c.Path); ok {
			all[i].changes, all[i].Change = append(all[i].changes, c), Type
			all[i].Text += sec.header + sec.text
			continue
		}
		p := Piece{Path: c.Path, Change: kindOf(c), Header: sec.header, changes: []git.Change{c}}
		if !regular(c.Old.Mode) || !regular(c.New.Mode) {
			at[c.Path], p.Text = len(all), sec.text
			all = append(all, p)
			continue
		}
		all = append(all, p.parts(sec)...)
	}
	return all
}

func regular(m filemode.FileMode) bool { return m == filemode.Regular || m == filemode.Executable }

// above finds the piece of a path that is a leading part of p.
func above(at map[string]int, p string) (int, bool) {
	for end := range prefixes(p) {
		if i, ok := at[p[:end]]; ok && end < len(p) {
			return i, true
		}
	}
	return 0, false
}

// parts parts the change of a file that stays one.
func (p Piece) parts(sec *diffSection) []Piece {
	var all []Piece
	c := p.changes[0]
	if c.Old.Mode != c.New.Mode {
		mode := p
		mode.Change = Mode
		all = append(all, mode)
	}
	switch {
	case c.Old.Hash == c.New.Hash:
	case len(sec.hunks) == 0:
		p.Text = sec.text
		all = append(all, p)
	default:
		for _, h := range sec.hunks {
			all = append(all, p.with(h))
		}
	}
	return all
}

func (p Piece) with(h hunk) Piece {
	p.Hunk, p.hunk, p.Text = true, h, h.text()
	return p
}
