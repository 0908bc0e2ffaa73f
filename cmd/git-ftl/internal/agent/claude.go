package agent

import (
	"encoding/json"
	"strconv"
	"strings"
)

// claudeVersion is what npm has as @anthropic-ai/claude-code.
const claudeVersion = "2.1.332"

// claudeCode is Claude Code in its print mode, docs.claude.com/en/docs/claude-code/headless.
func claudeCode() builtin {
	return builtin{
		name: "claude-code", version: claudeVersion, resumes: true, costs: true,
		history: []string{".claude/projects"},
		make:    claudeTurn,
		from: []Package{
			{
				Name: "@anthropic-ai/claude-code-linux-x64", Version: claudeVersion, Arch: "amd64", Take: []string{"claude"}, Into: folder + "claude-code",
				SHA512: "f4JWhzwYutJIHScC7/dYOPX6s28tt7ZADhsOi8zwOHq5fFPEuUeChh2NMfinSg0GrUckYxaeebC4h0DqiKzLcw==",
			}, {
				Name: "@anthropic-ai/claude-code-linux-arm64", Version: claudeVersion, Arch: "arm64", Take: []string{"claude"}, Into: folder + "claude-code",
				SHA512: "BlHNEtK38KBPWU31F4lUSS9sHclCyfWbThT1CErvxxH8+XcljYLZlQwdyXBkTD62rw1TgfE1u1a+quMWS0NSJg==",
			},
		},
	}
}

func claudeTurn(t Turn) Agent {
	argv := []string{
		folder + "claude-code/claude", "-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions",
		// Without these a repository's own settings choose the host of the model and
		// commands to run.
		"--setting-sources", "user", "--strict-mcp-config",
	}
	if t.Model != "" {
		argv = append(argv, "--model", t.Model)
	}
	if t.MaxCost > 0 {
		argv = append(argv, "--max-budget-usd", strconv.FormatFloat(t.MaxCost, 'f', -1, 64))
	}
	if t.Session != "" {
		argv = append(argv, "--resume", t.Session)
	}
	return Agent{
		Argv: argv, Stdin: t.Task, Stream: "claude-code",
		Env: []string{
			"ANTHROPIC_BASE_URL=https://api.anthropic.com",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			"CLAUDE_CODE_MAX_RETRIES=4",
			// What it would remember lies beside its history, which persists, and would
			// steer tasks that are no follow-up.
			"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
		},
		Secrets: []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"},
		Hosts:   []Host{{Name: "api.anthropic.com", Paths: []string{"/v1/messages"}, Chatter: []string{"/api/claude_code/"}}},
	}
}

// claudeStream reads stream-json, an object a line.
type claudeStream struct{ begun bool }

type claudeLine struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Parent    string `json:"parent_tool_use_id"` // of what a subagent does

	Message struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`

	Attempt int    `json:"attempt"` // of api_retry
	Most    int    `json:"max_retries"`
	Status  int    `json:"error_status"`
	Error   string `json:"error"`

	IsError   bool     `json:"is_error"` // of result
	Result    string   `json:"result"`
	Errors    []string `json:"errors"`
	APIStatus int      `json:"api_error_status"`
	Cost      float64  `json:"total_cost_usd"`
	Usage     struct {
		Input   int64 `json:"input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Created int64 `json:"cache_creation_input_tokens"`
		Output  int64 `json:"output_tokens"`
	} `json:"usage"`
}

// Line implements Parser.
func (p *claudeStream) Line(line []byte) []Event {
	var l claudeLine
	if json.Unmarshal(line, &l) != nil || l.Type == "" {
		return other(line)
	}
	switch l.Type {
	case "system":
		return p.system(l)
	case "assistant":
		if l.Message.Model == "<synthetic>" {
			return nil // an error, which the result says again
		}
		return claudeContent(l)
	case "user":
		return claudeContent(l)
	case "result":
		return []Event{claudeDone(l)}
	}
	return nil
}

func (p *claudeStream) system(l claudeLine) []Event {
	switch id := session(l.SessionID); {
	case l.Subtype == "init" && !p.begun && id != "":
		p.begun = true
		return []Event{{Kind: Begin, Session: id}}
	case l.Subtype == "api_retry":
		text := strings.ReplaceAll(clip(l.Error, maxArg), "_", " ")
		if l.Status != 0 {
			text += " (" + strconv.Itoa(l.Status) + ")"
		}
		text += ", " + strconv.Itoa(l.Attempt) + " of " + strconv.Itoa(l.Most)
		return []Event{{Kind: Retry, Text: text, Fault: faultOf(l.Status)}}
	}
	return nil
}

// claudeContent reads the blocks of a message.
func claudeContent(l claudeLine) []Event {
	var blocks []struct {
		Type    string                     `json:"type"`
		Text    string                     `json:"text"`
		ID      string                     `json:"id"`
		Name    string                     `json:"name"`
		Input   map[string]json.RawMessage `json:"input"`
		UseID   string                     `json:"tool_use_id"`
		IsError bool                       `json:"is_error"`
	}
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return nil
	}
	var events []Event
	for _, b := range blocks {
		switch {
		case b.Type == "text" && l.Type == "assistant" && l.Parent == "":
			events = append(events, said(b.Text)...)
		case b.Type == "tool_use":
			events = append(events, use(b.ID, b.Name, b.Input))
		case b.Type == "tool_result":
			events = append(events, Event{Kind: Result, ID: clip(b.UseID, maxID), Failed: b.IsError})
		}
	}
	return events
}

func claudeDone(l claudeLine) Event {
	u := l.Usage
	e := Event{Kind: Done, Failed: l.IsError || l.Subtype != "success", Usage: Usage{
		Input: u.Input + u.Read + u.Created, Cached: u.Read, Output: u.Output, Cost: l.Cost,
	}}
	if !e.Failed {
		return e
	}
	e.Fault, e.Text = faultOf(l.APIStatus), l.Result
	if l.Subtype == "error_max_budget_usd" {
		e.Fault = FaultBudget
	}
	if e.Text == "" {
		e.Text = strings.Join(l.Errors, "; ")
	}
	if e.Text == "" {
		e.Text = strings.ReplaceAll(l.Subtype, "_", " ")
	}
	e.Text = clip(e.Text, maxText)
	return e
}

// faultOf is what an HTTP status of a provider means.
func faultOf(status int) Fault {
	switch status {
	case 401:
		return FaultAuth
	case 429, 503, 529:
		return FaultBusy
	}
	return FaultOther
}
