package chat

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
)

func TestOpen(t *testing.T) {
	for _, row := range []struct {
		spec  string
		asked string // for which key, at which server
		err   string
	}{
		{spec: "anthropic/claude-sonnet-5", asked: "ANTHROPIC_API_KEY api.anthropic.com"},
		{spec: "openai/gpt-5", asked: "OPENAI_API_KEY api.openai.com"},
		{spec: "openai/meta/llama-3@https://gateway.example:8443/v1", asked: "OPENAI_API_KEY gateway.example:8443"},
		{spec: "openai/@cf/meta/llama@https://gateway.example/v1", asked: "OPENAI_API_KEY gateway.example"},
		{spec: "anthropic/x@https://gateway.example", asked: "ANTHROPIC_API_KEY gateway.example"},
		{spec: "openai/qwen3:8b@http://localhost:11434/v1", asked: "OPENAI_API_KEY localhost:11434"},
		{spec: "openai/qwen3:8b@http://127.0.0.1:11434/v1", asked: "OPENAI_API_KEY 127.0.0.1:11434"},
		{spec: "openai/qwen3:8b@http://[::1]:11434/v1", asked: "OPENAI_API_KEY [::1]:11434"},
		{spec: "openai/qwen3:8b@http://192.168.1.5:11434/v1"},
		{spec: "openai/qwen3:8b@http://localhost.example/v1"},
		{spec: "bedrock/anthropic.claude", err: "bedrock comes later"},
		{spec: "gemini/pro", err: "want anthropic/NAME"},
		{spec: "gpt-5", err: "want anthropic/NAME"},
		{spec: "", err: "want anthropic/NAME"},
		{spec: "openai/", err: "no name"},
		{spec: "openai/a b", err: "no name"},
		{spec: "openai/a\x1b[31m", err: `a\x1b[31m`},
		{spec: "openai/m@http://", err: "want an address"},
		{spec: "openai/m@https://me:secret-word@host/v1", err: "want an address"},
		{spec: "openai/m@https://host/v1?key=secret-word", err: "want an address"},
		{spec: "openai/m@https://host/v1#x", err: "want an address"},
		{spec: "openai/m@https://host\x7f/v1", err: "cannot be read"},
	} {
		t.Run(row.spec, func(t *testing.T) {
			t.Parallel()
			var asked string
			_, err := Open(row.spec, Options{HTTP: http.DefaultClient, Key: func(name string, server *url.URL) (shadow.Secret, bool) {
				asked = name + " " + server.Host
				return shadow.NewSecret(newKey(t)), true
			}})
			if (err == nil) != (row.err == "") || err != nil && (!strings.Contains(err.Error(), row.err) || strings.Contains(err.Error(), "secret-word")) {
				t.Errorf("got %v, want %q", err, row.err)
			}
			if asked != row.asked {
				t.Errorf("asked for %q, want %q", asked, row.asked)
			}
		})
	}
}

func TestOpenWithoutKey(t *testing.T) {
	none := Options{HTTP: http.DefaultClient, Key: func(string, *url.URL) (shadow.Secret, bool) { return shadow.Secret{}, false }}
	for spec, want := range map[string]*Error{
		"anthropic/x": {Kind: NoKey, Model: "anthropic/x", Key: "ANTHROPIC_API_KEY", Why: "there is no ANTHROPIC_API_KEY"},
		"openai/x":    {Kind: NoKey, Model: "openai/x", Key: "OPENAI_API_KEY", Why: "there is no OPENAI_API_KEY"},
	} {
		_, err := Open(spec, none)
		var got *Error
		errors.As(err, &got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
	w := newWorld(t, turn{Pieces: []string{"hi"}})
	w.Canned.Key = "" // as Ollama
	none.HTTP = w.http
	c, err := Open("openai/qwen3:8b@https://ollama.example/v1", none)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Text(t.Context(), Prompt{User: "?"}, nil); err != nil || r.Text != "hi" {
		t.Errorf("got %q, %v", r.Text, err)
	}
}
