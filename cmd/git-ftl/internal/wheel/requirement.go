package wheel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// requirement is a line of a package's Requires-Dist,
// packaging.python.org/en/latest/specifications/dependency-specifiers.
type requirement struct {
	text       string
	name       string // normal
	extras     []string
	conditions string // on the version, parted by commas
	marker     string // "" holds anywhere
}

var requirementText = lazyregexp.New(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([A-Za-z0-9._, -]*)\])?\s*(\([^()@;]*\)|[^()@;]*?)\s*(?:;(.*))?$`)

func parseRequirement(text string) (requirement, error) {
	m := requirementText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return requirement{}, fmt.Errorf("the requirement %q is not understood", text)
	}
	r := requirement{text: text, name: normal(m[1]), conditions: strings.Trim(m[3], "() "), marker: strings.TrimSpace(m[4])}
	for name := range strings.SplitSeq(m[2], ",") {
		if name = strings.TrimSpace(name); name != "" {
			r.extras = append(r.extras, normal(name))
		}
	}
	return r, nil
}

// exactVersion is what "==" may name: one version, no prefix.
var exactVersion = lazyregexp.New(`^==\s*([A-Za-z0-9][A-Za-z0-9._+!-]*)$`)

// pinned is the one version that a requirement allows.
func (r requirement) pinned() (string, error) {
	m := exactVersion.FindStringSubmatch(r.conditions)
	if m == nil || len(r.extras) > 0 {
		return "", fmt.Errorf("the requirement %q does not pin a version", r.text)
	}
	return m[1], nil
}

var separators = lazyregexp.New(`[-_.]+`)

// normal is a name as an index has it.
func normal(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

// environment are the variables of markers, for one interpreter. Those that only a
// running one knows are not among them.
func (p Python) environment() map[string]string {
	return map[string]string{
		"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux", "platform_machine": p.machine,
		"platform_python_implementation": "CPython", "implementation_name": "cpython",
		"python_version": p.short(), "python_full_version": p.Version, "implementation_version": p.Version,
	}
}

// holds evaluates a marker. What is not understood is an error, unless the marker is
// decided without it.
func (p Python) holds(marker string, extras []string) (bool, error) {
	if marker == "" {
		return true, nil
	}
	e := &evaluation{variables: p.environment(), extras: extras}
	err := e.split(marker)
	v := e.either()
	if len(e.words) > 0 {
		e.broken = cmp.Or(e.broken, errors.New("there is more behind it"))
	}
	if err = cmp.Or(err, e.broken, v.err); err != nil {
		return false, fmt.Errorf("the marker %q is not understood: %w", marker, err)
	}
	return v.met, nil
}

// verdict is what a part of a marker comes to; with an error it is not known.
type verdict struct {
	met bool
	err error
}

var markerWord = lazyregexp.New(`^(?:"[^"]*"|'[^']*'|[()]|[=<>!~]+|[A-Za-z_.]+)`)

// maxMarker bounds a marker, in bytes.
const maxMarker = 4096

// evaluation goes through the words of a marker.
type evaluation struct {
	words     []string
	variables map[string]string
	extras    []string
	broken    error // why it is no marker
}

func (e *evaluation) split(marker string) error {
	if len(marker) > maxMarker {
		return errors.New("it is too long")
	}
	for rest := strings.TrimSpace(marker); rest != ""; rest = strings.TrimSpace(rest) {
		word := markerWord.FindString(rest)
		if word == "" {
			return fmt.Errorf("%.20q is no word", rest)
		}
		e.words, rest = append(e.words, word), rest[len(word):]
	}
	return nil
}

func (e *evaluation) next() string {
	if len(e.words) == 0 {
		return ""
	}
	word := e.words[0]
	e.words = e.words[1:]
	return word
}

func (e *evaluation) take(word string) bool {
	if len(e.words) == 0 || e.words[0] != word {
		return false
	}
	e.words = e.words[1:]
	return true
}

func (e *evaluation) either() verdict {
	v := e.both()
	for e.take("or") {
		if o := e.both(); o.met || v.err == nil && !v.met {
			v = o
		}
	}
	return v
}

func (e *evaluation) both() verdict {
	v := e.one()
	for e.take("and") {
		if o := e.one(); o.err == nil && !o.met || v.err == nil && v.met {
			v = o
		}
	}
	return v
}

func (e *evaluation) one() verdict {
	if !e.take("(") {
		return e.comparison()
	}
	v := e.either()
	if !e.take(")") {
		e.broken = cmp.Or(e.broken, errors.New("a parenthesis is open"))
	}
	return v
}

func (e *evaluation) comparison() (v verdict) {
	left, operator := e.next(), e.next()
	if operator == "not" && e.take("in") {
		operator = "not in"
	}
	right := e.next()
	if right == "" {
		e.broken = cmp.Or(e.broken, errors.New("a word is missing"))
		return verdict{}
	}
	v.met, v.err = e.compare(left, operator, right)
	return v
}

func (e *evaluation) compare(left, operator, right string) (bool, error) {
	a, leftIs, err := e.value(left)
	if err != nil {
		return false, err
	}
	b, rightIs, err := e.value(right)
	if err != nil {
		return false, err
	}
	switch {
	case leftIs == "extra" || rightIs == "extra":
		return e.extra(operator, normal(a+b))
	case strings.HasSuffix(leftIs, "_version") && operator != "in" && operator != "not in":
		v, err := parseRelease(a)
		if err != nil {
			return false, err
		}
		return v.meets(operator, b)
	case strings.HasSuffix(rightIs, "_version"):
		return false, fmt.Errorf("%s stands on the right", rightIs)
	}
	return compareText(operator, a, b)
}

// value is a word's own, and the name of the variable that it is.
func (e *evaluation) value(word string) (text, variable string, err error) {
	if len(word) > 1 && (word[0] == '"' || word[0] == '\'') {
		return word[1 : len(word)-1], "", nil
	}
	text, ok := e.variables[word]
	if !ok && word != "extra" {
		return "", "", fmt.Errorf("%q is no variable", word)
	}
	return text, word, nil
}

func (e *evaluation) extra(operator, name string) (bool, error) {
	switch operator {
	case "==":
		return slices.Contains(e.extras, name), nil
	case "!=":
		return !slices.Contains(e.extras, name), nil
	}
	return false, fmt.Errorf("extra is compared by %q", operator)
}

func compareText(operator, a, b string) (bool, error) {
	switch operator {
	case "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	case "in":
		return strings.Contains(b, a), nil
	case "not in":
		return !strings.Contains(b, a), nil
	}
	return false, fmt.Errorf("texts are compared by %q", operator)
}
