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
func (s *spending) body() *refusal {
	form, object := s.lists("form:"), s.lists("json:")
	if !form && !object || s.r.Body == nil || s.r.ContentLength == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(s.r.Header.Get("Content-Type"))
	isForm := media == "application/x-www-form-urlencoded"
	isJSON := media == "application/json" || strings.HasSuffix(media, "+json")
	if err != nil || !(isForm && form) && !(isJSON && object) {
		return nil
	}
	if s.r.Header.Get("Content-Encoding") != "" {
		return &refusal{status: http.StatusUnsupportedMediaType, reason: "a body with a credential has to come without encoding"}
	}
	text, refused := readAll(s.r, maxSwapBody)
	if refused != nil {
		return refused
	}
	if isForm {
		out, refused := s.fields("form:", string(text))
		if refused != nil {
			return refused
		}
		text = []byte(out)
	} else if text, refused = s.object(text); refused != nil {
		return refused
	}
	setBody(s.r, text)
	return nil
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
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, reason: "the body is too large to put a credential into it"}
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
	if !json.Valid(text) {
		return nil, bad
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, bad
	}
	var out []byte
	copied := 0
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil, bad
		}
		key, _ := name.(string)
		if !s.listed("json:" + key) {
			continue
		}
		var old string
		if json.Unmarshal(value, &old) != nil {
			return nil, s.foreign("field " + key)
		}
		swapped, ok := s.take("json:"+key, old)
		if !ok {
			return nil, s.foreign("field " + key)
		}
		encoded, err := json.Marshal(swapped)
		if err != nil {
			return nil, bad
		}
		end := int(d.InputOffset())
		out = append(append(out, text[copied:end-len(value)]...), encoded...)
		copied = end
	}
	return append(out, text[copied:]...), nil
}
