package registry

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Names of properties that say where a registry is, and with which login:
// nexusUrl, nexusUsername, nexusPassword; artifactory_contextUrl, artifactory_user.
var (
	gradleURL   = lazyregexp.New(`(?i)^([a-z0-9._-]*(repo|maven|nexus|artifactory|registry)[a-z0-9._-]*?)[._-]?(context)?[._-]?ur[li]$`)
	gradleUser  = lazyregexp.New(`(?i)^([a-z0-9._-]+?)[._-]?(username|user|login)$`)
	gradlePass  = lazyregexp.New(`(?i)^([a-z0-9._-]+?)[._-]?(password|pass|token|apikey|api_key)$`)
	gradleAt    = lazyregexp.New(`\burl\s*(?:=|\.set\s*\()?\s*(?:uri\s*)?\(?\s*["'](https?://[^"'\s$]+)["']`)
	gradlePlain = lazyregexp.New(`^[A-Za-z0-9._@+-]*$`)
)

// gradle reads gradle.properties, and of init scripts the URLs of repositories.
// What a script does with them is not known, so the public ones stay.
func (r *reader) gradle() {
	r.standard("gradle")
	home := r.path("GRADLE_USER_HOME", ".gradle")
	text, at := r.read(path.Join(home, "gradle.properties"))
	all := parseProperties(text, at)
	var lines []string
	for _, s := range all {
		if m := gradleURL.FindStringSubmatch(s.key); m != nil && s.value != "" {
			lines = append(lines, r.gradleRegistry(s, m[1], all)...)
		}
	}
	r.write(".gradle/gradle.properties", lines)
	for _, script := range r.scripts(home) {
		text, at := r.read(script)
		for i, line := range strings.Split(text, "\n") {
			for _, m := range gradleAt.FindAllStringSubmatch(line, -1) {
				r.name(named{tool: "gradle", url: m[1], at: where{at.file, i + 1}})
			}
		}
	}
}

// gradleRegistry takes in a URL with the login whose names begin alike.
func (r *reader) gradleRegistry(url setting, base string, all []setting) []string {
	p, l, err := parsePlace(url.value)
	if err != nil {
		r.note(url.at, err.Error())
		return nil
	}
	r.count("gradle", p)
	lines := []string{url.key + "=" + p.url(r.hide("gradle", p, l, url.at))}
	user, password := ofBase(gradleUser, base, all), ofBase(gradlePass, base, all)
	if password.value == "" {
		return lines
	}
	hidden := r.hide("gradle", p, login{user.value, password.value}, password.at)
	if !gradlePlain.MatchString(hidden.user) {
		r.note(user.at, "credential left out: its user has characters that would have to be quoted")
		return lines
	}
	if hidden != (login{}) && user.key != "" {
		lines = append(lines, user.key+"="+hidden.user)
	}
	if hidden.password != "" {
		lines = append(lines, password.key+"="+hidden.password)
	}
	return lines
}

// ofBase is the setting whose name is a base with one of the ends of a pattern.
func ofBase(pattern *lazyregexp.Regexp, base string, all []setting) setting {
	for _, s := range all {
		if m := pattern.FindStringSubmatch(s.key); m != nil && strings.EqualFold(m[1], base) {
			return s
		}
	}
	return setting{}
}

// scripts are the init scripts of the user, in order.
func (r *reader) scripts(home string) []string {
	all := []string{path.Join(home, "init.gradle"), path.Join(home, "init.gradle.kts")}
	dir, err := r.src.Open(path.Join(home, "init.d"))
	if err != nil {
		return all
	}
	defer func() { _ = dir.Close() }()
	list, ok := dir.(fs.ReadDirFile)
	if !ok {
		return all
	}
	entries, _ := list.ReadDir(maxHosts) // what cannot be listed is not there
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".gradle") || strings.HasSuffix(e.Name(), ".gradle.kts") {
			all = append(all, path.Join(home, "init.d", e.Name()))
		}
	}
	return all
}

// parseProperties reads a Java properties file as far as registries need it: no
// values over several lines, and of escapes those of single characters.
func parseProperties(text string, at where) []setting {
	var all []setting
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		if s, ok := assign(line, true); ok {
			s.at = where{at.file, i + 1}
			s.value = unescapeProperty(s.value)
			all = append(all, s)
		}
	}
	return lastOnes(all)
}

func unescapeProperty(value string) string {
	var out strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) && strings.IndexByte(`\:=#! `, value[i+1]) >= 0 {
			i++
		}
		out.WriteByte(value[i])
	}
	return out.String()
}
