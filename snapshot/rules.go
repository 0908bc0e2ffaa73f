package snapshot

import (
	"path"
	"strings"
)

// Reasons for people.
const (
	WhyEnv        = "environment files stay outside"
	whyCredential = "untracked and named like a credential"
	whyIgnored    = "matched by .ftlignore"
	whyNested     = "a repository of its own"
	whyKind       = "neither a file nor a symbolic link"
	whyName       = "git refuses such a name"
	whyUnread     = "cannot be read: "

	whyNotInitialised = "a submodule that is not initialised: its folder is empty in the sandbox"
	whyNotFetched     = "a submodule whose commit is not on this machine: its folder is empty in the sandbox"
	whyModuleEdits    = "a submodule: edits inside are not in the sandbox, its committed files are"
	whyModuleUnknown  = "a repository of its own: its folder is empty in the sandbox"
)

// Files with rules of the user's own, in any folder.
const (
	ignoreFile  = ".ftlignore"
	includeFile = ".ftlinclude"
)

// rule names files by one pattern of path.Match on the lower-case base name, or
// on the name of any folder above it where the pattern ends in a slash. A
// pattern with a slash inside matches the last two names.
type rule struct {
	pattern   string
	untracked bool // only untracked files
	why       string
}

// nameRules is the table of what stays out by name. The user's own rules cannot
// bring any of these back.
func nameRules() []rule {
	rules := []rule{{".env", false, WhyEnv}, {".env.*", false, WhyEnv}}
	for _, p := range []string{".env~", ".env-*", ".env_*", "..env.sw?"} {
		rules = append(rules, rule{p, true, WhyEnv})
	}
	for _, p := range []string{
		"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.kdbx",
		"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
		".npmrc", ".netrc", "_netrc", ".pypirc", ".git-credentials", ".pgpass", ".envrc", ".vault-token",
		"credentials.json", "service-account*.json", "service_account*.json", ".docker/config.json",
		".aws/", ".ssh/", ".kube/", ".gnupg/",
	} {
		rules = append(rules, rule{p, true, whyCredential})
	}
	return rules
}

// plainEnv lists ends of environment files that hold no values.
func plainEnv() []string { return []string{".example", ".sample", ".template", ".dist", ".defaults"} }

// names applies nameRules.
type names struct {
	rules []rule
	plain []string
}

// IsEnvFile reports whether a file of this name, in any folder, holds values of an
// environment and stays out of every snapshot.
func IsEnvFile(name string) bool { return newNames().why(name, true) == WhyEnv }

func newNames() names { return names{nameRules(), plainEnv()} }

// why returns the reason that keeps a path out by its name, "" where none does.
func (n names) why(p string, tracked bool) string {
	p = strings.ToLower(p)
	dir, base := path.Split(p)
	for _, r := range n.rules {
		if r.untracked && tracked || !r.matches(dir, base) {
			continue
		}
		if r.why == WhyEnv && n.isPlain(base) {
			continue
		}
		return r.why
	}
	return ""
}

func (r rule) matches(dir, base string) bool {
	if folder, ok := strings.CutSuffix(r.pattern, "/"); ok {
		return strings.Contains("/"+dir, "/"+folder+"/")
	}
	if strings.Contains(r.pattern, "/") {
		return strings.HasSuffix("/"+dir+base, "/"+r.pattern)
	}
	ok, _ := path.Match(r.pattern, base) // the table's patterns are valid
	return ok
}

func (n names) isPlain(base string) bool {
	for _, end := range n.plain {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return false
}

// refusedByGit reports names that git skips without a word when asked to add
// them, so that they would stay out unnamed.
func refusedByGit(p string) bool {
	for part := range strings.SplitSeq(strings.ToLower(p), "/") {
		part = strings.TrimRight(part, ". ")
		if part == ".git" || part == "git~1" {
			return true
		}
	}
	return false
}

// isRules reports whether a path is a file with rules of the user's own.
func isRules(p string) bool {
	base := path.Base(p)
	return base == ignoreFile || base == includeFile
}

// isAttributes reports whether a path decides how git converts other files.
func isAttributes(p string) bool { return path.Base(p) == ".gitattributes" }
