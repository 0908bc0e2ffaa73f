// Package needle finds many texts, and runs of them, in one pass over a stream: the
// forms of secrets in what enters or leaves a sandbox. It knows nothing of how a
// form is made.
package needle

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// Window is the length in bytes of the shortest run that is looked for.
const Window = 8

const bitmapBits = 20

// Form is one encoding of a value.
type Form struct {
	Name   string // of the secret
	Text   []byte
	To     []byte // what Replace puts in its place
	Least  int    // bytes of a run that count; len(Text) where only the whole does
	Prefix int    // bytes at the start that many values share, such as sk_live_

	Common [][]byte // a run that one of these holds too does not count
}

// anchor is a place in a form that begins with the eight bytes of key.
type anchor struct {
	key  uint64
	form *Form
	at   int
}

// Set is what is looked for. It is safe for concurrent use and not changed once
// made; the zero Set finds nothing.
type Set struct {
	anchors []anchor // by key
	bitmap  *bitmap
	longest int // form
}

// bitmap has a bit for the hash of each key; its size makes most bytes of a stream
// cost one look.
type bitmap [1 << bitmapBits / 64]uint64

// New makes a set of forms. A form under Window is not looked for.
func New(forms []Form) *Set {
	n := &Set{bitmap: new(bitmap)}
	for i := range forms {
		f := &forms[i]
		if len(f.Text) < Window {
			continue
		}
		n.longest = max(n.longest, len(f.Text))
		n.anchor(f)
	}
	slices.SortFunc(n.anchors, func(a, b anchor) int { return cmp.Compare(a.key, b.key) })
	for _, a := range n.anchors {
		h := hash(a.key)
		n.bitmap[h/64] |= 1 << (h % 64)
	}
	return n
}

// Empty reports whether there is nothing to look for.
func (n *Set) Empty() bool { return len(n.anchors) == 0 }

// Longest is the length in bytes of the longest form.
func (n *Set) Longest() int { return n.longest }

// anchor lists where a run of a form may begin.
func (n *Set) anchor(f *Form) {
	for at := 0; at+Window <= len(f.Text); at++ {
		if at > 0 && (f.Least == len(f.Text) || dull(f.Text[at:at+Window])) {
			continue
		}
		if at > 0 && slices.ContainsFunc(f.Common, func(s []byte) bool { return bytes.Contains(s, f.Text[at:at+Window]) }) {
			continue
		}
		n.anchors = append(n.anchors, anchor{binary.BigEndian.Uint64(f.Text[at:]), f, at})
	}
}

// dull reports whether a window has so few different bytes that it is everywhere.
func dull(w []byte) bool {
	kinds := 0
	for i, b := range w {
		if bytes.IndexByte(w[:i], b) < 0 {
			kinds++
		}
	}
	return kinds < 4
}

func hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> (64 - bitmapBits) }

// at are the anchors with a key.
func (n *Set) at(key uint64) []anchor {
	h := hash(key)
	if n.bitmap[h/64]>>(h%64)&1 == 0 {
		return nil
	}
	i, found := slices.BinarySearchFunc(n.anchors, key, func(a anchor, k uint64) int { return cmp.Compare(a.key, k) })
	if !found {
		return nil
	}
	j := i
	for j < len(n.anchors) && n.anchors[j].key == key {
		j++
	}
	return n.anchors[i:j]
}

// run is what was found at one place.
type run struct {
	len   int
	whole *Form // nil where it is a part, or more than one form
	first *Form // one of those that it is of
	open  bool  // more bytes could make it longer
}

// starting is the longest run that starts with src.
func (n *Set) starting(src []byte, final bool) run {
	var best run
	for _, a := range n.at(binary.BigEndian.Uint64(src)) {
		size := common(src, a.form.Text[a.at:])
		if size == len(src) && a.at+size < len(a.form.Text) && !final {
			return run{open: true}
		}
		whole := a.at == 0 && size == len(a.form.Text)
		if !whole && size-max(0, a.form.Prefix-a.at) < a.form.Least {
			continue
		}
		if size > best.len || size == best.len && whole && best.whole == nil {
			best = run{len: size, first: a.form}
			if whole {
				best.whole = a.form
			}
		}
	}
	return best
}

// longestAt also takes in runs that start within and end beyond.
func (n *Set) longestAt(src []byte, final bool) run {
	best := n.starting(src, final)
	for i := 1; i < best.len && i+Window <= len(src); i++ {
		next := n.starting(src[i:], final)
		if next.open {
			return next
		}
		if i+next.len > best.len {
			best.len, best.whole = i+next.len, nil
		}
	}
	return best
}

func common(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// next is the first place from i on where a key may be, or where less than a
// window is left.
func (n *Set) next(src []byte, i int) int {
	bits := n.bitmap
	if bits == nil {
		return len(src)
	}
	for ; i+Window <= len(src); i++ {
		h := hash(binary.BigEndian.Uint64(src[i : i+Window]))
		if bits[h/64]>>(h%64)&1 != 0 {
			break
		}
	}
	return i
}

// Replace appends src to dst with what it finds replaced, and returns how many
// bytes of src it used: the rest could begin a run, and none is left if final.
func (n *Set) Replace(dst, src []byte, final bool) ([]byte, int) {
	from, i := 0, 0
	for i = n.next(src, i); i+Window <= len(src); i = n.next(src, i) {
		found := n.longestAt(src[i:], final)
		if found.open {
			return append(dst, src[from:i]...), i
		}
		if found.len == 0 {
			i++
			continue
		}
		dst = append(dst, src[from:i]...)
		if found.whole != nil {
			dst = append(dst, found.whole.To...)
		} else {
			dst = append(dst, bytes.Repeat([]byte("*"), found.len)...)
		}
		i += found.len
		from = i
	}
	end := len(src)
	if !final {
		end = i + n.undecided(src[i:])
	}
	return append(dst, src[from:end]...), end
}

// undecided is where in a tail of less than a window a run could begin.
func (n *Set) undecided(tail []byte) int {
	for i := range tail {
		var low [Window]byte
		size := copy(low[:], tail[i:])
		first := binary.BigEndian.Uint64(low[:])
		last := first | (1<<(8*(Window-size)) - 1)
		j, _ := slices.BinarySearchFunc(n.anchors, first, func(a anchor, k uint64) int { return cmp.Compare(a.key, k) })
		if j < len(n.anchors) && n.anchors[j].key <= last {
			return i
		}
	}
	return len(tail)
}

// Text is a short text with what it finds replaced.
func (n *Set) Text(s string) string {
	out, _ := n.Replace(nil, []byte(s), true)
	return string(out)
}

// Found adds the names of the secrets whose whole forms are in src to a set.
func (n *Set) Found(src []byte, names map[string]bool) {
	for i := n.next(src, 0); i+Window <= len(src); i = n.next(src, i+1) {
		for _, a := range n.at(binary.BigEndian.Uint64(src[i:])) {
			if a.at == 0 && bytes.HasPrefix(src[i:], a.form.Text) {
				names[a.form.Name] = true
			}
		}
	}
}
