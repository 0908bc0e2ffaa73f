#!/bin/sh
# Brings up a container engine and the image debian:bookworm-slim for the tests.
# Where `docker info` answers and the image is there, it changes nothing.
#
#   testdata/engine/up.sh
#
# As root on Debian it installs docker.io, starts dockerd without systemd, and
# makes the image: by a pull, or by debootstrap from the mirror of this machine's
# own sources. Elsewhere it says what is missing and exits with 1.
set -eu

image=debian:bookworm-slim
suite=bookworm

say() { printf 'engine: %s\n' "$*" >&2; }
fail() {
	printf 'engine: error: %s\n' "$*" >&2
	exit 1
}

answers() { docker info >/dev/null 2>&1; }

# need_debian ACT: may this machine be changed?
need_debian() {
	[ "$(id -u)" = 0 ] || fail "$1 needs root; run it as root, or start Docker or Podman yourself"
	[ -e /etc/debian_version ] && command -v apt-get >/dev/null 2>&1 ||
		fail "$1 is known for Debian only; install Docker or Podman by your system's means"
}

# install COMMAND PACKAGE...: where the command is missing.
install() {
	command -v "$1" >/dev/null 2>&1 && return
	need_debian "installing $2"
	shift
	say "installing $*"
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1 || {
		apt-get update >/dev/null || fail "apt-get update failed: is there a mirror in /etc/apt?"
		DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null ||
			fail "apt-get could not install $*"
	}
}

start_engine() {
	need_debian "starting an engine"
	log=${FTL_ENGINE_LOG:-/var/log/dockerd.log}
	say "starting dockerd; its log is $log"
	# A session of its own, so that it outlives the shell that called.
	setsid dockerd >"$log" 2>&1 </dev/null &
	daemon=$!
	tries=0
	until answers; do
		tries=$((tries + 1))
		if [ "$tries" -gt 60 ] || ! kill -0 "$daemon" 2>/dev/null; then
			tail -n 15 "$log" >&2
			fail "dockerd does not answer; it needs a kernel with overlayfs, cgroups and iptables, and enough rights"
		fi
		sleep 0.5
	done
}

# mirror: the first address of a Debian archive in this machine's own sources.
mirror() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -n 's/^URIs:[[:space:]]*//p; s/^deb[[:space:]]\(\[[^]]*\][[:space:]]*\)\{0,1\}//p' |
		tr ' \t' '\n\n' | grep '^https\{0,1\}://.*/debian/\{0,1\}$' | head -n 1
}

make_image() {
	say "pulling $image"
	timeout 60 docker pull -q "$image" >/dev/null 2>&1 && return
	say "no registry gives it; making it with debootstrap"
	need_debian "making $image"
	from=$(mirror)
	[ -n "$from" ] || fail "no Debian mirror in /etc/apt; bring the image in with docker load"
	install debootstrap debootstrap
	root=$(mktemp -d)
	trap 'rm -rf "$root"' EXIT
	debootstrap --variant=minbase "$suite" "$root" "$from" >"$root.log" 2>&1 || {
		tail -n 15 "$root.log" >&2
		fail "debootstrap failed; its log is $root.log"
	}
	chmod 755 "$root" # it becomes the image's /
	rm -rf "$root/var/cache/apt/archives" "$root/var/lib/apt/lists" "$root.log"
	mkdir -p "$root/var/cache/apt/archives/partial" "$root/var/lib/apt/lists/partial"
	tar -C "$root" -c . | docker import - "$image" >/dev/null
}

if ! answers; then
	install dockerd docker.io iptables
	install docker docker-cli # a package of its own in later releases
	answers || start_engine
fi
docker image inspect "$image" >/dev/null 2>&1 || make_image
say "ready: $(docker version -f '{{.Server.Version}} on {{.Server.Arch}}'), $image"
