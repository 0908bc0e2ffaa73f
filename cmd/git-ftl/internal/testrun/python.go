package testrun

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
)

func pythonStyle(t tree, dir string) (runner, text string, names []string) {
	names = []string{prefixed(dir, "tests/test_name.py")}
	switch {
	case namesPytest(t, dir):
		return "python3 -m pytest", "A file has functions test_name with plain assert statements.", names
	case isDjango(t, dir):
		return "python3 manage.py test", "A file has classes of django.test.TestCase with methods test_name.", []string{prefixed(dir, "app/tests/test_name.py")}
	}
	return "python3 -m unittest", "A file has classes of unittest.TestCase with methods test_name, and imports nothing of pytest.", names
}

func namesPytest(t tree, dir string) bool {
	return slices.Contains(language.Frameworks(dir, t.paths, t.content), language.Pytest)
}

func isDjango(t tree, dir string) bool { return strings.Contains(t.command(dir), "manage.py") }

// pythonRun takes pytest wherever it can be had, since it runs unittest's classes
// too. The tree comes before what is installed: an image may have the project as it
// was.
func pythonRun(t tree, dir string, test File) Run {
	file := below(dir, test.Path)
	module := quote(strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", "."))
	runner := "pytest"
	if isDjango(t, dir) {
		runner = "django"
	}
	script := interpreter(t.command(dir), runner) + "cd " + at(dir) + " || exit 1\n" +
		`export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PWD/src:$PWD${PYTHONPATH:+:$PYTHONPATH}"` + "\n"
	if isDjango(t, dir) {
		return Run{Script: script + "$python manage.py test --noinput -v 2 " + module + "\n", format: formatUnittest}
	}
	script += fmt.Sprintf(pytestScript, at(file))
	if namesPytest(t, dir) && (!strings.Contains(test.Content, "TestCase") || strings.Contains(test.Content, "import pytest")) {
		script += "echo 'ftl-tests: missing pytest'\nexit 127\n"
	}
	return Run{Script: script + "$python -m unittest -v " + module + "\n", format: formatUnittest}
}

// interpreter is that of a manager of environments, unless it cannot start one, or
// has one without the module that runs tests, and the image's own has it.
func interpreter(command, module string) string {
	for prefix, python := range map[string]string{"uv run ": "uv run --offline --no-sync python", "poetry run ": "poetry run python"} {
		if strings.HasPrefix(command, prefix) {
			return "python='" + python + "'\nhas() { \"$@\" -c 'import " + module + "' 2>/dev/null; }\n" +
				"$python -c '' 2>/dev/null && { has $python || ! has python3; } || { python=python3; need python3; }\n"
		}
	}
	return "python=python3\nneed python3\n"
}

// pytestScript ends where there is pytest. What is measured of one file alone says
// nothing of coverage.
const pytestScript = `if $python -c 'import pytest' 2>/dev/null; then
	$python -c 'import pytest_cov' 2>/dev/null && set -- --no-cov
	$python -m pytest -v -p no:cacheprovider --junitxml="$ftl/report" "$@" %s
	code=$?
	report junit "$ftl/report"
	exit $code
fi
`

func prefixed(dir, file string) string {
	if dir == "" {
		return file
	}
	return dir + "/" + file
}
