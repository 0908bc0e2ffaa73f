package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// clearIPC removes the user's System V shared memory, queues and semaphores:
// they hold memory and messages for the next task, and only their owner may
// remove them.
func (k *Killer) clearIPC() error {
	for _, kind := range []struct {
		file   string
		remove func(id uintptr) unix.Errno
	}{
		{"/proc/sysvipc/shm", func(id uintptr) unix.Errno { return ipcControl(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0) }},
		{"/proc/sysvipc/msg", func(id uintptr) unix.Errno { return ipcControl(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0) }},
		{"/proc/sysvipc/sem", func(id uintptr) unix.Errno { return ipcControl(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) }},
	} {
		table, err := os.ReadFile(kind.file)
		if errors.Is(err, os.ErrNotExist) {
			continue // a kernel without them
		}
		if err != nil {
			return fmt.Errorf("list System V objects: %w", err)
		}
		for _, id := range owned(table, k.uid) {
			if err := k.call(func() unix.Errno { return kind.remove(uintptr(id)) }); err != nil {
				return fmt.Errorf("remove System V object %d of %s: %w", id, kind.file, err)
			}
		}
	}
	return nil
}

func ipcControl(trap, id, a, b uintptr) unix.Errno {
	_, _, e := unix.RawSyscall(trap, id, a, b)
	if e == unix.EIDRM || e == unix.EINVAL { // gone meanwhile
		return 0
	}
	return e
}

// owned reads the ids of what a user owns from a table of /proc/sysvipc, whose
// first line names the columns.
func owned(table []byte, uid int) []int {
	var ids []int
	column := map[string]int{}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(column) == 0 {
			for i, name := range f {
				column[name] = i
			}
			continue
		}
		id, user := column["shmid"]+column["msqid"]+column["semid"], column["uid"]
		if len(f) <= max(id, user) || f[user] != strconv.Itoa(uid) {
			continue
		}
		if n, err := strconv.Atoi(f[id]); err == nil {
			ids = append(ids, n)
		}
	}
	return ids
}
