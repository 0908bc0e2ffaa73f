package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/shadow"
)

// keySet are the credentials of one AWS identity, by their names: PREFIX_ACCESS_KEY_ID,
// PREFIX_SECRET_ACCESS_KEY and, if it is temporary, PREFIX_SESSION_TOKEN.
type keySet struct{ id, secret, session *credential }

const (
	idSuffix      = "ACCESS_KEY_ID"
	secretSuffix  = "SECRET_ACCESS_KEY"
	sessionSuffix = "SESSION_TOKEN"
)

// pairKeys joins the credentials of kind SigV4.
func pairKeys(all []*credential) {
	sets := map[string]*keySet{}
	for _, c := range all {
		if c.Binding.Kind != shadow.SigV4 {
			continue
		}
		for _, suffix := range []string{secretSuffix, idSuffix, sessionSuffix} {
			prefix, ok := strings.CutSuffix(c.Name, suffix)
			if !ok {
				continue
			}
			if sets[prefix] == nil {
				sets[prefix] = &keySet{}
			}
			c.keys = sets[prefix]
			c.keys.put(suffix, c)
			break
		}
	}
}

func (k *keySet) put(suffix string, c *credential) {
	switch suffix {
	case idSuffix:
		k.id = c
	case secretSuffix:
		k.secret = c
	case sessionSuffix:
		k.session = c
	}
}

const (
	sigAlgorithm = "AWS4-HMAC-SHA256"
	maxSigned    = 8 << 20 // bytes of a body whose hash is not in a header
)

// signed reports whether a request carries an AWS signature.
func signed(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") || r.URL.Query().Has("X-Amz-Signature")
}

// signature is what a request says of its signature.
type signature struct {
	id        string
	scope     []string // date, region, service, aws4_request
	headers   []string // signed, in order
	value     string   // hex
	date      string
	presigned bool
}

// parseSignature reads header or query form.
func parseSignature(r *http.Request) (signature, bool) {
	fields := map[string]string{}
	sig := signature{}
	if rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), sigAlgorithm+" "); ok {
		for part := range strings.SplitSeq(rest, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			fields[name] = value
		}
		sig.date = r.Header.Get("X-Amz-Date")
	} else {
		q := r.URL.Query()
		if q.Get("X-Amz-Algorithm") != sigAlgorithm || r.Header.Get("Authorization") != "" {
			return sig, false
		}
		for _, name := range []string{"Credential", "SignedHeaders", "Signature"} {
			fields[name] = q.Get("X-Amz-" + name)
		}
		sig.presigned, sig.date = true, q.Get("X-Amz-Date")
	}
	parts := strings.Split(fields["Credential"], "/")
	if len(parts) != 5 || parts[4] != "aws4_request" {
		return sig, false
	}
	sig.id, sig.scope = parts[0], parts[1:]
	sig.headers = strings.Split(strings.ToLower(fields["SignedHeaders"]), ";")
	sig.value = fields["Signature"]
	return sig, slices.Contains(sig.headers, "host") && strings.HasPrefix(sig.date, sig.scope[0])
}

// resign verifies a request under the shadows and signs it with the real key, for
// the same day, region and service.
func (s *spending) resign() *refusal {
	sig, ok := parseSignature(s.r)
	if !ok {
		return forbidden("the AWS signature is not of a kind that can be signed again (" + sigAlgorithm + ")")
	}
	keys := s.keys(sig.id)
	if keys == nil {
		return s.foreign("AWS access key")
	}
	hash, refused := s.payload(sig)
	if refused != nil {
		return refused
	}
	host := s.r.Host
	want := sig.sign(keys.secret.Shadow, s.r, host, hash)
	if !hmac.Equal([]byte(want), []byte(sig.value)) {
		return forbidden("the AWS signature is wrong")
	}
	if refused := s.session(keys, sig); refused != nil {
		return refused
	}
	s.used[keys.id], s.used[keys.secret] = true, true
	s.r.Host = s.t.hostHeader()
	s.write(sig, keys, hash)
	return nil
}

// keys are the ones that an access key id belongs to, if all of them are bound here.
func (s *spending) keys(id string) *keySet {
	for _, c := range s.bound {
		if k := c.keys; k != nil && k.id == c && k.secret != nil && c.Shadow == id && slices.Contains(s.bound, k.secret) {
			return k
		}
	}
	return nil
}

// payload is the hash of the body as it is signed.
func (s *spending) payload(sig signature) (string, *refusal) {
	hash := s.r.Header.Get("X-Amz-Content-Sha256")
	if strings.HasPrefix(hash, "STREAMING-") && !strings.HasPrefix(hash, "STREAMING-UNSIGNED-") {
		return "", forbidden("a body that is signed in chunks cannot be signed again: send it with UNSIGNED-PAYLOAD")
	}
	if hash != "" {
		return hash, nil
	}
	if sig.presigned && sig.scope[2] == "s3" {
		return "UNSIGNED-PAYLOAD", nil
	}
	text, refused := readAll(s.r, maxSigned)
	if refused != nil {
		return "", refused
	}
	if len(text) > 0 {
		setBody(s.r, text)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

const tokenHeader = "X-Amz-Security-Token"

// session swaps the token of temporary keys.
func (s *spending) session(keys *keySet, sig signature) *refusal {
	sent := s.r.Header.Get(tokenHeader)
	if sig.presigned {
		sent = s.r.URL.Query().Get(tokenHeader)
	}
	switch {
	case keys.session == nil && sent == "":
		return nil
	case keys.session == nil || sent != keys.session.Shadow || !slices.Contains(s.bound, keys.session):
		return s.foreign("AWS session token")
	}
	s.used[keys.session] = true
	if !sig.presigned {
		s.r.Header.Set(tokenHeader, keys.session.Real.Reveal())
	}
	return nil
}

// write puts the new signature where the old one was.
func (s *spending) write(sig signature, keys *keySet, hash string) {
	dropUntrusted(s.r)
	sig.headers = slices.DeleteFunc(sig.headers, func(name string) bool {
		return name != "host" && name != "content-length" && s.r.Header.Get(name) == "" || name == "connection"
	})
	id := strings.Join(append([]string{keys.id.Real.Reveal()}, sig.scope...), "/")
	names := strings.Join(sig.headers, ";")
	if sig.presigned {
		q := s.r.URL.Query()
		q.Set("X-Amz-Credential", id)
		q.Set("X-Amz-SignedHeaders", names)
		if keys.session != nil {
			q.Set(tokenHeader, keys.session.Real.Reveal())
		}
		q.Del("X-Amz-Signature")
		s.r.URL.RawQuery = canonicalQuery(q.Encode())
		s.r.URL.RawQuery += "&X-Amz-Signature=" + sig.sign(keys.secret.Real.Reveal(), s.r, s.r.Host, hash)
		return
	}
	s.r.Header.Set("Authorization", sigAlgorithm+" Credential="+id+", SignedHeaders="+names+
		", Signature="+sig.sign(keys.secret.Real.Reveal(), s.r, s.r.Host, hash))
}

// sign computes a signature: docs.aws.amazon.com, "Create a signed AWS API request".
func (sig signature) sign(secret string, r *http.Request, host, payload string) string {
	canonical := strings.Join([]string{r.Method, canonicalPath(r.URL, sig.scope[2]), canonicalQuery(r.URL.RawQuery),
		sig.canonicalHeaders(r, host), strings.Join(sig.headers, ";"), payload}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{sigAlgorithm, sig.date, strings.Join(sig.scope, "/"), hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range sig.scope {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, text))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// canonicalPath is the path with each segment escaped, and once more for all
// services but S3.
func canonicalPath(u *url.URL, service string) string {
	segments := strings.Split(u.EscapedPath(), "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			plain = segment
		}
		segments[i] = awsEscape(plain, "")
	}
	path := strings.Join(segments, "/")
	if path == "" {
		path = "/"
	}
	if service == "s3" {
		return path
	}
	return awsEscape(path, "/")
}

// canonicalQuery is sorted by name, then by value, without the signature.
func canonicalQuery(raw string) string {
	var pairs [][]string
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, ok := unescape(pair)
		if pair == "" || !ok || name == "X-Amz-Signature" {
			continue
		}
		pairs = append(pairs, []string{awsEscape(name, ""), awsEscape(value, "")})
	}
	slices.SortFunc(pairs, slices.Compare[[]string])
	var out []string
	for _, pair := range pairs {
		out = append(out, pair[0]+"="+pair[1])
	}
	return strings.Join(out, "&")
}

func (sig signature) canonicalHeaders(r *http.Request, host string) string {
	var out strings.Builder
	for _, name := range sig.headers {
		value := host
		switch name {
		case "host":
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		default:
			values := slices.Clone(r.Header.Values(name))
			for i, v := range values {
				values[i] = strings.Join(strings.Fields(v), " ")
			}
			value = strings.Join(values, ",")
		}
		out.WriteString(name + ":" + value + "\n")
	}
	return out.String()
}

// awsEscape leaves only letters, digits, -._~ and what is in keep.
func awsEscape(s, keep string) string {
	var out strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~"+keep, c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteString(strings.ToUpper(hex.EncodeToString([]byte{c})))
	}
	return out.String()
}

// otherHeaders refuses credentials beside a signature.
func (s *spending) otherHeaders() *refusal {
	for name, values := range s.r.Header {
		if len(values) > 1 && (name == "Authorization" || name == tokenHeader) {
			return forbidden("the header " + name + " is there more than once")
		}
		if namesCredential(name) && name != "Authorization" && name != tokenHeader {
			return s.foreign("header " + name)
		}
	}
	return nil
}

func (s *spending) otherQuery() *refusal {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(s.r.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return &refusal{status: http.StatusBadRequest, reason: "the query does not parse"}
		}
		lower := strings.ToLower(name)
		aws := strings.HasPrefix(lower, "x-amz-")
		if aws && (seen[lower] || strings.HasPrefix(s.r.Header.Get("Authorization"), "AWS4-") && s.suspicious(name)) || !aws && s.suspicious(name) {
			return s.foreign("field " + quoted(name))
		}
		seen[lower] = seen[lower] || aws
	}
	return nil
}
