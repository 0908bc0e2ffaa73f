#!/bin/sh
# Brings what the measurements need, then prints the tables.
# usage: bench.sh PATH-OF-GIT-FTL
set -eu
if ! command -v rsync >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends rsync
fi
"$1" setup --yes
# The real agent comes from the user's own registry; the bench says where it has none.
mine=$(mktemp -d)
XDG_CONFIG_HOME=$mine "$1" setup --yes --agent claude-code || echo "bench: the image has no claude-code"
rm -r "$mine"
FTL_BENCH_IMAGE=$(docker images --format '{{.Repository}}:{{.Tag}}' git-ftl/base | head -n 1)
export FTL_BENCH_IMAGE
sizes=1000,27000
if [ "${FTL_BENCH_BIG:-}" = 1 ]; then
	sizes=$sizes,100000
else
	echo "bench: NOT RUN: 100,000 files (FTL_BENCH_BIG=1)"
fi
${GO:-go} run -tags embedguest ./testdata/bench -bin "$1" -sizes "$sizes"
echo
echo "the proxy, beside a plain reverse proxy"
{ ${GO:-go} test -run '^$' -bench . ./shadow/proxy && echo "status 0" || echo "status 1"; } | awk '
	/^status / { failed = $2; next }
	{ print }
	/^Benchmark(Request|Download)/ {
		name = $1; sub(/-[0-9]+$/, "", name); split(name, part, "/")
		what = part[1] " " part[3]; sub(/^Benchmark/, "", what)
		if (part[2] == "plain") { cost[what] = $3; median[what] = $5; next }
		line[++lines] = sprintf("%-12s %-8s %.2f x a plain reverse proxy", what, part[2], $3 / cost[what])
		if ($6 == "ms-median") line[lines] = line[lines] sprintf(", %+.2f ms at the median", $5 - median[what])
	}
	END { print ""; for (i = 1; i <= lines; i++) print line[i]; exit failed }'
echo
echo "the screen of git ftl review, of a change of 10,000 lines: frames, of which 60 a second leave 16 ms, and the first one"
echo "ms is the time until a frame is there, cpu-ms what a processor worked for it"
${GO:-go} test -run '^$' -bench 'Frame|Open' ./cmd/git-ftl/internal/review
