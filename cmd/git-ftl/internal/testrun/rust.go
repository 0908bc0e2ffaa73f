package testrun

import (
	"path"
	"strings"
)

// rustCrates are the folders of a project that are crates, the top one first.
func rustCrates(t tree, dir string) []string {
	var all []string
	for _, file := range t.paths {
		if path.Base(file) != "Cargo.toml" || !within(dir, file) || !strings.Contains(t.content(file), "[package]") {
			continue
		}
		if crate := parent(file); crate == dir {
			all = append([]string{crate}, all...)
		} else {
			all = append(all, crate)
		}
	}
	return all
}

func rustStyle(t tree, dir string) (runner, text string, names []string) {
	crates := rustCrates(t, dir)
	for _, crate := range crates[:min(len(crates), 3)] {
		names = append(names, prefixed(crate, "tests/name.rs"))
	}
	if len(crates) == 0 {
		names = []string{prefixed(dir, "tests/name.rs")}
	}
	text = "A file is a test crate of its own: it uses what the crate that it stands in makes public."
	if len(crates) > 0 && !t.files[path.Join(crates[0], "src/lib.rs")] {
		text += ` A crate without src/lib.rs is a program: tests start it by env!("CARGO_BIN_EXE_name").`
	}
	return "cargo test", text, names
}

func rustCheck(t tree, _, file string) error {
	crate := parent(parent(file))
	manifest := t.content(path.Join(crate, "Cargo.toml"))
	switch {
	case !t.files[path.Join(crate, "Cargo.toml")] || !strings.Contains(manifest, "[package]"):
		return refused(file, "no crate has its tests there")
	case strings.Contains(strings.ReplaceAll(manifest, " ", ""), "autotests=false"):
		return refused(file, "its crate runs only the tests that its Cargo.toml names")
	}
	return nil
}

func rustRun(_ tree, _ string, test File) Run {
	name := strings.TrimSuffix(path.Base(test.Path), ".rs")
	return Run{Script: "need cargo\ncd " + at(parent(parent(test.Path))) + " || exit 1\nCARGO_TERM_COLOR=never cargo test --offline --test " + quote(name) + "\n", format: formatCargo}
}
