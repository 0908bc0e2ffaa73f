// Package devcontainer reads devcontainer.json, by which a repository describes the
// container that it is worked on in (containers.dev/implementors/json_reference).
//
// It takes what a sandbox can have: an image or a Dockerfile, one command of setup,
// variables. All else is named and does not count, above all what would run a
// command, mount a folder or read a variable on the host. The package opens no file
// and runs nothing; what it reads is hostile.
package devcontainer

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Names are where the file can stand, below the top of the work tree; the first one
// that is there counts.
func Names() []string { return []string{".devcontainer/devcontainer.json", ".devcontainer.json"} }

// Container is what counts of a file. Paths are from the top of the work tree, with
// slashes, and never lead out of it.
type Container struct {
	Name       string   // of the file
	Image      string   // a reference; "" where it is built or not said
	Dockerfile string   // path; "" where nothing is built
	Context    string   // folder that the build copies from; "." is the top
	Target     string   // stage of the Dockerfile; "" is the last
	Args       []string // of the build, NAME=value, sorted
	Setup      string   // for sh -c, in the workspace
	Env        []string // NAME=value, sorted
	User       string   // that the agent is to be, by name; "" where it is not said
	Left       []string // keys of what does not count, sorted
}

// Part is one thing that a file says.
type Part struct{ Key, Value string }

// Parts are all that counts, in the order of the fields.
func (c Container) Parts() []Part {
	var all []Part
	add := func(key, value string) {
		if value != "" {
			all = append(all, Part{key, value})
		}
	}
	add("image", c.Image)
	add("build.dockerfile", c.Dockerfile)
	add("build.context", c.Context)
	add("build.target", c.Target)
	for _, kv := range c.Args {
		name, value, _ := strings.Cut(kv, "=")
		all = append(all, Part{"build.args." + name, value})
	}
	add("postCreateCommand", c.Setup)
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		all = append(all, Part{"containerEnv." + name, value})
	}
	add("remoteUser", c.User)
	return all
}

// Parse reads the file of that name. The error says that it is no JSON object, with
// comments and trailing commas allowed.
func Parse(name string, data []byte) (Container, error) {
	fields, err := object(plain(data))
	if err != nil {
		return Container{}, fmt.Errorf("not a JSON object: %w", err)
	}
	p := parser{c: Container{Name: name}}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		p.field(key, fields[key])
	}
	p.settle()
	slices.Sort(p.c.Left)
	p.c.Left = slices.Compact(p.c.Left)
	return p.c, nil
}

func object(data []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(data, &fields)
	if err == nil && fields == nil {
		err = fmt.Errorf("it is null")
	}
	return fields, err
}

type parser struct {
	c       Container
	context string // as the file has it
}

// left notes that something does not count.
func (p *parser) left(key string) { p.c.Left = append(p.c.Left, key) }

func (p *parser) field(key string, value json.RawMessage) {
	switch key {
	case "image":
		p.c.Image = p.reference(key, value)
	case "dockerFile":
		p.c.Dockerfile = p.dockerfile(key, value)
	case "context":
		p.context = p.text(key, value)
	case "build":
		p.build(value)
	case "postCreateCommand":
		p.c.Setup = p.command(key, value)
	case "containerEnv":
		p.c.Env = p.variables(key, value)
	case "remoteUser", "containerUser": // keys come sorted, so that the first one has the last word
		p.c.User = p.user(key, value)
	case "$schema", "name", "customizations", "forwardPorts", "portsAttributes", "otherPortsAttributes", "hostRequirements",
		"shutdownAction", "updateRemoteUserUID", "userEnvProbe", "waitFor", "overrideCommand", "init":
		// Of an editor, or of how it starts its container: a sandbox is as if they were
		// not there.
	default:
		p.left(key)
	}
}

// userName matches the names that useradd gives to people, and no number.
var userName = lazyregexp.New(`^[a-z_][a-z0-9_-]{0,31}$`)

// user is the name of an ordinary user: an agent is never root.
func (p *parser) user(key string, value json.RawMessage) string {
	name := p.text(key, value)
	if name == "root" || !userName.MatchString(name) {
		p.left(key)
		return ""
	}
	return name
}

func (p *parser) build(value json.RawMessage) {
	fields, err := object(value)
	if err != nil {
		p.left("build")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key := "build." + name
		switch name {
		case "dockerfile":
			p.c.Dockerfile = p.dockerfile(key, fields[name])
		case "context":
			p.context = p.text(key, fields[name])
		case "target":
			p.c.Target = p.text(key, fields[name])
		case "args":
			p.c.Args = p.variables(key, fields[name])
		default:
			p.left(key)
		}
	}
}

// settle decides between an image and a build, as the reference does.
func (p *parser) settle() {
	c := &p.c
	if c.Dockerfile == "" {
		c.Args, c.Target = nil, ""
		return
	}
	if c.Image != "" {
		c.Image = ""
		p.left("image")
	}
	if p.context == "" {
		p.context = "."
	}
	where, ok := p.below(p.context)
	if !ok {
		c.Dockerfile, c.Target, c.Args = "", "", nil
		p.left("build.context")
		return
	}
	c.Context = where
}

// text is a string that names nothing of the host; "" where it is none.
func (p *parser) text(key string, value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil || !plainText(s) {
		p.left(key)
		return ""
	}
	return expand(s)
}

// host matches what an editor would replace by something of the machine that it
// runs on.
var host = lazyregexp.New(`\$\{(?:(?:localEnv|env|containerEnv):[^}]*|localWorkspaceFolder|localWorkspaceFolderBasename|devcontainerId)\}`)

func plainText(s string) bool { return !strings.Contains(s, "\x00") && !host.MatchString(s) }

// expand replaces what is the same for every sandbox.
func expand(s string) string {
	return strings.NewReplacer("${containerWorkspaceFolder}", "/workspace", "${containerWorkspaceFolderBasename}", "workspace").Replace(s)
}

// reference matches the name of an image, and nothing that a Dockerfile could take
// for more.
var reference = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$`)

func (p *parser) reference(key string, value json.RawMessage) string {
	s := p.text(key, value)
	if s != "" && !reference.MatchString(s) {
		p.left(key)
		return ""
	}
	return s
}

// below gives a path of the file's own folder as one from the top.
func (p *parser) below(s string) (string, bool) {
	s = strings.ReplaceAll(s, `\`, "/")
	full := path.Join(path.Dir(p.c.Name), s)
	out := path.IsAbs(s) || strings.Contains(s, ":") || full == ".." || strings.HasPrefix(full, "../")
	return full, !out
}

// dockerfile is a path whose name says what it is: the file is shown to the user, and
// that must never be another's secrets.
func (p *parser) dockerfile(key string, value json.RawMessage) string {
	s := p.text(key, value)
	full, ok := p.below(s)
	base := strings.ToLower(path.Base(full))
	hidden := slices.ContainsFunc(strings.Split(full, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
	if !ok || hidden || !strings.Contains(base, "dockerfile") && !strings.Contains(base, "containerfile") {
		p.left(key)
		return ""
	}
	return full
}

// variable is a name that an environment can have.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (p *parser) variables(key string, value json.RawMessage) []string {
	fields, err := object(value)
	if err != nil {
		p.left(key)
		return nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		full := key + "." + name
		var s string
		if !variable.MatchString(name) || json.Unmarshal(fields[name], &s) != nil || !plainText(s) {
			p.left(full)
			continue
		}
		all = append(all, name+"="+expand(s))
	}
	return all
}

// command is a line for a shell, from any of the three forms. Commands that the file
// would have run side by side run one after the other.
func (p *parser) command(key string, value json.RawMessage) string {
	if line, ok := p.line(value); ok {
		return line
	}
	fields, err := object(value)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		line, ok := p.line(fields[name])
		if !ok {
			p.left(key + "." + name)
			continue
		}
		all = append(all, "( "+line+"\n)")
	}
	if err != nil {
		p.left(key)
	}
	return strings.Join(all, " && ")
}

// line is one command, of a shell or as a list of words.
func (p *parser) line(value json.RawMessage) (string, bool) {
	var words []string
	var s string
	switch {
	case json.Unmarshal(value, &s) == nil:
	case json.Unmarshal(value, &words) == nil:
		for i, w := range words {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		s = strings.Join(words, " ")
	default:
		return "", false
	}
	return expand(s), plainText(s)
}
