package credential

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// plain reports whether a token is a placeholder or one that the provider's
// documentation prints.
func (r *Row) plain(token []byte) bool {
	if r.Example != "" && strings.Contains(string(token), r.Example) {
		return true
	}
	// Words run together are long and have no digits.
	return regular(r.Shape.varied(token)) || documented(token) || r.bulky() && !mixed(r.Shape, token)
}

// regular reports whether bytes are too orderly to be drawn at random: few
// different ones, a sequence, a repetition, or words joined by signs.
func regular(s []byte) bool {
	if len(s) < 8 {
		return false
	}
	var seen [256]bool
	kinds, steps := 0, 0
	for i, b := range s {
		if !seen[b] {
			seen[b] = true
			kinds++
		}
		if i > 0 && (b == s[i-1] || b == s[i-1]+1 || b+1 == s[i-1]) {
			steps++
		}
	}
	if kinds <= min(5, len(s)/3) || steps*5 >= (len(s)-1)*3 {
		return true
	}
	return repeats(s) || slug(s)
}

// repeats reports whether bytes are one piece twice or more.
func repeats(s []byte) bool {
	for period := 1; period <= min(len(s)/2, 64); period++ {
		i := period
		for i < len(s) && s[i] == s[i-period] {
			i++
		}
		if i == len(s) {
			return true
		}
	}
	return false
}

// slug reports whether bytes are words of one case, joined by signs.
func slug(s []byte) bool {
	var has Class
	for _, b := range s {
		has |= classOf(b)
	}
	return has&digit == 0 && has&(under|dash) != 0 && (has&lower == 0 || has&upper == 0)
}

// documented reports whether a token is one that its provider's documentation, or
// an emulator's, prints for everybody. They stand here as FNV-1a hashes, because a
// token in a repository is a finding of every other scanner.
func documented(token []byte) bool {
	h := fnv.New64a()
	h.Write(token)
	return slices.Contains([]uint64{
		0x3f9d1c996e620b67, // Azure storage emulator
		0x9f1920c6cd484714, // Cosmos DB emulator
		0xddd19c486d095d84, // Stripe docs
		0x67e733c2f9035757, // Stripe docs
		0x3367fe8c16b673d2, // Telegram docs
		0x8959d21b97c6b870, // Telegram docs
		0xf6cad54e10eb31ac, // GitHub docs
		0xe49c640aa227dc2f, // GitHub docs
		0xc358cb21c35a1b3d, // GitHub docs
		0xda974e4be9cfa38b, // GitHub docs
		0xc860f3f8a6cd87c5, // Discord docs
		0x7a4e5c59906d263a, // 1Password docs
		0xbf0a2628ec81cd01, // jwt.io
		0x588404f95ee90ce0, // jwt.io
		0xb5be960354ab9e12, // jwt.io
		0xe18e8033637768ea, // RFC 7515
		0xed4721f1c660a44c, // age docs
	}, h.Sum64())
}

// entropy is Shannon's, in bits a byte.
func entropy(s []byte) float64 {
	var count [256]int
	for _, b := range s {
		count[b]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
