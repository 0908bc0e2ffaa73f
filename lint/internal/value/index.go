// Package value finds the user's real secrets in a change, however they are
// written down, and the shadows that stand for them.
//
// It knows a value by its forms, cut into all their windows of eight bytes: what
// counts is how much of a form a file holds, in however many parts. It reads text
// as it is, with its pieces joined, and decoded to a depth of two. A value that
// was encrypted, compressed, or combined with another text (XOR) it does not
// find. It never tells a value, only its name.
package value

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/decode"
	"github.com/git-ftl/git-ftl/shadow"
)

// Value is a real secret to look for.
type Value struct {
	Name    string
	Needles []shadow.Needle // in the order of shadow.Needles
}

// Index is the forms of values, ready to be looked for. It does not change and is
// safe for concurrent use.
type Index struct {
	values  int
	text    []byte   // of all needles, one after the other
	needles []needle // the shadows' markers come first
	names   []string

	windows []window
	heads   []uint32 // for each hash of a window 1 + the newest such window, or 0
	shift   int      // of a hash, to its head
	seen    *filter
}

// needle is a form of a value.
type needle struct {
	start, end int
	value      int    // of Index.names
	piece      int    // the part of a value whose forms belong together
	how        string // the encoding
	whole      bool   // only all of it counts
	marker     bool   // of a shadow, in any case
}

// window is eight bytes of a needle.
type window struct {
	at, needle, next uint32 // in Index.text, in needles, 1 + another window of the same hash
}

const (
	width     = 8  // of a window, in bytes
	maxShared = 64 // windows of one hash: what so many needles share tells nothing of one
	minParts  = 12 // the length from which parts of a needle count
)

// filter has a bit for each hash of a window, so that most text needs no more.
type filter [1 << 14]uint64

// foldCase makes letters of a window small, and some marks others.
const foldCase = 0x2020202020202020

// hash is of a window in any case.
func hash(w uint64) uint64 { return (w | foldCase) * 0x9e3779b97f4a7c15 }

func (f *filter) has(hash uint64) bool { return f[hash>>50]>>(hash>>44&63)&1 != 0 }

func (f *filter) add(hash uint64) { f[hash>>50] |= 1 << (hash >> 44 & 63) }

// New indexes values. Of values that are the same the first one counts.
func New(values []Value) *Index {
	ix := &Index{seen: new(filter)}
	for _, marker := range []string{shadow.Marker, shadow.MarkerUpper} {
		ix.put([]byte(marker), needle{whole: true, marker: true})
	}
	known := map[string]bool{}
	piece := 0
	for _, v := range values {
		if len(v.Needles) == 0 {
			continue
		}
		ix.values++
		ix.names = append(ix.names, v.Name)
		for _, forms := range secretPieces(v.Needles) {
			piece++
			for _, form := range forms {
				ix.form(form, needle{value: len(ix.names) - 1, piece: piece, how: form.Encoding}, known)
			}
		}
	}
	ix.build()
	return ix
}

// Empty reports whether there is no value to look for. Shadows are found anyway.
func (ix *Index) Empty() bool { return ix.values == 0 }

// Format implements fmt.Formatter: an index never shows what it holds.
func (ix *Index) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[values]")) }

// secretPieces are the forms of each part of a value, without those parts that
// have another in them: of a URL around a password only the password is secret.
func secretPieces(all []shadow.Needle) [][]shadow.Needle {
	var pieces, kept [][]shadow.Needle
	for i, n := range all {
		if n.Encoding == "raw" || i == 0 {
			pieces = append(pieces, nil)
		}
		last := len(pieces) - 1
		pieces[last] = append(pieces[last], n)
	}
	for i, p := range pieces {
		if !holdsAnother(pieces, i) {
			kept = append(kept, p)
		}
	}
	return kept
}

func holdsAnother(pieces [][]shadow.Needle, i int) bool {
	raw := pieces[i][0].Text.Reveal()
	for j, other := range pieces {
		for _, n := range other {
			if text := n.Text.Reveal(); j != i && len(text) < len(raw) && strings.Contains(raw, text) {
				return true
			}
		}
	}
	return false
}

// form puts a form of a value, and what is left of it where pieces are joined.
func (ix *Index) form(form shadow.Needle, n needle, known map[string]bool) {
	text := []byte(form.Text.Reveal())
	n.whole = form.Exact || len(text) < minParts
	all := [][]byte{text}
	if joined := decode.Squeeze(text).Text; len(joined) >= minParts && !n.whole {
		all = append(all, joined)
	}
	for _, t := range all {
		if len(t) >= width && !known[string(t)] {
			known[string(t)] = true
			ix.put(t, n)
		}
	}
}

func (ix *Index) put(text []byte, n needle) {
	n.start = len(ix.text)
	ix.text = append(ix.text, text...)
	n.end = len(ix.text)
	ix.needles = append(ix.needles, n)
}

// build hashes the windows of all needles.
func (ix *Index) build() {
	size := max(8, bits.Len(uint(2*len(ix.text))))
	ix.heads, ix.shift = make([]uint32, 1<<size), 64-size
	ix.windows = make([]window, 0, len(ix.text))
	for i, n := range ix.needles {
		last := n.end - width
		if n.whole {
			last = n.start
		}
		for at := n.start; at <= last; at++ {
			ix.window(uint32(i), at)
		}
	}
}

// window adds one window of a needle, unless the needle has the same one earlier.
func (ix *Index) window(needle uint32, at int) {
	own := ix.text[at : at+width]
	h := hash(binary.LittleEndian.Uint64(own))
	head := &ix.heads[h>>ix.shift]
	same := 0
	for next := *head; next != 0; same++ {
		w := ix.windows[next-1]
		if same == maxShared || w.needle == needle && bytes.Equal(own, ix.text[w.at:w.at+width]) {
			return
		}
		next = w.next
	}
	ix.seen.add(h)
	ix.windows = append(ix.windows, window{uint32(at), needle, *head})
	*head = uint32(len(ix.windows))
}
