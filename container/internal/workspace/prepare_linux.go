package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// Prepare makes the folders that are missing: the state root's alone, workspace
// and home the agent's. No element of a path may be a link.
func (s Space) Prepare() error {
	for _, f := range []struct {
		name string
		mode uint32
		uid  int
	}{
		{s.State, 0o700, 0}, {s.Root, 0o755, s.UID}, {s.Home, 0o755, s.UID}, {s.Tree, 0, 0}, {s.Objects, 0, 0},
	} {
		if err := prepareFolder(f.name, f.mode, f.uid); err != nil {
			return fmt.Errorf("prepare %s: %w", f.name, err)
		}
	}
	return nil
}

// prepareFolder leaves an existing folder as it is where mode is 0.
func prepareFolder(name string, mode uint32, uid int) error {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
		err = unix.Mkdirat(at, part, 0o755)
		if err != nil && err != unix.EEXIST && err != unix.EROFS {
			unix.Close(at)
			return err
		}
		fd, err := unix.Openat(at, part, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		unix.Close(at)
		if err != nil {
			return fmt.Errorf("open %q: %w", part, err)
		}
		at = fd
	}
	defer unix.Close(at)
	if mode == 0 {
		return nil
	}
	if err := unix.Fchown(at, uid, uid); err != nil {
		return err
	}
	return unix.Fchmod(at, mode)
}

// EnsureUser gives uid a name in the passwd, group and shadow files of etc: the
// one it has, else wire.User, and home as its home. It returns the name.
func EnsureUser(etc, home string, uid int) (string, error) {
	r, err := openRoot(etc)
	if err != nil {
		return "", err
	}
	defer r.close()
	users, err := r.lines("passwd")
	if err != nil {
		return "", err
	}
	id := strconv.Itoa(uid)
	name, known := nameOf(users, id)
	if known {
		users = withHome(users, id, home)
	} else {
		users = append(users, fmt.Sprintf("%s:x:%s:%s::%s:/bin/sh", name, id, id, home))
	}
	groups, err := r.lines("group")
	if err != nil {
		return "", err
	}
	if group, known := nameOf(groups, id); !known {
		groups = append(groups, fmt.Sprintf("%s:x:%s:", group, id))
	}
	shadow, err := r.lines("shadow")
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(shadow, func(l string) bool { return strings.HasPrefix(l, name+":") }) {
		shadow = append(shadow, name+":!:19000:0:99999:7:::")
	}
	return name, errors.Join(r.replace("passwd", users, 0o644), r.replace("group", groups, 0o644), r.replace("shadow", shadow, 0o600))
}

// nameOf finds a name by its id, the third field, or else a free name.
func nameOf(lines []string, id string) (name string, known bool) {
	taken := map[string]bool{}
	for _, l := range lines {
		fields := strings.Split(l, ":")
		taken[fields[0]] = true
		if len(fields) > 2 && fields[2] == id && fields[0] != "" {
			return fields[0], true
		}
	}
	name = wire.User
	for taken[name] {
		name += "-agent"
	}
	return name, false
}

func withHome(lines []string, id, home string) []string {
	lines = slices.Clone(lines)
	for i, l := range lines {
		if fields := strings.Split(l, ":"); len(fields) == 7 && fields[2] == id {
			fields[3], fields[5] = id, home
			lines[i] = strings.Join(fields, ":")
		}
	}
	return lines
}

// lines returns nil for a file that is not there.
func (r *root) lines(name string) ([]string, error) {
	data, err := r.read(name, 4<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), nil
}

// replace writes a whole file of the root's user at once. A read-only image
// stays as it is.
func (r *root) replace(name string, lines []string, mode uint32) error {
	old, err := r.lines(name)
	if err != nil || slices.Equal(old, lines) {
		return err
	}
	temp := "." + name + ".ftl"
	fd, err := unix.Openat(r.fd, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err == unix.EROFS {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	err = writeFull(fd, []byte(strings.Join(lines, "\n")+"\n"))
	unix.Close(fd)
	if err == nil {
		err = unix.Renameat(r.fd, temp, r.fd, name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
