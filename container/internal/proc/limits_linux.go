package proc

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// floor is the free space, in bytes, below which a run is stopped.
const floor = 256 << 20

// limits reads how often the sandbox's limits were hit, from version 1 or 2 of
// the control groups, 0 where neither tells.
func limits() wire.RunNote {
	return wire.RunNote{
		OOM:  max(counter("/sys/fs/cgroup/memory.events", "oom_kill"), counter("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill")),
		Pids: max(counter("/sys/fs/cgroup/pids.events", "max"), counter("/sys/fs/cgroup/pids/pids.events", "max")),
	}
}

func counter(file, key string) int {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == key {
			n, _ := strconv.Atoi(fields[1])
			return n
		}
	}
	return 0
}

func freeBytes(dir string) (int64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}

// diskGuard judges the growth of a file system.
type diskGuard struct {
	dir   string
	start int64
	bound int64
	low   int64
}

func newDiskGuard(dir string, bound int64) diskGuard {
	free, _ := freeBytes(dir)
	return diskGuard{dir: dir, start: free, bound: bound, low: min(floor, free/2)}
}

func (d diskGuard) full() bool {
	free, ok := freeBytes(d.dir)
	return ok && (d.bound > 0 && d.start-free > d.bound || free < d.low)
}
