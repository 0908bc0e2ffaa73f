package testrun

import (
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

func goStyle(t tree, dir string) (runner, text string, names []string) {
	return "go test ./...", "A file belongs to a package of the module: its own one or the one with _test behind its name.",
		[]string{prefixed(dir, "folder/of/the/package/name_test.go")}
}

// goFunc is what go test runs of a file. What cannot be parsed matches too, and
// fails to compile then.
var goFunc = lazyregexp.New(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)

// goRun runs what the file declares: its neighbours in the package were there
// before.
func goRun(_ tree, dir string, test File) Run {
	var names []string
	for _, m := range goFunc.FindAllStringSubmatch(test.Content, -1) {
		names = append(names, m[1])
	}
	return Run{Script: "need go\ncd " + at(dir) + " || exit 1\n" +
		"GOPROXY=off GOTOOLCHAIN=local go test -json -count=1 -vet=off -run " + quote("^("+strings.Join(names, "|")+")$") + " " + at(parent(below(dir, test.Path))) + "\n",
		format: formatGo}
}
