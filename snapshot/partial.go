package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// ErrNotFetched says that files of a partial clone are not on this machine, and
// that its remote did not give them.
var ErrNotFetched = errors.New("files of this partial clone are missing")

// fetchTime bounds a fetch of missing files.
const fetchTime = 5 * time.Minute

// complete fetches what of the tree a partial clone does not have, all at once:
// git itself would fetch file by file, in silence, whenever one is read.
func (st *staging) complete(ctx context.Context) error {
	x := st.index
	if st.tree == x.mem.Whole || !mentionsPromisor(x.repo) {
		return nil
	}
	remotes, err := promisors(ctx, x.repo)
	if err != nil || len(remotes) == 0 {
		return err
	}
	var said []string
	missing, err := st.missing(ctx)
	for i := 0; err == nil && len(missing) > 0 && i < len(remotes); i++ {
		if st.opt.Fetching != nil {
			st.opt.Fetching(len(missing), remotes[i])
		}
		if err := fetchObjects(ctx, x.repo, remotes[i], missing); err != nil {
			said = append(said, fmt.Sprintf("; %s: %s", remotes[i], firstLine(err)))
		}
		missing, err = st.missing(ctx)
	}
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %d of them%s", ErrNotFetched, len(missing), strings.Join(said, ""))
	}
	x.mem.Whole = st.tree
	return nil
}

// mentionsPromisor spares other clones a call of git.
func mentionsPromisor(repo *git.Repo) bool {
	for _, name := range []string{filepath.Join(repo.CommonDir, "config"), filepath.Join(repo.GitDir, "config.worktree")} {
		data, _ := os.ReadFile(name)
		if text := bytes.ToLower(data); bytes.Contains(text, []byte("promisor")) || bytes.Contains(text, []byte("partialclone")) {
			return true
		}
	}
	return false
}

// promisors lists the remotes that promised to give what a clone lacks.
func promisors(ctx context.Context, repo *git.Repo) ([]string, error) {
	out, err := repo.Output(ctx, git.Call{Args: []string{
		"config", "-z", "--get-regexp", `^(remote\..*\.promisor|extensions\.partialclone)$`}})
	var exit *git.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return nil, nil
	}
	var remotes []string
	for _, pair := range splitNUL(string(out)) {
		key, value, _ := strings.Cut(pair, "\n")
		name, ok := strings.CutPrefix(strings.TrimSuffix(key, ".promisor"), "remote.")
		if ok && value != "true" {
			continue
		}
		if !ok {
			name = value
		}
		if name != "" && !strings.HasPrefix(name, "-") {
			remotes = append(remotes, name)
		}
	}
	return remotes, err
}

// missing lists the objects of the tree that are not here.
func (st *staging) missing(ctx context.Context) ([]string, error) {
	out, err := st.index.repo.Output(ctx, git.Call{Args: []string{
		"rev-list", "--objects", "--no-object-names", "--missing=print", st.tree.String()}})
	var all []string
	for line := range strings.Lines(string(out)) {
		if hash, ok := strings.CutPrefix(strings.TrimSpace(line), "?"); ok {
			all = append(all, hash)
		}
	}
	return all, err
}

// fetchObjects fetches objects as git does by itself, and no ref.
func fetchObjects(ctx context.Context, repo *git.Repo, remote string, hashes []string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	return repo.Do(ctx, git.Call{
		Args: []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune", "--no-auto-maintenance",
			"--recurse-submodules=no", "--refmap=", "--filter=blob:none", "--stdin", "--", remote},
		Config: []string{"fetch.negotiationAlgorithm=noop", "fetch.writeCommitGraph=false"},
		Stdin:  strings.NewReader(strings.Join(hashes, "\n") + "\n"),
	})
}
