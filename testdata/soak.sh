#!/bin/sh
# Kills git-ftl, its guest and its engine at random moments, and checks after each
# kill what the next command made of it.
#
#   testdata/soak.sh N [SEED]
#
# The engine that is killed is one of its own, which needs root; elsewhere these
# kills are left out, and that is said. A failure names seed and step; the seed
# makes the same choices again, but for their timing.
set -eu
kills=$1
export CGO_ENABLED=0 FTL_SOAK="$kills" FTL_REQUIRE_DOCKER=1
if [ -n "${2:-}" ]; then
	export FTL_SOAK_SEED="$2"
fi
sh testdata/engine/up.sh
exec "${GO:-go}" test -tags embedguest -count=1 -v -run '^TestSoak$' -timeout "$((kills * 5 + 600))s" ./cmd/git-ftl
