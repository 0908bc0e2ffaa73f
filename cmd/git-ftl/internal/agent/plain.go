package agent

// aider is Aider, aider.chat/docs/scripting.html. It has no stream of events and
// comes with the user's own image.
func aider() builtin {
	return builtin{name: "aider", make: aiderTurn, install: "pip install aider-chat"}
}

func aiderTurn(t Turn) Agent {
	// It takes no task on its standard input, and a file holds one of any length.
	const task = ".aider/task.md"
	argv := []string{
		"aider", "--message-file", home + task, "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-pretty", "--no-stream",
		"--no-check-update", "--analytics-disable", "--no-show-model-warnings", "--no-gitignore", "--no-suggest-shell-commands", "--no-detect-urls",
		// A repository's own files of settings and environment choose the host of the
		// model otherwise.
		"--config", home + ".aider/settings.yml", "--env-file", home + ".aider/env",
		"--chat-history-file", home + ".aider/chat.md", "--input-history-file", home + ".aider/input",
	}
	if t.Model != "" {
		argv = append(argv, "--model", t.Model)
	}
	return Agent{
		Argv:    argv,
		Files:   []File{{task, t.Task}, {".aider/settings.yml", "{}\n"}, {".aider/env", ""}},
		Secrets: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"},
		Hosts: []Host{
			{Name: "api.anthropic.com", Paths: []string{"/v1/messages"}},
			{Name: "api.openai.com", Paths: []string{"/v1/chat/completions", "/v1/responses"}},
			{Name: "generativelanguage.googleapis.com", Paths: []string{"/v1beta/models"}},
		},
	}
}

// kiro is Kiro's CLI, kiro.dev/docs/cli. It has no stream of events and comes with
// the user's own image, since its installer is not pinned by content.
func kiro() builtin {
	return builtin{name: "kiro", make: kiroTurn, install: "the installer at kiro.dev/docs/cli/installation"}
}

func kiroTurn(t Turn) Agent {
	// A task of any length is no word of a command line.
	const task = ".kiro-task.md"
	argv := []string{"kiro-cli", "chat", "--no-interactive", "--trust-all-tools"}
	if t.Model != "" {
		argv = append(argv, "--model", t.Model)
	}
	return Agent{
		Argv: append(argv, "Read "+home+task+" and do what it says."), Files: []File{{task, t.Task}}, Secrets: []string{"KIRO_API_KEY"},
	}
}

// home is the agent's home in a sandbox.
const home = "/home/ftl/"
