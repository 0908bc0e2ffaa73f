package proxy

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/shadow"
)

const (
	window     = 8       // bytes of the shortest run that is looked for
	maxValue   = 8 << 10 // bytes of a value that are looked for
	minLine    = 16      // of a value of many lines
	bitmapBits = 20
)

// form is one encoding of a value.
type form struct {
	name   string // of the secret
	text   []byte
	to     []byte // the same encoding of the shadow
	least  int    // bytes of a run that count; len(text) where only the whole does
	prefix int    // bytes at the start that many values share, such as sk_live_
}

// anchor is a place in a form that begins with the eight bytes of key.
type anchor struct {
	key  uint64
	form *form
	at   int
}

// needles finds forms and runs of them in a stream. It is not changed once made.
type needles struct {
	anchors []anchor // by key
	bitmap  *bitmap
	longest int // form
}

// bitmap has a bit for the hash of each key; its size makes most bytes of a stream
// cost one look.
type bitmap [1 << bitmapBits / 64]uint64

// newNeedles looks for the real values of all credentials as a whole, and for any
// run of eight bytes of those that are bound.
func newNeedles(all, bound []*credential) *needles {
	n := &needles{}
	for _, c := range all {
		for _, part := range parts(c.Real.Reveal()) {
			n.add(c.Name, part, c.Shadow, slices.Contains(bound, c))
		}
	}
	n.finish()
	return n
}

// shadowNeedles looks for whole shadows.
func shadowNeedles(all []*credential) *needles {
	n := &needles{}
	for _, c := range all {
		n.add(c.Name, c.Shadow, c.Shadow, false)
	}
	n.finish()
	return n
}

// parts are a value as it is, or its lines if it has many: no needle holds a line
// feed, so that an event of a stream never waits for the next.
func parts(value string) []string {
	if len(value) > maxValue {
		value = value[:maxValue]
	}
	if !strings.ContainsAny(value, "\r\n") {
		return []string{value}
	}
	lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\r' || r == '\n' })
	return slices.DeleteFunc(lines, func(line string) bool {
		return len(strings.TrimSpace(line)) < minLine || strings.HasPrefix(line, "-----")
	})
}

var knownPrefix = regexp.MustCompile(`^[a-z][a-z0-9]{1,9}([_-][a-z0-9]{2,8}){0,2}[_-]`)

func (n *needles) add(name, value, replacement string, runs bool) {
	swapped := shadow.Encodings(replacement)
	shared := len(knownPrefix.FindString(value))
	for i, text := range shadow.Encodings(value) {
		if len(text) < window {
			continue
		}
		f := &form{name: name, text: text, to: []byte(replacement), least: len(text)}
		if i < len(swapped) && swapped[i] != nil {
			f.to = swapped[i]
		}
		if runs {
			f.least = min(len(text), (window*len(text)+len(value)-1)/len(value))
			f.prefix = shared * len(text) / len(value)
		}
		n.longest = max(n.longest, len(text))
		n.anchor(f, swapped)
	}
}

// anchor lists where a run of a form may begin. What the shadow has in common with
// the value is no secret.
func (n *needles) anchor(f *form, shadows [][]byte) {
	for at := 0; at+window <= len(f.text); at++ {
		if at > 0 && (f.least == len(f.text) || dull(f.text[at:at+window])) {
			continue
		}
		if at > 0 && slices.ContainsFunc(shadows, func(s []byte) bool { return bytes.Contains(s, f.text[at:at+window]) }) {
			continue
		}
		n.anchors = append(n.anchors, anchor{binary.BigEndian.Uint64(f.text[at:]), f, at})
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

func (n *needles) finish() {
	slices.SortFunc(n.anchors, func(a, b anchor) int { return cmp.Compare(a.key, b.key) })
	n.bitmap = new(bitmap)
	for _, a := range n.anchors {
		h := hash(a.key)
		n.bitmap[h/64] |= 1 << (h % 64)
	}
}

func hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> (64 - bitmapBits) }

// at are the anchors with a key.
func (n *needles) at(key uint64) []anchor {
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
	whole *form // nil where it is a part, or more than one form
	first *form // one of those that it is of
	open  bool  // more bytes could make it longer
}

// starting is the longest run that starts with src.
func (n *needles) starting(src []byte, final bool) run {
	var best run
	for _, a := range n.at(binary.BigEndian.Uint64(src)) {
		size := common(src, a.form.text[a.at:])
		if size == len(src) && a.at+size < len(a.form.text) && !final {
			return run{open: true}
		}
		whole := a.at == 0 && size == len(a.form.text)
		if !whole && size-max(0, a.form.prefix-a.at) < a.form.least {
			continue
		}
		if size > best.len {
			best = run{len: size, first: a.form}
			if whole {
				best.whole = a.form
			}
		}
	}
	return best
}

// longestAt also takes in runs that start within and end beyond.
func (n *needles) longestAt(src []byte, final bool) run {
	best := n.starting(src, final)
	for i := 1; i < best.len && i+window <= len(src); i++ {
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
func (n *needles) next(src []byte, i int) int {
	bits := n.bitmap
	for ; i+window <= len(src); i++ {
		h := hash(binary.BigEndian.Uint64(src[i : i+window]))
		if bits[h/64]>>(h%64)&1 != 0 {
			break
		}
	}
	return i
}

// replace appends src to dst with what it finds replaced, and returns how many
// bytes of src it used: the rest could begin a run, and none is left if final.
func (n *needles) replace(dst, src []byte, final bool) ([]byte, int) {
	from, i := 0, 0
	for i = n.next(src, i); i+window <= len(src); i = n.next(src, i) {
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
			dst = append(dst, found.whole.to...)
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
func (n *needles) undecided(tail []byte) int {
	for i := range tail {
		var low [window]byte
		size := copy(low[:], tail[i:])
		first := binary.BigEndian.Uint64(low[:])
		last := first | (1<<(8*(window-size)) - 1)
		j, _ := slices.BinarySearchFunc(n.anchors, first, func(a anchor, k uint64) int { return cmp.Compare(a.key, k) })
		if j < len(n.anchors) && n.anchors[j].key <= last {
			return i
		}
	}
	return len(tail)
}

// text is a short text with what it finds replaced.
func (n *needles) text(s string) string {
	out, _ := n.replace(nil, []byte(s), true)
	return string(out)
}

// found adds the names of the secrets whose whole forms are in src to a set.
func (n *needles) found(src []byte, names map[string]bool) {
	for i := n.next(src, 0); i+window <= len(src); i = n.next(src, i+1) {
		for _, a := range n.at(binary.BigEndian.Uint64(src[i:])) {
			if a.at == 0 && bytes.HasPrefix(src[i:], a.form.text) {
				names[a.form.name] = true
			}
		}
	}
}
