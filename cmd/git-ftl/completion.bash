# bash completion for git-ftl and, with git's own completion, for "git ftl".
# Put this file at ~/.local/share/bash-completion/completions/git-ftl and add
#   source ~/.local/share/bash-completion/completions/git-ftl
# to ~/.bashrc, so that "git ftl" has it too.

# __git_ftl_candidates gives what can stand in place of the last word.
__git_ftl_candidates() {
	git-ftl __complete -- "$@" 2>/dev/null | cut -f 1
}

# _git_ftl is what git's completion calls; words and cword are its own.
_git_ftl() {
	local i
	for ((i = 1; i < cword; i++)); do
		[[ ${words[i]} == ftl ]] && break
	done
	local all
	all=$(__git_ftl_candidates "${words[@]:i+1:cword-i}")
	case $cur in
	--*=*) __gitcomp_nl "${all//${cur%%=*}=/}" "" "${cur#*=}" ;;
	*) __gitcomp_nl "$all" ;;
	esac
}

_git_ftl_alone() {
	local IFS=$'\n' cur=${COMP_WORDS[COMP_CWORD]}
	[[ $cur == = ]] && cur=
	local line
	COMPREPLY=() # without compgen -W, which runs what stands in $() in a candidate
	while read -r line; do
		[[ $line == "$cur"* ]] && COMPREPLY+=("$line")
	done < <(__git_ftl_candidates "${COMP_WORDS[@]:1:COMP_CWORD}")
}

complete -o bashdefault -o default -F _git_ftl_alone git-ftl
