package modelserver

import (
	"encoding/json"
	"fmt"
)

// chat is platform.openai.com/docs/api-reference/chat-streaming.
func chat() protocol {
	return protocol{read: readChat, events: chatEvents, fault: openaiFault}
}

func readChat(body []byte) (t talk, err error) {
	var q struct {
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools  []tool `json:"tools"`
		Stream bool   `json:"stream"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return t, fmt.Errorf("read chat: %w", err)
	}
	for _, m := range q.Messages {
		switch m.Role {
		case "user":
			t.messages = append(t.messages, message{user: m.Content.text()})
		case "tool":
			t.messages = append(t.messages, message{result: true})
		}
	}
	t.tools, t.stream = names(q.Tools), q.Stream
	return t, nil
}

func chatEvents(a answer) (stream []event, whole any) {
	delta, stop := object{"role": "assistant", "content": a.text}, "stop"
	if a.tool != "" {
		args, _ := json.Marshal(a.args)
		call := object{"index": 0, "id": "call_" + a.id, "type": "function", "function": object{"name": a.tool, "arguments": string(args)}}
		delta, stop = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	chunk := func(delta object, stop any) object {
		return object{
			"id": "chatcmpl_" + a.id, "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []any{object{"index": 0, "delta": delta, "message": delta, "finish_reason": stop}},
			"usage":   object{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
		}
	}
	return []event{{"", chunk(delta, nil)}, {"", chunk(object{}, stop)}}, chunk(delta, stop)
}

// gemini is ai.google.dev/api/generate-content.
func gemini() protocol {
	return protocol{read: readGemini, events: geminiEvents, fault: func(status int, text string) any {
		kind := map[int]string{401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
		return object{"error": object{"code": status, "message": text, "status": kind}}
	}}
}

func readGemini(body []byte) (t talk, err error) {
	var q struct {
		Contents []struct {
			Role  string  `json:"role"`
			Parts content `json:"parts"`
		} `json:"contents"`
		Tools []tool `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return t, fmt.Errorf("read contents: %w", err)
	}
	for _, m := range q.Contents {
		if m.Role == "model" {
			continue
		}
		for _, p := range m.Parts {
			t.messages = append(t.messages, message{user: p.Text, result: p.Response != nil})
		}
	}
	t.tools, t.stream = names(q.Tools), true
	return t, nil
}

func geminiEvents(a answer) (stream []event, whole any) {
	part := object{"text": a.text}
	if a.tool != "" {
		part = object{"functionCall": object{"name": a.tool, "args": a.args}}
	}
	chunk := func(parts []any, stop any) object {
		return object{
			"candidates":    []any{object{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": stop}},
			"usageMetadata": object{"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
			"modelVersion":  "scripted",
		}
	}
	return []event{{"", chunk([]any{part}, nil)}, {"", chunk([]any{object{"text": ""}}, "STOP")}}, chunk([]any{part}, "STOP")
}
