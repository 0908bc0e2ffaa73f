package agent

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
