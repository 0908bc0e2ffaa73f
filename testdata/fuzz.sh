#!/bin/sh
# Runs each fuzz target for the time given.
set -eu
time=${1:-30s}
${GO:-go} list -f '{{.Dir}} {{.ImportPath}}' ./... | while read -r dir pkg; do
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go 2>/dev/null | while read -r target; do
		echo "== $pkg $target for $time"
		${GO:-go} test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$pkg" </dev/null
	done
done
