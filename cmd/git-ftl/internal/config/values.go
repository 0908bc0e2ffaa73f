package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

type setter = func(*Config, []string) error

func text(field func(*Config) *string) setter {
	return func(c *Config, v []string) error {
		*field(c) = v[len(v)-1]
		return nil
	}
}

// parsed is text that has one form of several.
func parsed(field func(*Config) *string, parse func(string) (string, error)) setter {
	return func(c *Config, v []string) error {
		text, err := parse(v[len(v)-1])
		if err == nil {
			*field(c) = text
		}
		return err
	}
}

// overrides reads values of the form PATTERN=LANGUAGE.
func overrides(c *Config, v []string) error {
	var all []language.Override
	for _, text := range v {
		o, err := language.ParseOverride(text)
		if err != nil {
			return err
		}
		all = append(all, o)
	}
	c.Languages = all
	return nil
}

func showOverrides(c *Config) string {
	var all []string
	for _, o := range c.Languages {
		all = append(all, o.String())
	}
	return strings.Join(all, " ")
}

func oneOf(field func(*Config) *string, allowed ...string) setter {
	return func(c *Config, v []string) error {
		last := v[len(v)-1]
		if !slices.Contains(allowed, last) {
			return fmt.Errorf("%q is not one of: %s", last, strings.Join(allowed, ", "))
		}
		*field(c) = last
		return nil
	}
}

func list(field func(*Config) *[]string) setter {
	return func(c *Config, v []string) error {
		*field(c) = slices.Clone(v)
		return nil
	}
}

// hosts reads names that stand alone, or with commas or spaces between. What is no
// host is said by who opens the way out.
func hosts(field func(*Config) *[]string) setter {
	return func(c *Config, v []string) error {
		*field(c) = apart(v)
		return nil
	}
}

// apart takes apart what stands with commas or spaces between.
func apart(v []string) []string {
	return strings.FieldsFunc(strings.Join(v, ","), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// variable is a name that an environment can have.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variables reads names that stand alone, or with commas or spaces between. What
// is no name is not repeated: it may be a value.
func variables(field func(*Config) *[]string) setter {
	return func(c *Config, v []string) error {
		names := apart(v)
		slices.Sort(names)
		names = slices.Compact(names)
		if i := slices.IndexFunc(names, func(n string) bool { return !variable.MatchString(n) }); i >= 0 {
			return fmt.Errorf("number %d in the order of the alphabet is not the name of a variable", i+1)
		}
		*field(c) = names
		return nil
	}
}

func size(field func(*Config) *int64) setter {
	return func(c *Config, v []string) error {
		n, err := ParseSize(v[len(v)-1])
		if err == nil {
			*field(c) = n
		}
		return err
	}
}

func number(field func(*Config) *float64) setter {
	return func(c *Config, v []string) error {
		n, err := strconv.ParseFloat(v[len(v)-1], 64)
		if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
			return fmt.Errorf("%q is not a number of 0 or more", v[len(v)-1])
		}
		*field(c) = n
		return nil
	}
}

// boolean reads the words that git takes for a truth value.
func boolean(field func(*Config) *bool) setter {
	return func(c *Config, v []string) error {
		switch last := strings.ToLower(v[len(v)-1]); last {
		case "true", "yes", "on", "1", "":
			*field(c) = true
		case "false", "no", "off", "0":
			*field(c) = false
		default:
			return fmt.Errorf("%q is not true or false", last)
		}
		return nil
	}
}

func duration(field func(*Config) *time.Duration) setter {
	return func(c *Config, v []string) error {
		d, err := ParseDuration(v[len(v)-1])
		if err == nil {
			*field(c) = d
		}
		return err
	}
}

// ParseDuration reads "90s", "30m", "1h30m", and a bare number as seconds.
func ParseDuration(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time such as 90s, 30m or 2h", s)
	}
	return d, nil
}

const day = 24 * time.Hour

func days(field func(*Config) *time.Duration) setter {
	return func(c *Config, v []string) error {
		d, err := parseDays(v[len(v)-1])
		if err == nil {
			*field(c) = d
		}
		return err
	}
}

// parseDays reads "30", "30d" and "720h": a bare number is days.
func parseDays(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(strings.TrimSuffix(s, "d"), 10, 16); err == nil {
		return time.Duration(n) * day, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time such as 30d or 12h", s)
	}
	return d, nil
}

func formatDays(d time.Duration) string {
	if d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	return d.String()
}

// ParseSize reads bytes with an optional unit k, m, g or t (powers of 1024;
// "kb", "MiB" and the like are the same).
func ParseSize(s string) (int64, error) {
	bad := fmt.Errorf("%q is not a size such as 512m or 4g", s)
	low := strings.ToLower(strings.TrimSpace(s))
	low = strings.TrimSuffix(strings.TrimSuffix(low, "b"), "i")
	shift := 0
	if i := strings.IndexAny(low, "kmgt"); i >= 0 && i == len(low)-1 {
		shift = 10 * (1 + strings.IndexByte("kmgt", low[i]))
		low = strings.TrimSpace(low[:i])
	}
	n, err := strconv.ParseFloat(low, 64)
	if err != nil || n < 0 || math.IsNaN(n) {
		return 0, bad
	}
	bytes := n * float64(int64(1)<<shift)
	if bytes >= math.MaxInt64 {
		return 0, errors.Join(bad, errors.New("it is too large"))
	}
	return int64(bytes), nil
}

// FormatSize writes bytes for people: "512 MiB", "1.5 GiB"; "default" for 0.
func FormatSize(n int64) string {
	if n == 0 {
		return "default"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + " " + units[i]
}
