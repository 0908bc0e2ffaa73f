#!/bin/sh
# The main job on real input: three public Go modules of different size, as the
# Go proxy gives them, become repositories; a codemod is the agent on each; its
# result is applied, built, and its tests run.
# usage: modules.sh PATH-OF-GIT-FTL
set -eu
bin=$(cd "$(dirname "$1")" && pwd)
go=${GO:-go}
scratch=$(mktemp -d)
cleanup() {
	for d in "$scratch"/m/*/; do (cd "$d" && git ftl sandbox rm --all --force >/dev/null 2>&1) || true; done
	chmod -R u+w "$scratch" 2>/dev/null || true
	rm -rf "$scratch"
}
trap cleanup EXIT
export PATH="$bin:$PATH"
mkdir "$scratch/m"

cat >"$scratch/codemod.py" <<'END'
import pathlib, re
for path in sorted(pathlib.Path(".").rglob("*.go")):
    if "testdata" in path.parts:
        continue
    old = path.read_text()
    new = re.sub(r"\binterface\{\}", "any", old)
    if new != old:
        path.write_text(new)
END

for module in gopkg.in/yaml.v3@v3.0.1 github.com/google/go-cmp@v0.7.0 github.com/hashicorp/hcl/v2@v2.24.0; do
	name=$(basename "${module%@*}")
	src=$($go mod download -json "$module" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	cp -r "$src" "$scratch/m/$name"
	chmod -R u+w "$scratch/m/$name"
	cd "$scratch/m/$name"
	[ -f go.sum ] || $go mod tidy >/dev/null 2>&1 || true
	git init -q . && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm "$module"
	echo "== $module, $(git ls-files | wc -l) files"
	$go vet ./... >/dev/null 2>&1 && before=ok || before=bad
	git ftl exec -- python3 -c "$(cat "$scratch/codemod.py")"
	git ftl apply
	git diff --stat | tail -n 1
	$go build ./...
	$go test ./... 2>&1 | grep -v 'no test files' | tail -n 12
	[ "$before" = bad ] || $go vet ./...
	git ftl undo >/dev/null
	[ -z "$(git status --porcelain)" ] || { echo "modules: error: undo left a trace in $name" >&2; exit 1; }
	cd /
done
echo "== all three built and passed with the change, and undo left no trace"
