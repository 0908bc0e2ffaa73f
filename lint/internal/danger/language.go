package danger

import (
	"bytes"
	"path"
	"strings"
)

// lang is a set of languages.
type lang uint16

const (
	shell lang = 1 << iota
	python
	script // JavaScript and TypeScript
	golang
	java   // and what else runs on its machine
	native // C, C++ and Objective-C
	rust
	php
	ruby
	dotnet
	other // programs in other languages
	sql
	page   // of HTML, whose scripts are programs
	config // build files and configurations, whose values may be commands

	programs = python | script | golang | java | native | rust | php | ruby | dotnet | other
)

// language tells the language of a file, 0 if it is no code.
func language(p string, text []byte) lang {
	name := strings.ToLower(path.Base(p))
	if l := extension(path.Ext(name)); l != 0 {
		return l
	}
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "dockerfile", "containerfile", "makefile", "gnumakefile", "justfile", "procfile":
		return shell | config
	case "jenkinsfile":
		return java
	case "rakefile", "gemfile", "vagrantfile", "fastfile":
		return ruby
	}
	return interpreter(text)
}

// extension tells the language of a file's extension.
func extension(ext string) lang {
	switch ext {
	case ".sh", ".bash", ".zsh", ".ksh", ".fish", ".ps1", ".psm1", ".bat", ".cmd", ".bats", ".command":
		return shell
	case ".py", ".pyw", ".pyi", ".pyx":
		return python
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".astro":
		return script
	case ".html", ".htm":
		return page
	case ".go":
		return golang
	case ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle", ".jenkinsfile":
		return java
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".m", ".mm":
		return native
	case ".rs":
		return rust
	case ".php", ".phtml":
		return php
	case ".rb", ".rake", ".gemspec", ".erb":
		return ruby
	case ".cs", ".fs", ".vb", ".cshtml":
		return dotnet
	case ".swift", ".dart", ".lua", ".pl", ".pm", ".r", ".jl", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".zig", ".nim", ".tcl":
		return other
	case ".sql", ".ddl", ".dml", ".psql", ".pgsql", ".plsql":
		return sql
	case ".mk", ".dockerfile", ".yml", ".yaml", ".toml", ".json", ".json5", ".jsonc", ".nix", ".service", ".tf", ".hcl":
		return shell | config
	case ".ipynb":
		return python | config
	}
	return 0
}

// interpreter tells the language of a "#!" line.
func interpreter(text []byte) lang {
	if !bytes.HasPrefix(text, []byte("#!")) {
		return 0
	}
	line, _, _ := bytes.Cut(text[:min(len(text), 256)], []byte("\n"))
	for _, known := range []struct {
		name string
		lang lang
	}{{"python", python}, {"node", script}, {"deno", script}, {"bun", script}, {"ruby", ruby}, {"php", php}, {"perl", other}, {"sh", shell}} {
		if bytes.Contains(line, []byte(known.name)) {
			return known.lang
		}
	}
	return other
}

// syntax is what of a language tells comments and strings from code.
type syntax struct {
	comment []string // to the end of the line
	block   bool     // "/* */"
	quotes  string   // begin and end a string of one line
	long    string   // of these, those whose strings go on over lines
	raw     string   // and those without escapes
	triple  bool     // three of them make a string over lines
	char    bool     // ' holds one character
	spaced  bool     // a comment begins a word
}

func (l lang) syntax() syntax {
	switch {
	case l&config != 0 && l&python != 0:
		return syntax{}
	case l&(shell|config) != 0:
		return syntax{comment: []string{"#"}, spaced: true, quotes: `"'`, long: `"'`, raw: `'`}
	case l == python:
		return syntax{comment: []string{"#"}, quotes: `"'`, triple: true}
	case l == script:
		return syntax{comment: []string{"//"}, block: true, quotes: "\"'`", long: "`"}
	case l == golang:
		return syntax{comment: []string{"//"}, block: true, quotes: "\"`", long: "`", raw: "`", char: true}
	case l == rust:
		return syntax{comment: []string{"//"}, block: true, quotes: `"`, long: `"`, char: true}
	case l == php:
		return syntax{comment: []string{"//", "#"}, block: true, quotes: `"'`, long: `"'`}
	case l == java:
		return syntax{comment: []string{"//"}, block: true, quotes: `"'`, triple: true}
	case l&(native|dotnet) != 0:
		return syntax{comment: []string{"//"}, block: true, quotes: `"`, char: true}
	case l == sql:
		return syntax{comment: []string{"--"}, block: true, quotes: `"'`, long: `'`}
	}
	return syntax{comment: []string{"#", "//", "--"}, quotes: `"'`, spaced: true}
}
