# fish completion for git-ftl and "git ftl". Put this file at
# ~/.config/fish/conf.d/git-ftl.fish: what completes git has to be there before the
# name git-ftl is typed.

function __git_ftl_candidates
    set -l before (commandline -opc)
    set -l last (commandline -ct)
    set -e before[1]
    # After "git", whatever options it has, our words begin behind "ftl".
    if set -l at (contains -i -- ftl $before)
        set -e before[1..$at]
    end
    set -l all (git-ftl __complete -- $before "$last" 2>/dev/null)
    if test (count $all) -gt 0
        string join \n -- $all
    else
        __fish_complete_path "$last"
    end
end

complete -c git-ftl -f -a '(__git_ftl_candidates)'
complete -c git -f -n 'contains -- ftl (commandline -opc)' -a '(__git_ftl_candidates)'
