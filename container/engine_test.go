package container

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/google/go-cmp/cmp"
)

func TestDescribe(t *testing.T) {
	e := engine(t)
	got, err := e.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Version == "" || got.Memory == 0 || got.CPUs == 0 || !got.Local || got.Arch != "amd64" && got.Arch != "arm64" {
		t.Errorf("%+v", got)
	}
}

func TestResolve(t *testing.T) {
	e := engine(t)
	got, err := e.Resolve(t.Context(), Spec{Image: testImage, Export: "/x"})
	if err != nil {
		t.Fatal(err)
	}
	img, err := e.Image(t.Context(), testImage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Spec{Image: img.ID, Export: "/x"}, got); d != "" {
		t.Error(d)
	}
	if _, err := e.Resolve(t.Context(), Spec{Image: "no/such:image"}); !errors.Is(err, ErrNoImage) {
		t.Error(err)
	}
}

func TestHardening(t *testing.T) {
	e := engine(t)
	p := pool(t, e)
	s := acquire(t, p, Spec{Memory: 300 << 20, CPUs: 0.5, Pids: 99})
	got, err := e.api.ContainerInspect(t.Context(), s.rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	type facts struct {
		Network, Ipc, Restart, Log, User, Dir         string
		CapDrop, CapAdd, Security, Health, Entrypoint []string
		Memory, Swap, CPUs, Pids                      int64
		Privileged                                    bool
		Mounts                                        []string
		Sysctls                                       map[string]string
	}
	h, c := got.HostConfig, got.Config
	have := facts{
		Network: string(h.NetworkMode), Ipc: string(h.IpcMode), Restart: string(h.RestartPolicy.Name), Log: h.LogConfig.Type,
		User: c.User, Dir: c.WorkingDir, CapDrop: h.CapDrop, CapAdd: plain(h.CapAdd), Security: h.SecurityOpt,
		Health: c.Healthcheck.Test, Entrypoint: c.Entrypoint, Memory: h.Memory, Swap: h.MemorySwap, CPUs: h.NanoCPUs,
		Pids: *h.PidsLimit, Privileged: h.Privileged, Sysctls: h.Sysctls,
	}
	for _, m := range got.Mounts {
		mode := "rw"
		if !m.RW {
			mode = "ro"
		}
		have.Mounts = append(have.Mounts, string(m.Type)+" "+m.Source+" "+m.Destination+" "+mode+" "+string(m.Propagation))
	}
	slices.Sort(have.Mounts)
	export := filepath.Join(p.Dir, "exports", "repo-1")
	want := facts{
		Network: "none", Ipc: "private", Restart: "no", Log: "none", User: "0:0", Dir: "/",
		CapDrop: []string{"ALL"}, CapAdd: []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"},
		Security: []string{"no-new-privileges"}, Health: []string{"NONE"},
		Entrypoint: []string{"/.ftl/guest-" + s.spec.Guest.Version, "init", "900"},
		Memory:     300 << 20, Swap: 300 << 20, CPUs: 5e8, Pids: 99,
		Mounts: []string{
			"bind " + export + "/objects /mnt/objects ro rprivate",
			"bind " + export + "/tree /mnt/snapshot ro rprivate",
			"bind " + export + "/tunnel /var/lib/ftl/tunnel ro rprivate",
		},
		Sysctls: map[string]string{"net.ipv4.ip_unprivileged_port_start": "1024"},
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Error(d)
	}
}

// plain gives capabilities in one spelling, since engines differ in it.
func plain(caps []string) []string {
	var names []string
	for _, c := range caps {
		names = append(names, strings.TrimPrefix(c, "CAP_"))
	}
	slices.Sort(names)
	return names
}

// TestHardeningInside looks from where the agent is.
func TestHardeningInside(t *testing.T) {
	s := acquire(t, pool(t, engine(t)), Spec{})
	for _, row := range []struct{ name, script, want string }{
		{"user", "id", "uid=1000(ftl) gid=1000(ftl) groups=1000(ftl)\n"},
		{"no capabilities", "grep -E 'Cap(Prm|Eff|Amb)' /proc/self/status | grep -vc 0000000000000000; true", "0\n"},
		{"no new privileges", "grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n"},
		{"seccomp", "grep ^Seccomp: /proc/self/status", "Seccomp:\t2\n"},
		{"no network", "cat /proc/net/dev | grep -v '|' | cut -d: -f1 | tr -d ' '", "lo\n"},
		{"no engine socket", "ls /var/run/docker.sock 2>/dev/null; true", ""},
		{"environment", "env | grep -v ^PWD= | sort", "HOME=/home/ftl\nPATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\n"},
		{"snapshot cannot be written", "touch /mnt/snapshot/x /mnt/objects/x 2>/dev/null || echo no", "no\n"},
		{"guest cannot be written", "touch /.ftl/x 2>/dev/null || echo no; for g in /.ftl/guest-*; do [ -w $g ] && echo yes; done; true", "no\n"},
		{"state cannot be read", "ls /var/lib/ftl >/dev/null 2>&1 || echo no", "no\n"},
		{"starts in the workspace", "pwd", "/workspace\n"},
		{"no core dumps", "ulimit -H -c", "0\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := shell(t, s, row.script); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// imageFrom builds one from a Dockerfile without network and gives its id.
func imageFrom(t *testing.T, e *DockerEngine, text string) string {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	if err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tag := "ftl-test/" + nonce(6)
	resp, err := e.api.ImageBuild(t.Context(), &buf, build.ImageBuildOptions{
		Tags: []string{tag}, NetworkMode: "none", Remove: true, Version: build.BuilderV1,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := progress(resp.Body, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.api.ImageRemove(context.WithoutCancel(t.Context()), tag, image.RemoveOptions{Force: true, PruneChildren: true}); err != nil {
			t.Error(err)
		}
	})
	return tag
}

func TestHostileImage(t *testing.T) {
	e := engine(t)
	p := pool(t, e)
	tag := imageFrom(t, e, `FROM `+testImage+`
ENV LD_PRELOAD=/evil.so GODEBUG=http2debug=2 GOMEMLIMIT=1 PATH=/evil SSL_CERT_FILE=/evil
LABEL `+labelOwner+`=someone git-ftl.sandbox=other
USER nobody
WORKDIR /tmp
ENTRYPOINT ["/evil"]
CMD ["evil"]
STOPSIGNAL SIGUSR1
HEALTHCHECK --interval=1s CMD touch /healthcheck-ran
ONBUILD RUN evil
EXPOSE 80
VOLUME /data
`)
	s := acquire(t, p, Spec{Image: tag})
	got, err := e.api.ContainerInspect(t.Context(), s.rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Config.Labels[labelOwner] != p.Owner || got.Config.Labels[labelName] != "repo-1" || got.Config.Labels[labelDir] != p.Dir {
		t.Errorf("labels %v", got.Config.Labels)
	}
	if got.Config.StopSignal != "SIGTERM" || got.State.Health != nil || got.Path != "/.ftl/guest-"+s.spec.Guest.Version {
		t.Errorf("stop signal %s, health %v, entry point %s", got.Config.StopSignal, got.State.Health, got.Path)
	}
	// What an exec's process sees before it clears anything.
	stream, err := e.Attach(t.Context(), s.rec.ID, []string{"/bin/cat", "/proc/self/environ"})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	env, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	want := "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\x00HOSTNAME=sandbox\x00HOME=/root\x00"
	if string(env) != want {
		t.Errorf("environment %q", env)
	}
	if out := shell(t, s, "ls /healthcheck-ran 2>/dev/null; env | grep -c evil"); out != "0\n" {
		t.Errorf("inside: %q", out)
	}
}

func TestImageRefused(t *testing.T) {
	e := engine(t)
	for _, row := range []struct{ name, text, want string }{
		{"volume over the workspace", "VOLUME /workspace/sub", `its volume "/workspace/sub" meets /workspace`},
		{"its own guest folder", "RUN ln -s /home /.ftl", "it has a /.ftl"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := pool(t, e)
			_, err := p.Acquire(t.Context(), specOf(t, Spec{Image: imageFrom(t, e, "FROM "+testImage+"\n"+row.text+"\n")}))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Error(err)
			}
			if left, err := e.List(t.Context(), map[string]string{labelOwner: p.Owner}); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestForeignContainer: labels and names are easily copied, so they prove nothing.
func TestForeignContainer(t *testing.T) {
	e := engine(t)
	p := pool(t, e)
	s := acquire(t, p, Spec{})
	release(t, s)
	foreign, err := e.api.ContainerCreate(t.Context(), &container.Config{
		Image: testImage, Cmd: []string{"sleep", "60"}, Labels: map[string]string{labelOwner: p.Owner, labelDir: p.Dir, labelName: "repo-2"},
	}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "git-ftl-repo-2-"+nonce(4))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Reclaim(t.Context(), "repo-2"); !errors.Is(err, ErrGone) {
		t.Errorf("reclaim gives %v", err)
	}
	first, second := acquire(t, p, Spec{}), acquire(t, p, Spec{})
	if second.rec.ID == foreign.ID || first.rec.ID != s.rec.ID {
		t.Error("the foreign container was adopted")
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	// A record that names a container without our nonce makes it no sandbox of ours.
	other := pool(t, e)
	if err := other.write("repo-1", &s.rec); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Reclaim(t.Context(), "repo-1"); !errors.Is(err, ErrGone) {
		t.Errorf("reclaim of another installation's gives %v", err)
	}
	if err := other.Remove(t.Context(), "repo-1"); err != nil {
		t.Error(err)
	}
	if _, err := e.api.ContainerInspect(t.Context(), s.rec.ID); err != nil {
		t.Errorf("another installation's sandbox was removed: %v", err)
	}
}

// TestOneExec: all of a task's requests go through one exec.
func TestOneExec(t *testing.T) {
	e := engine(t)
	p := pool(t, e)
	s := acquire(t, p, Spec{})
	release(t, s)
	since := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	messages, _ := e.api.Events(ctx, events.ListOptions{
		Since: fmt.Sprintf("%d.%09d", since.Unix(), since.Nanosecond()), Filters: filters.NewArgs(filters.Arg("container", s.rec.ID)),
	})
	s = acquire(t, p, Spec{})
	r := newRepository(t)
	reset(t, s, r.base(s, map[string]string{"a": "1\n"}))
	shell(t, s, "echo 2 >a")
	diff(t, s)
	release(t, s)
	if err := p.Stop(t.Context(), s.Name()); err != nil {
		t.Fatal(err)
	}
	execs := 0
	for m := range messages {
		if strings.HasPrefix(string(m.Action), "exec_create") {
			execs++
		}
		if m.Action == events.ActionDie {
			cancel()
			break
		}
	}
	if execs != 1 {
		t.Errorf("%d execs since %s", execs, since)
	}
}

// TestRemoveTwice: a sandbox whose removal was asked for by another, who may be dead
// by now, is removed for all who ask.
func TestRemoveTwice(t *testing.T) {
	p := pool(t, engine(t))
	s := acquire(t, p, Spec{})
	id := s.rec.ID
	release(t, s)
	failed := make(chan error)
	const all = 6
	for range all {
		go func() { failed <- p.Engine.Remove(t.Context(), id) }()
	}
	for range all {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	list, err := p.Engine.List(t.Context(), p.labels())
	if len(list) > 0 || err != nil {
		t.Errorf("left: %v, %v", list, err)
	}
}
