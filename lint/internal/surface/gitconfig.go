package surface

import (
	"sync"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// gitSection matches a key of git's configuration that names a program, or more
// configuration, in the section where git heeds it. Source: git-config(1).
var gitSection = doc.Pattern(`(?i)\[[ \t]*(?:` +
	`include(?:if[ \t]+"[^"\n]*")?[ \t]*\][^\[]*?\bpath[ \t]*=[^\n]*` +
	`|core[ \t]*\][^\[]*?\b(?:hookspath|fsmonitor|sshcommand|askpass|gitproxy|pager|editor|attributesfile|worktree)[ \t]*=[^\n]*` +
	`|(?:filter|diff|merge|difftool|mergetool|browser|man)(?:\.|[ \t]+")[^\]\n]*\][^\[]*?\b(?:clean|smudge|process|textconv|driver|command|cmd|path)[ \t]*=[^\n]*` +
	`|alias(?:\.|[ \t]*\])[^\[]*?=[ \t]*"?![^\n]*` +
	`|credential\b[^\]\n]*\][^\[]*?\bhelper[ \t]*=[^\n]*` +
	`|(?:url|remote)(?:\.|[ \t]+")[^\]\n]*\][^\[]*?\b(?:insteadof|pushinsteadof|vcs|uploadpack|receivepack)[ \t]*=[^\n]*` +
	`|gpg\b[^\]\n]*\][^\[]*?\bprogram[ \t]*=[^\n]*` +
	`|submodule[ \t]+"[^\]\n]*\][^\[]*?\bupdate[ \t]*=[ \t]*"?![^\n]*` +
	`|sequence[ \t]*\][^\[]*?\beditor[ \t]*=[^\n]*` +
	`|interactive[ \t]*\][^\[]*?\bdifffilter[ \t]*=[^\n]*` +
	`|init[ \t]*\][^\[]*?\btemplatedir[ \t]*=[^\n]*)`)

var notConfig = sync.OnceValue(func() globs { return paths("*.json *.lock *.xml *.csv *.map *.yml *.yaml *.html") })

// gitConfig blocks files that read like git's configuration, whatever their name:
// one include line elsewhere makes git obey them. Where the user's own git
// includes one already it is watched, so that formats in which a person would
// not look for it are passed over here.
func (s *scan) gitConfig() {
	if s.isCode() || s.isProse() || notConfig().match(s.names, false) || s.row.name == "surface/git-config" || s.Part || len(s.Text) > maxConfig {
		return
	}
	for _, m := range gitSection().FindAllIndex(s.Text, -1) {
		s.list.Add(doc.Hit{
			Rule: "surface/git-config", Severity: doc.Block, Start: m[0], End: m[1],
			Message: "it reads like git's configuration and names a program or a file", Remedy: readIt,
		})
	}
}
