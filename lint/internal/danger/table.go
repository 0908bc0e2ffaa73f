package danger

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"regexp"
	"strings"
	"sync"
)

// pattern is an expression that is compiled when a keyword of its rule is there.
type pattern = func() *regexp.Regexp

// table is all rules by the beginnings of their keywords, so that one pass over a
// text finds where any rule is worth a try.
type table struct {
	rules   []rule
	begun   [1 << 9]uint64  // a bit for each hash of a keyword's first three bytes
	bucket  [1 << 16]uint16 // of keywords, by their first two bytes; 0 is none
	buckets [][]keyword
}

type keyword struct {
	text   string
	rule   int
	begins bool // a word begins with it
}

var rules = sync.OnceValue(func() *table {
	t := &table{buckets: make([][]keyword, 1)}
	for _, group := range [][]rule{sqlRules(), switchRules(), evalRules(), commandRules(), unsafeRules()} {
		for _, r := range group {
			t.add(r)
		}
	}
	for _, group := range [][]rule{shellRules(), remoteRules(), hostRules()} {
		for _, r := range group {
			r.line = true
			t.add(r)
		}
	}
	return t
})

func (t *table) add(r rule) {
	for word := range strings.SplitSeq(r.keyword, "|") {
		text, begins := strings.CutPrefix(word, `\b`)
		b := &t.bucket[pair(text[0], text[1])]
		if *b == 0 {
			t.buckets = append(t.buckets, nil)
			*b = uint16(len(t.buckets) - 1)
		}
		t.buckets[*b] = append(t.buckets[*b], keyword{text, len(t.rules), begins})
		t.begin(text)
	}
	t.rules = append(t.rules, r)
}

func (t *table) begin(word string) {
	if len(word) == 2 {
		for c := range 0x100 {
			t.begin(word + string([]byte{byte(c)}))
		}
		return
	}
	h := hash(uint32(word[0]) | uint32(word[1])<<8 | uint32(word[2])<<16)
	t.begun[h>>6] |= 1 << (h & 63)
}

// hash is of the first three bytes of a little-endian word, letters in any case.
func hash(w uint32) uint32 { return (w | 0x202020) << 8 * 0x9e3779b1 >> 17 }

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// lower folds ASCII only, so that offsets stay.
func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// How far from its keyword a match may begin and end, in bytes.
const (
	reachBack  = 128
	reachAhead = 512
)

// windows returns for each rule what is near its keywords, in order and without
// overlap, so that a text of nothing but keywords is read once by each.
func (t *table) windows(s *source) [][][2]int {
	out := make([][][2]int, len(t.rules))
	text := s.text
	for i := 0; i+1 < len(text); i++ {
		if len(text)-i >= 4 {
			if h := hash(binary.LittleEndian.Uint32(text[i:])); t.begun[h>>6]>>(h&63)&1 == 0 {
				continue
			}
		}
		bucket := t.buckets[t.bucket[pair(lower(text[i]), lower(text[i+1]))]]
		for n := range bucket {
			k := &bucket[n]
			if r := &t.rules[k.rule]; k.at(text, i) && r.mayMatch(s, i, i+len(k.text)) {
				out[k.rule] = add(out[k.rule], r.window(text, i))
			}
		}
	}
	return out
}

// at reports whether a keyword stands at a place.
func (k *keyword) at(text []byte, i int) bool {
	if len(text)-i < len(k.text) || k.begins && i > 0 && isWord(text[i-1]) {
		return false
	}
	for j := range len(k.text) {
		if lower(text[i+j]) != k.text[j] {
			return false
		}
	}
	return true
}

// window is what is around a keyword at a place.
func (r *rule) window(text []byte, i int) [2]int {
	from, to := max(i-reachBack, 0), min(i+cmp.Or(r.reach, reachAhead), len(text))
	if !r.line {
		return [2]int{from, to}
	}
	from += bytes.LastIndexByte(text[from:i], '\n') + 1
	for at := i; ; {
		n := bytes.IndexByte(text[at:to], '\n')
		if n < 0 {
			return [2]int{from, to}
		}
		if at += n + 1; n == 0 || text[at-2] != '\\' {
			return [2]int{from, at}
		}
	}
}

// add joins a window with the one before where they overlap.
func add(all [][2]int, w [2]int) [][2]int {
	if n := len(all); n > 0 && w[0] < all[n-1][1] {
		all[n-1][1] = max(all[n-1][1], w[1])
		return all
	}
	return append(all, w)
}
