package prompt

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of a history.
const (
	maxEntries = 1000
	maxEntry   = 16 << 10 // bytes; longer texts are kept until the process ends
)

// History is what was typed before, in a file of one JSON string a line that the
// user alone can read. Several processes may add to it at once.
type History struct {
	path    string
	entries []string // oldest first
	keep    func(text string) bool
}

// OpenHistory reads a history, and shortens its file where it has grown to twice
// its bound. Texts that keep refuses are never written anywhere.
func OpenHistory(path string, keep func(text string) bool) (*History, error) {
	h := &History{path: path, keep: keep}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 8*maxEntry) // a byte may take six in JSON
	n := 0
	for lines.Scan() {
		n++
		var text string
		if json.Unmarshal(lines.Bytes(), &text) == nil { // else half a line, of a process that died
			h.remember(text)
		}
	}
	if err := errors.Join(lines.Err(), f.Close()); err != nil {
		return nil, err
	}
	if n > 2*maxEntries {
		return h, h.shorten()
	}
	return h, nil
}

// Add takes a text as the newest. One that is like the newest is not taken twice.
// A file that cannot be written keeps nothing, and that is no error of the text.
func (h *History) Add(text string) {
	if h.keep != nil && !h.keep(text) || len(h.entries) > 0 && h.entries[len(h.entries)-1] == text {
		return
	}
	h.remember(text)
	data, err := json.Marshal(text)
	if err != nil || len(text) > maxEntry {
		return
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(data, '\n'))
	_ = f.Close()
}

func (h *History) remember(text string) {
	h.entries = append(h.entries, text)
	if more := len(h.entries) - maxEntries; more > 0 {
		h.entries = slices.Delete(h.entries, 0, more)
	}
}

// shorten writes the file anew with what is remembered of it.
func (h *History) shorten() error {
	f, err := os.CreateTemp(filepath.Dir(h.path), ".history-*")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, text := range h.entries {
		data, err := json.Marshal(text)
		if err != nil {
			continue
		}
		_, _ = w.Write(append(data, '\n')) // Flush tells
	}
	err = errors.Join(w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// recall is where in the history the person is.
type recall struct {
	back  int    // entries back from the newest; 0 is what they type
	draft string // what they had typed
	seek  bool   // only entries that contain the draft
}

// at is the entry so far back; false where there is none.
func (h *History) at(back int) (string, bool) {
	if h == nil || back < 1 || back > len(h.entries) {
		return "", false
	}
	return h.entries[len(h.entries)-back], true
}

// travel goes through the lines of the text, and beyond them through the history.
// A search goes back to an entry that contains what is typed, again to an older
// one.
func (p *Prompt) travel(k keyName) {
	switch {
	case k == keySearch && (p.recall.back == 0 || !p.recall.seek):
		p.recall = recall{draft: string(p.line.text), seek: true}
		p.walk(1)
	case k == keySearch, k == keyUp && !p.line.vertical(-1):
		p.walk(1)
	case k == keyDown && !p.line.vertical(1):
		p.walk(-1)
	}
}

// walk moves through the history, and back to the draft.
func (p *Prompt) walk(by int) {
	r := p.recall
	if r.back == 0 && !r.seek {
		r.draft = string(p.line.text)
	}
	for {
		r.back += by
		if r.back == 0 {
			p.line.set(r.draft)
			p.recall = recall{}
			return
		}
		text, ok := p.History.at(r.back)
		if !ok {
			return
		}
		if !r.seek || strings.Contains(text, r.draft) {
			p.line.set(text)
			p.recall = r
			return
		}
	}
}
