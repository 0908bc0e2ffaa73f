package testrun

import (
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// javaFolder is where Maven and Gradle look.
const javaFolder = "src/test/java/"

// javaBuild is what builds a project: "mvn", "gradle" or "" for javac. A build
// without JUnit runs no tests that could be added.
func javaBuild(t tree, dir string) (build, junit string) {
	for _, name := range []string{language.JUnit5, language.JUnit4} {
		if slices.Contains(language.Frameworks(dir, t.paths, t.content), name) {
			junit = name
			break
		}
	}
	command := t.command(dir)
	switch {
	case junit == "":
		return "", javaUses(t, dir)
	case strings.Contains(command, "gradle"):
		return "gradle", junit
	case strings.Contains(command, "mvn"):
		return "mvn", junit
	}
	return "", junit
}

// maxLooked bounds how many tests are looked at.
const maxLooked = 20

// javaUses is the framework of the tests that a tree without a build file has.
func javaUses(t tree, dir string) string {
	looked := 0
	for _, file := range t.paths {
		if !language.Tests(language.Java, file) || !within(dir, file) || looked == maxLooked {
			continue
		}
		looked++
		switch text := t.content(file); {
		case strings.Contains(text, "org.junit.jupiter"):
			return language.JUnit5
		case strings.Contains(text, "org.junit."):
			return language.JUnit4
		}
	}
	return ""
}

func javaStyle(t tree, dir string) (runner, text string, names []string) {
	build, junit := javaBuild(t, dir)
	names = []string{prefixed(dir, "tests/NameTest.java")}
	if build != "" {
		names = []string{prefixed(dir, javaFolder+"the/package/NameTest.java")}
	}
	runner = map[string]string{"mvn": "mvn test", "gradle": "gradle test", "": "java"}[build]
	switch junit {
	case language.JUnit5:
		return runner, "A file has one class with tests of JUnit 5.", names
	case language.JUnit4:
		return runner, "A file has one class with tests of JUnit 4.", names
	}
	return "java -ea", "A file has one class with a main method that uses assert, and throws where something is wrong. There is no JUnit.", names
}

func javaCheck(t tree, dir, file string) error {
	if build, _ := javaBuild(t, dir); build != "" && !strings.Contains("/"+below(dir, file), "/"+javaFolder) {
		return refused(file, "no test stands there; want one below "+javaFolder)
	}
	return nil
}

var javaPackage = lazyregexp.New(`(?m)^\s*package\s+([\w.]+)\s*;`)

// javaClass is the name of a file's class with its package.
func javaClass(test File) string {
	name := strings.TrimSuffix(test.Path[strings.LastIndexByte(test.Path, '/')+1:], ".java")
	if m := javaPackage.FindStringSubmatch(test.Content); m != nil {
		return m[1] + "." + name
	}
	return name
}

func javaRun(t tree, dir string, test File) Run {
	build, junit := javaBuild(t, dir)
	class := quote(javaClass(test))
	switch build {
	case "mvn":
		module := t.nearest(dir, test.Path, "pom.xml")
		reports := at(below(dir, prefixed(module, "target/surefire-reports")))
		part := ""
		if module != dir {
			part = " -am -pl " + quote(below(dir, module))
		}
		return Run{Script: "cd " + at(dir) + " || exit 1\n" + wrapped("mvn", "mvnw", "-o -v") + "rm -rf " + reports + "\n" +
			"$tool -o -B -q -Dstyle.color=never -DskipTests=false -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false" + part + " -Dtest=" + class + " test\n" +
			"code=$?\nreport junit " + reports + "/TEST-*.xml\nexit $code\n", format: formatReport}
	case "gradle":
		module := t.nearest(dir, test.Path, "build.gradle", "build.gradle.kts")
		reports := at(below(dir, prefixed(module, "build/test-results/test")))
		return Run{Script: "cd " + at(dir) + " || exit 1\n" + wrapped("gradle", "gradlew", "--offline --version") + "rm -rf " + reports + "\n" +
			"$tool --offline --no-daemon --console=plain -p " + at(below(dir, module)) + " test --tests " + class + "\n" +
			"code=$?\nreport junit " + reports + "/TEST-*.xml\nexit $code\n", format: formatReport}
	}
	return javacRun(dir, test, junit, class)
}

// wrapped takes the project's own wrapper of a tool where what it starts is there.
func wrapped(tool, wrapper, try string) string {
	return "tool='sh ./" + wrapper + "'\n[ -f " + wrapper + " ] && $tool " + try + " >/dev/null 2>&1 || { need " + tool + "; tool=" + tool + "; }\n"
}

// javacRun compiles all sources but other tests. Jars are the project's own and
// Debian's of JUnit.
func javacRun(dir string, test File, junit, class string) Run {
	head := "need javac\nneed java\ntop=$PWD\ncd " + at(dir) + " || exit 1\nuses=" + quote(junit) + "\ntest=" + at(below(dir, test.Path)) + "\nclass=" + class + "\n"
	return Run{Script: head + javacScript}
}

const javacScript = `words() { sed 's/[\\"]/\\&/g; s/.*/"&"/'; } # for javac's files of arguments
jars=$(find . /usr/share/java -name '*.jar' ! -path './.git/*' 2>/dev/null |
	grep -E '^\./|/(junit|hamcrest|opentest4j|apiguardian|picocli|univocity)[^/]*$' | tr '\n' ':')
find . -name '*.java' ! -name module-info.java ! -path './.git/*' ! -path '*/test/*' ! -path '*/tests/*' ! -path './ftl_tests/*' \
	! -name '*Test.java' ! -name '*Tests.java' | words >"$ftl/sources"
mkdir "$ftl/classes"
if [ -s "$ftl/sources" ]; then
	javac -nowarn -d "$ftl/classes" -cp "$jars" "@$ftl/sources" || exit 1
fi
{ printf '%s\n' "$test"; find "$top/ftl_tests" -name '*.java' 2>/dev/null; } | words | sort -u >"$ftl/tests"
javac -nowarn -d "$ftl/classes" -cp "$ftl/classes:$jars" "@$ftl/tests" || exit 1
case $uses$jars in
junit4*junit-vintage-engine*junit-platform-console* | junit4*junit-platform-console*junit-vintage-engine* | junit5*junit-platform-console*)
	java -ea -cp "$ftl/classes:$jars" org.junit.platform.console.ConsoleLauncher --disable-banner --disable-ansi-colors --select-class "$class" --reports-dir "$ftl/reports"
	code=$?
	report junit "$ftl"/reports/*.xml
	exit $code ;;
junit5*)
	echo "ftl-tests: missing junit-platform-console"
	exit 127 ;;
esac
printf '\nftl-tests: started\n'
case $uses in
junit4) java -ea -cp "$ftl/classes:$jars" org.junit.runner.JUnitCore "$class" ;;
*) java -ea -cp "$ftl/classes:$jars" "$class" ;;
esac
`
