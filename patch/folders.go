package patch

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// folders lists the folders that are made, those that may become empty, and
// those whose time changes.
func (p *plan) folders(r *appliedRecord) error {
	made, touched := map[string]bool{}, map[string]bool{}
	for _, c := range p.changes {
		dir := path.Dir(c.Path)
		for ; dir != "."; dir = path.Dir(dir) {
			if fi, err := p.disk.lstat(dir); err == nil && fi.IsDir() {
				break
			}
			made[dir] = true
		}
		touched[dir] = true
	}
	gone, err := p.emptied()
	if err != nil {
		return err
	}
	for dir := range gone {
		touched[dir], touched[path.Dir(dir)] = true, true
	}
	for dir := range touched {
		fi, err := p.disk.lstat(dir)
		if absent(err) {
			continue
		}
		if err != nil {
			return err
		}
		r.Dirs = append(r.Dirs, folderTime{Path: []byte(dir), Perm: fi.Mode() & permBits, Before: fi.ModTime().UnixNano()})
	}
	slices.SortFunc(r.Dirs, func(a, b folderTime) int { return bytes.Compare(a.Path, b.Path) })
	r.Made, r.Gone = rawPaths(byDepth(made)), rawPaths(byDepth(gone))
	slices.Reverse(r.Gone)
	return nil
}

// emptied lists the folders that the merged tree no longer has.
func (p *plan) emptied() (map[string]bool, error) {
	after, gone := newView(p.objs, p.merged), map[string]bool{}
	for at := range p.going {
		for dir := path.Dir(at); dir != "." && !gone[dir]; dir = path.Dir(dir) {
			e, err := after.lookup(dir)
			if err != nil {
				return nil, err
			}
			if e.Mode == filemode.Dir {
				break
			}
			gone[dir] = true
		}
	}
	return gone, nil
}

// byDepth sorts folders so that a folder comes before those in it.
func byDepth(set map[string]bool) []string {
	var list []string
	for p := range set {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(depth(a)-depth(b), strings.Compare(a, b)) })
	return list
}
