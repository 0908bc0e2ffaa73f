package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/git-ftl/git-ftl/lint"
)

// byUser is who accepted what Waive was given.
const byUser = "user"

// waiver is a finding of a result that the user accepted.
type waiver struct {
	Rule string `json:"rule"`
	Path string `json:"path"`
	Line int    `json:"line"`
}

// waiversOf names the file of what was accepted of a result, or, with "", of what
// the user stages and commits.
func waiversOf(id string) string { return "waived/" + cmp.Or(id, "own") + ".json" }

// Waive accepts findings of a result, or, with "", of what the user stages: these
// bytes at these paths, and nothing that comes later.
func (s *Session) Waive(ctx context.Context, id string, findings []lint.Finding) error {
	unlock, err := s.Repo.Lock(ctx, "waived")
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.waivers(id)
	if err != nil {
		return err
	}
	for _, f := range findings {
		all[f.ID] = waiver{f.Rule, f.Path, f.Line}
	}
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return s.Repo.WriteState(waiversOf(id), append(data, '\n'))
}

func (s *Session) waivers(id string) (map[string]waiver, error) {
	all := map[string]waiver{}
	data, err := s.Repo.ReadState(waiversOf(id))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was accepted of %s: %w", id, err)
	}
	return all, nil
}

// waived are the accepted findings of a result. What cannot be read accepts
// nothing.
func (s *Session) waived(id string) map[string]string {
	by := map[string]string{}
	all, _ := s.waivers(id)
	for finding := range all {
		by[finding] = byUser
	}
	return by
}

// Renew puts what is found of a result now into its record, where it has one: a
// foreign result has none.
func (s *Session) Renew(ctx context.Context, id string, report lint.Report) error {
	_, err := s.revise(ctx, id, func(o *Outcome) error {
		o.Findings, o.Blocked = append(report.Findings, o.Egress.findings()...), report.Blocked()
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
