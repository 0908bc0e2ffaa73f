package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/webhooks"

	"github.com/git-ftl/git-ftl/shadow"
)

// openaiAPI speaks Chat Completions, since gateways and local servers know that
// and seldom Responses. The SDK has a type for it in a package with all else that
// OpenAI offers, which adds 19 MB to the program, and the package of Responses adds
// 5. So the smallest of its services, that of webhooks, sends our body to the other
// path, and the events are read into our types. Key, retries, errors and the
// reading of events are the SDK's.
type openaiAPI struct {
	service webhooks.WebhookService
	model   string
	own     bool
}

// newOpenAI makes the service itself: the SDK's client reads keys, addresses and
// headers from the environment.
func newOpenAI(s spec, key shadow.Secret, client *http.Client) openaiAPI {
	o := []option.RequestOption{
		option.WithBaseURL(s.base.String()), option.WithHTTPClient(client),
		option.WithMaxRetries(maxRetries), option.WithMiddleware(toChat),
	}
	if !key.IsZero() {
		o = append(o, option.WithAPIKey(key.Reveal()))
	}
	return openaiAPI{service: webhooks.NewWebhookService(o...), model: s.model, own: s.own}
}

func toChat(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	r.URL.Path = strings.TrimSuffix(r.URL.Path, "webhook_endpoints") + "chat/completions"
	return next(r)
}

// chatRequest is developers.openai.com/api/reference/resources/chat.
type chatRequest struct {
	Model         string          `json:"model"`
	Messages      []chatMessage   `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions map[string]bool `json:"stream_options"`
	// Thinking models of OpenAI refuse the old name, others know it alone.
	MaxTokens           int         `json:"max_tokens,omitempty"`
	MaxCompletionTokens int         `json:"max_completion_tokens,omitempty"`
	ResponseFormat      *chatFormat `json:"response_format,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatFormat struct {
	Type       string     `json:"type"`
	JSONSchema chatSchema `json:"json_schema"`
}

type chatSchema struct {
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema map[string]any `json:"schema"`
}

// chatChunk is a piece of the answer, of the same source.
type chatChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// ask implements provider.
func (p openaiAPI) ask(ctx context.Context, q question, w *watch, emit func(string)) (a answer, err error) {
	body, err := json.Marshal(p.request(q))
	if err != nil {
		return a, fmt.Errorf("encode question: %w", err)
	}
	var response *http.Response
	_, err = p.service.New(ctx, webhooks.WebhookNewParams{}, option.WithRequestBody("application/json", body),
		option.WithResponseBodyInto(&response), option.WithMiddleware(w.send))
	s := ssestream.NewStream[chatChunk](ssestream.NewDecoder(response), err)
	defer func() { _ = s.Close() }()
	for s.Next() {
		a.hear(s.Current(), emit)
	}
	return a, s.Err()
}

func (a *answer) hear(c chatChunk, emit func(string)) {
	if c.Model != "" {
		a.model = c.Model
	}
	if c.Usage != nil {
		a.input, a.output = c.Usage.PromptTokens, c.Usage.CompletionTokens
	}
	for _, choice := range c.Choices {
		if choice.Delta.Content != "" {
			emit(choice.Delta.Content)
		}
		if choice.FinishReason != "" {
			a.stop = choice.FinishReason
		}
		a.refused = a.refused || choice.Delta.Refusal != ""
	}
}

func (p openaiAPI) request(q question) chatRequest {
	r := chatRequest{
		Model:         p.model,
		Messages:      []chatMessage{{"system", q.System}, {"user", q.User}},
		Stream:        true,
		StreamOptions: map[string]bool{"include_usage": true},
	}
	if p.own {
		r.MaxCompletionTokens = q.MaxTokens
	} else {
		r.MaxTokens = q.MaxTokens
	}
	if q.schema != nil {
		r.ResponseFormat = &chatFormat{Type: "json_schema", JSONSchema: chatSchema{Name: "answer", Strict: true, Schema: q.schema}}
	}
	return r
}
