package container

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRefuseVolumes(t *testing.T) {
	for _, row := range []struct {
		volume string
		meets  string // "" where it is allowed
	}{
		{"/workspace", "/workspace"},
		{"/workspace/node_modules", "/workspace"},
		{"workspace/", "/workspace"},
		{"/x/../workspace", "/workspace"},
		{"/home", "/home/ftl"},
		{"/home/ftl/.cache", "/home/ftl"},
		{"/var", "/var/lib/ftl"},
		{"/.ftl", "/.ftl"},
		{"/mnt/snapshot", "/mnt"},
		{"/", "/workspace"},
		{"/home/ftl2", ""},
		{"/workspaces", ""},
		{"/var/lib/postgresql", ""},
	} {
		t.Run(row.volume, func(t *testing.T) {
			err := refuseVolumes("img", []string{"/data", row.volume})
			if row.meets == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), `"`+row.volume+`" meets `+row.meets) {
				t.Error(err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for _, row := range []struct {
		name string
		spec Spec
		info EngineInfo
		want Spec
	}{
		{"defaults", Spec{}, EngineInfo{Memory: 16 << 30, CPUs: 8},
			Spec{Memory: 8 << 30, CPUs: 7, Pids: 1024, Idle: 15 * time.Minute}},
		{"small engine", Spec{}, EngineInfo{Memory: 1 << 30, CPUs: 1},
			Spec{Memory: 2 << 30, CPUs: 1, Pids: 1024, Idle: 15 * time.Minute}},
		{"as asked", Spec{Memory: 1 << 20, CPUs: 0.5, Pids: 7, Idle: time.Second}, EngineInfo{Memory: 16 << 30, CPUs: 8},
			Spec{Memory: 1 << 20, CPUs: 0.5, Pids: 7, Idle: time.Second}},
		{"more than there is", Spec{Memory: 1, CPUs: 64, Pids: 1, Idle: 1}, EngineInfo{Memory: 16 << 30, CPUs: 8},
			Spec{Memory: 1, CPUs: 8, Pids: 1, Idle: 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if d := cmp.Diff(row.want, limited(row.spec, row.info)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWithoutEnv(t *testing.T) {
	got := withoutEnv([]string{"PATH=/evil", "LD_PRELOAD=/x.so", "GODEBUG=a=b", "=odd", "BARE"})
	want := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LD_PRELOAD", "GODEBUG", "BARE"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
