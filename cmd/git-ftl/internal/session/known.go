package session

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

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

// scanner looks for what is known by now, and for what the env files say that were
// left out.
func (r *run) scanner(left []snapshot.LeftOut) (snapshot.Scanner, error) {
	var all []shadow.Sought
	for _, k := range r.secret.kept {
		all = append(all, shadow.Sought{Name: k.Name, Value: k.Value, Chosen: true})
	}
	for _, c := range r.secret.tools.Credentials {
		all = append(all, shadow.Sought{Name: c.Name, Value: c.Real})
	}
	files, err := r.soughtInFiles(left)
	if err != nil {
		return snapshot.Scanner{}, err
	}
	finder := r.secret.mint.Finder(append(all, files...))
	if finder.Empty() {
		return snapshot.Scanner{}, nil
	}
	return snapshot.Scanner{Generation: finder.Generation(), Look: func(from io.Reader) (string, error) {
		names, err := finder.Find(from)
		return holding(names), err
	}}, nil
}

// soughtInFiles are the secrets of env files, in every way that a program may read
// them.
func (r *run) soughtInFiles(left []snapshot.LeftOut) ([]shadow.Sought, error) {
	root, err := os.OpenRoot(r.Repo.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var all []shadow.Sought
	for _, name := range envPaths(left) {
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
func Holds(l snapshot.LeftOut) bool { return strings.HasPrefix(l.Why, whyHeld) }

const whyHeld = "holds the value of "

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
