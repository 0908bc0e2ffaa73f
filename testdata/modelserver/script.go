package modelserver

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// step is one answer: words, a tool to call, or a fault.
type step struct {
	verb string // say, recall, run, write, fail, cut or wait
	args string
}

// scripted finds the newest line of a text that is a script.
var scripted = regexp.MustCompile(`(?m)^do: (.+)$`)

// steps reads the last script of a text; none where it has none.
func steps(text string) []step {
	all := scripted.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil
	}
	var out []step
	for part := range strings.SplitSeq(all[len(all)-1][1], " ; ") {
		verb, args, _ := strings.Cut(strings.TrimSpace(part), " ")
		out = append(out, step{verb, args})
	}
	return out
}

// message is one part of a conversation, whatever the protocol.
type message struct {
	user   string // what a person said
	result bool   // what a tool gave back
}

// talk is a request, whatever the protocol.
type talk struct {
	messages []message
	tools    []string // names
	stream   bool
}

// answer is what a model says to a request.
type answer struct {
	id   string // unlike any before
	text string
	tool string
	args map[string]any
	code string // of a tool that takes JavaScript
	step step
}

// reply is what the script has for a conversation: the newest script counts, and
// the tool results since say how far it has come.
func (t talk) reply() (answer, error) {
	var script []step
	var earlier []string
	done := 0
	for _, m := range t.messages {
		if m.result {
			done++
			continue
		}
		if s := steps(m.user); s != nil {
			if script != nil {
				earlier = append(earlier, words(script))
			}
			script, done = s, 0
		}
	}
	if script == nil {
		return answer{text: "A scripted title"}, nil
	}
	if done >= len(script) {
		return answer{text: "done"}, nil
	}
	s := script[done]
	switch s.verb {
	case "say":
		return answer{text: s.args}, nil
	case "recall":
		return answer{text: fmt.Sprintf("earlier tasks: %d %s; tools used since: %d", len(earlier), strings.Join(earlier, " | "), done)}, nil
	case "run":
		return t.shell(s.args)
	case "write":
		return t.write(s.args)
	case "fail", "cut", "wait":
		return answer{step: s, text: "this is the beginning of an answer that never ends"}, nil
	}
	return answer{}, fmt.Errorf("the script has no verb %q", s.verb)
}

// words are what a script says, which names it.
func words(script []step) string {
	var all []string
	for _, s := range script {
		all = append(all, s.verb)
	}
	return strings.Join(all, ",")
}

// offered is the first of the names that the request has a tool of.
func (t talk) offered(names ...string) string {
	for _, name := range names {
		for _, tool := range t.tools {
			if tool == name {
				return tool
			}
		}
	}
	return ""
}

// shell is a call of the tool that runs a command.
func (t talk) shell(command string) (answer, error) {
	switch tool := t.offered("Bash", "bash", "exec_command", "shell_command", "run_shell_command", "shell", "exec"); tool {
	case "exec":
		return answer{tool: tool, code: "text(await tools.exec_command(" + `{"cmd": ` + strconv.Quote(command) + "}" + "))"}, nil
	case "":
		return answer{}, fmt.Errorf("no tool that runs a command is among %q", t.tools)
	case "exec_command":
		return answer{tool: tool, args: map[string]any{"cmd": command}}, nil
	case "shell":
		return answer{tool: tool, args: map[string]any{"command": []string{"sh", "-c", command}}}, nil
	default:
		return answer{tool: tool, args: map[string]any{"command": command, "description": "as the script says"}}, nil
	}
}

// write is a call of the tool that makes a file, or of a shell that does.
func (t talk) write(args string) (answer, error) {
	name, text, _ := strings.Cut(args, " ")
	switch tool := t.offered("Write", "write", "write_file", "exec"); tool {
	case "exec":
		patch := "*** Begin Patch\n*** Add File: " + name + "\n+" + text + "\n*** End Patch\n"
		return answer{tool: tool, code: "text(await tools.apply_patch(" + strconv.Quote(patch) + "))"}, nil
	case "":
		return t.shell("printf '%s\\n' " + strconv.Quote(text) + " > " + name)
	case "write":
		return answer{tool: tool, args: map[string]any{"filePath": "/workspace/" + name, "content": text + "\n"}}, nil
	default:
		return answer{tool: tool, args: map[string]any{"file_path": "/workspace/" + name, "content": text + "\n"}}, nil
	}
}
