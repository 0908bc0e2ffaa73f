package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/git-ftl/git-ftl/patch"
)

// editHead is above the patch to edit. It is long enough that no line of the
// patch can be taken for an editor's own settings, as the tail is.
const editHead = `# What is left of %s. What you leave here is applied:
#
#   to leave out a line that begins with +, delete it;
#   to keep a line that begins with -, make the - a space;
#   the other lines of a hunk have to stay, the counts after @@ need not fit.
#
# Lines that begin with # are dropped. Delete everything to apply nothing.
`

var editTail = strings.Repeat("#\n", 5)

// edited applies what the user makes of the patch of what is left. Their file
// stays where that fails.
func (v *applying) edited(ctx context.Context) error {
	draft, err := v.writeDraft(ctx)
	if err != nil {
		return err
	}
	if err := v.applyDraft(ctx, draft); err != nil {
		e := *explain(err, v.env)
		e.hints = append(e.hints[:len(e.hints):len(e.hints)], "your patch is kept in "+draft)
		return &e
	}
	return os.Remove(draft)
}

// writeDraft writes the patch to edit into a private file.
func (v *applying) writeDraft(ctx context.Context) (string, error) {
	dir := v.s.Repo.Path("edit")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, v.r.ID+"-*.diff")
	if err != nil {
		return "", fmt.Errorf("write the patch to edit: %w", err)
	}
	_, err = fmt.Fprintf(f, editHead, v.r.ID)
	if err == nil {
		err = v.s.Queue.WriteLeft(ctx, v.r, v.o.Paths, f)
	}
	if err == nil {
		_, err = f.WriteString(editTail)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func (v *applying) applyDraft(ctx context.Context, draft string) error {
	if err := v.runEditor(ctx, v.s.Repo, draft); err != nil {
		return err
	}
	text, err := os.ReadFile(draft)
	if err != nil {
		return err
	}
	text = withoutComments(text)
	if len(bytes.TrimSpace(text)) == 0 {
		return v.nothing()
	}
	part, err := v.s.Queue.TakePatch(ctx, v.r, bytes.NewReader(text))
	if errors.Is(err, patch.ErrPatch) {
		return &exitError{code: exitFailed, err: errors.New("the edited patch does not apply; nothing was written"),
			details: strings.Split(strings.TrimPrefix(err.Error(), patch.ErrPatch.Error()+": "), "\n")}
	}
	if err != nil {
		return err
	}
	v.o.Part = &part
	return v.run(ctx)
}

// withoutComments drops lines that begin with #, as no line of a patch does.
func withoutComments(text []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(text) {
		if line[0] != '#' {
			kept = append(kept, line...)
		}
	}
	return kept
}
