package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/snapshot"
)

// knowSecrets takes in what the user keeps, the variables that their settings name,
// and what their own tools are configured with. It comes before the snapshot, which
// holds none of these values.
func (r *run) knowSecrets(ctx context.Context) error {
	v, err := r.openVault(ctx)
	if err != nil {
		return err
	}
	r.secret.mint = v.Mint
	r.secret.kept = r.agentVariables(r.hostVariables(v.Kept))
	if r.Tools != nil {
		r.secret.tools = r.Tools(r.secret.mint)
	}
	return nil
}

// takeOptions are those of a task's snapshot: no file of it holds a value that is
// known.
func (r *run) takeOptions(id string) snapshot.Options {
	o := r.snapshotOptions(id)
	o.Scan = r.scanner
	return o
}

// scanner looks for what is known by now, for what the env files say that were left
// out, and for tokens of providers.
func (r *run) scanner(left []snapshot.LeftOut) (snapshot.Scanner, error) {
	var all []shadow.Sought
	for _, k := range r.secret.kept {
		all = append(all, shadow.Sought{Name: k.Name, Value: k.Value, Chosen: true})
	}
	for _, c := range r.secret.tools.Credentials {
		all = append(all, shadow.Sought{Name: c.Name, Value: c.Real})
	}
	files, err := r.soughtInFiles(envPaths(left))
	if err != nil {
		return snapshot.Scanner{}, err
	}
	r.secret.sought = append(all, files...)
	finder := r.secret.mint.Finder(r.secret.sought)
	accepted, err := r.acceptance(true) // the tree has the ignore file that is trusted
	if err != nil {
		return snapshot.Scanner{}, err
	}
	linter := lint.New(lint.Options{Now: r.Now()})
	return snapshot.Scanner{Generation: generation(finder, accepted), Look: func(from io.Reader) (string, error) {
		var head bytes.Buffer
		names, err := finder.Find(io.TeeReader(from, &limited{&head, maxTokens}))
		if err != nil || len(names) > 0 {
			return holding(names), err
		}
		path, text, _ := bytes.Cut(head.Bytes(), []byte("\n"))
		if token := linter.Tokens(string(path), text, accepted); token != "" {
			return whyToken + token, nil
		}
		return "", nil
	}}, nil
}

// maxTokens is how much of a file is searched for tokens of providers, in bytes.
const maxTokens = 10 << 20

// generation is another one where a scanner would say something else.
func generation(f *shadow.Finder, a lint.Acceptance) string {
	sum := sha256.New()
	fmt.Fprintln(sum, f.Generation(), lint.TokensVersion, a.Settings, slices.Sorted(maps.Keys(a.IDs)))
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// soughtInFiles are the secrets of env files, in every way that a program may read
// them.
func (s *Session) soughtInFiles(names []string) ([]shadow.Sought, error) {
	root, err := os.OpenRoot(s.Repo.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var all []shadow.Sought
	for _, name := range names {
		data, ok := readEnv(root, name)
		if !ok {
			continue // which is said where its shadows are made
		}
		for _, l := range shadow.ParseEnv(data) {
			if l.Plain {
				continue
			}
			label := l.Name
			if l.Bad() {
				label = fmt.Sprintf("line %d of %s", l.Number, name)
			}
			for _, value := range append(l.Readings, l.Value) {
				all = append(all, shadow.Sought{Name: label, Value: value})
			}
		}
	}
	return all, nil
}

// Holds reports whether a file was left out for a value that it holds.
func Holds(l snapshot.LeftOut) bool {
	return strings.HasPrefix(l.Why, whyHeld) || strings.HasPrefix(l.Why, whyToken)
}

const (
	whyHeld  = "holds the value of "
	whyToken = "holds what looks like a "
)

// holding says why a file that holds some values stays outside.
func holding(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return whyHeld + names[0]
	}
	last := len(names) - 1
	return whyHeld + strings.Join(names[:last], ", ") + " and " + names[last]
}
