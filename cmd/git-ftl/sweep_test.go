package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/shadow"
)

// sweep looks for values in every encoding, in places that have names. It says
// where, and never which value.
type sweep struct {
	forms  map[uint64][]form // by their first eight bytes
	places map[string]int    // bytes looked through
	found  map[string]bool   // "place: name, encoding"
}

// form is one way that a value may be written.
type form struct {
	name string // of the value, and the encoding
	text []byte
}

func newSweep() *sweep {
	return &sweep{forms: map[uint64][]form{}, places: map[string]int{}, found: map[string]bool{}}
}

// want adds a value: as a whole in all encodings, and what of it is a secret of its
// own, such as the password of a URL or a line of a key.
func (s *sweep) want(name, value string) {
	all := encodingsOf(value)
	for _, n := range shadow.Needles(value, true) {
		all = append(all, form{n.Encoding, []byte(n.Text.Reveal())})
	}
	for _, f := range all {
		key := binary.BigEndian.Uint64(f.text)
		same := func(o form) bool { return bytes.Equal(o.text, f.text) }
		if f.name = name + ", " + f.name; !slices.ContainsFunc(s.forms[key], same) {
			s.forms[key] = append(s.forms[key], f)
		}
	}
}

// encodingsOf are the forms of a value as a whole that differ, by number.
func encodingsOf(value string) []form {
	var all []form
	for i, text := range shadow.Encodings(value) {
		if len(text) >= shadow.MinLength {
			all = append(all, form{fmt.Sprintf("encoding %d", i), text})
		}
	}
	return all
}

// plantable are those of a value's encodings that an argument and a variable can
// have.
func plantable(value string) []form {
	return slices.DeleteFunc(encodingsOf(value), func(f form) bool { return bytes.IndexByte(f.text, 0) >= 0 })
}

// look goes through what a place holds.
func (s *sweep) look(place string, data []byte) {
	s.places[place] += len(data)
	if len(data) < 8 {
		return
	}
	key := binary.BigEndian.Uint64(data)
	for i := 0; ; i++ {
		for _, f := range s.forms[key] {
			if bytes.HasPrefix(data[i:], f.text) {
				s.found[place+": "+f.name] = true
			}
		}
		if i+8 >= len(data) {
			return
		}
		key = key<<8 | uint64(data[i+8])
	}
}

// hits are what was found of all values but one.
func (s *sweep) hits(but string) []string {
	all := slices.Sorted(maps.Keys(s.found))
	return slices.DeleteFunc(all, func(hit string) bool { return strings.Contains(hit, ": "+but+", ") })
}

// missing are the places and encodings in which a planted value was not found.
func (s *sweep) missing(name, value string, places []string) []string {
	var all []string
	for _, place := range places {
		for _, f := range plantable(value) {
			if !s.found[place+": "+name+", "+f.name] {
				all = append(all, place+": "+f.name)
			}
		}
	}
	return all
}

// TestSweepFinds: the search itself finds each value of every kind in each
// encoding, wherever it stands, and nothing in what is like it.
func TestSweepFinds(t *testing.T) {
	kept := keptSecrets(t)
	all := newSweep()
	for _, k := range kept {
		all.want(k.name, k.value)
	}
	for _, k := range kept {
		t.Run(k.name, func(t *testing.T) {
			forms := encodingsOf(k.value)
			for _, n := range shadow.Needles(k.value, true) {
				forms = append(forms, form{n.Encoding, []byte(n.Text.Reveal())})
			}
			if len(forms) < 5 {
				t.Fatalf("%d forms", len(forms))
			}
			for i, f := range forms {
				all.found = map[string]bool{}
				all.look("here", slices.Concat(bytes.Repeat([]byte{'x'}, i), f.text, []byte("y")))
				if len(all.found) == 0 {
					t.Errorf("%s is not found", f.name)
				}
			}
		})
	}
	all.found = map[string]bool{}
	for _, k := range keptSecrets(t) { // of the same kinds, and others
		all.look("here", []byte(k.value))
	}
	if hits := all.hits(""); len(hits) > 0 {
		t.Errorf("found in values that are new:\n%s", strings.Join(hits, "\n"))
	}
}
