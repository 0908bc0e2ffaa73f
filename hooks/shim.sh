#!/bin/sh
# Put here by git-ftl. The hook that was here before runs first, from NAME.ftl-orig.
# "git ftl hooks uninstall" puts it back.
known='@PROGRAM@'
name=${0##*/}
name=${name%.legacy} # as which the pre-commit framework keeps it
dir=.
case $0 in */*) dir=${0%/*} ;; esac
orig=$dir/$name.ftl-orig
ftl=git-ftl
command -v git-ftl >/dev/null 2>&1 || ftl=$known
case "$name $1" in
"reference-transaction prepared") ;;
"reference-transaction "*) ftl=: ;; # only one state can still be refused
esac
if ! command -v "$ftl" >/dev/null 2>&1; then
	undo="rm '$0'"
	[ ! -e "$orig" ] || undo="mv '$orig' '$0'"
	printf '%s\n' "git-ftl: error: the $name hook finds no git-ftl, neither in PATH nor at $known" \
		"git-ftl: hint: put git-ftl into PATH again, or take the hook away: $undo" >&2
	exit 1
fi
case $name in
pre-push | reference-transaction)
	in=$(cat && echo x)
	in=${in%x}
	[ ! -x "$orig" ] || printf %s "$in" 2>/dev/null | "$orig" "$@" || exit
	printf %s "$in" 2>/dev/null | "$ftl" hook "$name" "$@"
	;;
*)
	[ ! -x "$orig" ] || "$orig" "$@" || exit
	exec "$ftl" hook "$name" "$@"
	;;
esac
