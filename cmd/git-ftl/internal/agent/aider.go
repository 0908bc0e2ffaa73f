package agent

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// aiderVersion is what PyPI has as aider-chat.
const aiderVersion = "0.86.2"

//go:embed aider.py
var aiderLauncher string

// aider is Aider, aider.chat/docs/scripting.html. It has no id of a conversation, and
// would take one up from a file in which a line of the model's can pass for one of the
// user's: a follow-up is told what was before.
func aider() builtin {
	return builtin{
		name: "aider", version: aiderVersion, make: aiderTurn,
		wheel: Wheel{
			Name: "aider-chat", Version: aiderVersion, SHA256: "64f6a0c66c9f4633ad9f479bca3e64ebcba02b9da03c6b604b74a44736b2416e",
			// It says 3.10 too, for which it does not pin all that it needs: aiohttp and
			// anyio take async-timeout and exceptiongroup there.
			Python: ">=3.11, <3.13",
			Into:   folder + "aider", Command: "aider", Flags: "-IS", Launcher: aiderLauncher,
		},
	}
}

func aiderTurn(t Turn) Agent {
	// It takes no task on its standard input, and a file holds one of any length.
	const task = ".aider/task.md"
	argv := []string{
		folder + "aider/aider", "--message-file", home + task, "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-pretty", "--no-stream",
		"--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-show-model-warnings", "--no-gitignore",
		"--no-suggest-shell-commands", "--no-detect-urls",
		"--chat-history-file", home + ".aider/chat.md", "--input-history-file", home + ".aider/input",
		// What it takes by itself with a key of Gemini's is a model that is no more.
		"--alias", "gemini/gemini-2.5-pro-exp-03-25:gemini/gemini-2.5-pro",
	}
	if t.Model != "" {
		argv = append(argv, "--model", t.Model)
	}
	return Agent{
		Argv: argv, Stream: "aider",
		Env: []string{
			"LITELLM_LOCAL_MODEL_COST_MAP=True",
			"COLUMNS=10000", // lines as they are
		},
		Files: []File{
			{task, aiderTask(t.Task)},
			// Fresh and not empty, so that it does not fetch a newer one.
			{".aider/caches/model_prices_and_context_window.json", `{"none": {}}` + "\n"},
		},
		Secrets: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"},
		Hosts: []Host{
			{Name: "api.anthropic.com", Paths: []string{"/v1/messages"}},
			{Name: "api.openai.com", Paths: []string{"/v1/chat/completions", "/v1/responses"}},
			{Name: "generativelanguage.googleapis.com", Paths: []string{"/v1beta/models"}},
		},
	}
}

// aiderTask is a task that is none of aider's own commands, which begin with / or !.
func aiderTask(text string) string {
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") {
		return "\n" + text
	}
	return text
}

// aiderStream reads the lines of "aider --no-pretty --no-stream", which has no events.
// It exits with 0 whatever comes of a message: what it prints last tells. What the
// model says stands before the count of its tokens, so that nothing in it passes for
// an error that ends the run.
type aiderStream struct {
	usage Usage
	error string // the last one, where nothing is known to have followed it
	edits int
}

// Lines of aider 0.86.2: coders/base_coder.py, io.py; the classes of errors are those
// of litellm.
var (
	aiderError  = lazyregexp.New(`^litellm\.([A-Za-z]+): `)
	aiderTokens = lazyregexp.New(`^Tokens: ([0-9.]+k?) sent(?:, [0-9.]+k? cache write)?(?:, ([0-9.]+k?) cache hit)?, ([0-9.]+k?) received\.(.*)$`)
	aiderCost   = lazyregexp.New(`Cost: \$[0-9.]+ message, \$([0-9.]+) session\.$`)
	aiderEnd    = lazyregexp.New(`^(Only [0-9]+ reflections allowed, stopping\.|Model \S+ has hit a token limit!)$`)
	aiderBanner = lazyregexp.New(`^(Analytics have been|Detected dumb terminal|Aider v|Main model: |Model: |Weak model: |Editor model: |Git repo: |Repo-map: |Warning: For large repos|See: https://aider\.chat/|Using \S+ model with API key)`)
)

// Line implements Parser.
func (p *aiderStream) Line(line []byte) []Event {
	text := strings.TrimRight(string(line), "\r\n")
	edit, edited := strings.CutPrefix(text, "Applied edit to ")
	tokens := aiderTokens.FindStringSubmatch(text)
	switch {
	case strings.TrimSpace(text) == "":
		return nil
	case aiderError.MatchString(text):
		p.error = clip(text, maxText)
		return []Event{p.failed(p.error)}
	case strings.HasPrefix(text, "Retrying in ") && p.error != "" && aiderFault(p.error) != FaultAuth: // which it never asks again after
		e := Event{Kind: Retry, Text: p.error, Fault: aiderFault(p.error)}
		p.error = ""
		return []Event{e}
	case tokens != nil:
		return []Event{p.counted(tokens)}
	case strings.HasPrefix(text, "Cost: ") && aiderCost.MatchString(text):
		return []Event{{Kind: Cost, Usage: p.spent(text)}}
	case aiderEnd.MatchString(text):
		return []Event{p.failed(clip(text, maxText))}
	case edited:
		p.edits++
		id := "edit-" + strconv.Itoa(p.edits)
		return []Event{{Kind: Call, ID: id, Tool: "edit", Arg: oneLine(edit)}, {Kind: Result, ID: id}}
	case aiderBanner.MatchString(text):
		return other(line)
	}
	return []Event{{Kind: Text, Text: clip(text, maxText)}} // with its indentation
}

func (p *aiderStream) failed(text string) Event {
	return Event{Kind: Done, Failed: true, Text: text, Fault: aiderFault(text), Usage: p.usage}
}

// counted is the end of an answer: the last one of a run is its end.
func (p *aiderStream) counted(m []string) Event {
	p.error = ""
	p.usage.Input += thousands(m[1])
	p.usage.Cached += thousands(m[2])
	p.usage.Output += thousands(m[3])
	return Event{Kind: Done, Usage: p.spent(m[4])}
}

func (p *aiderStream) spent(text string) Usage {
	if m := aiderCost.FindStringSubmatch(text); m != nil {
		p.usage.Cost, _ = strconv.ParseFloat(m[1], 64)
	}
	return p.usage
}

// thousands is a number of tokens, which aider rounds from a thousand on.
func thousands(text string) int64 {
	bare, k := strings.CutSuffix(text, "k")
	n, err := strconv.ParseFloat(bare, 64)
	if k {
		n *= 1000
	}
	if err != nil || n > 1e12 {
		return 0
	}
	return int64(n)
}

func aiderFault(text string) Fault {
	m := aiderError.FindStringSubmatch(text)
	if m == nil {
		return FaultOther
	}
	switch m[1] {
	case "AuthenticationError":
		return FaultAuth
	case "RateLimitError", "ServiceUnavailableError", "InternalServerError", "BadGatewayError":
		return FaultBusy
	}
	return FaultOther
}
