#!/bin/sh
# Runs a command against a real Secret Service, in a home and on a bus of its
# own: keyring.sh unlocked|locked|no-service|no-bus CMD ARG…
# Installs gnome-keyring where it is missing, as root on Debian; exits 77 where
# it cannot be had.
set -eu

# Within the bus: start the daemon, wait for it, run the command, end it.
if [ "$1" = --within ]; then
	state=$2
	shift 2
	said=$HOME/daemon.log
	ask() { dbus-send --session --print-reply --reply-timeout=5000 "$@" 2>/dev/null; }
	owned() { ask --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true; }
	has_login() { ask --dest=org.freedesktop.secrets /org/freedesktop/secrets/collection/login org.freedesktop.DBus.Properties.Get string:org.freedesktop.Secret.Collection string:Label >/dev/null; }
	within() { # within SECONDS CONDITION…: whether it comes true while the daemon lives
		left=$(($1 * 50))
		shift
		until "$@"; do
			left=$((left - 1))
			[ "$left" -gt 0 ] && kill -0 "$daemon" 2>/dev/null || return 1
			sleep 0.02
		done
	}
	ready() { has_login && [ -s "$XDG_DATA_HOME/keyrings/login.keyring" ]; }
	serve() { # serve STDIN FLAG…; a daemon that does not come up is started again
		input=$1
		shift
		for try in 1 2 3 4 5; do
			gnome-keyring-daemon --foreground --components=secrets "$@" <"$input" >>"$said" 2>&1 &
			daemon=$!
			! within 15 ready || return 0
			echo "keyring.sh: try $try: no keyring: $(owned && echo its name has an owner; has_login && echo it answers; ls -A "$XDG_DATA_HOME/keyrings" 2>&1)" >>"$said"
			kill -9 "$daemon" 2>/dev/null || true
			end
		done
		echo "keyring.sh: the keyring does not start; what was said:" >&2
		cat "$said" >&2
		exit 1
	}
	end() {
		kill "$daemon" 2>/dev/null || true
		wait "$daemon" 2>/dev/null || true
		tries=0 # the bus learns of the end by itself
		while owned && [ "$tries" -lt 250 ]; do
			tries=$((tries + 1))
			sleep 0.02
		done
	}
	printf only-for-tests >"$HOME/password"
	serve "$HOME/password" --unlock
	trap end EXIT
	if [ "$state" = locked ]; then
		end # the keyring that was made is on the disk; the next daemon does not open it
		serve /dev/null
	fi
	"$@"
	exit
fi

state=$1
shift
need() { command -v gnome-keyring-daemon >/dev/null && command -v dbus-run-session >/dev/null && command -v dbus-send >/dev/null; }
if ! need && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends dbus dbus-daemon gnome-keyring; } >/dev/null 2>&1 || true
fi
need || { echo "keyring.sh: NOT RUN: no gnome-keyring and no way to install it" >&2; exit 77; }

home=$(mktemp -d)
trap 'rm -rf "$home" || true' EXIT # a service of the bus may end later
export HOME="$home" XDG_RUNTIME_DIR="$home/run" XDG_DATA_HOME="$home/data" XDG_CACHE_HOME="$home/cache" XDG_CONFIG_HOME="$home/config"
mkdir -m 700 "$XDG_RUNTIME_DIR" "$XDG_DATA_HOME" "$XDG_CACHE_HOME" "$XDG_CONFIG_HOME"
unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS || true
# A bus that starts no service by itself: one that it started would hold the name
# of the keyring for good.
with_bus() {
	cat >"$home/bus.conf" <<-BUS
		<busconfig><type>session</type><listen>unix:tmpdir=$home/run</listen><auth>EXTERNAL</auth>
		<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>
	BUS
	dbus-run-session --config-file="$home/bus.conf" -- "$@"
}
case $state in
no-bus) DBUS_SESSION_BUS_ADDRESS="unix:path=$home/no-bus" "$@" ;;
no-service) with_bus "$@" ;;
unlocked | locked) with_bus sh "$0" --within "$state" "$@" ;;
*)
	echo "keyring.sh: no state $state" >&2
	exit 2
	;;
esac
