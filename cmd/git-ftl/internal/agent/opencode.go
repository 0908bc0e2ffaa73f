package agent

import "encoding/json"

// openCodeVersion is what npm has as opencode-ai.
const openCodeVersion = "1.18.33"

// openCode is opencode with a key of Anthropic's, opencode.ai/docs/cli/#run-1.
func openCode() builtin {
	return builtin{
		name: "opencode", version: openCodeVersion, resumes: true, costs: true,
		history: []string{".local/share/opencode"},
		make:    openCodeTurn,
		from: []Package{{
			Name: "opencode-linux-x64", Version: openCodeVersion, Arch: "amd64", Take: []string{"bin"}, Into: folder + "opencode",
			SHA512: "q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==",
		}},
	}
}

const openCodeSettings = `{
  "autoupdate": false,
  "share": "disabled",
  "permission": "allow",
  "provider": {"anthropic": {"options": {"baseURL": "https://api.anthropic.com/v1"}}}
}
`

func openCodeTurn(t Turn) Agent {
	argv := []string{folder + "opencode/bin/opencode", "run", "--format", "json"}
	if t.Model != "" {
		argv = append(argv, "-m", t.Model)
	}
	if t.Session != "" {
		argv = append(argv, "-s", t.Session)
	}
	return Agent{
		Argv: argv, Stdin: t.Task, Stream: "opencode",
		Env: []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			// A repository's own settings choose the host of the model otherwise.
			"OPENCODE_DISABLE_PROJECT_CONFIG=1",
		},
		// The second one is a login, which goes before a key and stands among the history.
		Files:   []File{{".config/opencode/opencode.json", openCodeSettings}, {".local/share/opencode/auth.json", "{}\n"}},
		Secrets: []string{"ANTHROPIC_API_KEY"},
		Hosts:   []Host{{Name: "api.anthropic.com", Paths: []string{"/v1/messages"}}},
	}
}

// openCodeStream reads the events of "opencode run --format json", an object a
// line. A tool comes once it has ended, and usage by the step.
type openCodeStream struct {
	begun bool
	usage Usage
}

type openCodeLine struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionID"`
	Part      struct {
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		CallID string `json:"callID"`
		Reason string `json:"reason"`
		State  struct {
			Status   string                     `json:"status"`
			Input    map[string]json.RawMessage `json:"input"`
			Metadata struct {
				Exit int `json:"exit"`
			} `json:"metadata"`
		} `json:"state"`
		Cost   float64 `json:"cost"`
		Tokens struct {
			Input  int64 `json:"input"`
			Output int64 `json:"output"`
			Cache  struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
			Status  int    `json:"statusCode"`
		} `json:"data"`
	} `json:"error"`
}

// Line implements Parser.
func (p *openCodeStream) Line(line []byte) []Event {
	var l openCodeLine
	if json.Unmarshal(line, &l) != nil || l.Type == "" {
		return other(line)
	}
	var events []Event
	if id := session(l.SessionID); !p.begun && id != "" {
		p.begun = true
		events = append(events, Event{Kind: Begin, Session: id})
	}
	switch l.Type {
	case "text":
		events = append(events, said(l.Part.Text)...)
	case "tool_use":
		state := l.Part.State
		failed := state.Status != "completed" || state.Metadata.Exit != 0
		events = append(events, use(l.Part.CallID, l.Part.Tool, state.Input), Event{Kind: Result, ID: clip(l.Part.CallID, maxID), Failed: failed})
	case "step_finish":
		events = append(events, p.step(l))
	case "error":
		text := l.Error.Data.Message
		if text == "" {
			text = l.Error.Name
		}
		events = append(events, Event{Kind: Done, Failed: true, Text: clip(text, maxText), Fault: faultOf(l.Error.Data.Status), Usage: p.usage})
	}
	return events
}

// step adds up what was used. The step that ends for no tool is the last.
func (p *openCodeStream) step(l openCodeLine) Event {
	t := l.Part.Tokens
	p.usage.Input += t.Input + t.Cache.Read + t.Cache.Write
	p.usage.Cached += t.Cache.Read
	p.usage.Output += t.Output
	p.usage.Cost += l.Part.Cost
	if l.Part.Reason == "stop" {
		return Event{Kind: Done, Usage: p.usage}
	}
	return Event{Kind: Cost, Usage: p.usage}
}
