package testrun

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
)

// cmakeFile adds a test to a project of CMake.
//
//go:embed tests.cmake
var cmakeFile string

// cppFramework is what a project of CMake tests with, "" for none.
func cppFramework(t tree, dir string) string {
	found := language.Frameworks(dir, t.paths, t.content)
	for _, name := range []string{language.GTest, language.Catch2, language.Doctest} {
		if slices.Contains(found, name) {
			return name
		}
	}
	return ""
}

func usesCMake(t tree, dir string) bool { return strings.HasPrefix(t.command(dir), "cmake ") }

func cppStyle(t tree, dir string) (runner, text string, names []string) {
	names = []string{prefixed(dir, "tests/name_test.cpp")}
	runner = "c++"
	if usesCMake(t, dir) {
		runner = "cmake"
		switch cppFramework(t, dir) {
		case language.GTest:
			return runner, "A file has tests of GoogleTest and no main.", names
		case language.Catch2:
			return runner, "A file has tests of Catch2, in the version that the repository has, and no main.", names
		case language.Doctest:
			return runner, "A file has tests of doctest and no main.", names
		}
	}
	return runner, "A file is a program of C++20: its main returns 0 where all is well, and assert is on. Headers of C stand within extern \"C\".", names
}

func cppRun(t tree, dir string, test File) Run {
	file := at(below(dir, test.Path))
	if usesCMake(t, dir) {
		return Run{Script: "need cmake\nuses=" + cppFramework(t, dir) + "\ntop=$PWD\ncd " + at(dir) + " || exit 1\ntest=" + file + "\ncat >\"$ftl/tests.cmake\" <<'ftl-end'\n" + cmakeFile + "ftl-end\n" + cmakeScript}
	}
	return Run{Script: "need c++\ntop=$PWD\ncd " + at(dir) + " || exit 1\ntest=" + file + "\n" + cppScript}
}

// cmakeScript keeps what it builds for the next test of the same sandbox.
const cmakeScript = `build=${TMPDIR:-/tmp}/ftl-tests-build
mkdir -p "$build"
cp "$ftl/tests.cmake" "$build/ftl-tests.cmake"
rm -f "$build/ftl-missing"
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PROJECT_INCLUDE="$build/ftl-tests.cmake" \
	-DFTL_TEST="$PWD/$test" -DFTL_HELPERS="$top/ftl_tests" -DFTL_USES="$uses" || {
	[ ! -f "$build/ftl-missing" ] || { echo "ftl-tests: missing $(head -n 1 "$build/ftl-missing")"; exit 127; }
	exit 1
}
cmake --build "$build" --target ftl_test --parallel 2 || exit 1
printf '\nftl-tests: started\n'
case $uses in
gtest) "$build/ftl_test" --gtest_output="xml:$ftl/report" ;;
catch2) "$build/ftl_test" -r junit -o "$ftl/report" ;;
doctest) "$build/ftl_test" -r=junit -o="$ftl/report" ;;
*) "$build/ftl_test" ;;
esac
code=$?
report junit "$ftl/report"
exit $code
`

// cppScript compiles all sources that have no main and are no tests. One that does
// not compile is left out: not all are of one program, or of this system.
const cppScript = `set -- -I. -Iinclude -Isrc -I"$top/ftl_tests"
find . -name '*.h' -o -name '*.hh' -o -name '*.hpp' -o -name '*.hxx' | sed 's|/[^/]*$||' | sort -u >"$ftl/folders"
while read -r folder; do set -- "$@" -iquote "$folder"; done <"$ftl/folders"
compile() {
	n=$((n + 1))
	"$@" -g -fPIC -c -o "$ftl/$n.o" || echo "ftl-tests: leaves a source out: $source"
}
n=0
find . \( -name .git -o -name build -o -name test -o -name tests -o -name ftl_tests -o -name example -o -name examples -o -name CMakeFiles \) -prune -o \
	-type f \( -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.cxx' \) ! -name 'test_*' ! -name '*_test.*' -print >"$ftl/sources"
while read -r source; do
	! grep -Eq '^[^/*"]*[[:space:]*&]main[[:space:]]*\(' "$source" || continue
	case $source in
	*.c) compile cc "$@" "$source" ;;
	*) compile c++ -std=c++20 "$@" "$source" ;;
	esac
done <"$ftl/sources"
c++ -std=c++20 -UNDEBUG -g "$@" -c -o "$ftl/test.o" "$test" || exit 1
c++ -o "$ftl/test" "$ftl"/*.o -pthread -lm || exit 1
printf '\nftl-tests: started\n'
"$ftl/test"
`
