package lint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// kept is a finding and what matched.
type kept struct {
	finding Finding
	match   []byte
}

// dropMoved adds the findings of secrets that no removed content has held.
func (c *check) dropMoved() error {
	left := int64(maxMoved)
	for _, change := range c.changes {
		if len(c.secret) == 0 || left <= 0 {
			break
		}
		if change.Old == (git.Entry{}) || change.Old.Mode == filemode.Submodule {
			continue
		}
		err := c.blobs.Stream(change.Old.Hash, plumbing.BlobObject, func(size int64, r io.Reader) error {
			if left -= size; left < 0 {
				return nil
			}
			return windows(size, r, func(text []byte, _ int) { c.dropHeld(text) })
		})
		if err != nil {
			return fmt.Errorf("lint %q: %w", change.Path, err)
		}
	}
	for _, k := range c.secret {
		c.add(k.finding)
	}
	return nil
}

// dropHeld drops the secrets that a removed text holds.
func (c *check) dropHeld(text []byte) {
	matches := make([][]byte, len(c.secret))
	for i, k := range c.secret {
		matches[i] = k.match
	}
	moved, rest := held(text, matches), c.secret[:0]
	for i, k := range c.secret {
		if !moved[i] {
			rest = append(rest, k)
		}
	}
	c.secret = rest
}

// tail is how many last bytes of a match are looked up. A shorter match is in no
// text.
const tail = 4

// held tells which matches a text has, in one pass over it: a hostile change
// brings thousands of them.
func held(text []byte, matches [][]byte) []bool {
	found := make([]bool, len(matches))
	ends := map[uint32][]int{}
	var seen [1 << 10]uint64 // a bit for each hash of an end
	bit := func(end uint32) (word *uint64, mask uint64) {
		h := end * 0x9e3779b1 >> 16
		return &seen[h>>6], 1 << (h & 63)
	}
	for i, m := range matches {
		if len(m) < tail {
			continue
		}
		end := binary.LittleEndian.Uint32(m[len(m)-tail:])
		ends[end] = append(ends[end], i)
		word, mask := bit(end)
		*word |= mask
	}
	if len(ends) == 0 {
		return found
	}
	for n := tail; n <= len(text); n++ {
		end := binary.LittleEndian.Uint32(text[n-tail:])
		if word, mask := bit(end); *word&mask == 0 {
			continue
		}
		ends[end] = slices.DeleteFunc(ends[end], func(i int) bool {
			found[i] = bytes.HasSuffix(text[:n], matches[i])
			return found[i]
		})
	}
	return found
}
