package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
)

// body swaps in a form or JSON object, if a credential is bound to a field of one.
// A form is always looked through, since a token in one counts as much as in a query.
func (s *spending) body() *refusal {
	if s.r.Body == nil || s.r.ContentLength == 0 {
		return nil
	}
	media, _, _ := mime.ParseMediaType(s.r.Header.Get("Content-Type"))
	isForm := media == "application/x-www-form-urlencoded"
	isJSON := media == "application/json" || strings.HasSuffix(media, "+json")
	if !isForm && !(isJSON && s.lists("json:")) {
		return nil
	}
	if s.r.Header.Get("Content-Encoding") != "" {
		return &refusal{status: http.StatusUnsupportedMediaType, reason: "a form or a body with a credential has to come without encoding"}
	}
	text, refused := readAll(s.r, maxSwapBody)
	if refused != nil {
		return refused
	}
	if text, refused = s.content(text, isForm); refused != nil {
		return refused
	}
	setBody(s.r, text)
	return nil
}

func (s *spending) content(text []byte, form bool) ([]byte, *refusal) {
	if !form {
		return s.object(text)
	}
	out, refused := s.fields("form:", string(text))
	return []byte(out), refused
}

func (s *spending) lists(kind string) bool {
	for _, c := range s.bound {
		for place := range c.places {
			if strings.HasPrefix(place, kind) {
				return true
			}
		}
	}
	return false
}

// readAll reads a body of at most limit bytes.
func readAll(r *http.Request, limit int64) ([]byte, *refusal) {
	if r.Body == nil {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, &refusal{status: http.StatusBadRequest, reason: "the body does not arrive"}
	}
	if int64(len(text)) > limit {
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, reason: "the body is too large to look for credentials in it"}
	}
	return text, nil
}

func setBody(r *http.Request, text []byte) {
	r.Body = io.NopCloser(bytes.NewReader(text))
	r.ContentLength = int64(len(text))
	r.TransferEncoding = nil
}

// object swaps in the fields of a JSON object, and leaves every other byte alone.
func (s *spending) object(text []byte) ([]byte, *refusal) {
	bad := &refusal{status: http.StatusBadRequest, reason: "the body is not a JSON object"}
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') || !json.Valid(text) {
		return nil, bad
	}
	var out []byte
	copied := 0
	for d.More() {
		var value json.RawMessage
		name, err := d.Token()
		if err != nil || d.Decode(&value) != nil {
			return nil, bad
		}
		key, _ := name.(string)
		if !s.listed("json:" + key) {
			continue
		}
		swapped, ok := s.text(key, value)
		if !ok {
			return nil, s.foreign("field " + quoted(key))
		}
		end := int(d.InputOffset())
		out = append(append(out, text[copied:end-len(value)]...), swapped...)
		copied = end
	}
	return append(out, text[copied:]...), nil
}

// text swaps a JSON string.
func (s *spending) text(key string, value json.RawMessage) ([]byte, bool) {
	var old string
	if json.Unmarshal(value, &old) != nil {
		return nil, false
	}
	swapped, ok := s.take("json:"+key, old)
	if !ok {
		return nil, false
	}
	encoded, err := json.Marshal(swapped)
	return encoded, err == nil
}
