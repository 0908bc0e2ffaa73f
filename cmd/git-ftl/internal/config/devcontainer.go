package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/devcontainer"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
)

// Container is what the repository's devcontainer.json says, where it is trusted: the
// zero one says nothing. An Image of the settings goes before its own.
type Container struct {
	devcontainer.Container
	File []byte // its Dockerfile, as it was trusted
}

// Read reads the files by which the repository at dir would steer git-ftl.
func Read(dir string) trust.Content {
	c := trust.Read(dir)
	for _, name := range devcontainer.Names() {
		c = c.With(dir, name)
		if data, ok := c.Data(name); ok {
			if d, err := devcontainer.Parse(name, data); err == nil && d.Dockerfile != "" {
				return c.With(dir, d.Dockerfile)
			}
			return c
		}
		if c.Refused[name] != "" {
			return c
		}
	}
	return c
}

func isDevcontainer(name string) bool { return slices.Contains(devcontainer.Names(), name) }

// broughtContainer is the devcontainer.json of a content.
func broughtContainer(c trust.Content) (name string, data []byte, ok bool) {
	for _, name := range devcontainer.Names() {
		if data, ok := c.Data(name); ok {
			return name, data, true
		}
	}
	return "", nil, false
}

// loadDevcontainer takes the repository's devcontainer.json and the Dockerfile that
// it names, where they are trusted.
func (c *Config) loadDevcontainer(src Source) {
	for _, name := range devcontainer.Names() {
		if why := src.Content.Refused[name]; why != "" {
			c.notes = append(c.notes, fmt.Sprintf("%s does not count: %s", name, why))
		}
	}
	name, data, ok := broughtContainer(src.Content)
	if !ok {
		return
	}
	d, err := devcontainer.Parse(name, data)
	file, there := src.Content.Data(d.Dockerfile)
	if err == nil && d.Dockerfile != "" && !there {
		err = fmt.Errorf("its %s cannot be read", shorten(d.Dockerfile))
		if why := src.Content.Refused[d.Dockerfile]; why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
	}
	if err != nil {
		c.notes = append(c.notes, fmt.Sprintf("%s does not count: %v", name, err))
		return
	}
	asks := containerAsks(d, file)
	c.asks = append(c.asks, asks...)
	if !src.Trusted || len(asks) == 0 {
		return
	}
	c.Container = Container{d, file}
	if d.Setup != "" && c.origin["setup"] == "" {
		c.Setup, c.origin["setup"] = d.Setup, name
	}
	if len(d.Left) > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%s: without effect in a sandbox: %s", name, strings.Join(firstOf(d.Left), ", ")))
	}
}

// containerAsks is all that the files say, nothing where none of it counts.
func containerAsks(d devcontainer.Container, file []byte) []Ask {
	var asks []Ask
	rivals := map[string]string{"image": "image", "build.dockerfile": "image", "postCreateCommand": "setup"}
	for _, p := range d.Parts() {
		asks = append(asks, Ask{d.Name, p.Key, []string{p.Value}, true, rivals[p.Key]})
	}
	if len(asks) == 0 {
		return nil
	}
	for _, key := range d.Left {
		asks = append(asks, Ask{File: d.Name, Key: key, Values: []string{}})
	}
	if d.Dockerfile != "" {
		asks = append(asks, Ask{File: d.Dockerfile, Values: lines(file), Effect: true})
	}
	return asks
}

// lines are all lines of a file.
func lines(data []byte) []string {
	var all []string
	for line := range strings.Lines(string(data)) {
		all = append(all, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	return all
}

// compareParts looks at what two files of devcontainer.json say.
func compareParts(name string, was, is []byte) []Difference {
	return compareValues(name, partsOf(name, was), partsOf(name, is))
}

func partsOf(name string, data []byte) map[string][]string {
	d, _ := devcontainer.Parse(name, data)
	values := map[string][]string{}
	for _, p := range d.Parts() {
		values[p.Key] = []string{p.Value}
	}
	for _, key := range d.Left {
		values[key] = []string{}
	}
	return values
}
