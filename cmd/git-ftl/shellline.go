package main

import (
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// shellHelp is what "help" shows.
const shellHelp = `A text is a task for the agent; the next one goes on in the same conversation.
Lines that are pasted, or parted by Alt-Enter, are one text. Ctrl-C stops the
agent and keeps what it changed, a second one kills it; Ctrl-D leaves.

  diff  apply (merge)  reject  undo  show  logs  status  list  lint  test
                 as git ftl has them; without an ID they mean the conversation
  ask QUESTION   ask about the change, as ? QUESTION does
  new [TEXT]     a fresh task; without a text git's editor opens
  agent [NAME]   who does the tasks from now on
  /VERB …        any verb of git ftl: /auth, /allow, /config, /continue -e
  help [VERB]    this, or what a verb takes
  exit           leave; results, tasks and conversations stay

A verb is one only where flags, IDs, files or nothing follow it: "diff --stat" is
a verb and "diff the two files" a task. To be sure: new diff …, a space or a
quote before it make a task, and /diff is always the verb.
`

// typed is what a text at the prompt asks for.
type typed struct {
	text     string   // a task, or what was typed
	fresh    bool     // the task begins a conversation
	args     []string // of a verb of git-ftl
	bare     bool     // the verb has no slash, so that it may have been meant as a task
	help     string   // to be shown
	agent    string
	setAgent bool
	leave    bool
}

// bareVerbs are those that need no slash.
func bareVerbs() []string {
	return []string{"diff", "apply", "merge", "reject", "undo", "show", "logs", "status", "list", "lint", "test", "ask"}
}

// parse decides what a text is.
func (sh *shell) parse(text string) typed {
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'") {
		return task(unquote(strings.TrimSpace(text)))
	}
	text = strings.TrimSpace(text)
	if command, ok := strings.CutPrefix(text, "git ftl "); ok { // as the hints have it
		text = "/" + strings.TrimLeft(command, " /")
	}
	first, rest := text, ""
	if i := strings.IndexAny(text, " \t\n"); i >= 0 {
		first, rest = text[:i], strings.TrimSpace(text[i:])
	}
	words, whole := splitWords(text)
	switch {
	case first == "new" && rest == "":
		return typed{args: sh.withAgent("run")}
	case first == "new":
		return typed{text: rest, fresh: true}
	case rest == "" && (first == "exit" || first == "quit"):
		return typed{leave: true}
	case first == "help" && len(words) <= 2:
		return sh.help(rest)
	case first == "agent" && len(words) == 1, first == "agent" && len(words) == 2 && sh.knowsAgent(words[1]):
		return typed{setAgent: true, agent: rest}
	case first == "ask" && rest != "" && !strings.HasPrefix(rest, "-"):
		return sh.verb([]string{first, "--", unquote(rest)}, true)
	case strings.HasPrefix(text, "?") && len(text) > 1:
		return sh.verb([]string{"ask", "--", unquote(strings.TrimSpace(text[1:]))}, false)
	case text == "?":
		return sh.help("")
	case strings.HasPrefix(first, "/") && !strings.Contains(first[1:], "/") && first != "/":
		words[0] = words[0][1:]
		return sh.verb(words, false)
	case whole && slices.Contains(bareVerbs(), first) && sh.meant(words):
		return sh.verb(words, true)
	}
	return task(text)
}

// task is a text for the agent. A lone dash would mean standard input.
func task(text string) typed {
	if text == "-" {
		return typed{help: shellHelp}
	}
	return typed{text: text}
}

// verb is a verb of git-ftl, as far as this version has it.
func (sh *shell) verb(words []string, bare bool) typed {
	name := words[0]
	if find(sh.verbs, name) != nil {
		if name == "run" || name == "code" {
			words = append(sh.withAgent(name), words[1:]...)
		}
		return typed{args: words, bare: bare, text: strings.Join(words, " ")}
	}
	return typed{help: "no verb is called " + clean(name) + "; new /" + clean(name) + " … makes a task of it"}
}

func (sh *shell) withAgent(words ...string) []string {
	if sh.agent != "" {
		words = append(words, "--agent", sh.agent)
	}
	return words
}

func (sh *shell) help(verb string) typed {
	if verb == "" {
		return typed{help: shellHelp}
	}
	return sh.verb([]string{strings.TrimPrefix(verb, "/"), "--help"}, false)
}

// meant reports whether what follows a verb can be its arguments: flags with their
// values, IDs of tasks, files, and whatever stands behind "--".
func (sh *shell) meant(words []string) bool {
	args := words[1:]
	if words[0] == "diff" { // its flags are git's
		options, _ := splitPaths(args)
		return !slices.ContainsFunc(diffWords(options), func(i int) bool { return !sh.argument(options[i], len(args) == 1) })
	}
	at := spot{node: sh.verbs}
	at.step(words[0])
	for _, word := range args {
		if at.flag == nil && !at.raw && !strings.HasPrefix(word, "-") && !sh.argument(word, len(args) == 1) {
			return false
		}
		at.step(word)
	}
	return true
}

// argument reports whether a word names a task or a file. One that stands alone
// may be an ID with a slip in it.
func (sh *shell) argument(word string, alone bool) bool {
	if idShape.MatchString(word) {
		if alone {
			return true
		}
		if _, known := sh.taskOf(sh.s, word); known {
			return true
		}
	}
	_, err := os.Lstat(sh.path(word))
	return err == nil
}

// find gives the verb of a name or an alias.
func find(root *kong.Node, name string) *kong.Node {
	for _, child := range root.Children {
		if child.Name == name || slices.Contains(child.Aliases, name) {
			return child
		}
	}
	return nil
}

// unquote takes off a pair of quotes around the whole.
func unquote(text string) string {
	if n := len(text); n >= 2 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '\'') {
		return text[1 : n-1]
	}
	return text
}

// splitWords parts a line as a shell does, by quotes and backslashes and nothing
// else; whole is false where a quote has no end.
func splitWords(line string) (words []string, whole bool) {
	var word strings.Builder
	var quote rune
	inside, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			inside, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			inside, quote = true, r
		case strings.ContainsRune(" \t\n", r):
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			inside = true
			word.WriteRune(r)
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words, quote == 0 && !escaped
}
