#!/bin/sh
# Takes down a private engine, once its user is gone: it waits until its standard
# input ends, which a kill of the user brings too. Only what belongs to the engine
# is ended: the processes that name its folder, and those in its cgroup.
#
#   testdata/engine/down.sh DIR CGROUP <PIPE
#
# DIR is the engine's folder, which is removed, CGROUP the name of its parent cgroup.
set -u
dir=$1 group=$2
trap '' INT TERM HUP
cat >/dev/null

ours() {
	for p in /proc/[0-9]*; do
		tr '\0' ' ' 2>/dev/null <"$p/cmdline" | grep -qE "^[^ ]*(dockerd|containerd|containerd-shim[^ ]*) .*$dir/" && echo "${p#/proc/}"
	done
	find /sys/fs/cgroup -path "*/$group/*" -name cgroup.procs -exec cat {} + 2>/dev/null
}
tries=0
while [ $tries -lt 100 ]; do
	all=$(ours | sort -un)
	[ -n "$all" ] || break
	kill -9 $all 2>/dev/null
	tries=$((tries + 1))
	sleep 0.05
done
awk -v d="$dir/" '$2 == substr(d, 1, length(d) - 1) || index($2, d) == 1 {print $2}' /proc/mounts | sort -r | while read -r m; do
	umount -l "$m"
done
find /sys/fs/cgroup -depth -type d \( -path "*/$group/*" -o -name "$group" \) -exec rmdir {} + 2>/dev/null
rm -rf "$dir"
