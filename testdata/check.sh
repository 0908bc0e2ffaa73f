#!/bin/sh
# Everything about the source that is not a test. Prints what it looks at; the
# first fault ends it.
set -eu
export CGO_ENABLED=0
go=${GO:-go}
tool="$go tool -modfile=.tools.mod"
say() { echo "check: $*"; }
bad() {
	echo "check: error: $*" >&2
	exit 1
}

say gofmt
unformatted=$(gofmt -l cmd container hooks internal lint patch shadow snapshot)
[ -z "$unformatted" ] || bad "not gofmt-clean: $unformatted"
say go mod tidy
$go mod tidy -diff >/dev/null || bad "go.mod or go.sum is not tidy: go mod tidy"
say vet
$go vet -tags embedguest ./...
say staticcheck
$tool staticcheck -tags embedguest ./...
say depguard
$tool depguard ./...
say patterns
early=$(git grep -nE '^(var )?[[:space:]]*[A-Za-z0-9_]+ += regexp\.MustCompile' -- '*.go' ':!*_test.go' ':!testdata' || true)
[ -z "$early" ] || bad "compiled at every start, where lazyregexp.New compiles at the first use: $early"
say shell scripts
for f in $(git ls-files '*.sh'); do sh -n "$f" || bad "$f"; done

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for target in linux/amd64 linux/arm64 darwin/arm64 darwin/amd64 windows/amd64; do
	say "build $target"
	GOOS=${target%/*} GOARCH=${target#*/} $go build -trimpath -tags embedguest -ldflags "-s -w -dumpdep" -o "$dir/git-ftl-${target%/*}-${target#*/}" ./cmd/git-ftl 2>"$dir/deps" || {
		grep -v -e ' -> ' "$dir/deps" >&2
		exit 1
	}
	# One such call and the linker keeps every exported method: 10 MB.
	byname=$(grep -m 1 -e ' -> .*<ReflectMethod>$' "$dir/deps" || true)
	[ -z "$byname" ] || bad "a method is looked up by a name that the linker does not know: $byname"
done

# Limits: what a user pays on every call.
bin="$dir/git-ftl-$($go env GOOS)-$($go env GOARCH)"
bytes=$(wc -c <"$bin")
[ "$bytes" -le 47185920 ] || bad "the binary has $bytes bytes, more than 45 MB"
say "binary $((bytes / 1024)) KiB of 46080"
git init -q "$dir/repo"
# A package is slow that is so each time: a busy machine is not a slow package.
looks=5
slow=$(for _ in $(seq $looks); do
	(cd "$dir/repo" && GODEBUG=inittrace=1 "$bin" status 2>&1 >/dev/null) | awk '$1 == "init" && $5 > 2.0 {print $2}'
done | sort | uniq -c | awk -v n="$looks" '$1 == n {print $2}')
[ -z "$slow" ] || bad "package init over 2 ms: $slow"
say "package init under 2 ms each"
if [ -x /usr/bin/time ]; then
	rss=$(cd "$dir/repo" && /usr/bin/time -f %M "$bin" status 2>&1 >/dev/null | tail -n 1)
	[ "$rss" -le 30720 ] || bad "git ftl status takes $rss KiB, more than 30 MB"
	say "status takes $rss KiB of 30720"
else
	say "NOT CHECKED: memory of git ftl status (no /usr/bin/time)"
fi
"$bin" man | cmp -s - docs/git-ftl.1 || bad "docs/git-ftl.1 is not what the program says of itself: make man"
say "man page up to date"
names=$(git grep -nIE 'TODO|FIXME|XXX' -- '*.go' '*.sh' Makefile ':!testdata/check.sh' || true)
[ -z "$names" ] || bad "loose ends: $names"
say "all good"
