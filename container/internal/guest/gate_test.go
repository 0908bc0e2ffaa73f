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
	g := gate{kill: func(context.Context) error { kills.Add(1); return nil }}
	must(t, g.enter(ctx))
	must(t, g.enter(ctx))
	must(t, g.leave())
	if n := kills.Load(); n != 0 {
		t.Errorf("%d kills while a run goes on", n)
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
	leave()
	must(t, g.enter(ctx))
	must(t, g.leave())
}

func TestGateStaysShutWhileAnAgentLives(t *testing.T) {
	alive := errors.New("alive")
	g := gate{kill: func(context.Context) error { return alive }}
	if _, err := g.alone(context.Background()); !errors.Is(err, alive) {
		t.Errorf("alone: %v", err)
	}
	if err := g.enter(context.Background()); err != nil {
		t.Errorf("a failed reset keeps the gate: %v", err)
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
