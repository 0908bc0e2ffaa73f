package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/tlsconfig"
)

// answerTime bounds the search for an engine.
const answerTime = 2 * time.Second

// DockerEngine speaks Docker's API, to Docker or to Podman. It is safe for
// concurrent use. Close it at the end.
type DockerEngine struct {
	api    *client.Client
	at     endpoint
	env    environ
	mounts atomic.Bool // folders of this machine may be mounted
}

var _ Engine = (*DockerEngine)(nil)

// EngineInfo says what an engine is.
type EngineInfo struct {
	Name     string // operating system it runs on
	Version  string
	Address  string
	Arch     string // as Go names it
	Memory   int64  // bytes
	CPUs     int
	Local    bool // reached through a socket of this machine
	Rootless bool
	Limits   bool     // memory, CPU and process limits are enforced
	Runtimes []string // that Spec.Runtime can name
}

// Docker connects to the engine that DOCKER_HOST, DOCKER_CONTEXT, the current
// docker context or the usual sockets name, in this order. env is the caller's
// environment as NAME=VALUE, home the home folder. The error is ErrNoEngine,
// with all that was tried, where nothing answers within two seconds; it is
// fs.ErrPermission too where a socket is there that the user may not open.
func Docker(ctx context.Context, env []string, home string) (*DockerEngine, error) {
	list, err := endpoints(env, home)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var tried []string
	var denied error
	for _, at := range list {
		e, err := dial(ctx, at)
		if err == nil {
			e.env = env
			return e, nil
		}
		line := fmt.Sprintf("%s (%s)", at.Host, at.From)
		switch {
		case errors.Is(err, fs.ErrPermission):
			denied = fs.ErrPermission
			line += ": permission denied"
		case !client.IsErrConnectionFailed(err):
			line += ": " + err.Error()
		}
		tried = append(tried, line)
	}
	return nil, &noEngine{tried, denied}
}

// noEngine says that none of the addresses answers.
type noEngine struct {
	tried  []string
	denied error // fs.ErrPermission, or nil
}

// Error names what was tried.
func (e *noEngine) Error() string {
	return fmt.Sprintf("%v; tried %s", ErrNoEngine, strings.Join(e.tried, ", "))
}

// Unwrap gives the causes.
func (e *noEngine) Unwrap() []error {
	if e.denied == nil {
		return []error{ErrNoEngine}
	}
	return []error{ErrNoEngine, e.denied}
}

// dial makes a client and agrees on a version of the API.
func dial(ctx context.Context, at endpoint) (*DockerEngine, error) {
	opts := []client.Opt{client.WithHost(at.Host), client.WithAPIVersionNegotiation()}
	if at.TLS != "" {
		config, err := tlsconfig.Client(tlsconfig.Options{
			CAFile: filepath.Join(at.TLS, "ca.pem"), CertFile: filepath.Join(at.TLS, "cert.pem"),
			KeyFile: filepath.Join(at.TLS, "key.pem"), InsecureSkipVerify: !at.Verify, ExclusiveRootPools: true,
		})
		if err != nil {
			return nil, fmt.Errorf("read certificates: %w", err)
		}
		web := &http.Client{Transport: &http.Transport{TLSClientConfig: config}, CheckRedirect: client.CheckRedirect}
		opts = append([]client.Opt{client.WithHTTPClient(web)}, opts...)
	}
	api, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, err
	}
	ping, err := api.Ping(ctx)
	if err != nil {
		return nil, errors.Join(err, api.Close())
	}
	api.NegotiateAPIVersionPing(ping)
	e := &DockerEngine{api: api, at: at}
	e.mounts.Store(at.local())
	return e, nil
}

// Close drops the connections.
func (e *DockerEngine) Close() error { return e.api.Close() }

// Describe asks the engine what it is.
func (e *DockerEngine) Describe(ctx context.Context) (EngineInfo, error) {
	info, err := e.api.Info(ctx)
	if err != nil {
		return EngineInfo{}, fmt.Errorf("ask engine: %w", err)
	}
	d := EngineInfo{
		Name: info.OperatingSystem, Version: info.ServerVersion, Address: e.at.Host, Arch: goArch(info.Architecture),
		Memory: info.MemTotal, CPUs: info.NCPU, Local: e.at.local(),
		Limits:   info.MemoryLimit && info.PidsLimit && info.CPUCfsQuota,
		Rootless: slices.ContainsFunc(info.SecurityOptions, func(s string) bool { return strings.Contains(s, "name=rootless") }),
		Runtimes: runtimes(info),
	}
	return d, nil
}

func runtimes(info system.Info) []string {
	names := make([]string, 0, len(info.Runtimes))
	for name := range info.Runtimes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// goArch turns the kernel's name of an architecture into Go's.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return machine
}

// Start implements Engine.
func (e *DockerEngine) Start(ctx context.Context, id string) error {
	c, err := e.api.ContainerInspect(ctx, id)
	switch {
	case err != nil:
	case c.State.Paused:
		err = e.api.ContainerUnpause(ctx, id)
	case !c.State.Running:
		err = e.api.ContainerStart(ctx, id, container.StartOptions{})
	}
	return gone("start", id, err)
}

// Stop implements Engine.
func (e *DockerEngine) Stop(ctx context.Context, id string) (oom bool, err error) {
	c, err := e.api.ContainerInspect(ctx, id)
	// Signals do not reach a paused one.
	if err == nil && c.State.Paused {
		err = e.api.ContainerUnpause(ctx, id)
	}
	if err == nil {
		now := 0
		err = e.api.ContainerStop(ctx, id, container.StopOptions{Timeout: &now})
	}
	// The engine tells only when all is over.
	if err == nil {
		c, err = e.api.ContainerInspect(ctx, id)
	}
	if err != nil {
		return false, gone("stop", id, err)
	}
	return c.State.OOMKilled, nil
}

// Remove implements Engine.
func (e *DockerEngine) Remove(ctx context.Context, id string) error {
	err := e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if cerrdefs.IsConflict(err) {
		err = e.removed(ctx, id)
	}
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return gone("remove", id, err)
}

// removeTime bounds how long a removal that another has asked for may take.
const removeTime = 30 * time.Second

// removed waits for a removal that is under way: the engine goes on with it where
// the git-ftl that asked was killed.
func (e *DockerEngine) removed(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	over, failed := e.api.ContainerWait(ctx, id, container.WaitConditionRemoved)
	select {
	case <-over:
		return nil
	case err := <-failed:
		return err
	}
}

// List implements Engine.
func (e *DockerEngine) List(ctx context.Context, labels map[string]string) ([]Info, error) {
	args := filters.NewArgs()
	for key, value := range labels {
		args.Add("label", key+"="+value)
	}
	found, err := e.api.ContainerList(ctx, container.ListOptions{All: true, Filters: args})
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	list := make([]Info, 0, len(found))
	for _, c := range found {
		info := Info{ID: c.ID, State: stateOf(c.State), Labels: c.Labels, Created: time.Unix(c.Created, 0)}
		if len(c.Names) > 0 {
			info.Name = strings.TrimPrefix(c.Names[0], "/")
		}
		list = append(list, info)
	}
	return list, nil
}

func stateOf(s container.ContainerState) State {
	switch s {
	case container.StateRunning, container.StateRestarting:
		return Running
	case container.StatePaused:
		return Paused
	case container.StateRemoving, container.StateDead:
		return Gone
	}
	return Stopped
}

// gone names the act and the sandbox, and tells ErrGone from other errors.
func gone(act, id string, err error) error {
	switch {
	case err == nil:
		return nil
	case cerrdefs.IsNotFound(err):
		return fmt.Errorf("%s sandbox %.12s: %w", act, id, ErrGone)
	}
	return fmt.Errorf("%s sandbox %.12s: %w", act, id, err)
}
