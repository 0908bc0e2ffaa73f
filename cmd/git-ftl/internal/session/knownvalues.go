package session

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/snapshot"
)

// known is what a linter is told of the user's real secrets.
type known struct {
	values  []lint.Value
	skipped []string // what could not be had, so that it is not looked for
}

// envFilesState lists the env files that the newest snapshot left out.
const envFilesState = "envfiles"

// known gathers the user's secrets without asking anybody anything: a vault that
// does not open at once is skipped, and that is said.
func (s *Session) known(ctx context.Context) known {
	var k known
	var v Vault
	project := Project(s.Repo)
	if s.Peek != nil {
		var err error
		if v, err = s.Peek(ctx, project); err != nil {
			k.skipped = append(k.skipped, fmt.Sprintf("real values of the vault were not looked for: %v", err))
		}
	}
	if v.Mint == nil && project != "" {
		v.Mint, _ = s.ownMint(project) // where it is missing, so are the tools' credentials
	}
	var all []shadow.Sought
	for _, kept := range v.Kept {
		all = append(all, shadow.Sought{Name: kept.Name, Value: kept.Value, Chosen: true})
	}
	for _, name := range s.Config.HostSecrets() {
		value, _ := s.variable(name)
		all = append(all, shadow.Sought{Name: name, Value: shadow.NewSecret(value), Chosen: true})
	}
	if s.Tools != nil && v.Mint != nil {
		for _, c := range s.Tools(v.Mint).Credentials {
			all = append(all, shadow.Sought{Name: c.Name, Value: c.Real})
		}
	}
	files, err := s.soughtInFiles(s.envFiles())
	if err != nil {
		k.skipped = append(k.skipped, fmt.Sprintf("real values of env files were not looked for: %v", err))
	}
	k.values = valuesOf(append(all, files...))
	return k
}

// envFiles are those at the top, and those that the newest snapshot left out.
func (s *Session) envFiles() []string {
	remembered, _ := s.Repo.ReadState(envFilesState)
	names := strings.FieldsFunc(string(remembered), func(r rune) bool { return r == 0 })
	entries, _ := os.ReadDir(s.Repo.Dir)
	for _, e := range entries {
		if snapshot.IsEnvFile(e.Name()) && !slices.Contains(names, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names[:min(len(names), maxEnvFiles)]
}

// valuesOf are secrets as a linter wants them.
func valuesOf(all []shadow.Sought) []lint.Value {
	var values []lint.Value
	for _, k := range all {
		if needles := k.Needles(); len(needles) > 0 {
			values = append(values, lint.Value{Name: k.Name, Needles: needles})
		}
	}
	return values
}

// rememberEnvFiles notes which env files there are, for linters that have no
// snapshot at hand.
func (s *Session) rememberEnvFiles(left []snapshot.LeftOut) {
	var names []string
	for _, l := range left {
		if l.Why == snapshot.WhyEnv {
			names = append(names, l.Path)
		}
	}
	text := strings.Join(names, "\x00")
	if was, _ := s.Repo.ReadState(envFilesState); string(was) != text {
		_ = s.Repo.WriteState(envFilesState, []byte(text)) // without it a linter knows those at the top alone
	}
}
