package main

import (
	_ "embed"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/testdata/modelserver"
	"github.com/git-ftl/git-ftl/testdata/pypi"
)

// Modules of a program that has aider's name and as much of its inside as what starts
// it relies on.
var (
	//go:embed testdata/aider/main.py
	smallMain string
	//go:embed testdata/aider/repomap.py
	smallRepomap string
)

// smallWheel is the program. It needs a package for any interpreter, one for that of
// the default image, and none of another system.
func smallWheel() pypi.Wheel {
	return pypi.Wheel{
		Name: "aider-chat", Version: agent.Version("aider"),
		Requires: []string{"small-linter==1.0", `small-native==2.0; platform_system != "Windows"`, `small-windows==3.0; sys_platform == "win32"`, `pytest; extra == "dev"`},
		Files: map[string]string{
			"aider/__init__.py": "", "aider/main.py": smallMain, "aider/repomap.py": smallRepomap,
			"aider_chat-" + agent.Version("aider") + ".data/scripts/aider": "#!python\n",
		},
	}
}

func smallPackages() []pypi.Wheel {
	linter := pypi.Wheel{Name: "small-linter", Version: "1.0", Files: map[string]string{"flake8.py": "print('linted by the image')\n"}}
	all := []pypi.Wheel{smallWheel(), linter}
	for _, machine := range []string{"x86_64", "aarch64"} {
		all = append(all, pypi.Wheel{
			Name: "small-native", Version: "2.0", Tags: "cp38-abi3-manylinux_2_17_" + machine + ".manylinux2014_" + machine,
			Files: map[string]string{"small_native.py": "machine = '" + machine + "'\n"},
		})
	}
	return all
}

// smallAider is what is pinned with another wheel in the place of aider's.
func smallAider(sum string) session.Wheels {
	return func(name string) (agent.Wheel, bool) {
		w, ok := agent.WheelOf(name)
		if name == "aider" {
			w.SHA256 = sum
		}
		return w, ok
	}
}

// cmdPypi starts an index with the small program, which demands a login, and the
// scripted model: pypi KEY USER:PASSWORD. The index is pypi.corp.example.
func cmdPypi(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pypi KEY USER:PASSWORD")
	}
	n := newInternet(ts)
	n.serve((&modelserver.Server{Key: args[0]}).ServeHTTP, modelserver.Hosts()...)
	n.serve((&pypi.Server{Wheels: smallPackages(), Login: args[1], HTML: true}).ServeHTTP, "pypi.corp.example")
	connectTo(ts, n, "")
}
