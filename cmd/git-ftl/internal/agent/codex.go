package agent

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// codexVersion is what npm has as @openai/codex.
const codexVersion = "0.171.0"

// codex is OpenAI's Codex CLI, developers.openai.com/codex/noninteractive.
func codex() builtin {
	// Beside these a package has what is for voice.
	const amd64, arm64 = "vendor/x86_64-unknown-linux-musl/", "vendor/aarch64-unknown-linux-musl/"
	take := func(tree string) []string {
		return []string{tree + "bin", tree + "codex-path", tree + "codex-resources/bwrap", tree + "codex-package.json"}
	}
	return builtin{
		name: "codex", version: codexVersion, resumes: true,
		history: []string{".codex/sessions"},
		make:    codexTurn,
		from: []Package{
			{
				Name: "@openai/codex", Version: codexVersion + "-linux-x64", Arch: "amd64", Take: take(amd64), Below: amd64, Into: folder + "codex",
				SHA512: "l66NZkQgdk2C3pbcfULDz42yEUB581MVA6I+Y43Wp4OIqEy73HCdmZ0GTjeAHY2ycuH4N00d9VsLrwT1jxshTw==",
			}, {
				Name: "@openai/codex", Version: codexVersion + "-linux-arm64", Arch: "arm64", Take: take(arm64), Below: arm64, Into: folder + "codex",
				SHA512: "9z17t4bbUJ9UCIb49O4PoA+ki+45q3rd8nZ8PeH6sYnlKkBld/Xpo/OS3h3Ti954+foshX4o7k5TCU8N7zzqQA==",
			},
		},
	}
}

func codexTurn(t Turn) Agent {
	argv := []string{
		folder + "codex/bin/codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check",
		// On the command line, since a repository can bring a file of settings. The
		// provider that is built in tries a WebSocket first, for many seconds.
		"-c", `model_provider="ftl"`,
		"-c", `model_providers.ftl={name="OpenAI",base_url="https://api.openai.com/v1",env_key="OPENAI_API_KEY",wire_api="responses",request_max_retries=4,stream_max_retries=4}`,
		"-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false",
	}
	// What asks other hosts for more to run, runs what a repository names, or asks
	// without end.
	for _, feature := range []string{"plugins", "remote_plugin", "apps", "tool_suggest", "skill_mcp_dependency_install", "hooks", "unbounded_connection_retries"} {
		argv = append(argv, "-c", "features."+feature+"=false")
	}
	if t.Model != "" {
		argv = append(argv, "-m", t.Model)
	}
	if t.Session != "" {
		argv = append(argv, "resume", t.Session)
	}
	return Agent{
		Argv: append(argv, "-"), Stdin: t.Task, Stream: "codex",
		Secrets: []string{"OPENAI_API_KEY"},
		Hosts:   []Host{{Name: "api.openai.com", Paths: []string{"/v1/responses"}}},
	}
}

// codexStream reads the events of "codex exec --json", an object a line.
type codexStream struct{ calls map[string]bool }

type codexLine struct {
	Type     string          `json:"type"`
	ThreadID string          `json:"thread_id"`
	Message  string          `json:"message"`
	Item     json.RawMessage `json:"item"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

// Line implements Parser.
func (p *codexStream) Line(line []byte) []Event {
	var l codexLine
	if json.Unmarshal(line, &l) != nil || l.Type == "" {
		return other(line)
	}
	switch l.Type {
	case "thread.started":
		if id := session(l.ThreadID); id != "" {
			return []Event{{Kind: Begin, Session: id}}
		}
	case "item.started", "item.completed":
		return p.item(l.Item, l.Type == "item.completed")
	case "error":
		return []Event{{Kind: Retry, Text: clip(l.Message, maxText), Fault: codexFault(l.Message)}}
	case "turn.completed":
		return []Event{{Kind: Done, Usage: Usage{Input: l.Usage.Input, Cached: l.Usage.Cached, Output: l.Usage.Output}}}
	case "turn.failed":
		return []Event{{Kind: Done, Failed: true, Text: clip(l.Error.Message, maxText), Fault: codexFault(l.Error.Message)}}
	}
	return nil
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Command string `json:"command"`
	Status  string `json:"status"`
	Tool    string `json:"tool"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

// maxCalls bounds how many calls are remembered, of an agent that ends none.
const maxCalls = 1000

// item is a message or a tool call; of some calls the beginning is not told.
func (p *codexStream) item(data json.RawMessage, completed bool) []Event {
	var it codexItem
	if json.Unmarshal(data, &it) != nil {
		return nil
	}
	call := Event{Kind: Call, ID: clip(it.ID, maxID)}
	switch it.Type {
	case "agent_message":
		if completed {
			return said(it.Text)
		}
		return nil
	case "error": // a warning: what ends the turn comes as its failure
		return []Event{{Kind: Other, Text: clip(it.Message, maxText)}}
	case "command_execution":
		call.Tool, call.Arg = "bash", oneLine(unwrap(it.Command))
	case "file_change":
		var paths []string
		for _, c := range it.Changes {
			paths = append(paths, oneLine(c.Path))
		}
		call.Tool, call.Arg = "edit", clip(strings.Join(paths, " "), maxArg)
	case "web_search":
		call.Tool, call.Arg = "fetch", oneLine(it.Query)
	case "mcp_tool_call":
		call.Tool = oneLine(it.Tool)
	default:
		return nil
	}
	return p.call(call, it.Status, completed)
}

func (p *codexStream) call(call Event, status string, completed bool) []Event {
	if p.calls == nil || len(p.calls) > maxCalls {
		p.calls = map[string]bool{}
	}
	var events []Event
	if !p.calls[call.ID] {
		p.calls[call.ID] = true
		events = append(events, call)
	}
	if completed {
		delete(p.calls, call.ID)
		failed := status == "failed" || status == "declined"
		events = append(events, Event{Kind: Result, ID: call.ID, Failed: failed})
	}
	return events
}

// wrapped is a command as Codex has a shell run it.
var wrapped = lazyregexp.New(`^(?:/\S*/)?(?:ba|z)?sh -l?c (.+)$`)

// unwrap is the command without its shell.
func unwrap(command string) string {
	m := wrapped.FindStringSubmatch(strings.ReplaceAll(command, "\n", "\x00"))
	if m == nil {
		return command
	}
	inner := strings.ReplaceAll(m[1], "\x00", "\n")
	if len(inner) > 1 && inner[0] == '\'' && strings.HasSuffix(inner, "'") {
		return strings.ReplaceAll(inner[1:len(inner)-1], `'\''`, "'")
	}
	if text, err := strconv.Unquote(inner); err == nil {
		return text
	}
	return inner
}

// codexStatus is how Codex words the status of an answer; it says it nowhere else.
var codexStatus = lazyregexp.New(`status:? (\d{3})\b`)

func codexFault(message string) Fault {
	m := codexStatus.FindStringSubmatch(message)
	if m == nil {
		return FaultOther
	}
	status, _ := strconv.Atoi(m[1])
	return faultOf(status)
}
