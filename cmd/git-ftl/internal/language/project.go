package language

import (
	"encoding/json"
	"strings"
)

func goProject(f folder) Project {
	return Project{Dir: f.dir, Language: Go, Test: "go test ./...", Setup: "go mod download"}
}

func rustProject(f folder) Project {
	p := Project{Dir: f.dir, Language: Rust, Test: "cargo test", Setup: "cargo fetch"}
	if isWorkspace(f) {
		p.Test = "cargo test --workspace"
	}
	return p
}

func isWorkspace(f folder) bool { return strings.Contains(f.text("Cargo.toml"), "[workspace") }

// manifest is the part of a package.json that says how a project is tested.
type manifest struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
	PackageManager  string            `json:"packageManager"`
	Workspaces      json.RawMessage   `json:"workspaces"`
}

// nodeManifest reads a package.json; what cannot be read says nothing.
func nodeManifest(f folder) (m manifest) {
	_ = json.Unmarshal([]byte(f.text("package.json")), &m)
	return m
}

func (m manifest) needs(name string) bool {
	return m.Dependencies[name] != "" || m.DevDependencies[name] != ""
}

func hasWorkspaces(f folder) bool {
	return nodeManifest(f).Workspaces != nil || f.has("pnpm-workspace.yaml")
}

func nodeProject(f folder) Project {
	m := nodeManifest(f)
	p := Project{Dir: f.dir, Language: JavaScript}
	if f.has("tsconfig.json", "tsconfig.base.json") || m.needs("typescript") {
		p.Language = TypeScript
	}
	manager := packageManager(f, m)
	p.Setup = map[string]string{"npm": "npm install", "pnpm": "pnpm install --frozen-lockfile", "yarn": "yarn install", "bun": "bun install"}[manager]
	if manager == "npm" && f.has("package-lock.json") {
		p.Setup = "npm ci"
	}
	script := m.Scripts["test"]
	switch {
	case script != "" && !strings.Contains(script, "no test specified"): // what npm init writes
		p.Test = manager + " test"
		if manager == "bun" { // which has a verb of that name
			p.Test = "bun run test"
		}
	case hasWorkspaces(f):
		p.Test = map[string]string{
			"npm": "npm test --workspaces --if-present", "pnpm": "pnpm -r test", "yarn": "yarn workspaces run test", "bun": "bun run --filter '*' test",
		}[manager]
	case m.needs("vitest"):
		p.Test = "npx vitest run"
	case m.needs("jest"):
		p.Test = "npx jest"
	}
	return p
}

// packageManager is npm where neither the manifest nor a lockfile names another.
func packageManager(f folder, m manifest) string {
	name, _, _ := strings.Cut(m.PackageManager, "@")
	switch {
	case name == "pnpm" || name == "yarn" || name == "bun" || name == "npm":
		return name
	case f.within("pnpm-lock.yaml", "pnpm-workspace.yaml"):
		return "pnpm"
	case f.within("yarn.lock"):
		return "yarn"
	case f.within("bun.lock", "bun.lockb"):
		return "bun"
	}
	return "npm"
}

func mavenProject(f folder) Project {
	p := Project{Dir: f.dir, Language: Java, Test: "mvn -q test", Setup: "mvn -q dependency:go-offline"}
	if f.has("mvnw") {
		p.Test, p.Setup = "./mvnw -q test", "./mvnw -q dependency:go-offline"
	}
	return p
}

func gradleProject(f folder) Project {
	p := Project{Dir: f.dir, Language: Java, Test: "gradle test"}
	if f.has("gradlew") {
		p.Test = "./gradlew test"
	}
	return p
}

// pytest runs the tests of a Python project that does not say how.
const pytest = "python3 -m pytest"

// isPython knows a project by what builds it, and by a list of requirements where
// its tests are: documentation has one too.
func isPython(f folder) bool {
	return f.has("pyproject.toml", "setup.py") || f.has("requirements.txt", "setup.cfg", "manage.py") && (f.dir == "" || f.hasPythonTests())
}

func pythonProject(f folder) Project {
	p := Project{Dir: f.dir, Language: Python, Test: pytest}
	run, python := "", "python3"
	switch {
	case f.has("uv.lock"):
		run, python, p.Test, p.Setup = "uv run ", "python", "uv run pytest", "uv sync"
	case f.has("poetry.lock"):
		run, python, p.Test, p.Setup = "poetry run ", "python", "poetry run pytest", "poetry install"
	case f.has("requirements.txt"):
		p.Setup = "python3 -m pip install -r requirements.txt"
	case f.has("pyproject.toml", "setup.py"):
		p.Setup = "python3 -m pip install -e ."
	}
	if f.has("manage.py") && !f.namesPytest() { // Django has a runner of its own
		p.Test = run + python + " manage.py test"
	}
	return p
}

// namesPytest reports whether a project says that it needs pytest.
func (f folder) namesPytest() bool {
	for _, name := range []string{"pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "requirements.txt", "requirements-dev.txt"} {
		if strings.Contains(f.text(name), "pytest") {
			return true
		}
	}
	return f.has("pytest.ini", "conftest.py")
}

func (f folder) hasPythonTests() bool {
	for file := range f.files {
		if strings.HasPrefix(file, f.dir+"/") && isPythonTest(file) {
			return true
		}
	}
	return false
}

func cmakeProject(f folder) Project {
	return Project{Dir: f.dir, Language: Cpp, Test: "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"}
}
