package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
)

// entry is a line of "git ls-files -s -v".
type entry struct {
	path string
	tag  byte   // H; S skip-worktree; lower case assume-unchanged
	spec string // mode, object and stage
}

func (e entry) plain() bool { return e.tag == 'H' && strings.HasSuffix(e.spec, " 0") }

// listing is an index as git lists it, and a checksum of that; "" is the user's.
func (x *index) listing(ctx context.Context, path string) (out []byte, sum string, err error) {
	c := x.call("ls-files", "-z", "-s", "-v")
	c.Index = path
	out, err = x.repo.Output(ctx, c)
	return out, fmt.Sprintf("%x", sha256.Sum256(out)), err
}

// list reads an index, sorted by path as git keeps it.
func (x *index) list(ctx context.Context, path string) ([]entry, string, error) {
	out, sum, err := x.listing(ctx, path)
	if err != nil {
		return nil, "", err
	}
	var all []entry
	for _, line := range splitNUL(string(out)) {
		head, path, ok := strings.Cut(line, "\t")
		if !ok || len(head) < 10 {
			return nil, "", errStale
		}
		all = append(all, entry{path: path, tag: head[0], spec: head[2:]})
	}
	return all, sum, nil
}

// sync gives the private index the user's entries wherever the two differ, so
// that what is staged next comes out as from the user's index: which paths are
// tracked, the modes where the file system has none, and the blobs that line
// ends are converted by. Only extras known before stay; a file that the user
// just removed from the index is untracked like any other. Errors: errStale
// where entries carry flags that only a copy preserves.
func (x *index) sync(ctx context.Context) error {
	var user, own []entry
	err := parallel(
		func() (err error) { user, x.mem.Listed, err = x.list(ctx, ""); return err },
		func() (err error) { own, _, err = x.list(ctx, x.path); return err },
	)
	if err != nil {
		return err
	}
	x.mem.User, x.doubt = x.doubt, ""
	m := merge{index: x, extras: pathSet{}, own: own}
	x.mem.Absent, x.mem.Links, x.mem.Mods, x.mem.Flags = pathSet{}, pathSet{}, pathSet{}, false
	x.mem.Creds, x.mem.Folders = pathSet{}, pathSet{}
	for _, e := range user {
		x.learn(e)
	}
	x.mem.trimFolders()
	for len(user)+len(own) > 0 && !m.stale {
		switch {
		case len(own) == 0 || len(user) > 0 && user[0].path < own[0].path:
			m.onlyUser(user[0])
			user = user[1:]
		case len(user) == 0 || own[0].path < user[0].path:
			m.onlyOwn(own[0])
			own = own[1:]
		default:
			m.both(user[0], own[0])
			user, own = user[1:], own[1:]
		}
	}
	if m.stale {
		return errStale
	}
	x.mem.Extras = m.extras
	return x.set(ctx, m.drop, m.take)
}

type merge struct {
	*index
	own    []entry
	extras pathSet
	drop   []string
	take   []entry
	stale  bool
}

func (m *merge) onlyUser(e entry) {
	switch {
	case m.names.why(e.path, true) != "":
		m.mem.Absent[e.path] = true
	case !e.plain() || isAttributes(e.path) || m.collides(e.path):
		m.stale = true
	default:
		m.take = append(m.take, e)
		m.added[e.path] = true
	}
}

func (m *merge) onlyOwn(e entry) {
	switch {
	case !e.plain() || isAttributes(e.path):
		m.stale = true
	case m.mem.Extras[e.path]:
		m.extras[e.path] = true
	default:
		m.drop = append(m.drop, e.path)
	}
}

// collides reports whether the private index has a file where p needs a folder,
// or the other way round. When git replaces one by the other, its untracked
// cache misses what became untracked.
func (m *merge) collides(p string) bool {
	i, _ := m.find(p + "/")
	if i < len(m.own) && strings.HasPrefix(m.own[i].path, p+"/") {
		return true
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, found := m.find(dir); found {
			return true
		}
	}
	return false
}

func (m *merge) find(p string) (int, bool) {
	return slices.BinarySearchFunc(m.own, p, func(e entry, p string) int { return strings.Compare(e.path, p) })
}

func (m *merge) both(user, own entry) {
	m.mem.Flags = m.mem.Flags || !user.plain()
	switch {
	case user.tag != own.tag, !user.plain() && user.spec != own.spec, !own.plain() && user.spec != own.spec:
		m.stale = true
	case user.spec != own.spec:
		m.stale = isAttributes(user.path)
		m.take = append(m.take, user)
	}
}

// set removes and replaces entries of the private index, whatever is on disk.
func (x *index) set(ctx context.Context, drop []string, take []entry) error {
	if len(drop)+len(take) == 0 {
		return nil
	}
	x.dirty = true
	var in bytes.Buffer
	for _, p := range drop {
		in.WriteString("0 0000000000000000000000000000000000000000\t" + p + "\x00")
	}
	for _, e := range take {
		in.WriteString(e.spec + "\t" + e.path + "\x00")
	}
	c := x.call("update-index", "-z", "--index-info")
	c.Stdin = &in
	return x.repo.Do(ctx, c)
}
