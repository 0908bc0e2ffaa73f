package modelserver

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Canned is a model that answers each question with the next of its turns,
// whatever the question says; the last one again when there is none. It streams
// Anthropic's Messages and Chat Completions, and implements http.Handler.
type Canned struct {
	Key   string // the one credential that it takes
	Turns []Turn

	mu    sync.Mutex
	asked []Question
}

// Turn is how a question is answered.
type Turn struct {
	Pieces []string    // of the text
	Stop   string      // why the model ends, in the provider's word; "" for the ordinary one
	Status int         // 0: 200
	Header http.Header // of the response
	Fault  string      // what an error says; inside a stream where Status is 0
	Wait   bool        // after the pieces nothing comes, not even an end
	Cut    bool        // after the pieces the connection ends
	Raw    string      // the whole body, instead of all else but status and header
}

// Question is what came.
type Question struct {
	Path         string
	System, User string
	Body         map[string]any
	Raw          string // the request's body
}

// Asked lists the questions so far, refused ones too.
func (c *Canned) Asked() []Question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Question(nil), c.asked...)
}

// ServeHTTP implements http.Handler.
func (c *Canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := protocolOf(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	q := question(r.URL.Path, body)
	c.mu.Lock()
	c.asked = append(c.asked, q)
	t := c.Turns[min(len(c.asked), len(c.Turns))-1]
	c.mu.Unlock()
	if c.Key != "" && credential(r) != c.Key {
		writeJSON(w, http.StatusUnauthorized, p.fault(http.StatusUnauthorized, "this is not the key: "+credential(r)))
		return
	}
	maps.Copy(w.Header(), t.Header)
	switch {
	case t.Raw != "":
		w.WriteHeader(max(t.Status, http.StatusOK))
		_, _ = io.WriteString(w, t.Raw)
	case t.Status != 0:
		writeJSON(w, t.Status, p.fault(t.Status, t.Fault))
	default:
		t.play(w, r, strings.HasSuffix(r.URL.Path, "/chat/completions"), p)
	}
}

// question reads what both protocols have in common.
func question(path string, body []byte) Question {
	q := Question{Path: path, Raw: string(body)}
	var common struct {
		System   content `json:"system"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &q.Body) != nil || json.Unmarshal(body, &common) != nil {
		return q
	}
	q.System = common.System.text()
	for _, m := range common.Messages {
		if m.Role == "user" {
			q.User = m.Content.text()
		} else {
			q.System = m.Content.text()
		}
	}
	return q
}

// play streams a turn.
func (t Turn) play(w http.ResponseWriter, r *http.Request, isChat bool, p protocol) {
	events := t.messages()
	if isChat {
		events = t.chat()
	}
	if t.Wait || t.Cut || t.Fault != "" {
		events = events[:len(events)-1]
	}
	if t.Fault != "" {
		events = append(events, event{"error", p.fault(http.StatusInternalServerError, t.Fault)})
	}
	stream(w, events, false)
	switch {
	case t.Cut:
		panic(http.ErrAbortHandler)
	case t.Wait:
		<-r.Context().Done()
	}
}

// messages are a turn's events in the form of Messages; the last one is its end.
func (t Turn) messages() (all []event) {
	begun := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "canned", "content": []any{}, "usage": object{"input_tokens": 1000, "output_tokens": 1}}
	all = append(all, event{"message_start", object{"type": "message_start", "message": begun}},
		event{"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}}})
	for _, piece := range t.Pieces {
		all = append(all, event{"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": piece}}})
	}
	stop := t.Stop
	if stop == "" {
		stop = "end_turn"
	}
	return append(all, event{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 100}}})
}

// chat are a turn's events in the form of Chat Completions; the last one is its end.
func (t Turn) chat() (all []event) {
	chunk := func(delta object, stop any, usage any) event {
		return event{"", object{
			"id": "chatcmpl_1", "object": "chat.completion.chunk", "model": "canned", "usage": usage,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": stop}},
		}}
	}
	for _, piece := range t.Pieces {
		all = append(all, chunk(object{"content": piece}, nil, nil))
	}
	stop := t.Stop
	if stop == "" {
		stop = "stop"
	}
	return append(all, chunk(object{}, stop, object{"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}))
}
