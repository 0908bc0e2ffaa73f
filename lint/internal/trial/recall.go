package trial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/credential"
	"github.com/git-ftl/git-ftl/shadow"
)

// Row is what was found of one kind.
type Row struct {
	Name      string
	Found, Of int      // samples that should be found
	False     int      // findings where nothing is
	Clean     int      // samples where nothing is
	Wrong     []string // the samples that were missed or told for nothing
}

// Recall is the share that was found.
func (r Row) Recall() float64 { return share(r.Found, r.Of) }

// Precision is the share of what was told that is true.
func (r Row) Precision() float64 { return share(r.Found, r.Found+r.False) }

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

func (r *Row) found(ok bool, what string) {
	r.Of++
	if ok {
		r.Found++
		return
	}
	r.Wrong = append(r.Wrong, "missed: "+what)
}

// clean counts a sample where nothing is.
func (r *Row) clean(findings []lint.Finding, counts func(lint.Finding) bool, what string) {
	r.Clean++
	for _, f := range findings {
		if counts(f) {
			r.False++
			r.Wrong = append(r.Wrong, fmt.Sprintf("false: %s in %s", f.Rule, what))
		}
	}
}

// tiers are the rules on credentials that no provider shaped.
var tiers = [][]string{
	{"private keys, web tokens", "credential/private-key", "credential/putty-key", "credential/jwt"},
	{"generic, passwords, URLs", "credential/generic", "credential/password", "credential/url", "credential/authorization", "credential/connection-string"},
}

// tier is the row that a rule belongs to: 0 is the providers'.
func tier(rule string) int {
	return 1 + slices.IndexFunc(tiers, func(t []string) bool { return slices.Contains(t[1:], rule) })
}

// Credentials plants n tokens of every kind, and what only looks like one.
func Credentials(seed uint64, n int) ([]Row, error) {
	l := lint.New(lint.Options{Now: now})
	rows := []Row{{Name: "tokens of providers"}, {Name: tiers[0][0]}, {Name: tiers[1][0]}}
	samples := corpus.Samples(seed, n)
	found, err := each(l, planted(samples))
	if err != nil {
		return nil, err
	}
	for i, s := range samples {
		rows[tier(s.Rule)].found(has(found[i], s.Rule), s.Rule+" in "+s.Path)
	}
	samples = corpus.Clean(seed, n)
	if found, err = each(l, planted(samples)); err != nil {
		return nil, err
	}
	for i, s := range samples {
		for t := range rows {
			rows[t].clean(found[i], func(f lint.Finding) bool { return families(f, "credential") && tier(f.Rule) == t }, s.What)
		}
	}
	return rows, nearly(l, seed, &rows[0])
}

// nearly plants what is one step away from a token of each kind.
func nearly(l *lint.Linter, seed uint64, row *Row) error {
	r := rand.New(rand.NewPCG(seed, 6))
	for _, kind := range credential.Rows() {
		samples := corpus.Misses(r, kind)
		found, err := each(l, planted(samples))
		if err != nil {
			return err
		}
		for i, s := range samples {
			row.clean(found[i], func(f lint.Finding) bool { return f.Rule == "credential/"+kind.Name }, kind.Name+", "+s.What)
		}
	}
	return nil
}

func planted(samples []corpus.Sample) []corpus.Planted {
	var all []corpus.Planted
	for _, s := range samples {
		all = append(all, corpus.Planted{Rule: s.Rule, Path: s.Path, Text: s.Text})
	}
	return all
}

// secrets is how many values a user keeps.
const secrets = 50

// Values are made-up secrets that a user keeps, with a linter that knows them.
func Values(seed uint64) ([]corpus.ValueSample, *lint.Linter) {
	all := corpus.ValueSamples(rand.New(rand.NewPCG(seed, 7)), secrets)
	var values []lint.Value
	for i, s := range all {
		values = append(values, lint.Value{Name: fmt.Sprintf("KEY_%d", i), Needles: shadow.Needles(s.Text, true)})
	}
	return all, lint.New(lint.Options{Values: values, Now: now})
}

// Mutations writes each secret of a user down in each way, one row for each.
func Mutations(seed uint64) ([]Row, error) {
	all, l := Values(seed)
	var rows []Row
	for _, m := range corpus.ValueMutations() {
		row := Row{Name: m.Name}
		var files []corpus.Planted
		for _, s := range all {
			files = append(files, corpus.Planted{Path: "config.txt", Text: m.Write(s.Text)})
		}
		found, err := each(l, files)
		if err != nil {
			return nil, err
		}
		for i, s := range all {
			own := fmt.Sprintf("value of KEY_%d,", i)
			isOwn := func(f lint.Finding) bool {
				return f.Rule == "value/real" && f.Blocks() && strings.HasPrefix(f.Message, own)
			}
			row.found(slices.ContainsFunc(found[i], isOwn), s.Kind)
			row.clean(found[i], func(f lint.Finding) bool { return f.Rule == "value/real" && !isOwn(f) }, s.Kind)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Shadows writes shadows down in each way but those that turn them round or cut
// them.
func Shadows(seed uint64) (Row, error) {
	row := Row{Name: "shadows"}
	r := rand.New(rand.NewPCG(seed, 8))
	mint := shadow.NewMint(shadow.NewSecret(fmt.Sprint(r.Uint64(), r.Uint64())), "trial")
	var files []corpus.Planted
	for _, m := range corpus.ValueMutations() {
		if m.Name == "reversed" || m.Name == "first 80 %" {
			continue
		}
		for i, s := range corpus.ValueSamples(r, 15) {
			files = append(files, corpus.Planted{Path: "config.txt", Text: m.Write(mint.Shadow(fmt.Sprintf("KEY_%d", i), s.Text)), Rule: m.Name + ", " + s.Kind})
		}
	}
	l := lint.New(lint.Options{Now: now})
	found, err := each(l, files)
	if err != nil {
		return row, err
	}
	for i, f := range files {
		row.found(has(found[i], "value/shadow"), f.Rule)
	}
	samples := corpus.Clean(seed, 2)
	if found, err = each(l, planted(samples)); err != nil {
		return row, err
	}
	for i, s := range samples {
		row.clean(found[i], func(f lint.Finding) bool { return families(f, "value") }, s.What)
	}
	return row, nil
}

// Files plants files that rules must find, and harmless ones.
func Files(name string, files []corpus.Planted, of ...string) (Row, error) {
	row := Row{Name: name}
	found, err := each(lint.New(lint.Options{Now: now}), files)
	if err != nil {
		return row, err
	}
	for i, f := range files {
		if f.Rule != "" {
			row.found(has(found[i], f.Rule), fmt.Sprintf("%s in %q: %.60q", f.Rule, f.Path, f.Text))
			continue
		}
		row.clean(found[i], func(f lint.Finding) bool { return families(f, of...) }, fmt.Sprintf("%q: %.60q", f.Path, f.Text))
	}
	return row, nil
}

// Bypasses tries each. What is found is what was blocked.
func Bypasses(seed uint64) ([]Row, error) {
	var rows []Row
	l := lint.New(lint.Options{Now: now})
	for _, b := range corpus.Bypasses(seed) {
		report, err := Look(l, b.Files)
		if err != nil {
			return nil, err
		}
		row := Row{Name: b.Name}
		row.found(slices.ContainsFunc(report.Findings, func(f lint.Finding) bool { return f.Rule == "credential/github-pat" && f.Blocks() }), b.Name)
		rows = append(rows, row)
	}
	return rows, nil
}
