package chat

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/git-ftl/git-ftl/shadow"
)

// anthropicAPI is platform.claude.com/docs/en/api/messages, streamed.
type anthropicAPI struct {
	messages anthropic.MessageService
	model    string
}

// newAnthropic makes the service itself: the SDK's client reads keys, addresses
// and headers from the environment, and spans go to whoever listens.
func newAnthropic(s spec, key shadow.Secret, client *http.Client) anthropicAPI {
	o := []option.RequestOption{
		option.WithBaseURL(s.base.String()), option.WithHTTPClient(client),
		option.WithMaxRetries(maxRetries), option.WithoutOpenTelemetry(),
	}
	if !key.IsZero() {
		o = append(o, option.WithAPIKey(key.Reveal()))
	}
	return anthropicAPI{messages: anthropic.NewMessageService(o...), model: s.model}
}

// ask implements provider.
func (p anthropicAPI) ask(ctx context.Context, q question, w *watch, emit func(string)) (a answer, err error) {
	params := anthropic.MessageNewParams{
		Model: p.model, MaxTokens: int64(q.MaxTokens),
		System:   []anthropic.TextBlockParam{{Text: q.System}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.User))},
	}
	if q.schema != nil {
		params.OutputConfig.Format.Schema = q.schema
	}
	s := p.messages.NewStreaming(ctx, params, option.WithMiddleware(w.send))
	defer func() { _ = s.Close() }()
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "message_start":
			u := e.Message.Usage
			a.model, a.output = e.Message.Model, u.OutputTokens
			a.input = u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens
		case "content_block_delta":
			if e.Delta.Text != "" {
				emit(e.Delta.Text)
			}
		case "message_delta":
			a.stop, a.output = string(e.Delta.StopReason), e.Usage.OutputTokens
		}
	}
	return a, s.Err()
}
