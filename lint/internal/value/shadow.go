package value

import (
	"bytes"
	"strings"

	"github.com/git-ftl/git-ftl/shadow"
)

// token is a shadow in the text that is searched.
type token struct {
	start, end int
	name       string // "" where it does not tell
}

// The rest of a shadow: "ftl_shadow_name_" and digits of hex, "AKIAFTLSHADOW" and
// letters.
const (
	sumLength  = 32
	keyLength  = 7
	maxName    = 200
	keyPrefix  = "AKIA"
	tempPrefix = "ASIA"
)

// shadow takes a marker.
func (s *search) shadow(i, j int) {
	text := s.reading.text
	name := ""
	if j-i == len(shadow.Marker) {
		name, j = shadowName(text, j)
	} else {
		var ok bool
		if i, j, ok = accessKey(text, i, j); !ok {
			return
		}
	}
	start, end := s.reading.span(i, j)
	if len(s.shadows) == maxSpots || !s.isNew(start, end) {
		return
	}
	for _, t := range s.shadows {
		if start < t.end && t.start < end {
			return // a plainer reading has it
		}
	}
	s.shadows = append(s.shadows, token{start, end, name})
}

// shadowName reads what follows the marker that ends at j, and where that ends.
func shadowName(text []byte, j int) (name string, end int) {
	rest := bytes.ToLower(text[j:min(len(text), j+maxName)])
	for n := 1; n+1+sumLength <= len(rest) && isName(rest[n-1]); n++ {
		if rest[n] == '_' && isHex(rest[n+1:n+1+sumLength]) {
			return strings.ToUpper(string(rest[:n])), j + n + 1 + sumLength
		}
	}
	return "", j
}

func isName(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' }

func isHex(text []byte) bool { return len(bytes.Trim(text, "0123456789abcdef")) == 0 }

// accessKey reads the id of an AWS key around a marker. In capitals the marker
// alone tells; else it might be two words, next to each other.
func accessKey(text []byte, i, j int) (start, end int, ok bool) {
	ok = string(text[i:j]) == shadow.MarkerUpper
	if i < len(keyPrefix) {
		return i, j, ok
	}
	switch strings.ToUpper(string(text[i-len(keyPrefix) : i])) {
	case keyPrefix, tempPrefix:
		return i - len(keyPrefix), min(len(text), j+keyLength), true
	}
	return i, j, ok
}
