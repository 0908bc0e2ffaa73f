package language_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
)

// files is a tree: names of files, and what is in those that matter.
type files map[string]string

func detect(tree files, overrides ...language.Override) []language.Project {
	var paths []string
	for name := range tree {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	return language.Detect(paths, func(file string) string { return tree[file] }, overrides)
}

// TestDetect: one project each.
func TestDetect(t *testing.T) {
	for _, row := range []struct {
		name              string
		tree              files
		lang, test, setup string
	}{
		{"Go", files{"go.mod": "", "x.go": ""}, "go", "go test ./...", "go mod download"},
		{"Rust", files{"Cargo.toml": "[package]"}, "rust", "cargo test", "cargo fetch"},
		{"a Rust workspace", files{"Cargo.toml": "[workspace]\n", "a/Cargo.toml": "", "b/Cargo.toml": ""}, "rust", "cargo test --workspace", "cargo fetch"},
		{"npm", files{"package.json": `{"scripts":{"test":"node --test"}}`, "package-lock.json": ""}, "javascript", "npm test", "npm ci"},
		{"npm without a lock", files{"package.json": `{"scripts":{"test":"x"}}`}, "javascript", "npm test", "npm install"},
		{"npm init's test", files{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, "javascript", "", "npm install"},
		{"no script and vitest", files{"package.json": `{"devDependencies":{"vitest":"1"}}`}, "javascript", "npx vitest run", "npm install"},
		{"no script and jest", files{"package.json": `{"dependencies":{"jest":"1"}}`}, "javascript", "npx jest", "npm install"},
		{"TypeScript by its config", files{"package.json": `{"scripts":{"test":"x"}}`, "tsconfig.json": ""}, "typescript", "npm test", "npm install"},
		{"TypeScript by its compiler", files{"package.json": `{"devDependencies":{"typescript":"5"}}`}, "typescript", "", "npm install"},
		{"pnpm", files{"package.json": `{"scripts":{"test":"x"}}`, "pnpm-lock.yaml": ""}, "javascript", "pnpm test", "pnpm install --frozen-lockfile"},
		{"yarn", files{"package.json": `{"scripts":{"test":"x"}}`, "yarn.lock": ""}, "javascript", "yarn test", "yarn install"},
		{"bun", files{"package.json": `{"scripts":{"test":"x"}}`, "bun.lockb": ""}, "javascript", "bun run test", "bun install"},
		{"the named manager", files{"package.json": `{"scripts":{"test":"x"},"packageManager":"pnpm@9.1.0"}`, "yarn.lock": ""}, "javascript", "pnpm test", "pnpm install --frozen-lockfile"},
		{"an unknown manager", files{"package.json": `{"scripts":{"test":"x"},"packageManager":"rm -rf /@1"}`}, "javascript", "npm test", "npm install"},
		{"workspaces", files{"package.json": `{"workspaces":["a"]}`, "a/package.json": `{"scripts":{"test":"x"}}`}, "javascript", "npm test --workspaces --if-present", "npm install"},
		{"pnpm's workspaces", files{"package.json": `{}`, "pnpm-workspace.yaml": "", "a/package.json": `{}`}, "javascript", "pnpm -r test", "pnpm install --frozen-lockfile"},
		{"a package.json that is none", files{"package.json": `{"scripts": [`}, "javascript", "", "npm install"},
		{"Maven", files{"pom.xml": "", "a/pom.xml": ""}, "java", "mvn -q test", "mvn -q dependency:go-offline"},
		{"Maven's wrapper", files{"pom.xml": "", "mvnw": ""}, "java", "./mvnw -q test", "./mvnw -q dependency:go-offline"},
		{"Gradle", files{"build.gradle": "", "app/build.gradle": ""}, "java", "gradle test", ""},
		{"Gradle's wrapper and Kotlin", files{"settings.gradle.kts": "", "app/build.gradle.kts": "", "gradlew": ""}, "java", "./gradlew test", ""},
		{"Python", files{"pyproject.toml": ""}, "python", "python3 -m pytest", "python3 -m pip install -e ."},
		{"Python by requirements", files{"requirements.txt": "flask", "app.py": ""}, "python", "python3 -m pytest", "python3 -m pip install -r requirements.txt"},
		{"uv", files{"pyproject.toml": "", "uv.lock": ""}, "python", "uv run pytest", "uv sync"},
		{"poetry", files{"pyproject.toml": "", "poetry.lock": ""}, "python", "poetry run pytest", "poetry install"},
		{"Django", files{"manage.py": "", "requirements.txt": "django"}, "python", "python3 manage.py test", "python3 -m pip install -r requirements.txt"},
		{"Django with uv", files{"manage.py": "", "pyproject.toml": "", "uv.lock": ""}, "python", "uv run python manage.py test", "uv sync"},
		{"Django with pytest", files{"manage.py": "", "requirements.txt": "pytest-django"}, "python", "python3 -m pytest", "python3 -m pip install -r requirements.txt"},
		{"CMake", files{"CMakeLists.txt": "", "src/CMakeLists.txt": ""}, "c++", "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure", ""},
		{"files alone", files{"a.py": "", "b.py": "", "c.js": ""}, "python", "", ""},
		{"files and tests", files{"a.py": "", "tests/test_a.py": ""}, "python", "python3 -m pytest", ""},
		{"C alone", files{"a.c": "", "a.h": ""}, "c++", "", ""},
		{"others' code is not looked at", files{"x.py": "", "vendor/go.mod": "", "node_modules/a/package.json": "", "testdata/Cargo.toml": ""}, "python", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			want := []language.Project{{Language: row.lang, Test: row.test, Setup: row.setup}}
			if diff := cmp.Diff(want, detect(row.tree)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDetectNothing(t *testing.T) {
	if got := detect(files{"README.md": "", "LICENSE": ""}); len(got) > 0 || language.Main(got) != "" || language.Test(got) != "" {
		t.Errorf("%+v", got)
	}
}

// TestMonorepo: several projects, what they are written in and how all their tests
// run.
func TestMonorepo(t *testing.T) {
	for _, row := range []struct {
		name              string
		tree              files
		overrides         []language.Override
		lang, test, setup string
		others            []language.Override
	}{
		{
			name: "a server and its page",
			tree: files{"go.mod": "", "web/package.json": `{"scripts":{"test":"x"}}`, "web/tsconfig.json": ""},
			lang: "go", test: "go test ./... && (cd web && npm test)", setup: "go mod download && (cd web && npm install)",
			others: []language.Override{{Pattern: "/web", Language: "typescript"}},
		},
		{
			name: "nothing at the top",
			tree: files{"api/pyproject.toml": "", "worker/Cargo.toml": ""},
			lang: "python", test: "(cd api && python3 -m pytest) && (cd worker && cargo test)",
			setup:  "(cd api && python3 -m pip install -e .) && (cd worker && cargo fetch)",
			others: []language.Override{{Pattern: "/worker", Language: "rust"}},
		},
		{
			name: "modules of Go within each other",
			tree: files{"go.mod": "", "tools/go.mod": ""},
			lang: "go", test: "go test ./... && (cd tools && go test ./...)", setup: "go mod download && (cd tools && go mod download)",
		},
		{
			name: "a lockfile above",
			tree: files{"pnpm-lock.yaml": "", "a/package.json": `{"scripts":{"test":"x"}}`},
			lang: "javascript", test: "(cd a && pnpm test)", setup: "(cd a && pnpm install --frozen-lockfile)",
		},
		{
			name: "documentation is no project",
			tree: files{"go.mod": "", "docs/requirements.txt": "sphinx", "docs/conf.py": ""},
			lang: "go", test: "go test ./...", setup: "go mod download",
		},
		{
			name: "scripts with tests are one",
			tree: files{"go.mod": "", "py/requirements.txt": "", "py/tests/test_a.py": ""},
			lang: "go", test: "go test ./... && (cd py && python3 -m pytest)", setup: "go mod download && (cd py && python3 -m pip install -r requirements.txt)",
			others: []language.Override{{Pattern: "/py", Language: "python"}},
		},
		{
			name:      "overridden",
			tree:      files{"package.json": `{}`, "gen/package.json": `{"scripts":{"test":"x"}}`},
			overrides: []language.Override{{Pattern: "gen", Language: "typescript"}},
			lang:      "javascript", test: "(cd gen && npm test)", setup: "npm install && (cd gen && npm install)",
			others: []language.Override{{Pattern: "/gen", Language: "typescript"}},
		},
		{
			name: "a folder with a name for shells",
			tree: files{"a; touch x'/go.mod": "", "-b/go.mod": ""},
			lang: "go", test: `(cd './-b' && go test ./...) && (cd './a; touch x'\''' && go test ./...)`,
			setup: `(cd './-b' && go mod download) && (cd './a; touch x'\''' && go mod download)`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			all := detect(row.tree, row.overrides...)
			got := []any{language.Main(all), language.Test(all), language.Setup(all), language.Overrides(all)}
			if diff := cmp.Diff([]any{row.lang, row.test, row.setup, row.others}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOverrides(t *testing.T) {
	for _, row := range []struct {
		pattern, file string
		want          bool
	}{
		{"web", "web/a/b.js", true},
		{"web/", "web/a/b.js", true},
		{"web", "src/web/b.js", true},
		{"/web", "src/web/b.js", false},
		{"/web", "web/b.js", true},
		{"web", "webs/b.js", false},
		{"*.h", "a/b/c.h", true},
		{"*.h", "a/b.hpp", false},
		{"src/*.h", "src/a.h", true},
		{"src/*.h", "src/a/b.h", false},
		{"src/**/gen", "src/a/b/gen/c.h", true},
		{"src/**/gen", "src/gen/c.h", true},
		{"src/**/gen", "src/a/c.h", false},
		{"src/**", "src/a/b", true},
		{"**/gen", "a/gen/b", true},
		{"a/**/b/**/c/**/d/**/e", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", false},
		{"services/api", "services/api/x.py", true},
	} {
		t.Run(row.pattern+" "+row.file, func(t *testing.T) {
			o, err := language.ParseOverride(row.pattern + "=go")
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Matches(row.file); got != row.want {
				t.Errorf("%v", got)
			}
		})
	}
	all := []language.Override{{Pattern: "*.h", Language: "rust"}, {Pattern: "c", Language: "python"}}
	for file, want := range map[string]string{"a.h": "rust", "c/a.h": "python", "a.tsx": "typescript", "A.GO": "go", "a.md": "", "a/x.cc": "c++"} {
		if got := language.Of(file, all); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, row := range []struct{ text, want, err string }{
		{"web=TypeScript", "web=typescript", ""},
		{"a=b/*.h=cpp", "a=b/*.h=c++", ""},
		{"web=cobol", "", `"cobol" is not one of: python, typescript, javascript, go, java, c++, rust`},
		{"web", "", `"web" is not PATTERN=LANGUAGE`},
		{"=go", "", `"=go" is not PATTERN=LANGUAGE`},
		{"/=go", "", `"/=go" has no pattern`},
		{"a/[=go", "", `pattern "a/[": syntax error in pattern`},
	} {
		t.Run(row.text, func(t *testing.T) {
			o, err := language.ParseOverride(row.text)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != row.err || err == nil && o.String() != row.want {
				t.Errorf("%v, %v", o, err)
			}
		})
	}
}
