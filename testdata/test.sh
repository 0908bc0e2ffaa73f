#!/bin/sh
# The second tier of "make test": everything, with a real engine. Where none can
# be had it says so and runs the rest, unless FTL_REQUIRE_DOCKER=1.
set -eu
export CGO_ENABLED=0
if sh testdata/engine/up.sh; then
	FTL_REQUIRE_DOCKER=1
elif [ "${FTL_REQUIRE_DOCKER:-}" = 1 ]; then
	echo "test: no container engine, and FTL_REQUIRE_DOCKER=1" >&2
	exit 1
else
	echo "test: NOT RUN: every test that needs a container engine (see above)" >&2
	FTL_REQUIRE_DOCKER=
fi
export FTL_REQUIRE_DOCKER
echo "== full tier (engine: ${FTL_REQUIRE_DOCKER:-none}); not run here: make test-modules, make fuzz, make bench"
${GO:-go} test -tags embedguest -timeout 14m ./...
