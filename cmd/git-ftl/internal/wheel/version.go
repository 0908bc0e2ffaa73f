package wheel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// release is a version of numbers alone, packaging.python.org/en/latest/specifications/version-specifiers.
type release []int

// releaseText has no epoch and nothing behind the numbers: no interpreter that is
// looked for has either.
var releaseText = lazyregexp.New(`^[0-9]{1,9}(\.[0-9]{1,9}){0,5}$`)

func parseRelease(text string) (release, error) {
	if !releaseText.MatchString(text) {
		return nil, fmt.Errorf("%q is not a version of numbers", text)
	}
	var r release
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		r = append(r, n)
	}
	return r, nil
}

// compare takes what a version lacks for zero.
func (r release) compare(o release) int {
	for i := range max(len(r), len(o)) {
		if a, b := r.at(i), o.at(i); a != b {
			return a - b
		}
	}
	return 0
}

func (r release) at(i int) int {
	if i < len(r) {
		return r[i]
	}
	return 0
}

func (r release) begins(with release) bool {
	for i, n := range with {
		if r.at(i) != n {
			return false
		}
	}
	return true
}

// satisfies reports whether a version meets all of a list of conditions, such as
// ">=3.9, !=3.9.7". An empty list is met by any.
func (r release) satisfies(conditions string) (bool, error) {
	all := true
	for text := range strings.SplitSeq(conditions, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		operator := text[:len(text)-len(strings.TrimLeft(text, "=<>!~"))]
		met, err := r.meets(operator, strings.TrimSpace(text[len(operator):]))
		if err != nil {
			return false, err
		}
		all = all && met
	}
	return all, nil
}

// meets is one condition. What is not understood is an error.
func (r release) meets(operator, text string) (bool, error) {
	bare, prefix := strings.CutSuffix(text, ".*")
	if m := preview.FindStringSubmatch(text); m != nil {
		return r.meetsPreview(operator, m[1])
	}
	v, err := parseRelease(bare)
	if err != nil {
		return false, err
	}
	c := r.compare(v)
	switch {
	case prefix && operator == "==":
		return r.begins(v), nil
	case prefix && operator == "!=":
		return !r.begins(v), nil
	case prefix && operator != ">=": // older tools wrote that one for a bare one
		return false, fmt.Errorf("%q has no meaning", operator+text)
	case operator == "~=" && len(v) > 1:
		return c >= 0 && r.begins(v[:len(v)-1]), nil
	}
	met, ok := map[string]bool{"==": c == 0, "!=": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[operator]
	if !ok {
		return false, fmt.Errorf("%q is not a condition", operator+text)
	}
	return met, nil
}

// preview is a version before the one of its numbers.
var preview = lazyregexp.New(`^([0-9.]+)(?:a|b|rc|\.dev)[0-9]{1,9}$`)

// meetsPreview is meets for a version that is before that of its numbers, as r never
// is.
func (r release) meetsPreview(operator, numbers string) (bool, error) {
	switch operator {
	case ">", ">=":
		return r.meets(">=", numbers)
	case "<", "<=":
		return r.meets("<", numbers)
	case "==", "!=":
		_, err := parseRelease(numbers)
		return operator == "!=" && err == nil, err
	}
	return false, fmt.Errorf("%q is not a condition", operator+numbers)
}

// sameVersion compares versions of packages, whose spelling varies: in zeros at the
// end of the numbers, in case, and in what parts the rest.
func sameVersion(a, b string) bool { return spelled(a) == spelled(b) }

func spelled(version string) string {
	version = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(version)), "v")
	end := strings.IndexFunc(version, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
	if end < 0 {
		end = len(version)
	}
	numbers := strings.Split(strings.Trim(version[:end], "."), ".")
	for i, n := range numbers {
		numbers[i] = strings.TrimLeft(n, "0")
	}
	for len(numbers) > 0 && numbers[len(numbers)-1] == "" {
		numbers = slices.Delete(numbers, len(numbers)-1, len(numbers))
	}
	return strings.Join(numbers, ".") + "|" + strings.NewReplacer("-", "", "_", "", ".", "").Replace(version[end:])
}
