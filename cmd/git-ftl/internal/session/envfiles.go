package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/snapshot"
)

// Bounds of env files that the agent gets shadows of.
const (
	maxEnvFile  = 1 << 20 // bytes
	maxEnvFiles = 100
)

// whyUnread is of an env file that the agent sees nothing of.
const whyUnread = snapshot.WhyEnv + ", and this one cannot be read"

// envFile is an env file as the agent sees it.
type envFile struct {
	path string // in the repository
	text []byte // with shadows
}

// shadowFiles reads the env files that the snapshot left out, and makes what the
// agent gets in their place. What the user keeps of a name goes before what a file
// says of it.
func (r *run) shadowFiles(kept []Kept) error {
	root, err := os.OpenRoot(r.Repo.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range envPaths(r.snap.LeftOut) {
		data, ok := readEnv(root, name)
		if !ok {
			r.note(name + " cannot be read, so the agent has none")
			i := slices.IndexFunc(r.out.LeftOut, func(l snapshot.LeftOut) bool { return l.Path == name })
			if i >= 0 {
				r.out.LeftOut[i].Why = whyUnread
			}
			continue
		}
		text, lines := shadow.Shadowed(data,
			func(key string) bool { return slices.ContainsFunc(kept, func(k Kept) bool { return k.Name == key }) },
			func(key, value string) string { return r.shadowOf(kept, name, key, value) })
		for _, line := range lines {
			if line.Bad() {
				r.note(fmt.Sprintf("%s: line %d cannot be read; the agent does not see it", name, line.Number))
			}
		}
		r.secret.files = append(r.secret.files, envFile{name, text})
		r.secret.services = append(r.secret.services, services(lines)...)
	}
	return nil
}

// envPaths are the env files among what was left out, up to a bound.
func envPaths(left []snapshot.LeftOut) []string {
	var names []string
	for _, l := range left {
		if l.Why == snapshot.WhyEnv && len(names) < maxEnvFiles {
			names = append(names, l.Path)
		}
	}
	return names
}

// readEnv reads a regular file, or the env file of the repository that a link names:
// any other one is not meant to be shown line by line.
func readEnv(root *os.Root, name string) ([]byte, bool) {
	if to, err := root.Readlink(filepath.FromSlash(name)); err == nil {
		if name = path.Join(path.Dir(name), filepath.ToSlash(to)); filepath.IsAbs(to) || !strings.HasPrefix(path.Base(name), ".env") {
			return nil, false
		}
	}
	fi, err := root.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxEnvFile {
		return nil, false
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	return fromWide(data), err == nil && len(data) <= maxEnvFile
}

// fromWide is a text in UTF-8 that shells of Windows write in UTF-16, told by its first
// two bytes.
func fromWide(data []byte) []byte {
	order := map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian}[string(data[:min(2, len(data))])]
	if order == nil {
		return data
	}
	var units []uint16
	for data = data[2:]; len(data) >= 2; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return []byte(string(utf16.Decode(units)))
}

// shadowOf makes the shadow of one value of a file, and a credential of it. Two
// values of one name get two shadows: the second one's has the file in its name.
func (r *run) shadowOf(kept []Kept, file, name, value string) string {
	label := name
	for i := 0; ; i++ {
		at := slices.IndexFunc(r.secret.credentials, func(c shadow.Credential) bool { return c.Name == label })
		if at < 0 {
			break
		}
		if r.secret.credentials[at].Real.Reveal() == value {
			return r.secret.credentials[at].Shadow
		}
		label = fmt.Sprintf("%s (%s)", name, file)
		if i > 0 {
			label = fmt.Sprintf("%s (%s, %d)", name, file, i)
		}
	}
	k := Kept{Name: name, Value: shadow.NewSecret(value)}
	i := slices.IndexFunc(kept, func(k Kept) bool { return k.Name == name })
	if i >= 0 {
		k.Binding = kept[i].Binding
	}
	c := shadow.Credential{Name: label, Real: k.Value, Shadow: r.secret.mint.Shadow(label, value), Binding: r.bound(k), Chosen: i >= 0}
	r.secret.credentials = append(r.secret.credentials, c)
	return c.Shadow
}

// writeFiles puts the env files into the workspace, where its git does not take
// them for something new.
func (r *run) writeFiles(ctx context.Context) error {
	var names strings.Builder
	for _, f := range r.secret.files {
		if err := r.put(ctx, path.Join(container.Workspace, f.path), bytes.NewReader(f.text)); err != nil {
			return fmt.Errorf("write shadows of %s: %w", f.path, err)
		}
		names.WriteString("/" + f.path + "\n")
	}
	if names.Len() == 0 {
		return nil
	}
	return r.pipe(ctx, strings.NewReader(names.String()), `mkdir -p .git/info && cat >> .git/info/exclude`)
}

// writeTools puts what package managers read into the agent's home, where the task
// finds nothing of its own.
func (r *run) writeTools(ctx context.Context) error {
	for _, f := range r.secret.tools.Files {
		if err := r.put(ctx, path.Join(container.Home, f.Path), bytes.NewReader(f.Content)); err != nil {
			return fmt.Errorf("write %s of the sandbox: %w", f.Path, err)
		}
	}
	return nil
}

// addedKeys names the variables that the agent added to env files; the values do
// not count, and nothing of it is applied.
func (r *run) addedKeys(ctx context.Context) {
	for _, f := range r.secret.files {
		var now bytes.Buffer
		exit, err := r.box.Run(ctx, container.Cmd{
			Argv: []string{"sh", "-c", `head -c "$1" < "$2"`, "sh", fmt.Sprint(maxEnvFile), "./" + f.path},
			Env:  agentEnv(r.image, ""), Stdout: &now,
		})
		if err != nil || exit.Code != 0 || now.Len() == maxEnvFile {
			continue
		}
		if added := shadow.Added(f.text, now.Bytes()); len(added) > 0 {
			r.note(fmt.Sprintf("the agent added %s to %s, which is not part of the result", strings.Join(added, ", "), f.path))
		}
	}
}

// dropEnvFiles takes out of a change what it does to files that stay outside: the
// agent saw shadows of them. Those were put there for it, and are no litter of its
// own.
func (r *run) dropEnvFiles(p *patch.Patch) {
	outside := func(path string) bool {
		return slices.ContainsFunc(r.out.LeftOut, func(l snapshot.LeftOut) bool { return l.Path == path && strings.HasPrefix(l.Why, snapshot.WhyEnv) })
	}
	p.Files = slices.DeleteFunc(p.Files, func(f patch.File) bool { return outside(f.Path) })
	r.out.Dropped = slices.DeleteFunc(r.out.Dropped, func(d Dropped) bool { return outside(d.Path) })
}
