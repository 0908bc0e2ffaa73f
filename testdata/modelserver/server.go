// Package modelserver is a model that does what its prompt says, for tests of
// real agents: a prompt with the line
//
//	do: write a.txt some words ; run cat a.txt ; say done
//
// has the agent call its tools so, one step after each tool result. It speaks
// Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini, each
// over server-sent events, and demands the key that it was made with. It takes
// the names of tools from the request, and is a real server in all else.
//
// The verbs are write FILE TEXT, run COMMAND, say TEXT, recall (which says what
// history the request brought), fail STATUS [TIMES], cut (which ends the
// connection inside an answer), and wait (which answers nothing).
package modelserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Hosts are the names under which the providers are reached.
func Hosts() []string {
	return []string{"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com"}
}

// Server implements http.Handler. It is safe for concurrent use.
type Server struct {
	Key string // the one credential that it takes

	mu     sync.Mutex
	failed map[string]int // by step: how often it failed
	calls  int            // names calls, answers and their like, each of which is a new one to an agent
}

// protocol is how a provider's requests are read and its answers written.
type protocol struct {
	read   func(body []byte) (talk, error)
	events func(a answer) (stream []event, whole any)
	fault  func(status int, text string) any
}

// event is one server-sent event.
type event struct {
	name string // "" for none
	data any
}

// maxBody bounds a request, in bytes.
const maxBody = 64 << 20

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := protocolOf(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if credential(r) != s.Key {
		refuse(w, p, http.StatusUnauthorized, "this is not the key")
		return
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": 10})
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	t, err := p.read(body)
	if err == nil {
		err = s.answer(w, r, p, t)
	}
	if err != nil {
		refuse(w, p, http.StatusBadRequest, err.Error())
	}
}

func protocolOf(r *http.Request) (protocol, bool) {
	path := r.URL.Path
	switch {
	case r.Method != http.MethodPost:
		return protocol{}, false
	case strings.HasPrefix(path, "/v1/messages"):
		return anthropic(), true
	case path == "/v1/responses":
		return responses(), true
	case path == "/v1/chat/completions":
		return chat(), true
	case strings.HasPrefix(path, "/v1beta/models/"):
		return gemini(), true
	}
	return protocol{}, false
}

// credential is the key of a request, wherever it stands.
func credential(r *http.Request) string {
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key"} {
		if v := r.Header.Get(name); v != "" {
			return v
		}
	}
	if v, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return v
	}
	return r.URL.Query().Get("key")
}

// answer plays the step that the conversation is at.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, p protocol, t talk) error {
	a, err := t.reply()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.calls++
	a.id = strconv.Itoa(s.calls)
	s.mu.Unlock()
	switch a.step.verb {
	case "fail":
		if status, again := s.fails(a.step); again {
			refuse(w, p, status, "the script says so")
			return nil
		}
		a = answer{id: a.id, text: "done after a failure"}
	case "wait":
		<-r.Context().Done()
		return nil
	}
	events, whole := p.events(a)
	if !t.stream && a.step.verb != "cut" {
		writeJSON(w, http.StatusOK, whole)
		return nil
	}
	stream(w, events, a.step.verb == "cut")
	return nil
}

// fails reports whether a step fails once more.
func (s *Server) fails(f step) (status int, again bool) {
	code, times, bounded := strings.Cut(f.args, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return http.StatusBadRequest, true
	}
	n, err := strconv.Atoi(times)
	if !bounded || err != nil {
		return status, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = map[string]int{}
	}
	s.failed[f.args]++
	return status, s.failed[f.args] <= n
}

// stream writes events; half of them where it is cut.
func stream(w http.ResponseWriter, events []event, cut bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	if cut {
		events = events[:len(events)/2]
	}
	for _, e := range events {
		data, err := json.Marshal(e.data)
		if err != nil {
			return
		}
		if e.name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
}

func refuse(w http.ResponseWriter, p protocol, status int, text string) {
	writeJSON(w, status, p.fault(status, text))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
