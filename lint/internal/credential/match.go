package credential

import (
	"bytes"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// nearby is how far behind a word a token may stand that only the word tells.
const nearby = 160

// scan finds rows, keys and web tokens. What is only likely it hands to likely,
// which may be nil.
func (r *Rules) scan(text []byte, likely func(f trigger, at, end int)) []doc.Hit {
	t := r.table()
	var hits []doc.Hit
	t.words.each(text, func(word, end int) {
		at := end - t.size[word]
		if t.fires[word] >= assigned && likely != nil {
			likely(t.fires[word], at, end)
		}
		if len(hits) >= maxHits {
			return
		}
		for _, i := range t.byWord[word] {
			if t.anchor[i] < 0 {
				hits = t.rows[i].behind(hits, text, at, end)
			} else if h, ok := t.rows[i].at(text, t.anchor[i], at); ok {
				hits = append(hits, h)
			}
		}
		if h, ok := r.fire(t.fires[word], text, at); ok {
			hits = append(hits, h)
		}
	})
	return hits
}

func (r *Rules) fire(f trigger, text []byte, at int) (doc.Hit, bool) {
	switch f {
	case privateKey:
		return pemHit(text, at)
	case puttyKey:
		return puttyHit(text, at)
	case webToken:
		return r.jwtHit(text, at)
	}
	return doc.Hit{}, false
}

// at judges the token whose anchor part begins at an offset.
func (r *Row) at(text []byte, part, at int) (doc.Hit, bool) {
	start := r.Shape.start(text, part, at)
	if start < 0 || r.Seal == nil && r.continues(text, start) {
		return doc.Hit{}, false
	}
	n := r.Shape.match(text[start:])
	if n < 0 {
		return doc.Hit{}, false
	}
	end := start + n
	fits := r.Seal != nil && r.Seal(string(text[start:end])) == string(text[start:end])
	// A checksum that fits says more than what stands around it.
	if !fits && (r.continues(text, start) || r.goesOn(text, end)) || r.plain(text[start:end]) {
		return doc.Hit{}, false
	}
	if r.Seal != nil && !fits {
		return r.hit(start, end, doc.Warn, "looks like "+r.title()+", but its checksum is wrong"), true
	}
	return r.hit(start, end, r.Severity, r.title()), true
}

// continues reports whether a token's first byte goes on with a word before it. An
// escape such as \n or %3D is no word.
func (r *Row) continues(text []byte, start int) bool {
	if start == 0 {
		return false
	}
	c := classOf(text[start-1])
	first := r.Shape[0]
	if first.Literal == "" && c&first.Class != 0 {
		return true
	}
	if c&alnum == 0 {
		return c&(plus|slash) != 0 && (r.bulky() || r.unmarked() && base64Ends(text[:start]))
	}
	return !escapeEnds(text[:start])
}

// goesOn reports whether what follows a token belongs to it.
func (r *Row) goesOn(text []byte, end int) bool {
	if end == len(text) {
		return false
	}
	c := classOf(text[end])
	return c&(alnum|r.Shape.last()) != 0 || r.bulky() && c&(plus|slash) != 0
}

// bulky tells a token that is long and has no mark but letters: in base64 text its
// like comes up by chance.
func (r *Row) bulky() bool {
	p := r.Shape[0]
	return r.Shape.least() >= 60 && p.Literal != "" && alnum.run([]byte(p.Literal), len(p.Literal)) == len(p.Literal)
}

// unmarked reports whether a token is of the alphabet of base64 from its start on.
func (r *Row) unmarked() bool {
	p := r.Shape[0].Literal
	return p != "" && base64.run([]byte(p), len(p)) == len(p)
}

// image is how much base64 stands before what is more likely a piece of it.
const image = 32

// base64Ends reports whether text ends in as much base64 as an image or a key has.
func base64Ends(text []byte) bool {
	text = text[max(0, len(text)-image):]
	return len(text) == image && base64.run(text, image) == image
}

// escapeEnds reports whether text ends in an escape of a string, a URL or a page:
// \n, \x22, \u0022, %3D.
func escapeEnds(text []byte) bool {
	n := len(text)
	if n >= 2 && text[n-2] == '\\' && bytes.IndexByte([]byte("nrtvfb0"), text[n-1]) >= 0 {
		return true
	}
	if n >= 3 && text[n-3] == '%' {
		return anyHex.run(text[n-2:], 2) == 2
	}
	for _, e := range []struct {
		mark string
		size int
	}{{`\x`, 2}, {`\u`, 4}} {
		if i := n - e.size - 2; i >= 0 && string(text[i:i+2]) == e.mark {
			return anyHex.run(text[i+2:], e.size) == e.size
		}
	}
	return false
}

// behind adds the tokens that stand soon behind one of a row's words, on its line
// or the next.
func (r *Row) behind(hits []doc.Hit, text []byte, at, end int) []doc.Hit {
	limit := min(len(text), end+nearby+r.Shape.least())
	if i := bytes.IndexByte(text[end:limit], '\n'); i >= 0 {
		if j := bytes.IndexByte(text[end+i+1:limit], '\n'); j >= 0 {
			limit = end + i + 1 + j
		}
	}
	for i := end; i < limit; i++ {
		if token.Has(text[i]) && token.Has(text[i-1]) || !token.Has(text[i]) {
			continue
		}
		n := r.Shape.match(text[i:])
		if n < 0 || !r.stands(text, at, i, i+n) || r.plain(text[i:i+n]) {
			continue
		}
		hits = append(hits, r.hit(i, i+n, r.Severity, r.title()))
		i += n
	}
	return hits
}

// token is what a value without a mark of its own is written in, and what must not
// stand beside it.
const token = url | plus | slash | percent | tilde

// stands reports whether text[start:end] is assigned to a name that says it is
// secret, the row's word in or before that name.
func (r *Row) stands(text []byte, at, start, end int) bool {
	if end < len(text) {
		next := text[end]
		if (token | equals).Has(next) || next == '.' && end+1 < len(text) && alnum.Has(text[end+1]) {
			return false
		}
	}
	if bytes.IndexByte([]byte("\"'`=:>(, \t[\\|"), text[start-1]) < 0 {
		return false
	}
	between := text[at:start]
	if !bytes.ContainsAny(between, "=:>(,\"'`") && !bytes.Contains(between, []byte(" --")) && !bySpace(text, at) {
		return false
	}
	return saysSecret(text[max(0, at-40):start]) && mixed(r.Shape, text[start:end])
}

// saysSecret reports whether a text has a word for a secret.
func saysSecret(text []byte) bool {
	low := bytes.ToLower(text)
	for _, w := range []string{"key", "token", "secret", "pass", "auth", "cred", "_pat", "api", "sig=", "bearer", "pwd"} {
		if bytes.Contains(low, []byte(w)) {
			return true
		}
	}
	return false
}

// hashLeast is the length of the shortest hash that is written in hexadecimal.
const hashLeast = 32

// mixed reports whether a token has letters and digits where its alphabet has both,
// and is no hash where its alphabet has more than hexadecimal digits.
func mixed(s Shape, text []byte) bool {
	var both, has Class
	for _, p := range s {
		both |= p.Class
	}
	digits := 0
	for _, b := range text {
		has |= classOf(b)
		if digit.Has(b) {
			digits++
		}
	}
	const beyond = lowerZ | upperZ
	if len(text) >= hashLeast && both&beyond != 0 && has&beyond == 0 {
		return false
	}
	if both&digit != 0 && both&letter != 0 {
		return digits > 1 && has&letter != 0
	}
	return true
}
