package chat

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a body whose reads take their time, one after the other.
type slow struct{ gaps []time.Duration }

func (s *slow) Read(p []byte) (int, error) {
	if len(s.gaps) == 0 {
		return 0, io.EOF
	}
	time.Sleep(s.gaps[0])
	s.gaps = s.gaps[1:]
	return copy(p, "x"), nil
}

func (*slow) Close() error { return nil }

// TestSilence runs on a clock of its own: what counts is the time since the last
// byte of a try, and none between tries or after the end.
func TestSilence(t *testing.T) {
	const s = time.Second
	for _, row := range []struct {
		name  string
		first time.Duration // until the head of the response
		gaps  []time.Duration
		after time.Duration // until the question ends
		want  error
	}{
		{"each in time", 50 * s, []time.Duration{50 * s, 50 * s, 50 * s}, 0, nil},
		{"late head", 61 * s, nil, 0, errSilent},
		{"late byte", s, []time.Duration{s, 61 * s}, 0, errSilent},
		{"long pause before the next try", s, nil, time.Hour, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatch(t.Context(), time.Minute)
				defer w.stop()
				res, err := w.send(nil, func(*http.Request) (*http.Response, error) {
					time.Sleep(row.first)
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &slow{row.gaps}}, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					t.Fatal(err)
				}
				time.Sleep(row.after)
				synctest.Wait()
				if got := context.Cause(w.ctx); !errors.Is(got, row.want) {
					t.Errorf("got %v, want %v", got, row.want)
				}
			})
		})
	}
}
