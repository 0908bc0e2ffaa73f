package session

import (
	"path/filepath"
	"strings"
)

// watched are the paths of the work tree that the user's own git config names: git
// would run or obey what a change puts there. Folders end in a slash.
func (s *Session) watched() map[string]string {
	all := map[string]string{}
	for _, l := range s.Config.Git {
		if origin, ok := strings.CutPrefix(l.Origin, "file:"); ok {
			s.watch(all, origin, "read by git: "+l.Name+" of its configuration stands here", "")
			s.watchValue(all, origin, l.Name, l.Value)
		}
	}
	return all
}

// watchValue adds the paths that a value names, and the file that it stands in
// where that is in the work tree.
func (s *Session) watchValue(all map[string]string, origin, name, value string) {
	section, _, _ := strings.Cut(name, ".")
	switch section {
	case "remote", "branch", "user", "submodule", "url", "ftl", "color", "gc":
		return
	}
	why := "what git runs or reads by " + name + " of its configuration"
	if strings.HasPrefix(name, "include.") || strings.HasPrefix(name, "includeif.") {
		s.watch(all, filepath.Join(filepath.Dir(origin), value), why, "")
		return
	}
	end := ""
	if strings.EqualFold(name, "core.hookspath") {
		end = "/"
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\"'`;&|<>()=!", r) }) {
		if end != "" || strings.ContainsAny(word, "/.\\") {
			s.watch(all, word, why, end)
		}
	}
}

// watch adds a path, where it is in the work tree and not in the git dir.
func (s *Session) watch(all map[string]string, path, why, end string) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Repo.Dir, path)
	}
	rel, err := filepath.Rel(s.Repo.Dir, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return
	}
	rel = filepath.ToSlash(rel)
	if rel == ".git" || strings.HasPrefix(rel, ".git/") {
		return
	}
	all[rel+end] = why
}
