package testrun

import (
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
)

// nodeFramework is what runs the tests of a package: its manifest's word counts
// before that of the project's top. "" is Node itself.
func nodeFramework(t tree, dir, pkg string) string {
	for _, at := range []string{pkg, dir} {
		found := language.Frameworks(at, t.paths, t.content)
		for _, name := range []string{language.Vitest, language.Jest, language.Mocha} {
			if slices.Contains(found, name) {
				return name
			}
		}
	}
	return ""
}

func nodeStyle(t tree, dir string) (runner, text string, names []string) {
	ext := "js"
	if t.language == language.TypeScript {
		ext = "ts"
	}
	names = []string{prefixed(dir, "src/name.test."+ext)}
	switch nodeFramework(t, dir, dir) {
	case language.Vitest:
		return "npx vitest run", `A file imports what it uses from "vitest".`, names
	case language.Jest:
		return "npx jest", "A file uses Jest's globals.", names
	case language.Mocha:
		return "npx mocha", `A file uses Mocha's globals, and "node:assert".`, names
	}
	return "node --test", `A file imports test from "node:test" and assert from "node:assert", as modules of the kind that its package has.`, names
}

// nodeRun runs what is installed: npx would fetch it.
func nodeRun(t tree, dir string, test File) Run {
	pkg := t.nearest(dir, test.Path, "package.json")
	file := at(below(pkg, test.Path))
	head := "need node\ncd " + at(pkg) + " || exit 1\n" + bin
	switch nodeFramework(t, dir, pkg) {
	case language.Vitest:
		return Run{Script: head + `bin vitest run --reporter=default --reporter=junit --outputFile.junit="$ftl/report" --coverage.enabled=false ` + quote(below(pkg, test.Path)) + "\n" + reported("junit"), format: formatReport}
	case language.Jest:
		return Run{Script: head + `bin jest --ci --coverage=false --json --outputFile="$ftl/report" --runTestsByPath ` + file + "\n" + reported("jest"), format: formatReport}
	case language.Mocha:
		return Run{Script: head + `bin mocha --reporter json --reporter-option output="$ftl/report" ` + file + "\n" + reported("mocha"), format: formatReport}
	}
	if !strings.HasSuffix(strings.TrimSuffix(test.Path, "x"), "ts") {
		return Run{Script: head + tap + "node --test $tap " + file + "\n", format: formatTAP}
	}
	return Run{Script: head + tap + stripTypes + "node $types --test $tap " + file + "\n", format: formatTAP}
}

// bin runs a package's program, which may be installed in a folder above.
const bin = `bin() {
	name=$1
	shift
	dir=$PWD
	while [ ! -e "$dir/node_modules/.bin/$name" ]; do
		[ -n "$dir" ] || { echo "ftl-tests: missing $name"; exit 127; }
		dir=${dir%/*}
	done
	"$dir/node_modules/.bin/$name" "$@"
}
`

// tap asks for TAP where Node can be asked; older ones write nothing else.
const tap = `tap=
node --test-reporter=tap -e 0 2>/dev/null && tap=--test-reporter=tap
`

// stripTypes finds what makes Node take TypeScript.
const stripTypes = `types=
if node --import tsx -e 0 2>/dev/null; then types='--import tsx'
elif node --experimental-strip-types -e 0 2>/dev/null; then types=--experimental-strip-types
elif [ "$(node -p 'process.features.typescript || ""' 2>/dev/null)" = "" ]; then echo "ftl-tests: missing tsx"; exit 127
fi
`

// reported gives the report of a runner that wrote one, and its exit code.
func reported(format string) string {
	return "code=$?\nreport " + format + ` "$ftl/report"` + "\nexit $code\n"
}
