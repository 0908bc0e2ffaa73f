package llm

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

var update = flag.Bool("update", false, "write the golden files")

type turn = modelserver.Turn

// newModel is a model on a server over TLS that plays turns, with a fence of zeros.
func newModel(t *testing.T, turns ...turn) (Model, *modelserver.Canned) {
	t.Helper()
	canned := &modelserver.Canned{Turns: turns}
	srv := httptest.NewTLSServer(canned)
	t.Cleanup(srv.Close)
	c, err := chat.Open("openai/m@"+srv.URL+"/v1", chat.Options{
		HTTP: srv.Client(), Timeout: time.Minute, Key: func(string, *url.URL) (shadow.Secret, bool) { return shadow.Secret{}, false },
	})
	if err != nil {
		t.Fatal(err)
	}
	return Model{Client: c, Random: zeros{}}, canned
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// says is a turn that answers with a value as JSON.
func says(t *testing.T, v any) turn {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return turn{Pieces: []string{string(text)}}
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", name, diff)
	}
}

// limited is a server's refusal that no one tries again.
func limited() turn {
	return turn{Status: 429, Fault: "slow down", Header: http.Header{"Retry-After": {"3600"}}}
}
