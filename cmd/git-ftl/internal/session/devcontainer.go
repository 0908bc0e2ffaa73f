package session

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/devcontainer"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// built notes which image the last task of a work tree had from a Dockerfile.
type built struct {
	From string `json:"from"` // Ref of the same without a context
	Ref  string `json:"ref"`
}

// builds reports whether tasks run in an image by the repository's own Dockerfile.
func (s *Session) builds() bool { return s.Config.Image == "" && s.Config.Container.Dockerfile != "" }

// lastBuilt is the image that the last task had by the same Dockerfile, "" where there
// was none.
func (s *Session) lastBuilt() string {
	if !s.builds() || s.Repo == nil {
		return ""
	}
	var b built
	data, err := s.Repo.ReadState(s.builtName())
	if err != nil || json.Unmarshal(data, &b) != nil || b.From != s.foreign().Ref() {
		return ""
	}
	return b.Ref
}

func (s *Session) builtName() string { return "devcontainer/" + s.Repo.Key() + ".json" }

func (s *Session) foreign() container.Foreign {
	c := s.Config.Container
	return container.Foreign{Dockerfile: c.File, Target: c.Target, Args: c.Args}
}

// buildContainer makes the image of the repository's own Dockerfile. What that copies
// is the snapshot's: nothing of the work tree that stays out of it, and nothing of an
// agent's that the user has not applied. Another image is made where one of these
// files is another.
func (r *run) buildContainer(ctx context.Context, e *container.DockerEngine, progress io.Writer) error {
	if !r.builds() {
		return nil
	}
	f := r.foreign()
	b := built{From: f.Ref()}
	files, err := r.copied(ctx)
	if err != nil {
		return err
	}
	if f.Owner, err = r.Project(ctx); err != nil {
		return err
	}
	f.Key = keyOf(files)
	f.Context = func(t *tar.Writer) error {
		r.note("building the image of " + r.Config.Container.Name + ", until what goes into it changes")
		return r.writeContext(ctx, t, files)
	}
	log := &buildLog{steps: progress}
	if _, err := e.BuildForeign(ctx, f, log); err != nil {
		return log.explain(fmt.Errorf("build the image of %s: %w", r.Config.Container.Name, err))
	}
	b.Ref = f.Ref()
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return r.Repo.WriteState(r.builtName(), data)
}

// keyOf names the files of a context by their content.
func keyOf(files []git.Change) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s %s %q\n", f.New.Mode, f.New.Hash, f.Path)
	}
	return b.String()
}

// copied are the files of the snapshot that the Dockerfile copies, by their paths
// below the context.
func (r *run) copied(ctx context.Context) ([]git.Change, error) {
	patterns := devcontainer.Copies(r.Config.Container.File)
	if len(patterns) == 0 {
		return nil, nil
	}
	<-r.taken
	if r.snap.Tree.IsZero() {
		return nil, fmt.Errorf("build the image of %s: there is no snapshot", r.Config.Container.Name)
	}
	objs := r.Repo.Objects(ctx)
	defer objs.Close()
	top, err := r.contextTree(objs)
	if err != nil || top.IsZero() {
		return nil, err
	}
	var split [][]string
	for _, p := range patterns {
		if p == "." {
			split = [][]string{nil}
			break
		}
		split = append(split, strings.Split(p, "/"))
	}
	var files []git.Change
	err = pick(objs, top, "", split, &files)
	slices.SortFunc(files, func(a, b git.Change) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

// contextTree is zero where the snapshot has no such folder.
func (r *run) contextTree(objs *git.Objects) (plumbing.Hash, error) {
	folder := r.Config.Container.Context
	if folder == "." {
		return r.snap.Tree, nil
	}
	e, err := objs.Lookup(r.snap.Tree, folder)
	if err != nil || e.Mode != filemode.Dir {
		return plumbing.ZeroHash, err
	}
	return e.Hash, nil
}

// pick lists the files of a tree that patterns match, each split at its slashes; one
// without a part matches all. Folders that none leads into are not read.
func pick(objs *git.Objects, tree plumbing.Hash, dir string, patterns [][]string, to *[]git.Change) error {
	t, err := objs.Tree(tree)
	if err != nil {
		return err
	}
	for _, e := range t.Entries {
		rest, all := follow(patterns, e.Name)
		name := path.Join(dir, e.Name)
		switch {
		case e.Mode == filemode.Submodule || len(rest) == 0:
		case e.Mode == filemode.Dir:
			if err := pick(objs, e.Hash, name, rest, to); err != nil {
				return err
			}
		case all:
			*to = append(*to, git.Change{Path: name, New: git.Entry{Mode: e.Mode, Hash: e.Hash}})
		}
	}
	return nil
}

// follow gives what is left of the patterns below a name, and whether one of them has
// come to its end.
func follow(patterns [][]string, name string) (rest [][]string, all bool) {
	for _, p := range patterns {
		if len(p) == 0 {
			return [][]string{nil}, true
		}
		if ok, err := path.Match(p[0], name); err == nil && ok {
			rest = append(rest, p[1:])
			all = all || len(p) == 1
		}
	}
	return rest, all
}

// writeContext writes files as the workspace would have them.
func (r *run) writeContext(ctx context.Context, t *tar.Writer, files []git.Change) error {
	objs := r.Repo.Objects(ctx)
	defer objs.Close()
	for _, f := range files {
		data, err := objs.Blob(f.New.Hash)
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: 0o644, Size: int64(len(data))}
		switch f.New.Mode {
		case filemode.Executable:
			h.Mode = 0o755
		case filemode.Symlink:
			h.Typeflag, h.Linkname, h.Size, h.Mode, data = tar.TypeSymlink, string(data), 0, 0o777, nil
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// withEnv is an image with the variables that the repository's devcontainer.json says.
func (s *Session) withEnv(image container.Image) container.Image {
	env := slices.Clone(image.Env)
	for _, kv := range s.Config.Container.Env {
		name, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(was string) bool { return strings.HasPrefix(was, name+"=") })
		env = append(env, kv)
	}
	image.Env = env
	return image
}

// sayUser says where the agent is not who devcontainer.json wants it to be: it is the
// image's user with the id of every agent.
func (r *run) sayUser(ctx context.Context) error {
	want := r.Config.Container.User
	if want == "" {
		return nil
	}
	var out bytes.Buffer
	_, err := r.box.Run(ctx, container.Cmd{Argv: []string{"sh", "-c", "echo $USER"}, Env: agentEnv(r.image, ""), Stdout: &limited{to: &out, left: 1 << 10}, Stderr: io.Discard})
	if is := strings.TrimSpace(out.String()); err == nil && is != want {
		r.note(fmt.Sprintf("%s: remoteUser %s is not user 1000 of the image, which an agent is: that is %s", r.Config.Container.Name, want, escape.Text(is)))
	}
	return err
}
