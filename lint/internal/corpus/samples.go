package corpus

import (
	"math/rand/v2"
	"slices"

	"github.com/git-ftl/git-ftl/lint/internal/credential"
)

// Samples are n tokens of every row, each in another kind of file, with what no
// provider wrote: keys, passwords, signed tokens.
func Samples(seed uint64, n int) []Sample {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []Sample
	for _, row := range credential.Rows() {
		all := contexts()
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i := range n {
			t := Token(r, row)
			c := all[i%len(all)]
			out = append(out, Sample{"credential/" + row.Name, c.path, inContext(c, row, t), row.What, t})
		}
	}
	return append(out, unnamed(r, n)...)
}

// Misses are texts that are nearly a token of a row, and are none of its kind.
func Misses(r *rand.Rand, row credential.Row) []Sample {
	short, long := token(r, row, shortest), token(r, row, longest)
	last := row.Shape[len(row.Shape)-1]
	more := "a"
	if last.Literal == "" {
		more = text(r, string(last.Class.Bytes()), 1)
	}
	miss := [][2]string{{"one short", short[:len(short)-1]}, {"cut", short[1:]}, {"alphabet", spoil(row.Shape, short)}}
	if row.Seal == nil {
		miss = append(miss, [2]string{"one more", long + more})
		if row.Shape[0].Literal != "" {
			miss = append(miss, [2]string{"in a word", "x" + short})
		}
	}
	var out []Sample
	for _, m := range miss {
		for _, c := range contexts()[:8] {
			out = append(out, Sample{Path: c.path, Text: inContext(c, row, m[1]), What: m[0], Span: m[1]})
		}
	}
	return out
}

// spoil puts a byte of no alphabet into the middle of the longest varied part.
func spoil(s credential.Shape, token string) string {
	at, best := 0, 0
	size := 0
	for _, p := range s {
		if p.Min > size {
			size, best = p.Min, at+p.Min/2
		}
		at += len(p.Literal) + p.Min
	}
	return token[:best] + "!" + token[best+1:]
}

// Broken is a token of a row whose checksum is wrong.
func Broken(r *rand.Rand, row credential.Row) string {
	t := []byte(Token(r, row))
	set := []byte("0123456789")
	for {
		i := len(t) - 1
		t[i] = set[r.IntN(len(set))]
		if row.Seal(string(t)) != string(t) {
			return string(t)
		}
	}
}

// pick is one of some strings.
func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// text is n bytes of a set.
func text(r *rand.Rand, set string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = set[r.IntN(len(set))]
	}
	return string(out)
}

// shuffled is a text with its bytes in another order.
func shuffled(r *rand.Rand, s string) string {
	b := slices.Clone([]byte(s))
	r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return string(b)
}
