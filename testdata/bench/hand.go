package main

import (
	"os"
	"path/filepath"
)

// hand does a task as a script around the docker CLI would: rsync to a snapshot
// folder, find -delete and cp -a into the workspace, and a walk in Python that
// compares the MD5 of every file of both trees.
type hand struct {
	*bench
	snap string
}

const walk = `
import hashlib, os
def tree(top):
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, top)] = hashlib.md5(f.read()).hexdigest()
    return found
old, new = tree("/snap"), tree("/work")
for path in sorted(set(old) | set(new)):
    if old.get(path) != new.get(path):
        print(path)
`

const handName = "ftl-bench-hand"

func newHand(b *bench) (*hand, error) {
	h := &hand{b, filepath.Join(b.scratch, "snap")}
	if err := os.MkdirAll(h.snap, 0o755); err != nil {
		return nil, err
	}
	image := os.Getenv("FTL_BENCH_IMAGE")
	return h, b.run(b.dir, "docker", "run", "-d", "--init", "--name", handName, "--network", "none",
		"-v", h.snap+":/snap:ro", image, "sh", "-c", "mkdir -p /work; exec sleep 86400")
}

func (h *hand) task() error {
	if err := h.run(h.dir, "rsync", "-a", "--delete", "--exclude=.git", h.dir+"/", h.snap+"/"); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"find", "/work", "-mindepth", "1", "-delete"},
		{"cp", "-a", "/snap/.", "/work/"},
		{"sh", "-c", "cd /work && echo agent >> " + h.inside(0)},
		{"python3", "-c", walk},
	} {
		if err := h.run(h.dir, "docker", append([]string{"exec", handName}, args...)...); err != nil {
			return err
		}
	}
	return nil
}
