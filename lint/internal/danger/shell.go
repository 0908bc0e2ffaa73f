package danger

import (
	"regexp"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// shellRules find commands that lose files, disks, history or whole clusters.
// Source: the manual page of each command.
func shellRules() []rule {
	return []rule{
		{
			name: "rm-root", in: shell, quoted: true, keyword: "\\brm |\\brm\t", find: rmCommand, also: removesTooMuch,
			message: "a forced, recursive removal of a system's folder, a home, everything here or a variable that may be empty", remedy: "name the folder, or stop where the variable is empty: ${VAR:?}",
			asked: "rm -rf,delet everything,wipe",
		},
		{
			name: "raw-disk", in: shell, quoted: true, keyword: "/dev/|mkfs|wipefs", find: rawDisk,
			message: "a disk is written over", remedy: "make sure that no real device is meant",
			asked: "mkfs,format disk,dd",
		},
		{
			name: "world-writable", in: shell, quoted: true, keyword: "chmod", find: chmodAll,
			message: "everybody may write there", remedy: "give the right to the one user that needs it",
			asked: "777,world writ,world-writ",
		},
		{
			name: "git-force", in: shell, quoted: true, keyword: "git -|git push|git reset|git filter|git reflog|git clean|git stash|git update-ref|git branch", find: gitForce,
			message: "work or history that is nowhere else may be lost", remedy: "use --force-with-lease, or keep a branch first",
			asked: "force push,force-push,push --force,reset --hard,rewrit history,filter-branch,filter-repo,clean work",
		},
		{
			name: "skips-hooks", in: shell, quoted: true, keyword: "--no-verify|husky=0|skip=", find: skipHooks,
			message: "the checks before a commit or a push are passed by", remedy: "let the hooks run",
			asked: "no-verify,skip hook",
		},
		{
			name: "fork-bomb", in: shell, quoted: true, keyword: ":()|:(){|bomb()", find: forkBomb,
			message: "a fork bomb: the machine stops answering", remedy: "remove it",
			asked: "fork bomb",
		},
		{
			name: "cluster-delete", in: shell, quoted: true, keyword: "kubectl|destroy|s3 |s3api|prune|flushall|flushdb|dropdb|gcloud|\\baz |gsutil|helm ", find: clusterDelete,
			message: "everything of a cluster, a deployment or a store is removed", remedy: "name what is to go",
			asked: "destroy,delete --all,flush,dropdb,tear down,teardown,prune,uninstall",
		},
		{
			name: "rm-root", in: shell, quoted: true, keyword: "\\bfind /|\\bfind ~|\\bfind \"|\\bfind $|remove-item|\\bdel |\\brd |rmdir /|\\bformat ", find: otherRemoval,
			message: "a removal of everything below a system's folder, a home, a drive or a variable that may be empty", remedy: "name the folder",
			asked: "delet everything,wipe,format",
		},
	}
}

var (
	rmCommand     = doc.Pattern(`(?m)(?:^|[^-\w.])rm[ \t]+-[^\n;&|]*`)
	rawDisk       = doc.Pattern(`\bdd\b[^\n;|]*\bof=["']?/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper|mem|loop)|>[ \t]*/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)\w*|\bmkfs(?:\.\w+)?[ \t]+(?:-\S+[ \t]+)*["']?(?:/dev/|\$)\S*|\bwipefs[ \t]+-?\S+`)
	chmodAll      = doc.Pattern(`\bchmod[ \t]+(?:-\w+[ \t]+|--[\w-]+[ \t]+)*(?:[0-7]{2,3}[2367]|(?:a|ugo|o|go|uo)[+=][rx]*w[rwx]*)["']?(?:[ \t]|$)`)
	gitForce      = doc.Pattern(`\bgit\b(?:[ \t]+-[^\s]+(?:[ \t]+[\w./=-]+)?)*?[ \t]+(?:push\b[^\n;&|]*[ \t](?:--force|-f|--mirror|\+[\w/*:-]+)(?:[ \t"'\n]|$)|reset\b[^\n;&|]*--hard\b|filter-branch\b|filter-repo\b|reflog[ \t]+expire\b|clean[ \t]+-\w*f\w*d?\w*x|stash[ \t]+clear\b|update-ref[ \t]+-d\b|branch[ \t]+-D[ \t])`)
	skipHooks     = doc.Pattern(`\bgit\b[^\n;&|]*\b(?:commit|push|merge)\b[^\n;&|]*--no-verify\b|\bHUSKY=0\b|\bSKIP=\w[^\n]*\bgit\b`)
	forkBomb      = doc.Pattern(`(?::|\bbomb)[ \t]*\(\)[ \t]*\{[ \t]*(?::|bomb)[ \t]*\|[ \t]*(?::|bomb)[ \t]*&[ \t]*\}[ \t]*;[ \t]*(?::|bomb)`)
	clusterDelete = doc.Pattern(`\bkubectl\b[^\n;&|]*\bdelete\b[^\n;&|]*(?:--all\b|[ \t]-A\b|\b(?:ns|namespaces?|pvc?|crds?)\b)|\b(?:terraform|tofu|terragrunt|pulumi|cdk|sls|serverless)\b[^\n;&|]*[ \t]-{0,1}destroy\b|\baws\b[^\n;&|]*\bs3\b[^\n;&|]*\b(?:rb|rm)\b[^\n;&|]*--(?:force|recursive)\b|\b(?:docker|podman)[ \t]+(?:system|volume)[ \t]+prune\b|\b(?i:flushall|flushdb)\b|(?:^|[;&|(\n]|\bsudo)[ \t]*dropdb[ \t]+\S+|\bgcloud\b[^\n;&|]*[ \t]delete\b|\baz\b[ \t][^\n;&|]*[ \t]delete\b|\bgsutil\b[^\n;&|]*[ \t](?:rm[ \t]+(?:-\w+[ \t]+)*-[rR]|rb)\b|\bhelm[ \t]+(?:uninstall|delete|del)\b|\b(?:zfs|zpool)[ \t]+destroy\b`)
	otherRemoval  = doc.Pattern(`\bfind[ \t]+["']?(?:/(?:etc|usr|home|var|root|opt|srv)?/?|~/?|\$\{?\w+\}?/?)["']?[ \t][^\n;|]*(?:-delete\b|-exec[ \t]+rm\b)|(?i:\bremove-item\b[^\n;|]*-recurse\b[^\n;|]*[ \t"'](?:[a-z]:[\\/]?\*?|/|~|\$home|\$env:(?:userprofile|systemroot|systemdrive|programfiles))[\\/]?(?:["' \t\n*]|$)|\b(?:del|erase|rd|rmdir)\b[^\n;&|]*/s\b[^\n;&|]*[ \t"'][a-z]:\\?(?:\*|["' \t\r\n]|$)|\bformat[ \t]+[a-z]:)`)
)

var (
	rootTarget = doc.Pattern(`^(?:/+\*?|/+(?:etc|usr|bin|sbin|home|var|root|boot|lib|lib64|opt|sys|dev|proc|srv|Users|System|Library|Applications)/*\*?|~[\w-]*/*\*?|\*|\.\.?/?\*?|\./\*|[A-Za-z]:[\\/]*\*?|%[A-Za-z]\w*%.*)$`)
	variable   = doc.Pattern(`^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})(?:/.*)?$`)
)

// removesTooMuch reports whether a removal is both forced and recursive, however
// that is spelt, and of something that is too much.
func removesTooMuch(s *source, start, end int) bool {
	var force, recursive, target bool
	plain := strings.NewReplacer(`"`, "", "'", "", "`", "").Replace(string(s.text[start:end]))
	for _, word := range strings.Fields(plain)[1:] {
		word = strings.TrimRight(word, ",)]}\\")
		switch {
		case word == "--force":
			force = true
		case word == "--recursive":
			recursive = true
		case strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--"):
			force = force || strings.Contains(word, "f")
			recursive = recursive || strings.ContainsAny(word, "rR")
		case word == "--no-preserve-root":
			target = true
		default:
			target = target || tooMuch(word, variable())
		}
	}
	return force && recursive && target
}

// tooMuch judges one target. The closing brace of a variable is cut with others.
func tooMuch(word string, variable *regexp.Regexp) bool {
	if strings.HasPrefix(word, "${") && !strings.Contains(word, "}") {
		word += "}"
	}
	return word != "" && word != "." && word != ".." && rootTarget().MatchString(word) || variable.MatchString(word)
}
