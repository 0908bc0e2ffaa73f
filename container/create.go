package container

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-units"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// What a sandbox gets when its spec does not say.
const (
	leastMemory = 2 << 30
	defaultPids = 1024
	defaultIdle = 15 * time.Minute
)

// Image is what the engine knows of an image. All of it is the image's author's
// word.
type Image struct {
	ID      string   // by content
	Arch    string   // as Go names it
	Env     []string // NAME=VALUE; nothing of it reaches the guest
	Volumes []string // paths, sorted
	Size    int64    // bytes
	Labels  map[string]string
}

// Image looks an image up; ErrNoImage where the engine has none of that name.
func (e *DockerEngine) Image(ctx context.Context, ref string) (Image, error) {
	found, err := e.api.ImageInspect(ctx, ref)
	switch {
	case cerrdefs.IsNotFound(err):
		return Image{}, fmt.Errorf("%w: %s", ErrNoImage, ref)
	case err != nil:
		return Image{}, fmt.Errorf("inspect image %s: %w", ref, err)
	}
	img := Image{ID: found.ID, Arch: found.Architecture, Size: found.Size}
	if found.Config != nil {
		img.Env, img.Labels = found.Config.Env, found.Config.Labels
		img.Volumes = slices.Sorted(maps.Keys(found.Config.Volumes))
	}
	return img, nil
}

// Resolve implements Engine.
func (e *DockerEngine) Resolve(ctx context.Context, s Spec) (Spec, error) {
	img, err := e.Image(ctx, s.Image)
	if err != nil {
		return s, err
	}
	if err := refuseVolumes(s.Image, img.Volumes); err != nil {
		return s, err
	}
	s.Image = img.ID
	if !e.mounts.Load() {
		s.Export = ""
	}
	return s, nil
}

// limited fills in the limits that a spec leaves to the engine, and lets none go
// beyond it, which the engine would refuse.
func limited(s Spec, info EngineInfo) Spec {
	if s.Memory == 0 {
		s.Memory = max(info.Memory/2, leastMemory)
	}
	if s.CPUs == 0 {
		s.CPUs = float64(max(info.CPUs-1, 1))
	}
	s.CPUs = min(s.CPUs, float64(info.CPUs))
	if s.Pids == 0 {
		s.Pids = defaultPids
	}
	if s.Idle == 0 {
		s.Idle = defaultIdle
	}
	return s
}

// refuseVolumes refuses an image whose volumes lie over, below or above a path
// that the guest owns: what is in a volume outlives every reset.
func refuseVolumes(ref string, volumes []string) error {
	for _, v := range volumes {
		for _, own := range []string{wire.Workspace, wire.State, wire.Home, guestDir, path.Dir(wire.Tree)} {
			if within(path.Clean("/"+v), own) || within(own, path.Clean("/"+v)) {
				return fmt.Errorf("image %s is refused: its volume %q meets %s", ref, v, own)
			}
		}
	}
	return nil
}

// within tells whether path p is dir or below it.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// Create implements Engine.
func (e *DockerEngine) Create(ctx context.Context, s Spec) (string, error) {
	img, err := e.Image(ctx, s.Image)
	if err != nil {
		return "", err
	}
	info, err := e.Describe(ctx)
	if err != nil {
		return "", err
	}
	s = limited(s, info)
	id, err := e.create(ctx, s, img)
	// An engine behind a forwarded socket has a local address, but not our files.
	if err != nil && s.Export != "" && ctx.Err() == nil {
		s.Export = ""
		if id, err = e.create(ctx, s, img); err == nil {
			e.mounts.Store(false)
		}
	}
	if err != nil {
		return "", fmt.Errorf("create sandbox %s: %w", s.Name, err)
	}
	return id, nil
}

// create makes a sandbox that is complete, or none.
func (e *DockerEngine) create(ctx context.Context, s Spec, img Image) (string, error) {
	made, err := e.api.ContainerCreate(ctx, configOf(s, img), hostConfigOf(s), nil, nil, s.Name)
	if err != nil {
		return "", err
	}
	if s.Export != "" {
		err = e.checkMounts(ctx, made.ID, s.Export)
	}
	if err == nil {
		err = e.putGuest(ctx, made.ID, s)
	}
	if err != nil {
		return "", errors.Join(err, e.Remove(context.WithoutCancel(ctx), made.ID))
	}
	return made.ID, nil
}

// configOf leaves of the image's metadata nothing in force: not its health
// check, entry point, user, folder, signal or environment.
func configOf(s Spec, img Image) *container.Config {
	now := 0
	return &container.Config{
		Image: img.ID, Hostname: "sandbox", User: "0:0", WorkingDir: "/", Labels: s.Labels,
		Entrypoint:  []string{s.guestPath(), "init", strconv.Itoa(int(math.Ceil(s.Idle.Seconds())))},
		Env:         withoutEnv(img.Env),
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		StopSignal:  "SIGTERM", StopTimeout: &now,
	}
}

// withoutEnv gives the entries that remove an image's variables: a name without
// "=". PATH is always there, so it gets the value of a plain Debian.
func withoutEnv(image []string) []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for _, entry := range image {
		name, _, _ := strings.Cut(entry, "=")
		if name != "" && name != "PATH" {
			env = append(env, name)
		}
	}
	return env
}

func hostConfigOf(s Spec) *container.HostConfig {
	no := false
	return &container.HostConfig{
		NetworkMode: "none",
		CapDrop:     []string{"ALL"},
		// What the guest needs to own the workspace and to become the agent's user.
		// The ports of its network are low ones, which the agent cannot take.
		CapAdd:        []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID", "KILL", "NET_BIND_SERVICE"},
		Sysctls:       map[string]string{"net.ipv4.ip_unprivileged_port_start": "1024"},
		SecurityOpt:   []string{"no-new-privileges"},
		IpcMode:       "private",
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig:     container.LogConfig{Type: "none"},
		Init:          &no,
		Runtime:       s.Runtime,
		Mounts:        mountsOf(s.Export),
		Resources: container.Resources{
			Memory: s.Memory, MemorySwap: s.Memory, NanoCPUs: int64(s.CPUs * 1e9), PidsLimit: &s.Pids,
			Ulimits: []*units.Ulimit{{Name: "core"}},
		},
	}
}

func mountsOf(export string) []mount.Mount {
	if export == "" {
		return nil
	}
	bind := func(name, target string) mount.Mount {
		return mount.Mount{
			Type: mount.TypeBind, Source: filepath.Join(export, name), Target: target, ReadOnly: true,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
		}
	}
	return []mount.Mount{bind("tree", wire.Tree), bind("objects", wire.Objects), bind("tunnel", wire.Sockets)}
}

// checkMounts proves that the engine sees this machine's folder, by a file of a
// random name.
func (e *DockerEngine) checkMounts(ctx context.Context, id, export string) error {
	f, err := os.CreateTemp(filepath.Join(export, "tree"), ".ftl-probe-*")
	if err != nil {
		return err
	}
	_, err = e.api.ContainerStatPath(ctx, id, path.Join(wire.Tree, filepath.Base(f.Name())))
	_ = f.Close()
	if gone := os.Remove(f.Name()); gone != nil {
		return gone
	}
	return err
}

// putGuest copies the guest in. The folder must be new, since an image could
// have put there a link to a place that the agent can write.
func (e *DockerEngine) putGuest(ctx context.Context, id string, s Spec) error {
	_, err := e.api.ContainerStatPath(ctx, id, guestDir)
	switch {
	case err == nil:
		return fmt.Errorf("image %s is refused: it has a %s", s.Image, guestDir)
	case !cerrdefs.IsNotFound(err):
		return err
	}
	bin, err := s.Guest.Load()
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	dir := &tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(guestDir, "/") + "/", Mode: 0o755}
	file := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(s.guestPath(), "/"), Mode: 0o755, Size: int64(len(bin))}
	for _, h := range []*tar.Header{dir, file} {
		if err := w.WriteHeader(h); err != nil {
			return err
		}
	}
	if _, err := w.Write(bin); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return e.api.CopyToContainer(ctx, id, "/", &buf, container.CopyToContainerOptions{})
}
