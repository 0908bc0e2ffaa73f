#compdef git-ftl
# zsh completion for git-ftl and "git ftl". Put this file as _git-ftl into a folder
# of $fpath, before compinit runs:
#   mkdir -p ~/.zfunc; git ftl completion zsh > ~/.zfunc/_git-ftl
#   fpath=(~/.zfunc $fpath)   # in ~/.zshrc, above "autoload -U compinit; compinit"

_git-ftl() {
	local -a lines described
	local line
	lines=("${(@f)$(git-ftl __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	for line in $lines; do
		described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	if (( $#described )); then
		_describe -t git-ftl 'git ftl' described
	else
		_files
	fi
}

if [[ $funcstack[1] == _git-ftl ]]; then
	_git-ftl "$@"
else
	compdef _git-ftl git-ftl
fi
