package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/devcontainer"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
)

// Ask is something by which a file of the repository would widen what a task may
// do, and which counts only where the file is trusted.
type Ask struct {
	File    string   `json:"file"`
	Key     string   `json:"key"`    // what the file calls it, or "" for lines of a file as a whole
	Values  []string `json:"values"` // as the file has them
	Effect  bool     `json:"effect"` // this version obeys it
	Setting string   `json:"-"`      // the one of ours that it would set; "" for none
}

// loadFile reads .ftlconfig: as the user's own where it is trusted, else only as
// far as it can do no harm.
func (c *Config) loadFile(src Source) {
	if why := src.Content.Refused[File]; why != "" {
		c.notes = append(c.notes, fmt.Sprintf("%s does not count: %s", File, why))
	}
	data, ok := src.Content.Data(File)
	if !ok {
		return
	}
	all, err := parseFile(data)
	if err != nil {
		c.notes = append(c.notes, fmt.Sprintf("%s does not count: %v", File, err))
		return
	}
	for _, e := range all {
		if err := c.setBrought(e, src.Trusted); err != nil {
			c.notes = append(c.notes, err.Error()+"; it does not count")
		}
	}
	slices.SortFunc(c.asks, func(a, b Ask) int { return strings.Compare(a.Key, b.Key) })
}

// setBrought takes a value of the repository, or keeps it as an ask. What a
// person alone may set is an error even where the file is trusted.
func (c *Config) setBrought(e entry, trusted bool) error {
	if slices.Contains(usersOwn(), e.name) {
		return fmt.Errorf("%s: %s is yours alone to set, by git config ftl.%s", File, e.name, e.name)
	}
	counts, err := c.free(e)
	if err != nil || counts && !trusted {
		return err
	}
	_, agent := agentKey(e.name)
	_, effect := find(e.name)
	effect = effect || agent
	if !counts {
		c.asks = append(c.asks, Ask{File, e.name, e.values, effect, e.name})
	}
	if !trusted || !effect {
		return nil
	}
	return c.Set(e.name, File, e.values...)
}

// free takes a value of an untrusted repository where it can do no harm.
func (c *Config) free(e entry) (counts bool, err error) {
	k, ok := find(e.name)
	if _, agent := agentKey(e.name); ok || agent {
		if err := e.fits(); err != nil {
			return false, err
		}
	}
	if !ok || k.need == needsTrust {
		return false, nil
	}
	if k.need == builtin && !slices.Contains(BuiltinAgents(), e.values[0]) {
		return false, nil
	}
	if k.need == lower {
		if ok, err := lowers(e); err != nil || !ok {
			return false, err
		}
	}
	return true, c.Set(e.name, File, e.values...)
}

// lowers reports whether a value bounds a task more than the default does.
func lowers(e entry) (bool, error) {
	probe := Default()
	if err := probe.Set(e.name, File, e.values...); err != nil {
		return false, err
	}
	return below(probe, Default(), e.name), nil
}

// usersOwn are settings that would let unseen content count, so that trust in
// what was seen cannot carry them.
func usersOwn() []string { return []string{"include", "history"} }

// loadInclude takes the lines of .ftlinclude, where it is trusted. The user's own
// setting takes every such file, as it is when a snapshot is taken.
func (c *Config) loadInclude(src Source) {
	if why := src.Content.Refused[trust.IncludeFile]; why != "" && !c.Include {
		c.notes = append(c.notes, fmt.Sprintf("%s does not count: %s", trust.IncludeFile, why))
	}
	data, _ := src.Content.Data(trust.IncludeFile)
	lines := patterns(data)
	if len(lines) == 0 || c.Include {
		return
	}
	c.asks = append(c.asks, Ask{File: trust.IncludeFile, Values: lines, Effect: true})
	if src.Trusted {
		c.Lines = string(data)
	}
}

// patterns are the lines of an .ftlinclude that say something.
func patterns(data []byte) []string {
	var all []string
	for line := range strings.Lines(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// Asks lists what of the repository's files would widen what a task may do, in
// the order of files and keys, and whether it counts as trusted.
func (c *Config) Asks() (asks []Ask, trusted bool) { return c.asks, c.trusted }

// Asked reports whether an untrusted file has a setting of this name.
func (c *Config) Asked(name string) bool {
	return !c.trusted && slices.ContainsFunc(c.asks, func(a Ask) bool { return a.File == File && a.Key == name })
}

// AskedAgents names the agents that an untrusted file would define.
func (c *Config) AskedAgents() []string {
	var names []string
	for _, a := range c.asks {
		if name, ok := agentKey(a.Key); ok && !c.trusted && a.File == File {
			names = append(names, name)
		}
	}
	return names
}

// noteAsks says once which files need trust, and what changed in them.
func (c *Config) noteAsks(src Source) {
	if src.Trusted || len(c.asks) == 0 {
		return
	}
	note := strings.Join(c.needs(), "; ") + ": git ftl trust"
	if src.Other {
		note += " (FTL_TRUST is the digest of other content)"
	}
	if src.Before != nil {
		var changed []string
		for _, d := range Compare(*src.Before, src.Content) {
			changed = append(changed, d.label())
		}
		note += fmt.Sprintf(" (changed since you trusted it: %s)", strings.Join(firstOf(slices.Compact(changed)), ", "))
	}
	c.notes = append(c.notes, note)
}

// needs names what needs trust, by file.
func (c *Config) needs() (parts []string) {
	var names []string
	for _, a := range c.asks {
		if a.File == File {
			names = append(names, a.Key)
		}
	}
	need := "need"
	if len(names) == 1 {
		need = "needs"
	}
	if len(names) > 0 {
		parts = append(parts, fmt.Sprintf("%s: %s %s trust", File, strings.Join(firstOf(names), ", "), need))
	}
	for _, file := range slices.Concat([]string{trust.IncludeFile, trust.LintFile}, devcontainer.Names()) {
		if slices.ContainsFunc(c.asks, func(a Ask) bool { return a.File == file }) {
			first, _, _ := strings.Cut(file, "/")
			parts = append(parts, first+" needs trust")
		}
	}
	return parts
}

// firstOf keeps a note short, whatever the names are.
func firstOf(names []string) []string {
	const most = 8
	short := []string{}
	for _, name := range names[:min(len(names), most)] {
		short = append(short, shorten(name))
	}
	if more := len(names) - most; more > 0 {
		short = append(short, fmt.Sprintf("%d more", more))
	}
	return short
}

func shorten(name string) string {
	if r := []rune(name); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return name
}
