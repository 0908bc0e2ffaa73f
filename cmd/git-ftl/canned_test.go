package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

// cmdCanned starts a model at its provider's own hosts, behind the user's proxy:
// canned KEY TURN… A turn is a file, which the model says line by line, or
// "limited", "refused", "cut", "wait" or "broken". What it is asked is added to the
// file heard, beside the repository.
func cmdCanned(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: canned KEY TURN…")
	}
	n := newInternet(ts)
	n.serve(canned(ts, args[0], args[1:]), "api.anthropic.com", "api.openai.com")
	connectTo(ts, n, "")
}

// canned is that model, and begins the file heard anew.
func canned(ts *testscript.TestScript, key string, turns []string) http.HandlerFunc {
	model := &modelserver.Canned{Key: key}
	for _, name := range turns {
		model.Turns = append(model.Turns, cannedTurn(ts, name))
	}
	heard := filepath.Join(ts.Getenv("WORK"), "heard")
	ts.Check(os.RemoveAll(heard))
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		mu.Lock()
		if f, err := os.OpenFile(heard, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.Write(append(body, '\n'))
			_ = f.Close()
		}
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		model.ServeHTTP(w, r)
	}
}

func cannedTurn(ts *testscript.TestScript, name string) modelserver.Turn {
	late := http.Header{"Retry-After": {"3600"}} // so that nobody tries again
	switch name {
	case "limited":
		return modelserver.Turn{Status: http.StatusTooManyRequests, Fault: "slow down", Header: late}
	case "broken":
		return modelserver.Turn{Status: http.StatusInternalServerError, Fault: "on fire", Header: late}
	case "refused":
		return modelserver.Turn{Pieces: []string{"I would rather"}, Stop: "refusal"}
	case "cut":
		return modelserver.Turn{Pieces: []string{"half of "}, Stop: "max_tokens"}
	case "wait":
		return modelserver.Turn{Pieces: []string{"well, "}, Wait: true}
	}
	return modelserver.Turn{Pieces: strings.SplitAfter(ts.ReadFile(name), "\n")}
}
