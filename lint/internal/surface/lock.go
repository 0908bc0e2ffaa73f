package surface

import (
	"bytes"
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// lockFile says where a kind of lock file has addresses, and which hosts its
// package manager uses unless it is told otherwise.
type lockFile struct {
	files globs
	key   func() *regexp.Regexp // of the JSON values that are addresses; nil is a text
	usual string
}

var locks = sync.OnceValue(lockFiles)

func lockFiles() []lockFile {
	return []lockFile{
		{files: paths(`package-lock.json npm-shrinkwrap.json .package-lock.json`), key: resolvedKey, usual: "https://registry.npmjs.org"},
		{files: paths(`composer.lock`), key: sourceKey, usual: "https://github.com https://api.github.com https://repo.packagist.org"},
		{files: paths(`pipfile.lock`), key: anyURLKey, usual: "https://pypi.org https://pypi.python.org"},
		{files: paths(`packages.lock.json project.assets.json paket.lock`), key: anyURLKey, usual: "https://api.nuget.org"},
		{files: paths(`flake.lock`), key: anyURLKey, usual: "https://github.com https://api.github.com"},
		{files: paths(`yarn.lock pnpm-lock.yaml bun.lock`), usual: "https://registry.yarnpkg.com https://registry.npmjs.org"},
		{files: paths(`cargo.lock`), usual: "registry+https://github.com sparse+https://index.crates.io"},
		{files: paths(`poetry.lock uv.lock pdm.lock pylock.toml pylock.*.toml`), usual: "https://pypi.org https://files.pythonhosted.org"},
		{files: paths(`gemfile.lock gems.locked`), usual: "https://rubygems.org"},
		{files: paths(`pubspec.lock`), usual: "https://pub.dev https://pub.dartlang.org"},
		{files: paths(`mix.lock podfile.lock package.resolved`), usual: "https://repo.hex.pm https://cdn.cocoapods.org https://github.com"},
	}
}

var (
	resolvedKey = doc.Pattern(`/(?:resolved|tarball|from|version)$`)
	sourceKey   = doc.Pattern(`/(?:source|dist)/(?:url|mirrors(?:/url)?)$`)
	anyURLKey   = doc.Pattern(`/(?:url|git|file|resolved|path|source)$`)
	origin      = doc.Pattern(`^((?:[a-zA-Z]+\+)?[a-zA-Z]+://)(?:[^/?#]*@)?([^/?#]*)|^(?:[\w.-]+@)([\w.-]+):`)
)

// lock blocks a package that comes from a host from which the base's lock file
// took none: it is fetched, and run, before anybody looks, and the hash beside it
// only says that it is what the author of the lock file wanted. Ordinary updates
// stay with their hosts, so this is rare.
func (s *scan) lock() {
	for _, f := range locks() {
		if !f.files.match(s.names, false) {
			continue
		}
		if s.Part {
			s.unread("too large to be read whole: its addresses were not compared")
			return
		}
		known := map[string]bool{}
		for a := range f.addresses(s.Was) {
			known[originOf(a.value)] = true
		}
		if len(known) == 0 {
			for usual := range strings.FieldsSeq(f.usual) {
				known[usual] = true
			}
		}
		for a := range f.addresses(s.Text) {
			from := originOf(a.value)
			if known[from] {
				continue
			}
			known[from] = true
			s.list.Add(doc.Hit{
				Rule: "manifest/lock-host", Severity: doc.Block, Anywhere: true, Start: a.start, End: a.end, Match: []byte(from),
				Message: "a package from a host that the lock file did not use before", Remedy: "make sure that the host is the one that you mean",
			})
		}
	}
}

// addresses yields the addresses of a lock file.
func (f lockFile) addresses(text []byte) iter.Seq[leaf] {
	if f.key == nil {
		return textAddresses(text)
	}
	return func(yield func(leaf) bool) {
		for l := range leaves(text) {
			if f.key().MatchString(l.key) && originOf(l.value) != "" && !yield(l) {
				return
			}
		}
	}
}

// textAddresses yields the addresses behind a key that names where a package
// comes from, on its line or the one before.
func textAddresses(text []byte) iter.Seq[leaf] {
	return func(yield func(leaf) bool) {
		for i := 0; i < len(text); {
			n := bytes.IndexAny(text[i:], ":@")
			if n < 0 {
				return
			}
			i += n + 1
			if !bytes.HasPrefix(text[i:], []byte("//")) && !bytes.HasSuffix(text[:i], []byte("git@")) {
				continue
			}
			start := i - 1
			for start > 0 && strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+", text[start-1]) >= 0 && i-start < 32 {
				start--
			}
			for i < len(text) && text[i] > ' ' && strings.IndexByte(`"'<>)}],`, text[i]) < 0 {
				i++
			}
			if namesSource(text[max(0, start-200):start]) && !yield(leaf{"", string(text[start:i]), start, i}) {
				return
			}
		}
	}
}

// namesSource reports whether what stands before an address has such a key.
func namesSource(before []byte) bool {
	before = bytes.TrimRight(before, " \t\r\n\"'")
	line := bytes.ToLower(before[bytes.LastIndexByte(before, '\n')+1:])
	for _, key := range []string{"resol", "tarball", "repo", "registry", "source", "url", "git", "remote", "location", "path"} {
		if bytes.Contains(line, []byte(key)) {
			return true
		}
	}
	return false
}

// originOf is the scheme and host of an address, "" if it names none. A plain
// http address is another origin than the same host's https one.
func originOf(address string) string {
	m := origin().FindStringSubmatch(strings.TrimSpace(address))
	switch {
	case m == nil:
		return ""
	case m[3] != "":
		return "ssh://" + strings.ToLower(m[3])
	}
	return strings.ToLower(m[1] + m[2])
}
