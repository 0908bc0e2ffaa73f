package testrun

import (
	"slices"
	"strings"
)

// Verdict is what a test says of a change.
type Verdict struct {
	Path, Name string // Name is "" for the whole file
	State      string // passed, failed, invalid or skipped
	Proves     bool   // it failed before and passes now
	Detail     string // one sentence, "" where there is nothing to say
	Output     string // of the failure
}

// Verdicts.
const (
	verdictPassed  = "passed"
	verdictFailed  = "failed"
	verdictInvalid = "invalid"
	verdictSkipped = "skipped"
)

// Compare judges the cases of one written file by its runs on the base and on the
// result. A case that only one side has is compared with the other side's file.
func Compare(path string, base, result Report) []Verdict {
	if base.Missing != "" {
		return []Verdict{{Path: path, State: verdictSkipped, Detail: "the image lacks " + base.Missing}}
	}
	if result.Missing != "" {
		return []Verdict{{Path: path, State: verdictSkipped, Detail: "the image lacks " + result.Missing + "; it ran before the change"}}
	}
	if c, ok := wholly(result); ok && c.State != Passed && c.State != Skipped {
		before, _ := wholly(base)
		if !slices.ContainsFunc(base.Cases, func(c Case) bool { return c.State == Passed }) {
			return []Verdict{invalid(path, before, c)}
		}
		return []Verdict{{Path: path, State: verdictFailed, Detail: "ran before, and does not " + did(c) + " now", Output: c.Output}}
	}
	var verdicts []Verdict
	for _, c := range result.Cases {
		verdicts = append(verdicts, judge(path, counterpart(base, c.Name), c))
	}
	return append(verdicts, gone(path, base, result)...)
}

// gone are the cases that passed before and are not there now, though the file ended
// well: what it tests may have ended it. Names that change from run to run are not.
func gone(path string, base, result Report) (verdicts []Verdict) {
	if len(result.Cases) >= len(base.Cases) || slices.ContainsFunc(result.Cases, func(c Case) bool { return c.Name == "" }) {
		return nil
	}
	there := map[string]bool{}
	for _, c := range result.Cases {
		there[c.Name] = true
	}
	for _, c := range base.Cases {
		if c.State == Passed && c.Name != "" && !there[c.Name] {
			verdicts = append(verdicts, Verdict{Path: path, Name: c.Name, State: verdictSkipped, Detail: "ran before, and does not run now"})
		}
	}
	return verdicts
}

// wholly is the case that stands for a whole file, where there is no other.
func wholly(r Report) (Case, bool) {
	if len(r.Cases) == 1 && r.Cases[0].Name == "" {
		return r.Cases[0], true
	}
	return Case{}, false
}

func did(c Case) string {
	if c.State == Broken {
		return "start"
	}
	return "end well"
}

// counterpart is the case of that name, or what counts for it: the file.
func counterpart(r Report, name string) Case {
	for _, c := range r.Cases {
		if c.Name == name {
			return c
		}
	}
	for _, state := range []State{Broken, Failed} {
		if i := slices.IndexFunc(r.Cases, func(c Case) bool { return c.State == state }); i >= 0 {
			return Case{State: state}
		}
	}
	return Case{State: Passed}
}

func judge(path string, before, now Case) Verdict {
	v := Verdict{Path: path, Name: now.Name, State: verdictPassed}
	switch {
	case now.State == Skipped:
		v.State, v.Detail = verdictSkipped, "it skips itself"
		if now.Output != "" {
			v.Detail += ": " + clip(now.Output, maxName)
		}
	case now.State == Passed:
		v.Proves = before.bad()
		if before.State == Broken {
			v.Detail = "the file did not start before"
		}
	case before.bad():
		return invalid(path, before, now)
	default:
		v.State, v.Detail, v.Output = verdictFailed, "passed before", now.Output
		if before.State == Skipped {
			v.Detail = "was skipped before"
		} else if before.Name != now.Name {
			v.Detail = "the file passed before, which had no such case"
		}
	}
	return v
}

func invalid(path string, before, now Case) Verdict {
	detail := "fails on both"
	if before.State == Broken && now.State == Broken {
		detail = "starts on neither"
	}
	return Verdict{Path: path, Name: now.Name, State: verdictInvalid, Detail: detail, Output: now.Output}
}

// CompareOwn gives the failures of the project's own tests that the base did not
// have, and counts those that it had.
func CompareOwn(base, result Report) (failed []Verdict, before int) {
	known := map[string]bool{}
	var broken []string
	for _, c := range base.Cases {
		known[c.Name] = c.bad()
		if c.State == Broken {
			broken = append(broken, c.Name+" ")
		}
	}
	for _, c := range result.Cases {
		switch {
		case !c.bad():
		case known[c.Name], slices.ContainsFunc(broken, func(p string) bool { return strings.HasPrefix(c.Name, p) }):
			before++
		default:
			v := Verdict{Name: c.Name, State: verdictFailed, Output: c.Output}
			if c.State == Broken {
				v.Detail = "does not start"
			}
			failed = append(failed, v)
		}
	}
	return failed, before
}
