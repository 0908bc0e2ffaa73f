package wheel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// wheelName is name-version(-build)-python-abi-platform.whl,
// packaging.python.org/en/latest/specifications/binary-distribution-format.
var wheelName = lazyregexp.New(`^([A-Za-z0-9._]+)-([A-Za-z0-9._+!]+)(?:-([0-9][A-Za-z0-9._]*))?-([A-Za-z0-9._]+)-([A-Za-z0-9._]+)-([A-Za-z0-9._]+)\.whl$`)

// maxName bounds the name of a wheel, in bytes: it is one of a file.
const maxName = 255

// sum is a SHA-256 in hexadecimal.
var sum = lazyregexp.New(`^[0-9a-f]{64}$`)

// choose is the file of a version that fits the interpreter best. Of an index
// without that version the error is errNone; else it says why none fits.
func (p Python) choose(links []link, name, version string) (link, error) {
	ranks := map[string]int{}
	for i, tag := range p.tags() {
		ranks[tag] = i
	}
	best, at, build := link{}, len(ranks), -1
	var why []string
	for _, l := range links {
		m := wheelName.FindStringSubmatch(l.name)
		if m == nil || len(l.name) > maxName {
			if isSource(l.name, name, version) {
				why = append(why, l.name+" is its source, and nothing is built")
			}
			continue
		}
		if normal(m[1]) != name || !sameVersion(m[2], version) {
			continue
		}
		rank := rankOf(ranks, m[4], m[5], m[6])
		if fault := p.fault(l, rank == len(ranks)); fault != "" {
			why = append(why, l.name+" "+fault)
			continue
		}
		if n := buildNumber(m[3]); rank < at || rank == at && n > build {
			best, at, build = l, rank, n
		}
	}
	switch {
	case best.url != nil:
		return best, nil
	case len(why) == 0:
		return link{}, errNone
	}
	return link{}, fmt.Errorf("no wheel of %s %s is for %s: %s", name, version, p, some(why))
}

// fault is why a wheel of the right version is not taken, "" where it is.
func (p Python) fault(l link, foreign bool) string {
	switch met, err := p.release().satisfies(l.python); {
	case foreign:
		return "is for another"
	case err != nil:
		return fmt.Sprintf("is for Python %.40q, which is not understood", l.python)
	case !met:
		return "is for Python " + l.python
	case !sum.MatchString(l.sha256):
		return "has no SHA-256 in its index"
	}
	return ""
}

// release is the version of the interpreter.
func (p Python) release() release {
	r, err := parseRelease(p.Version)
	if err != nil {
		return release{3, p.minor}
	}
	return r
}

// rankOf is the place of the closest tag among those that fit, their number where
// none does. Each part of a name may list several.
func rankOf(ranks map[string]int, python, abi, platform string) int {
	best := len(ranks)
	for py := range strings.SplitSeq(python, ".") {
		for a := range strings.SplitSeq(abi, ".") {
			for on := range strings.SplitSeq(platform, ".") {
				if i, ok := ranks[py+"-"+a+"-"+on]; ok {
					best = min(best, i)
				}
			}
		}
	}
	return best
}

// buildNumber is the leading number of a build tag, 0 for none.
func buildNumber(build string) int {
	digits := strings.IndexFunc(build, func(c rune) bool { return c < '0' || c > '9' })
	if digits < 0 {
		digits = len(build)
	}
	n, _ := strconv.Atoi(build[:digits])
	return n
}

// isSource reports whether a file is the source of a version.
func isSource(file, name, version string) bool {
	for _, end := range []string{".tar.gz", ".zip"} {
		stem, ok := strings.CutSuffix(file, end)
		at := strings.LastIndexByte(stem, '-')
		if ok && at > 0 && normal(stem[:at]) == name && sameVersion(stem[at+1:], version) {
			return true
		}
	}
	return false
}

// some are the first of what may be many.
func some(all []string) string {
	const enough = 3
	if len(all) > enough {
		all = append(slices.Clone(all[:enough]), fmt.Sprintf("and %d more", len(all)-enough))
	}
	return strings.Join(all, "; ")
}
