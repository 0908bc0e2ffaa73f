package config

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/devcontainer"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
)

// Difference is a setting, or a line of .ftlinclude or .ftllint, that two contents do not
// have alike.
type Difference struct {
	File string   `json:"file"`
	Key  string   `json:"key"` // a setting, or "" for a line or a file as a whole
	Old  []string `json:"old"` // nil where it was not there
	New  []string `json:"new"` // nil where it is not there any more
}

func (d Difference) label() string {
	if d.Key == "" {
		return d.File
	}
	return d.Key
}

// Compare finds what changed from one content to another, every setting of
// .ftlconfig among it. Where the bytes differ and what they say does not, the
// file is named with neither old nor new.
func Compare(before, after trust.Content) []Difference {
	var all []Difference
	for _, name := range namesOf(before, after) {
		was, had := before.Data(name)
		is, has := after.Data(name)
		if had == has && bytes.Equal(was, is) {
			continue
		}
		differences := compareLines
		switch {
		case name == File:
			differences = compareSettings
		case isDevcontainer(name):
			differences = compareParts
		case !slices.Contains([]string{trust.IncludeFile, trust.LintFile}, name):
			differences = compareAll // a Dockerfile
		}
		found := differences(name, was, is)
		if len(found) == 0 {
			found = []Difference{{File: name}}
		}
		all = append(all, found...)
	}
	return all
}

func namesOf(all ...trust.Content) []string {
	names := map[string]bool{}
	for _, c := range all {
		for _, f := range c.Files {
			names[f.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func compareSettings(file string, was, is []byte) []Difference {
	return compareValues(file, settings(was), settings(is))
}

func compareValues(file string, before, after map[string][]string) []Difference {
	var all []Difference
	for _, name := range sorted(before) {
		if old, now := before[name], after[name]; now == nil || !slices.Equal(old, now) {
			all = append(all, Difference{file, name, old, now})
		}
	}
	for _, name := range sorted(after) {
		if before[name] == nil {
			all = append(all, Difference{file, name, nil, after[name]})
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// settings are those of a file, none where it cannot be read.
func settings(data []byte) map[string][]string {
	all, _ := parseFile(data)
	values := map[string][]string{}
	for _, e := range all {
		values[e.name] = append([]string{}, e.values...)
	}
	return values
}

// compareLines does not look at the order.
func compareLines(file string, was, is []byte) []Difference {
	return differ(file, patterns(was), patterns(is))
}

func compareAll(file string, was, is []byte) []Difference {
	return differ(file, lines(was), lines(is))
}

func differ(file string, before, after []string) []Difference {
	var all []Difference
	for _, line := range without(before, after) {
		all = append(all, Difference{File: file, Old: []string{line}})
	}
	for _, line := range without(after, before) {
		all = append(all, Difference{File: file, New: []string{line}})
	}
	return all
}

func without(lines, others []string) []string {
	count := map[string]int{}
	for _, l := range others {
		count[l]++
	}
	var left []string
	for _, l := range lines {
		if count[l]--; count[l] < 0 {
			left = append(left, l)
		}
	}
	return left
}

// Check reports why a content cannot be trusted: a file of it that could not be
// read, so that no one has seen what it says.
func Check(c trust.Content) error {
	if names := slices.Sorted(maps.Keys(c.Refused)); len(names) > 0 {
		return fmt.Errorf("%s cannot be trusted: %s", names[0], c.Refused[names[0]])
	}
	if data, ok := c.Data(File); ok {
		if _, err := parseFile(data); err != nil {
			return fmt.Errorf("%s cannot be trusted: %w", File, err)
		}
	}
	if name, data, ok := broughtContainer(c); ok {
		if _, err := devcontainer.Parse(name, data); err != nil {
			return fmt.Errorf("%s cannot be trusted: %w", name, err)
		}
	}
	return nil
}
