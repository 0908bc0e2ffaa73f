package patch

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

const (
	symlink   = filemode.Symlink
	submodule = filemode.Submodule
)

// plan turns the changes of an apply into steps on disk.
type plan struct {
	*apply
	disk      *disk
	steps     []step // as changes; New is filled when content is staged
	conflicts []Conflict
	modes     bool                           // the executable bit counts here (core.fileMode)
	sparse    bool                           // files of the snapshot may be missing on purpose
	flat      bool                           // a link is a file with its target here (core.symlinks)
	going     map[string]bool                // paths that the changes take away
	alike     map[string]map[string][]string // names of folders on disk, by fold
}

func (p *plan) conflict(at, why string) {
	p.conflicts = append(p.conflicts, Conflict{Path: at, Why: why})
}

// verify checks that the disk is what the work tree's snapshot says, for the
// paths that change, and that nothing unknown lies where something new goes.
func (p *plan) verify(ctx context.Context) error {
	mode, _ := p.q.repo.Line(ctx, "config", "--type=bool", "core.fileMode")
	p.modes = mode != "false" && permBits != 0
	sparse, _ := p.q.repo.Line(ctx, "config", "--type=bool", "core.sparseCheckout")
	p.sparse = sparse == "true"
	links, _ := p.q.repo.Line(ctx, "config", "--type=bool", "core.symlinks")
	p.flat = links == "false"
	p.going, p.alike = map[string]bool{}, map[string]map[string][]string{}
	for _, c := range p.changes {
		if c.New == (git.Entry{}) {
			p.going[c.Path] = true
		}
	}
	var unsure []git.Change
	for _, c := range p.changes {
		old, err := p.disk.sum(c.Path)
		if err != nil {
			return err
		}
		p.steps = append(p.steps, step{Path: []byte(c.Path), Old: old, Clean: entryOf(c.New)})
		if c.Old == (git.Entry{}) {
			if err := p.verifyAbsent(c.Path, old); err != nil {
				return err
			}
		} else if p.verifyPresent(c, old) {
			unsure = append(unsure, c)
		}
	}
	if err := p.verifyFiltered(ctx, unsure); err != nil {
		return err
	}
	if len(p.conflicts) > 0 {
		slices.SortFunc(p.conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
		return &ConflictError{p.r.ID, p.conflicts}
	}
	return nil
}

// verifyAbsent refuses to put a new file over, or beside what some system takes
// for, a file that is not in the snapshot: ignored, left out, or just made.
func (p *plan) verifyAbsent(at string, old state) error {
	if old.Kind != "" {
		p.conflict(at, "a file that is not in the snapshot is there")
		return nil
	}
	for end := range prefixes(at) {
		prefix := at[:end]
		dir, name := path.Split(prefix)
		fi, err := p.disk.lstat(prefix)
		switch {
		case err == nil && end < len(at) && !fi.IsDir():
			if !p.going[prefix] {
				p.conflict(at, quoted(prefix)+" is no folder")
			}
			return nil
		case err == nil && end == len(at):
			return p.verifyEmptied(at, at)
		case err == nil:
			continue
		case !absent(err):
			return err
		}
		return p.verifyAlike(at, dir, name)
	}
	return nil
}

// verifyAlike checks that a folder has no name that some system takes for name.
func (p *plan) verifyAlike(at, dir, name string) error {
	alike, ok := p.alike[dir]
	if !ok {
		names, err := p.disk.names(path.Clean(dir))
		if err != nil {
			return err
		}
		alike = map[string][]string{}
		for _, n := range names {
			alike[fold(n)] = append(alike[fold(n)], n)
		}
		p.alike[dir] = alike
	}
	for _, other := range alike[fold(name)] {
		if other != name && !p.going[dir+other] {
			p.conflict(at, quoted(dir+other)+" is there, which differs only in case or normal form")
		}
	}
	return nil
}

// verifyEmptied checks that a folder in whose place a file goes holds nothing
// but what the changes take away.
func (p *plan) verifyEmptied(target, dir string) error {
	names, err := p.disk.names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		at := dir + "/" + name
		fi, err := p.disk.lstat(at)
		if err != nil {
			return err
		}
		if fi.IsDir() {
			if err := p.verifyEmptied(target, at); err != nil {
				return err
			}
		} else if !p.going[at] {
			p.conflict(target, quoted(at)+" is there, which is not in the snapshot")
		}
	}
	return nil
}

// verifyPresent compares raw bytes; unsure says that only filters can tell.
func (p *plan) verifyPresent(c git.Change, old state) (unsure bool) {
	want := fileKind
	if c.Old.Mode == symlink && (!p.flat || old.Kind == linkKind) {
		want = linkKind
	}
	switch {
	case old.Kind == "" && p.sparse:
		p.conflict(c.Path, "is outside of the sparse checkout; git sparse-checkout add brings its folder in")
	case old.Kind == "":
		p.conflict(c.Path, "is in the snapshot but not on disk")
	case old.Kind != want:
		p.conflict(c.Path, "is of another type on disk than in the snapshot")
	case want == fileKind && c.Old.Mode != symlink && p.modes && old.executable() != (c.Old.Mode == filemode.Executable):
		p.conflict(c.Path, "has another executable bit on disk than in the snapshot")
	case old.Hash == c.Old.Hash.String():
	case c.Old.Mode == symlink:
		p.conflict(c.Path, "differs on disk from the snapshot")
	default:
		return true
	}
	return false
}

// verifyFiltered hashes files as git add would.
func (p *plan) verifyFiltered(ctx context.Context, unsure []git.Change) error {
	if len(unsure) == 0 {
		return nil
	}
	var in bytes.Buffer
	for _, c := range unsure {
		in.WriteString(cQuote(c.Path) + "\n")
	}
	out, err := p.q.repo.Output(ctx, git.Call{
		Args: []string{"hash-object", "--stdin-paths"}, Config: []string{"core.safecrlf=false"}, Stdin: &in,
	})
	if err != nil {
		return fmt.Errorf("hash files: %w", err)
	}
	hashes := strings.Fields(string(out))
	if len(hashes) != len(unsure) {
		return fmt.Errorf("hash files: %d of %d", len(hashes), len(unsure))
	}
	for i, c := range unsure {
		if hashes[i] != c.Old.Hash.String() {
			p.conflict(c.Path, "differs on disk from the snapshot")
		}
	}
	return nil
}

// write keeps what is there, stages what comes, and runs the journal.
func (p *plan) write(ctx context.Context) (*journal, error) {
	j, err := p.journal(ctx)
	if err != nil {
		return j, err
	}
	if len(p.steps) == 0 && len(j.Index) == 0 && j.Commit == nil {
		return j, p.nothing(ctx, j)
	}
	s, err := p.q.openStage(p.disk)
	if err != nil {
		return j, err
	}
	defer s.Close()
	j.Stage = s.dir
	side, err := p.stage(ctx, s)
	if err != nil {
		return j, err
	}
	if j.Commit != nil && j.Commit.Hooks == "" {
		if err := p.q.makeCommit(ctx, j, j.Commit.Tree); err != nil {
			return j, err
		}
	}
	now, prev, err := p.keep(ctx, side)
	if err != nil {
		return j, err
	}
	j.Record.Applied, j.Record.Prev = now.String(), prev.String()
	j.Record.Steps, j.Steps = p.steps, p.steps
	return j, p.q.execute(ctx, p.disk, j)
}

// nothing finishes an apply that finds everything in place.
func (p *plan) nothing(ctx context.Context, j *journal) error {
	if p.theirs != p.r.Tree { // no ref holds it yet
		side, err := p.hold(held{})
		if err != nil {
			return err
		}
		if _, _, err := p.keep(ctx, side); err != nil {
			return err
		}
	}
	return p.q.finish(ctx, p.disk, j)
}

// journal describes the apply, all but the content.
func (p *plan) journal(ctx context.Context) (*journal, error) {
	_, n, err := p.q.newestApply("")
	if err != nil {
		return nil, err
	}
	j := &journal{What: "apply", ID: p.r.ID, Index: p.indexed, Record: appliedRecord{
		N: n + 1, ID: p.r.ID, Head: p.o.Now.Head.String(), When: p.q.now(), Index: p.indexed,
		Restore: p.restore, Base: p.r.Base.String(), HaveBefore: p.r.Have.String(), HaveAfter: p.theirs.String(),
	}}
	if j.Commit, err = p.commitPlan(ctx); err != nil {
		return nil, err
	}
	return j, p.folders(&j.Record)
}

// cQuote quotes a path as git reads it from a list of lines.
func cQuote(p string) string {
	if plain(p) && !strings.HasPrefix(p, `"`) {
		return p
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		if c := p[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// entry is a git.Entry as JSON.
type entry struct {
	Mode string `json:"mode,omitempty"`
	Hash string `json:"hash,omitempty"`
}

func entryOf(e git.Entry) entry {
	if e == (git.Entry{}) {
		return entry{}
	}
	return entry{strconv.FormatUint(uint64(e.Mode), 8), e.Hash.String()}
}

func hashOf(hex string) plumbing.Hash { return plumbing.NewHash(hex) }
