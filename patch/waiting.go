package patch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// brief is what Waiting needs of a record.
type brief struct {
	ID, Worktree, Commit string
	State                State
	Created              time.Time
}

// Waiting is Undecided for a prompt: it lists IDs, newest first, and believes the
// records without a look at the refs, so that it starts no git in most cases.
func (q *Queue) Waiting(ctx context.Context) ([]string, error) {
	entries, err := os.ReadDir(q.repo.Path("results"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var open []brief
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !idPattern.MatchString(id) {
			continue
		}
		var b brief
		data, err := q.repo.ReadState(recordName(id))
		if err != nil || json.Unmarshal(data, &b) != nil || b.Worktree != q.repo.Key() {
			continue
		}
		waits, err := q.waits(ctx, b)
		if err != nil {
			return nil, err
		}
		if waits {
			open = append(open, b)
		}
	}
	slices.SortFunc(open, func(a, b brief) int { return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.ID, b.ID)) })
	ids := make([]string, len(open))
	for i, b := range open {
		ids[i] = b.ID
	}
	return ids, nil
}

// waits reports whether a result waits for a decision: one that was undone does
// where it is pending again.
func (q *Queue) waits(ctx context.Context, b brief) (bool, error) {
	switch b.State {
	case Undecided, Partial:
		return true, nil
	case Undone:
		name, _ := q.pendingRefs()
		pending, err := q.repo.Ref(ctx, name)
		return pending.String() == b.Commit, err
	}
	return false, nil
}
