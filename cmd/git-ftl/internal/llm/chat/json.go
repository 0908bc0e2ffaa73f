package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// Checker is a value that knows more of itself than a schema can say.
type Checker interface{ Check() error }

// JSON asks for an object of a schema and decodes it into a pointer. The provider
// is told the schema in its own way, and what comes is checked here, by the
// value's own Check too. What is malformed or cut off is asked for once more; so
// is, in words alone, what a server rejects, since not all know schemas.
func (c *Client) JSON(ctx context.Context, p Prompt, s *Schema, into any) (Reply, error) {
	ctx, cancel := c.Within(ctx)
	defer cancel()
	shape, err := json.MarshalIndent(s.params(), "", " ")
	if err != nil {
		return Reply{}, fmt.Errorf("encode schema: %w", err)
	}
	q := question{Prompt: p, schema: s.params()}
	q.System += "\n\nAnswer with one JSON object of this schema, and nothing else:\n" + string(shape) + "\n"
	first, err := c.object(ctx, q, s, into)
	var e *Error
	if !errors.As(err, &e) {
		return first, err
	}
	switch e.Kind {
	case Rejected:
		q.schema = nil
	case Malformed, Truncated:
		q.User += "\n\nAn earlier answer was not taken: " + e.Why + ". Answer again, shorter if it was cut off.\n"
	default:
		return first, err
	}
	second, err := c.object(ctx, q, s, into)
	if e.Kind != Rejected { // which costs nothing
		second.Usage = second.Usage.Add(first.Usage)
	}
	return second, err
}

// object asks once.
func (c *Client) object(ctx context.Context, q question, s *Schema, into any) (Reply, error) {
	r, err := c.ask(ctx, q, nil)
	if err != nil {
		return r, err
	}
	err = s.decode(r.Text, into)
	if v, ok := into.(Checker); ok && err == nil {
		err = v.Check()
	}
	if err != nil {
		return r, c.err(Malformed, escape.Text(clip(c.scrub(err.Error()), 300)))
	}
	return r, nil
}
