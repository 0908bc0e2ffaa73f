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
# Shells, tmux, git-lfs, a static busybox and PostgreSQL's server, whose tests say loudly that they did not run where they
# are missing.
missing=""
for p in zsh fish git-lfs tmux; do command -v "$p" >/dev/null || missing="$missing $p"; done
command -v busybox >/dev/null || missing="$missing busybox-static"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
if [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	# shellcheck disable=SC2086 # a list of names
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1 ||
		echo "test: could not install$missing" >&2
fi
echo "== full tier (engine: ${FTL_REQUIRE_DOCKER:-none}); 50 kills at random; not run here: make soak, make test-modules, make test-agents, make test-egress, make test-languages, make fuzz, make bench"
${GO:-go} test -tags embedguest -timeout 40m ./... ./testdata/modelserver
