package modelserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// object is a JSON object to be written.
type object = map[string]any

// part is a piece of a message in any of the protocols.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Response any    `json:"functionResponse"`
}

// content is a text, or a list of parts.
type content []part

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(c))
}

func (c content) text() string {
	var all []string
	for _, p := range c {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

// tool is an entry of a request's tools: its name, or that of its function.
type tool struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
	Functions []tool `json:"functionDeclarations"`
	Tools     []tool `json:"tools"` // of a namespace
}

func names(tools []tool) (all []string) {
	for _, t := range tools {
		all = append(all, t.Name, t.Function.Name)
		all = append(all, names(t.Functions)...)
		all = append(all, names(t.Tools)...)
	}
	return all
}

// anthropic is docs.anthropic.com/en/api/messages and messages-streaming.
func anthropic() protocol {
	return protocol{read: readMessages, events: messageEvents, fault: func(status int, text string) any {
		kind := map[int]string{401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}[status]
		return object{"type": "error", "error": object{"type": kind, "message": text}}
	}}
}

func readMessages(body []byte) (t talk, err error) {
	var q struct {
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools  []tool `json:"tools"`
		Stream bool   `json:"stream"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return t, fmt.Errorf("read messages: %w", err)
	}
	for _, m := range q.Messages {
		if m.Role != "user" {
			continue
		}
		for _, p := range m.Content {
			t.messages = append(t.messages, message{user: p.Text, result: p.Type == "tool_result"})
		}
	}
	t.tools, t.stream = names(q.Tools), q.Stream
	return t, nil
}

func messageEvents(a answer) (stream []event, whole any) {
	block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text}, "end_turn"
	said := object{"type": "text", "text": a.text}
	if a.tool != "" {
		args, _ := json.Marshal(a.args)
		block = object{"type": "tool_use", "id": "toolu_" + a.id, "name": a.tool, "input": object{}}
		delta, stop = object{"type": "input_json_delta", "partial_json": string(args)}, "tool_use"
		said = object{"type": "tool_use", "id": "toolu_" + a.id, "name": a.tool, "input": a.args}
	}
	usage := object{"input_tokens": 100, "output_tokens": 20}
	message := object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": usage,
	}
	full := maps.Clone(message)
	full["content"], full["stop_reason"] = []any{said}, stop
	return []event{
		{"message_start", object{"type": "message_start", "message": message}},
		{"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block}},
		{"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta}},
		{"content_block_stop", object{"type": "content_block_stop", "index": 0}},
		{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage}},
		{"message_stop", object{"type": "message_stop"}},
	}, full
}

// openaiFault is platform.openai.com/docs/guides/error-codes.
func openaiFault(status int, text string) any {
	kind := map[int]string{401: "invalid_api_key", 429: "rate_limit_exceeded"}[status]
	return object{"error": object{"message": text, "type": "invalid_request_error", "code": kind}}
}

// responses is platform.openai.com/docs/api-reference/responses-streaming.
func responses() protocol {
	return protocol{read: readResponses, events: responseEvents, fault: openaiFault}
}

func readResponses(body []byte) (t talk, err error) {
	var q struct {
		Input []struct {
			Type    string  `json:"type"`
			Role    string  `json:"role"`
			Content content `json:"content"`
			Tools   []tool  `json:"tools"` // of additional_tools
		} `json:"input"`
		Tools  []tool `json:"tools"`
		Stream bool   `json:"stream"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return t, fmt.Errorf("read responses: %w", err)
	}
	for _, m := range q.Input {
		switch {
		case m.Role == "user":
			t.messages = append(t.messages, message{user: m.Content.text()})
		case strings.HasSuffix(m.Type, "_call_output"):
			t.messages = append(t.messages, message{result: true})
		}
		t.tools = append(t.tools, names(m.Tools)...)
	}
	t.tools, t.stream = append(t.tools, names(q.Tools)...), q.Stream
	return t, nil
}

func responseEvents(a answer) (stream []event, whole any) {
	item := object{
		"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": a.text, "annotations": []any{}}},
	}
	switch {
	case a.code != "":
		item = object{"type": "custom_tool_call", "id": "ctc_" + a.id, "call_id": "call_" + a.id, "namespace": "functions", "name": a.tool, "input": a.code, "status": "completed"}
	case a.tool != "":
		args, _ := json.Marshal(a.args)
		item = object{"type": "function_call", "id": "fc_" + a.id, "call_id": "call_" + a.id, "name": a.tool, "arguments": string(args), "status": "completed"}
	}
	usage := object{
		"input_tokens": 100, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 20,
		"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 120,
	}
	begun := object{"id": "resp_" + a.id, "object": "response", "status": "in_progress", "output": []any{}}
	full := object{"id": "resp_" + a.id, "object": "response", "status": "completed", "output": []any{item}, "usage": usage}
	return []event{
		{"response.created", object{"type": "response.created", "response": begun}},
		{"response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item}},
		{"response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item}},
		{"response.completed", object{"type": "response.completed", "response": full}},
	}, full
}
