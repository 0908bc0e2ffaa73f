package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/patch"
)

// asked applies the pieces that the user chooses.
func (v *applying) asked(ctx context.Context) error {
	pieces, err := v.s.Queue.Pieces(ctx, v.r, v.o.Paths)
	if err != nil {
		return err
	}
	out := v.stdout
	if v.c.JSON {
		out = v.stderr
	}
	q := &asker{in: bufio.NewReader(v.stdin), echo: !isTerminal(v.stdin), out: out, ui: &ui{colour: v.colours(out)}}
	if err := q.run(ctx, pieces); err != nil {
		return err
	}
	part, err := v.s.Queue.Take(ctx, v.r, q.chosen)
	if err != nil {
		return err
	}
	v.o.Part = &part
	return v.run(ctx)
}

// asker asks for pieces one by one, as git add -p does.
type asker struct {
	in     *bufio.Reader
	echo   bool // answers do not show by themselves
	out    io.Writer
	ui     *ui // of out
	chosen []patch.Piece
}

// errQuit ends the questions; what was chosen before is taken.
var errQuit = errors.New("no more questions")

func (q *asker) run(ctx context.Context, pieces []patch.Piece) error {
	for len(pieces) > 0 {
		n := slices.IndexFunc(pieces, func(p patch.Piece) bool { return p.Path != pieces[0].Path })
		if n < 0 {
			n = len(pieces)
		}
		err := q.file(ctx, pieces[:n:n])
		if errors.Is(err, errQuit) {
			return nil
		}
		if err != nil {
			return err
		}
		pieces = pieces[n:]
	}
	return nil
}

// file asks for the pieces of one file.
func (q *asker) file(ctx context.Context, pieces []patch.Piece) error {
	q.show(pieces[0].Header, true)
	for i, shown := 0, -1; i < len(pieces); {
		p := pieces[i]
		if shown != i {
			q.show(p.Text, false)
			shown = i
		}
		parts := p.Split()
		answer, err := q.answer(ctx, fmt.Sprintf("(%d/%d) %s", i+1, len(pieces), question(p)), len(parts) > 0)
		if err != nil {
			return err
		}
		switch answer {
		case "y":
			q.chosen = append(q.chosen, p)
			i++
		case "n":
			i++
		case "a":
			q.chosen = append(q.chosen, pieces[i:]...)
			return nil
		case "d":
			return nil
		case "s":
			fmt.Fprintf(q.out, "Split into %d hunks.\n", len(parts))
			pieces = slices.Concat(pieces[:i], parts, pieces[i+1:])
			shown = -1
		}
	}
	return nil
}

// question words what is asked of a piece.
func question(p patch.Piece) string {
	switch {
	case p.Hunk:
		return "Apply this hunk"
	case p.Change == patch.Added:
		return "Apply addition"
	case p.Change == patch.Deleted:
		return "Apply deletion"
	case p.Change == patch.Mode:
		return "Apply mode change"
	case p.Change == patch.Type:
		return "Apply type change"
	}
	return "Apply change"
}

const askHelp = `y - apply this hunk
n - do not apply this hunk
q - quit; do not apply this hunk or any of the remaining ones
a - apply this hunk and all later hunks in the file
d - do not apply this hunk or any of the later hunks in the file
`

// answer asks until the answer is one of the keys. Errors: errQuit, also at the
// end of the input.
func (q *asker) answer(ctx context.Context, text string, splits bool) (string, error) {
	keys, help := []string{"y", "n", "q", "a", "d"}, askHelp
	if splits {
		keys, help = append(keys, "s"), help+"s - split this hunk into smaller ones\n"
	}
	keys, help = append(keys, "?"), help+"? - print help\n"
	for {
		fmt.Fprint(q.out, q.ui.paint(bold, fmt.Sprintf("%s [%s]?", text, strings.Join(keys, ","))), " ")
		line, err := q.line(ctx)
		if err != nil {
			return "", err
		}
		if q.echo {
			fmt.Fprintln(q.out, clean(strings.TrimRight(line, "\r\n")))
		}
		key := strings.ToLower(strings.TrimSpace(line))
		switch {
		case key == "q":
			return "", errQuit
		case key != "?" && slices.Contains(keys, key):
			return key, nil
		}
		fmt.Fprint(q.out, help)
	}
}

// line reads an answer. A signal ends the wait, but nothing ends the read: it is
// left to the end of the process.
func (q *asker) line(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := q.in.ReadString('\n')
		got <- read{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(q.out)
		return "", ctx.Err()
	case r := <-got:
		if r.line == "" && errors.Is(r.err, io.EOF) {
			fmt.Fprintln(q.out)
			return "", errQuit
		}
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return "", fmt.Errorf("read an answer: %w", r.err)
		}
		return r.line, nil
	}
}

// show prints lines of a patch, which are hostile.
func (q *asker) show(text string, header bool) {
	for line := range strings.Lines(text) {
		line = clean(strings.TrimSuffix(line, "\n"))
		switch {
		case header:
			line = q.ui.paint(bold, line)
		case strings.HasPrefix(line, "@@"):
			line = q.ui.paint("36", line)
		case strings.HasPrefix(line, "+"):
			line = q.ui.paint("32", line)
		case strings.HasPrefix(line, "-"):
			line = q.ui.paint(red, line)
		}
		fmt.Fprintln(q.out, line)
	}
}
