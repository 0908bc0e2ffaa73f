package agent

import (
	"encoding/json"
	"path"
	"strings"
	"unicode/utf8"
)

// Kind of an Event.
type Kind string

// Kinds.
const (
	Begin  Kind = "begin"  // the conversation has an id
	Text   Kind = "text"   // the agent says something
	Call   Kind = "call"   // it uses a tool
	Result Kind = "result" // the tool gave something back
	Retry  Kind = "retry"  // it asks the model again
	Cost   Kind = "cost"   // what was used so far
	Done   Kind = "done"   // it is done, or has failed
	Other  Kind = "other"  // a line that is none of its events
)

// Fault is why an agent failed, as far as it says so.
type Fault string

// Faults. FaultOther is any that has no name here.
const (
	FaultAuth   Fault = "auth"   // the provider did not take the key
	FaultBusy   Fault = "busy"   // the provider has no room, or bounds the rate
	FaultBudget Fault = "budget" // the cost bound is reached
	FaultOther  Fault = "other"
)

// Event is one thing that an agent did. Texts are as it printed them: hostile,
// with lines, and at most maxText bytes long.
type Event struct {
	Kind    Kind
	Session string `json:",omitempty"` // of Begin
	Text    string `json:",omitempty"` // of Text, Retry and Other; of a Done that failed, why
	ID      string `json:",omitempty"` // of Call and Result, which belong together
	Tool    string `json:",omitempty"` // of Call: bash, edit, read, search, fetch, or its own name in lower case
	Arg     string `json:",omitempty"` // of Call: what it is about, one line
	Failed  bool   `json:",omitempty"` // of Result and Done
	Fault   Fault  `json:",omitempty"` // of Retry, and of a Done that failed
	Usage   Usage  `json:",omitzero"`  // of Cost and Done, so far in this run
}

// Usage is what a model was used for: tokens, and US dollars where the agent
// knows.
type Usage struct {
	Input  int64   `json:"input_tokens"`
	Cached int64   `json:"cached_tokens"` // of the input
	Output int64   `json:"output_tokens"`
	Cost   float64 `json:"cost_usd,omitempty"`
}

// Bounds of what an event keeps, in bytes.
const (
	maxText = 64 << 10
	maxArg  = 200
	maxID   = 100
)

// Parser reads the lines of one run. It is not safe for concurrent use.
type Parser interface {
	// Line takes a line without its end, of any bytes.
	Line(line []byte) []Event
}

// Parser reads what the agent prints; nil for plain lines.
func (a Agent) Parser() Parser {
	switch a.Stream {
	case "claude-code":
		return &claudeStream{}
	case "codex":
		return &codexStream{}
	case "gemini":
		return &geminiStream{}
	case "opencode":
		return &openCodeStream{}
	case "aider":
		return &aiderStream{}
	}
	return nil
}

// other is a line that a parser makes nothing of.
func other(line []byte) []Event {
	if strings.TrimSpace(string(line)) == "" {
		return nil
	}
	return []Event{{Kind: Other, Text: clip(string(line), maxText)}}
}

// clip cuts a text at a number of bytes, between two characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// session is an id that can be a word of a command line, "" for any other.
func session(id string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	if id == "" || len(id) > maxID || id[0] == '-' || strings.ContainsFunc(id, func(r rune) bool { return !plain(r) }) {
		return ""
	}
	return id
}

// said is an event of what an agent says, none where it is nothing.
func said(text string) []Event {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return []Event{{Kind: Text, Text: clip(text, maxText)}}
}

// use is a tool call in common words.
func use(id, tool string, input map[string]json.RawMessage) Event {
	e := Event{Kind: Call, ID: clip(id, maxID), Tool: strings.ToLower(clip(tool, maxArg))}
	for _, row := range []struct {
		tool  string
		names string
		keys  []string
	}{
		{"bash", " bash shell exec_command run_shell_command execute_bash ", []string{"command", "cmd"}},
		{"edit", " write edit multiedit notebookedit write_file replace apply_patch patch fs_write ", []string{"file_path", "filePath", "notebook_path", "path"}},
		{"read", " read read_file read_many_files list list_directory ls fs_read ", []string{"file_path", "filePath", "path", "dir_path"}},
		{"search", " grep glob search_file_content grep_search ", []string{"pattern", "query"}},
		{"fetch", " webfetch web_fetch websearch web_search google_web_search ", []string{"url", "query", "prompt"}},
	} {
		if strings.Contains(row.names, " "+e.Tool+" ") {
			e.Tool, e.Arg = row.tool, oneLine(first(input, row.keys...))
			return e
		}
	}
	e.Arg = oneLine(first(input, "description", "title", "name", "query", "prompt", "path"))
	return e
}

// first is the text of the first key that has one.
func first(input map[string]json.RawMessage, keys ...string) string {
	for _, key := range keys {
		var text string
		if json.Unmarshal(input[key], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// workspace is where a sandbox has the repository.
const workspace = "/workspace/"

// oneLine is a text in one short line; a path of the workspace as the user knows
// it.
func oneLine(text string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.HasPrefix(line, workspace) && !strings.Contains(line, " ") {
		line = path.Clean(strings.TrimPrefix(line, workspace))
	}
	if line = clip(line, maxArg); more && strings.TrimSpace(rest) != "" && !strings.HasSuffix(line, "…") {
		line += " …"
	}
	return line
}
