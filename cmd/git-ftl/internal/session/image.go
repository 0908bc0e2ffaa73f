package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/install"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/shadow"
)

// ImageRef is the name of the image that tasks run in. Where they build one first, it
// is the one that the last task had, or the default one before there was any.
func (s *Session) ImageRef() string {
	for _, ref := range []string{s.Config.Image, s.Config.Container.Image, s.lastBuilt()} {
		if ref != "" {
			return ref
		}
	}
	return container.BaseImage()
}

// Image returns the image of the settings, or the default one, with the agents
// upon it that the user has; what is missing is built. Progress gets a line for
// each step.
func (s *Session) Image(ctx context.Context, e *container.DockerEngine, progress io.Writer) (container.Image, error) {
	image, err := s.base(ctx, e, progress)
	if err != nil {
		return image, err
	}
	for _, name := range s.Agents() {
		if image, err = s.addAgent(ctx, e, image, name, progress); err != nil {
			return image, err
		}
	}
	return image, nil
}

// base is the image without agents.
func (s *Session) base(ctx context.Context, e *container.DockerEngine, progress io.Writer) (container.Image, error) {
	if s.builds() && s.lastBuilt() == "" {
		s.note("the next task builds the image of " + s.Config.Container.Name + "; this is the default one")
	}
	image, err := e.Image(ctx, s.ImageRef())
	switch {
	case !errors.Is(err, container.ErrNoImage) || s.Config.Image != "":
		return image, err
	case s.Config.Container.Image != "":
		s.note(fmt.Sprintf("pulling the image %s of %s", s.Config.Container.Image, s.Config.Container.Name))
		return e.Pull(ctx, s.Config.Container.Image, progress)
	}
	s.note("building the sandbox image, once: this takes a minute or two")
	log := &buildLog{steps: progress}
	image, err = e.BuildImage(ctx, log)
	return image, log.explain(err)
}

// buildLog shows the steps of a build, and keeps its last lines for an error.
type buildLog struct {
	steps io.Writer
	part  []byte
	last  []string
}

// explain adds the last lines of a build to its error.
func (l *buildLog) explain(err error) error {
	if err == nil || len(l.last) == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s", err, strings.Join(l.last, "\n"))
}

// Write implements io.Writer.
func (l *buildLog) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		line, rest, ok := bytes.Cut(l.part, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.part = append([]byte(nil), rest...)
		if bytes.HasPrefix(line, []byte("Step ")) {
			if _, err := fmt.Fprintf(l.steps, "%s\n", line); err != nil {
				return 0, err
			}
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			l.last = append(l.last, text)
			l.last = l.last[max(0, len(l.last)-8):]
		}
	}
}

// agentsFile lists, in the user's folder, the agents that the image has, in the
// order in which they came: each is a layer on those before.
const agentsFile = "agents"

// Agents lists the built-in agents that the user has set up.
func (s *Session) Agents() []string {
	data, err := os.ReadFile(filepath.Join(s.UserDir, agentsFile))
	if err != nil || s.UserDir == "" {
		return nil
	}
	var names []string
	for name := range strings.FieldsSeq(string(data)) {
		if slices.Contains(agent.Names(), name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// AddAgent puts an agent on the user's list. undo takes it off again where it was not
// on it: one that cannot be had would be in the way of all others.
func (s *Session) AddAgent(name string) (undo func() error, err error) {
	was := s.Agents()
	if slices.Contains(was, name) {
		return func() error { return nil }, nil
	}
	if s.UserDir == "" {
		return nil, fmt.Errorf("set up %s: there is no home to note it in", name)
	}
	if err := s.writeAgents(append(was, name)); err != nil {
		return nil, fmt.Errorf("set up %s: %w", name, err)
	}
	return func() error {
		return s.writeAgents(slices.DeleteFunc(s.Agents(), func(n string) bool { return n == name }))
	}, nil
}

func (s *Session) writeAgents(names []string) error {
	if err := os.MkdirAll(s.UserDir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(s.UserDir, agentsFile)
	text := strings.Join(names, "\n")
	if err := os.WriteFile(name+".new", []byte(text+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// addAgent is an image with one more agent, whose packages come from the user's
// own registry. An agent without packages is brought by the user's image.
func (s *Session) addAgent(ctx context.Context, e *container.DockerEngine, below container.Image, name string, progress io.Writer) (container.Image, error) {
	layer, ok := s.layerOf(below, name)
	if !ok {
		return below, nil
	}
	if w, ok := s.wheelOf(name); ok {
		return s.addProgram(ctx, e, program{name, below, layer, w}, progress)
	}
	layer.Files = func(add container.AddFile) error {
		s.adding(name, agent.Version(name))
		in := s.installer()
		for _, p := range agent.Packages(name, below.Arch) {
			if err := in.Add(ctx, p, add); err != nil {
				return err
			}
		}
		return nil
	}
	return e.AddLayer(ctx, layer, &buildLog{steps: progress})
}

func (s *Session) adding(name, version string) {
	s.note(fmt.Sprintf("adding %s %s to the sandbox image, once: this takes a minute or two", name, version))
}

// layerOf names what an agent adds to an image; false where that is nothing. Which
// interpreter a program runs on is a matter of the image below, which names the
// layer too.
func (s *Session) layerOf(below container.Image, name string) (container.Layer, bool) {
	var key strings.Builder
	packages := agent.Packages(name, below.Arch)
	for _, p := range packages {
		fmt.Fprintf(&key, "%s %s %s %q %s %s\n", p.Name, p.Version, p.SHA512, p.Take, p.Below, p.Into)
	}
	w, program := s.wheelOf(name)
	if program {
		fmt.Fprintf(&key, "%q\n", w)
	}
	return container.Layer{On: below.ID, Key: key.String()}, len(packages) > 0 || program
}

// imageRefs are the images that the next task takes, or that it builds on.
func (s *Session) imageRefs(ctx context.Context, e *container.DockerEngine) []string {
	refs := []string{s.ImageRef(), container.BaseImage()}
	image, err := e.Image(ctx, s.ImageRef())
	for _, name := range s.Agents() {
		layer, ok := s.layerOf(image, name)
		if err != nil || !ok {
			continue
		}
		ref := container.LayerRef(image.ID, layer)
		refs = append(refs, ref)
		image, err = e.Image(ctx, ref)
	}
	return refs
}

// installer asks the registries that the user's npm is configured with.
func (s *Session) installer() *install.Installer {
	return &install.Installer{Client: s.client(), Registries: install.Registries(s.registries())}
}

// registries are those of the user's own tools, with what they sign in with.
func (s *Session) registries() registry.Registries {
	if s.Tools == nil {
		return registry.Registries{}
	}
	return s.Tools(shadow.NewMint(shadow.Secret{}, ""))
}

// client asks by the user's own proxy.
func (s *Session) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:             func(r *http.Request) (*url.URL, error) { return upstream(s.netEnv())(r.URL) },
		ForceAttemptHTTP2: true,
	}}
}

// imageFor is the image for a task, with its agent in it.
func (r *run) imageFor(ctx context.Context, e *container.DockerEngine, progress io.Writer) (container.Image, error) {
	unlock, err := r.Repo.Lock(ctx, "image") // one of several attempts builds it
	if err != nil {
		return container.Image{}, err
	}
	defer unlock()
	name := r.task.Agent.Name
	own := len(r.task.Agent.Secrets) == 0 // a command of the user's, whatever it is called
	undo := func() error { return nil }
	if !own {
		if undo, err = r.AddAgent(name); err != nil {
			return container.Image{}, err
		}
	}
	if err := r.buildContainer(ctx, e, progress); err != nil {
		return container.Image{}, err
	}
	image, err := r.Image(ctx, e, progress)
	if err != nil {
		return image, errors.Join(err, undo())
	}
	if !own {
		err = r.CheckAgents(ctx, e, image, []string{name})
	}
	image = r.withEnv(image)
	r.out.Image = image.ID
	for _, name := range r.Agents() {
		if version := r.VersionIn(image, name); version != "" {
			if r.out.Versions == nil {
				r.out.Versions = map[string]string{}
			}
			r.out.Versions[name] = version
		}
	}
	return image, err
}
