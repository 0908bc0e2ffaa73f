package shadow

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/shadow/internal/needle"
)

// Sought is a real value with its name. Chosen says that the user gave it as a
// secret: then it is looked for whatever it looks like.
type Sought struct {
	Name   string
	Value  Secret
	Chosen bool
}

// Needles are the forms to look for; none where the value is not worth it.
func (k Sought) Needles() []Needle {
	value := k.Value.Reveal()
	if !k.Chosen && weak(value) {
		return nil
	}
	return Needles(value[:min(len(value), maxSought)], k.Chosen)
}

// Finder looks for whole values in files, in the forms that Needles gives. It is
// safe for concurrent use.
type Finder struct {
	set        *needle.Set
	generation string
}

// maxSought is how much of a value is looked for, in bytes.
const maxSought = 16 << 10

// finderVersion changes where the same values would be looked for otherwise.
const finderVersion = "2"

// Finder looks for values. The mint's key keeps the generation from telling
// anything of them.
func (m *Mint) Finder(all []Sought) *Finder {
	sum := hmac.New(sha256.New, m.sum("finder", finderVersion))
	var forms []needle.Form
	for _, k := range all {
		for _, n := range k.Needles() {
			text := n.Text.Reveal()
			forms = append(forms, needle.Form{Name: k.Name, Text: []byte(text), Least: len(text)})
			for _, part := range []string{k.Name, text} {
				digest := sha256.Sum256([]byte(part))
				sum.Write(digest[:])
			}
		}
	}
	return &Finder{needle.New(forms), hex.EncodeToString(sum.Sum(nil)[:16])}
}

// weak reports whether a value is a URL whose secret is a word that stands for
// none, as in "postgres://postgres:postgres@localhost": every example has it.
func weak(value string) bool {
	secret := false
	for _, p := range splitURL(strings.TrimSpace(value)) {
		if p.secret && worth(p.text) {
			return false
		}
		secret = secret || p.secret
	}
	return secret
}

// Generation is another one where values, names or the way of looking changed.
func (f *Finder) Generation() string { return f.generation }

// Empty reports whether there is nothing to look for.
func (f *Finder) Empty() bool { return f.set.Empty() }

// findBlock is how many bytes are looked into at once.
const findBlock = 256 << 10

// Find reads to the end and gives the names of the values that it found, in order.
func (f *Finder) Find(r io.Reader) ([]string, error) {
	names := map[string]bool{}
	seam := max(0, f.set.Longest()-1)
	buf := make([]byte, 0, 32<<10) // most files are small
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) == cap(buf) || err != nil {
			f.set.Found(buf, names)
		}
		switch {
		case errors.Is(err, io.EOF):
			return slices.Sorted(maps.Keys(names)), nil
		case err != nil:
			return nil, err
		case len(buf) == cap(buf):
			buf = onward(buf, seam)
		}
	}
}

// onward keeps the end of a block, where a value could go on, with room behind it.
func onward(buf []byte, seam int) []byte {
	tail := buf[len(buf)-min(seam, len(buf)):]
	if size := findBlock + seam; cap(buf) < size {
		return append(make([]byte, 0, size), tail...)
	}
	return append(buf[:0], tail...)
}
