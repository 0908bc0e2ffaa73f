package workspace

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

var (
	branchName = lazyregexp.New(`^[^\x00-\x20\x7f~^:?*\[\\]+$`)
	commitName = lazyregexp.New(`^[0-9a-f]{40}$`)
)

const gitConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[user]
	name = ftl
	email = ftl
`

// makeGit makes the workspace's own .git: one commit in foreign objects, one
// branch, and an index with the real stat data, so that the agent's first git
// status reads no file.
func (c *reset) makeGit() error {
	files, err := c.gitFiles()
	if err != nil {
		return err
	}
	git := filepath.Join(c.Root, ".git")
	for _, dir := range []string{"", "refs", "refs/heads", "refs/tags", "objects", "objects/info", "objects/pack", "info"} {
		if err := makeOwned(filepath.Join(git, dir), c.UID); err != nil {
			return fmt.Errorf("make .git: %w", err)
		}
	}
	for name, data := range files {
		if err := writeOwned(filepath.Join(git, name), data, c.UID); err != nil {
			return fmt.Errorf("make .git: %w", err)
		}
	}
	return nil
}

func (c *reset) gitFiles() (map[string][]byte, error) {
	head, refs, err := gitRefs(c.req.Commit, c.req.Branch)
	if err != nil {
		return nil, err
	}
	index, err := c.index()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"HEAD":                    []byte(head),
		"packed-refs":             []byte(refs),
		"config":                  []byte(gitConfig),
		"index":                   index,
		"objects/info/alternates": []byte(c.Objects + "\n"),
		"info/exclude":            []byte(strings.Join(c.req.Ignored, "\n") + "\n"),
	}, nil
}

// gitRefs returns HEAD and packed-refs: a packed branch needs no folders.
func gitRefs(commit, branch string) (head, refs string, err error) {
	if branch != "" && (!branchName.MatchString(branch) || strings.Contains(branch, "..")) {
		return "", "", fmt.Errorf("branch %q is refused", branch)
	}
	if commit != "" && !commitName.MatchString(commit) {
		return "", "", fmt.Errorf("commit %q is refused", commit)
	}
	refs = "# pack-refs with: peeled fully-peeled sorted \n"
	switch {
	case branch == "" && commit == "":
		return "ref: refs/heads/main\n", refs, nil
	case branch == "":
		return commit + "\n", refs, nil
	case commit != "":
		refs += commit + " refs/heads/" + branch + "\n"
	}
	return "ref: refs/heads/" + branch + "\n", refs, nil
}

// index encodes version 2 of git's index.
func (c *reset) index() ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(c.root.fd, &st); err != nil {
		return nil, os.NewSyscallError("stat", err)
	}
	size := 64
	for i := range c.items {
		size += 72 + len(c.items[i].path)
	}
	be := binary.BigEndian
	b := append(make([]byte, 0, size), "DIRC"...)
	b = be.AppendUint32(b, 2)
	b = be.AppendUint32(b, uint32(len(c.items)))
	for i := range c.items {
		it := &c.items[i]
		uid := uint32(c.UID)
		dev := uint32(st.Dev)
		if it.mode == modeGitlink {
			uid, dev = 0, 0
		}
		for _, v := range [...]uint32{
			uint32(it.ctime / 1e9), uint32(it.ctime % 1e9), uint32(it.mtime / 1e9), uint32(it.mtime % 1e9),
			dev, uint32(it.inode), it.mode, uid, uid, uint32(it.size),
		} {
			b = be.AppendUint32(b, v)
		}
		b = append(b, it.object[:]...)
		b = be.AppendUint16(b, uint16(min(len(it.path), 0xfff)))
		b = append(b, it.path...)
		b = append(b, "\x00\x00\x00\x00\x00\x00\x00\x00"[:8-(62+len(it.path))%8]...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...), nil
}

// makeOwned and writeOwned make what must not be there yet.
func makeOwned(name string, uid int) error {
	if err := os.Mkdir(name, 0o755); err != nil {
		return err
	}
	return os.Lchown(name, uid, uid)
}

func writeOwned(name string, data []byte, uid int) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Chown(uid, uid)
}
