package credential

import (
	"bytes"
	b64 "encoding/base64"
	"encoding/json"
	"time"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// tokenMost bounds a signed web token; servers refuse headers of half as much.
const tokenMost = 16 << 10

// jwtHit judges the signed web token that begins at an offset: it is one where its
// header and claims are JSON and its header names an algorithm (RFC 7519, RFC
// 7515). One that is not expired is a credential; one without an end may be.
func (r *Rules) jwtHit(text []byte, at int) (doc.Hit, bool) {
	if string(text[at:at+3]) != "eyJ" || at > 0 && (url|dot).Has(text[at-1]) && !escapeEnds(text[:at]) {
		return doc.Hit{}, false
	}
	parts, end, ok := threeParts(text[at:min(len(text), at+tokenMost)])
	if !ok {
		return doc.Hit{}, false
	}
	var head struct {
		Alg string `json:"alg"`
		Enc string `json:"enc"`
	}
	var claims struct {
		Exp json.Number `json:"exp"`
	}
	// The shortest signature in use is that of HS256; samples of documents are
	// known by theirs.
	if !decodeJSON(parts[0], &head) || head.Alg == "" || head.Alg == "none" || head.Enc != "" ||
		!decodeJSON(parts[1], &claims) || len(parts[2]) < 40 || regular(parts[2]) || documented(parts[2]) {
		return doc.Hit{}, false
	}
	severity, message := r.lifetime(claims.Exp)
	return doc.Hit{
		Rule: "credential/jwt", Severity: severity, Start: at, End: at + end, Secret: true, Message: message,
		Remedy: "end the session or the key that it was signed for, and read it from the environment",
	}, true
}

// lifetime judges a token by when it ends, in seconds since 1970.
func (r *Rules) lifetime(exp json.Number) (doc.Severity, string) {
	end, err := exp.Float64()
	switch {
	case err != nil || r.now.IsZero():
		return doc.Warn, "JSON Web Token"
	case time.Unix(int64(end), 0).Before(r.now):
		return doc.Info, "expired JSON Web Token"
	}
	return doc.Block, "JSON Web Token that is still valid"
}

// threeParts cuts a token at its dots, and says how long it is.
func threeParts(text []byte) (parts [3][]byte, end int, ok bool) {
	for i := range parts {
		n := url.run(text[end:], len(text))
		parts[i] = text[end : end+n]
		end += n
		if i == 2 {
			return parts, end, true
		}
		if end == len(text) || text[end] != '.' {
			break
		}
		end++
	}
	return parts, 0, false
}

func decodeJSON(part []byte, into any) bool {
	text := make([]byte, b64.RawURLEncoding.DecodedLen(len(part)))
	n, err := b64.RawURLEncoding.Decode(text, part)
	return err == nil && bytes.HasPrefix(text, []byte("{")) && json.Unmarshal(text[:n], into) == nil
}
