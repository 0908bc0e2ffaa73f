//go:build linux

package guest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// TestGate: a reset and a run never pass together, and what a run leaves is
// killed before either.
func TestGate(t *testing.T) {
	ctx := context.Background()
	var kills atomic.Int32
	var up atomic.Bool
	g := gate{
		kill: func(context.Context) error { kills.Add(1); return nil },
		up:   func() error { up.Store(true); return nil },
		down: func() { up.Store(false) },
	}
	must(t, g.enter(ctx))
	must(t, g.enter(ctx))
	must(t, g.leave())
	if n := kills.Load(); n != 0 || !up.Load() {
		t.Errorf("%d kills while a run goes on; network up: %v", n, up.Load())
	}
	waited := make(chan error)
	var leave func()
	go func() {
		var err error
		leave, err = g.alone(ctx)
		waited <- err
	}()
	eventually(t, "the reset kills the run", func() bool { return kills.Load() > 0 })
	if err := g.enter(ctx); !errors.Is(err, errInUse) {
		t.Errorf("a run beside a reset: %v", err)
	}
	if _, err := g.alone(ctx); !errors.Is(err, errInUse) {
		t.Errorf("a reset beside a reset: %v", err)
	}
	must(t, g.leave())
	must(t, <-waited)
	if up.Load() {
		t.Error("the network is up while nothing runs")
	}
	leave()
	must(t, g.enter(ctx))
	must(t, g.leave())
}

func TestGateStaysShutWhileAnAgentLives(t *testing.T) {
	alive := errors.New("alive")
	g := gate{kill: func(context.Context) error { return alive }, up: func() error { return nil }, down: func() {}}
	if _, err := g.alone(context.Background()); !errors.Is(err, alive) {
		t.Errorf("alone: %v", err)
	}
	if err := g.enter(context.Background()); err != nil {
		t.Errorf("a failed reset keeps the gate: %v", err)
	}
}

// TestGateNeedsTheNetwork: where its ports cannot be taken nothing starts.
func TestGateNeedsTheNetwork(t *testing.T) {
	taken := errors.New("taken")
	g := gate{kill: func(context.Context) error { return nil }, up: func() error { return taken }}
	if err := g.enter(context.Background()); !errors.Is(err, taken) || g.runs != 0 {
		t.Errorf("%v, %d runs", err, g.runs)
	}
}

func TestASCII(t *testing.T) {
	for in, want := range map[string]string{
		`{"path":"a"}`: `{"path":"a"}`,
		"é\x7f\n":      `\u00e9\u007f\u000a`,
		"😀":            `\ud83d\ude00`,
	} {
		if got := ascii(in); got != want {
			t.Errorf("ascii(%q) is %q", in, got)
		}
	}
}

func TestIsMount(t *testing.T) {
	info := []byte("36 35 98:0 /x /mnt/snapshot ro,noatime - ext4 /dev/x rw\n37 35 98:0 / /mnt/objects2 ro - ext4 /dev/x rw\n")
	if !isMount(info, "/mnt/snapshot") || isMount(info, "/mnt/objects") {
		t.Error("mounts are misread")
	}
}
