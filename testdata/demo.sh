#!/bin/sh
# The main job on a scratch repository, told as a story: a dirty working tree,
# an agent in a sandbox, its change as a ref, apply, undo.
# usage: demo.sh PATH-OF-GIT-FTL
set -eu

bin=$(cd "$(dirname "$1")" && pwd)
scratch=$(mktemp -d)
cleanup() {
	(cd "$scratch/shop" && git ftl sandbox rm --all >/dev/null 2>&1) || true
	rm -rf "$scratch"
}
trap cleanup EXIT
export PATH="$bin:$PATH" HOME="$scratch/home" GIT_PAGER=cat GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1
mkdir "$HOME"
git config --global user.name "Demo" && git config --global user.email demo@example.com
git config --global init.defaultBranch main && git config --global advice.detachedHead false

tell() { printf '\n# %s\n' "$*"; }
show() {
	printf '$ %s\n' "$*"
	eval "$*" 2>&1 | sed 's/^/  /'
}
same() { [ "$1" = "$2" ] || { echo "demo: error: $3" >&2; exit 1; }; }
# Content, mode and mtime of every file outside .git.
tree() { find . -path ./.git -prune -o -type f -exec stat -c '%n %a %Y' {} + -exec sha256sum {} + | sort; }

tell "A small shop, half way through a change: one file modified, one staged, one untracked, one secret."
git init -q "$scratch/shop" && cd "$scratch/shop"
printf 'def total(prices):\n    return sum(prices)\n' >shop.py
printf 'from shop import total\n\nassert total([1, 2]) == 3\nprint("ok")\n' >test_shop.py
git add . && git commit -qm "A shop"
printf '\n\ndef count(prices):\n    return len(prices)\n' >>shop.py
printf '# Shop\n' >README.md && git add README.md
printf 'remember the milk\n' >notes.txt
printf 'API_KEY=not-for-agents\n' >.env
show git status --short
before=$(tree) index=$(sha256sum .git/index) head=$(git rev-parse HEAD)

tell "An agent, here a shell script, works in a sandbox: it sees the dirty tree, shadows of secrets, and no network but one guarded way out."
cat >"$scratch/agent" <<'END'
ls -A
sed -i 's/return sum(prices)/return round(sum(prices), 2)/' shop.py
printf '\nassert total([0.1, 0.2]) == 0.3\n' >> test_shop.py
echo 'print("discounts")' > discount.py
python3 test_shop.py
END
show "git ftl exec -- sh -c \"\$(cat $scratch/agent)\""

tell "Nothing of yours has moved: not a file, not the index, not HEAD."
same "$before" "$(tree)" "the working tree changed"
same "$index" "$(sha256sum .git/index)" "the index changed"
same "$head" "$(git rev-parse HEAD)" "HEAD moved"
show git status --short

tell "Its change is an ordinary ref."
show git diff ftl/base ftl/pending

tell "You go on meanwhile: the file that the agent edited gets another line."
printf '\n\ndef mean(prices):\n    return total(prices) / count(prices)\n' >>shop.py
before=$(tree)

tell "Approve it: it is merged with your edits, and your index stays as it is."
show git ftl apply
show git diff --stat
same "$index" "$(sha256sum .git/index)" "the index changed"
grep -q 'def mean' shop.py && grep -q 'round(sum' shop.py && [ -f discount.py ] || { echo "demo: error: the merge is not whole" >&2; exit 1; }

tell "Change your mind: undo puts every byte, mode and time back."
show git ftl undo
same "$before" "$(tree)" "undo did not restore the tree"
show git status --short
tell "Done. The sandbox is removed; nothing else was touched."
