package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTunnelStall: a host that does not read stops the sender, holds little, and
// hinders nothing else.
func TestTunnelStall(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, f *far) {
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan string, 1)
		var out safeBuffer
		go func() {
			_, err := s.Run(ctx, Cmd{Argv: []string{"/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do " +
				"{ echo wait; head -c 20000000 /dev/zero; } | perl -MIO::Socket -e '$s = IO::Socket::INET->new(q(127.0.0.1:3128)); " +
				"while (read STDIN, $b, 65536) { print $s $b } $s->flush; shutdown $s, 1; print <$s>' & done; wait"}, Env: agentEnv(), Stdout: &out, Stderr: &out})
			ended <- fmt.Sprint(err)
		}()
		for range 5 {
			want(t, "beside it", shell(t, s, "/tmp/p say 127.0.0.1:3128 port"), "3128\n")
		}
		runtime.GC()
		runtime.ReadMemStats(&during)
		if grown := int64(during.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
			t.Errorf("eight stalled connections hold %d MB", grown>>20)
		}
		close(f.go_)
		want(t, "the run", <-ended, "<nil>")
		want(t, "what came", out.String(), strings.Repeat("20000000 <nil>\n", 8))
	})
}

// TestTunnelPaused: a paused sandbox goes on where it was.
func TestTunnelPaused(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, _ *far) {
		e := s.pool.Engine.(*DockerEngine)
		out := &onWrite{}
		var once sync.Once
		out.do = func() {
			once.Do(func() {
				if err := e.api.ContainerPause(t.Context(), s.rec.ID); err != nil {
					t.Error(err)
				}
				<-time.After(3 * time.Second)
				if err := e.api.ContainerUnpause(t.Context(), s.rec.ID); err != nil {
					t.Error(err)
				}
			})
		}
		_, err := s.Run(t.Context(), Cmd{Argv: []string{"/bin/sh", "-c", "/tmp/p send 127.0.0.1:3128 200000000 & echo go; wait"}, Env: agentEnv(), Stdout: out})
		if err != nil || !strings.Contains(out.String(), "200000000 <nil>") {
			t.Errorf("%v: %q", err, out.String())
		}
	})
}

// patient is an engine that stops nothing before it may.
type patient struct {
	*DockerEngine
	may chan struct{}
}

func (p patient) Stop(ctx context.Context, id string) (bool, error) {
	<-p.may
	return p.DockerEngine.Stop(ctx, id)
}

// nothing is what netprobe says in a sandbox where nothing answers.
const nothing = "for a in a.example:443 127.0.0.1:443 127.0.0.1:80 127.0.0.1:3128; do /tmp/p say $a port; done; " +
	"cat /proc/net/tcp | awk '$4 == \"0A\"' | wc -l"

func answersNothing(said string) bool {
	return strings.Count(said, "connection refused") == 4 && strings.Contains(said, "lookup a.example") && strings.HasSuffix(said, "\n0\n")
}

// TestNoGuestNoNetwork: when the guest is killed while the agent lives nothing
// answers any more, until the next run's guest is connected.
func TestNoGuestNoNetwork(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, _ *far) {
		e := s.pool.Engine.(*DockerEngine)
		may := make(chan struct{})
		s.pool.Engine = patient{e, may}
		var said string
		out := &onWrite{}
		out.do = sync.OnceFunc(func() {
			defer close(may)
			// As the engine's user: the agent cannot signal the guest.
			stream, err := e.Attach(t.Context(), s.rec.ID, []string{"/bin/sh", "-c",
				"for p in /proc/[0-9]*; do grep -qz '^serve$' $p/cmdline && kill -9 ${p#/proc/}; done; " + nothing})
			if err != nil {
				t.Error(err)
				return
			}
			defer stream.Close()
			data, _ := io.ReadAll(stream)
			said = string(data)
		})
		exit, err := s.Run(t.Context(), Cmd{
			Argv: []string{"/bin/sh", "-c", "/tmp/p count 127.0.0.1:3128 'source 100000000000' & echo go; sleep 60"}, Env: agentEnv(), Stdout: out,
		})
		if err != nil || !exit.Died {
			t.Fatalf("%+v, %v", exit, err)
		}
		if !answersNothing(said) {
			t.Errorf("without the guest: %s", said)
		}
		want(t, "again", shell(t, s, "cp netprobe /tmp/p; chmod +x /tmp/p; /tmp/p say 127.0.0.1:3128 port"), "3128\n")
		if err := s.Tunnel().Close(); err != nil {
			t.Error(err)
		}
		got := shell(t, s, "/tmp/p say 127.0.0.1:3128 port")
		if !strings.Contains(got, "reset") && !strings.Contains(got, "refused") {
			t.Errorf("without a listener: %q", got)
		}
	})
}

// TestKilledHostNoNetwork: when git-ftl is killed nothing answers in its sandbox.
// The host is this test in a process of its own.
func TestKilledHostNoNetwork(t *testing.T) {
	if dir := os.Getenv("FTL_TEST_CONNECTED"); dir != "" {
		p := &Pool{Engine: engine(t), Dir: dir, Owner: os.Getenv("FTL_TEST_OWNER"), Now: time.Now}
		s, _ := connectedOf(t, p, os.Getenv("FTL_TEST_CARRIER"), Spec{})
		out := &onWrite{do: func() {
			if err := os.WriteFile(filepath.Join(dir, "connected"), []byte(s.rec.ID), 0o600); err != nil {
				t.Error(err)
			}
		}}
		_, _ = s.Run(t.Context(), Cmd{Argv: []string{"/bin/sh", "-c", "/tmp/p say a.example:3128 port; sleep 100"}, Env: agentEnv(), Stdout: out})
		return
	}
	guest := filepath.Join(t.TempDir(), "guest")
	bin, err := specOf(t, Spec{}).Guest.Load()
	if err == nil {
		err = os.WriteFile(guest, bin, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, carrier := range []string{"exec", "socket"} {
		t.Run(carrier, func(t *testing.T) {
			p := pool(t, engine(t))
			cmd := exec.Command(os.Args[0], "-test.run=^TestKilledHostNoNetwork$")
			cmd.Env = append(os.Environ(), "FTL_TEST_CONNECTED="+p.Dir, "FTL_TEST_OWNER="+p.Owner, "FTL_TEST_GUEST="+guest, "FTL_TEST_CARRIER="+carrier)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var id []byte
			until(t, "the connection", func() bool {
				id, _ = os.ReadFile(filepath.Join(p.Dir, "connected"))
				return len(id) > 0
			})
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			var said string
			until(t, "the end of the network", func() bool {
				stream, err := p.Engine.Attach(t.Context(), string(id), []string{"/bin/sh", "-c", nothing})
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				data, _ := io.ReadAll(stream)
				said = string(data)
				return answersNothing(said)
			})
		})
	}
}

// TestSecretsStayInTheRun: what a run's environment holds is in no part of the
// container that outlives the run or that the engine knows.
func TestSecretsStayInTheRun(t *testing.T) {
	const secret = "ftl_shadow_test_0123456789abcdef0123456789abcdef"
	s, _ := connected(t, "exec", Spec{Image: baseImage(t)})
	e := s.pool.Engine.(*DockerEngine)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var inside string
	out := &onWrite{}
	out.do = sync.OnceFunc(func() {
		// All files, and what root's processes show. The planted file proves that the
		// search finds.
		stream, err := e.Attach(t.Context(), s.rec.ID, []string{"/bin/sh", "-c",
			"k=ftl_shadow_test_; k=${k}0123456789abcdef; grep -rlsI --exclude-dir=proc --exclude-dir=sys $k / ; " +
				"grep -alsE $k /proc/[0-9]*/environ /proc/[0-9]*/cmdline; grep -alz '^serve$' /proc/[0-9]*/cmdline | wc -l"})
		if err != nil {
			t.Error(err)
			return
		}
		defer stream.Close()
		data, _ := io.ReadAll(stream)
		inside = string(data)
		end()
	})
	_, err := s.Run(ctx, Cmd{
		Argv: []string{"/bin/sh", "-c", "echo $API_KEY >/tmp/planted; echo go; sleep 100"}, Env: append(agentEnv(), "API_KEY="+secret), Stdout: out,
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	want(t, "inside", inside, "/tmp/planted\n1\n")
	_, raw, err := e.api.ContainerInspectWithRaw(t.Context(), s.rec.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte(secret)) {
		t.Error("the container's configuration holds it")
	}
	if found := shell(t, s, "rm /tmp/planted; env | grep -c API_KEY; grep -rls "+secret+" /tmp /home /workspace"); found != "0\n" {
		t.Errorf("after the run: %s", found)
	}
}

// TestTunnelMemory: a gigabyte each way is not held anywhere.
func TestTunnelMemory(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, _ *far) {
		guest := func() (kb int) {
			stream, err := s.pool.Engine.Attach(t.Context(), s.rec.ID, []string{"/bin/sh", "-c",
				"for p in /proc/[0-9]*; do grep -qz '^serve$' $p/cmdline && awk '/VmHWM/ {print $2}' $p/status; done"})
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			data, _ := io.ReadAll(stream)
			kb, _ = strconv.Atoi(strings.TrimSpace(string(data)))
			return kb
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		want(t, "to the host", shell(t, s, "/tmp/p send 127.0.0.1:3128 1000000000"), "1000000000 <nil>\n")
		want(t, "from the host", shell(t, s, "/tmp/p count 127.0.0.1:3128 'source 1000000000'"), "1000000000\n")
		runtime.ReadMemStats(&after)
		if grown := int64(after.Sys) - int64(before.Sys); grown > 32<<20 {
			t.Errorf("the host took %d MB", grown>>20)
		}
		if kb := guest(); kb == 0 || kb > 40<<10 {
			t.Errorf("the guest took %d kB", kb)
		}
	})
}

// TestDisconnect: what Connect gave is taken back. Nothing answers and nothing of
// the run before lives on; files stay, and a second Connect works.
func TestDisconnect(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, f *far) {
		want(t, "connected", shell(t, s, "echo kept > kept; (sleep 600 &) ; /tmp/p say 127.0.0.1:3128 port"), "3128\n")
		if err := s.Disconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		said := shell(t, s, nothing)
		if strings.Count(said, "connection refused") != 3 || !strings.Contains(said, "lookup a.example") || !strings.HasSuffix(said, "\n0\n") {
			t.Errorf("disconnected: %s", said)
		}
		want(t, "variables", strings.Join(s.NetEnv(), " "), "")
		want(t, "what stays", shell(t, s, "cat kept; cat /proc/[0-9]*/comm | grep -c sleep"), "kept\n0\n")
		newFar(t, s.Tunnel())
		if _, err := s.Connect(t.Context(), Network{CA: f.ca}); err != nil {
			t.Fatal(err)
		}
		want(t, "again", shell(t, s, "/tmp/p say 127.0.0.1:3128 port"), "3128\n")
	})
}
