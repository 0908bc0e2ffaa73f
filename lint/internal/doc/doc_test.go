package doc

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

func TestDecode(t *testing.T) {
	const text = "key = \"päss wörd 🔑\"\nsecond line, long enough to be judged\n"
	for _, tc := range []struct {
		name string
		in   []byte
		want string
	}{
		{"UTF-8", []byte(text), text},
		{"little-endian with a mark", wide(text, binary.LittleEndian, true), text},
		{"big-endian with a mark", wide(text, binary.BigEndian, true), text},
		{"little-endian", wide("plain ascii text in two bytes each", binary.LittleEndian, false), "plain ascii text in two bytes each"},
		{"big-endian", wide("plain ascii text in two bytes each", binary.BigEndian, false), "plain ascii text in two bytes each"},
		{"other bytes around", []byte("\x01\x02\x03" + string(wide("plain ascii text in two bytes each", binary.LittleEndian, false)) + "\xff"), "\x01\x02\x03plain ascii text in two bytes eachÿ"},
		{"other bytes around, big-endian", []byte("\x01" + string(wide("plain ascii text in two bytes each", binary.BigEndian, false)) + "\xff"), "\x01plain ascii text in two bytes each\xff"},
		{"an odd byte at the end", append(wide("text", binary.LittleEndian, true), 'x'), "text"},
		{"half a surrogate pair", []byte{0xff, 0xfe, 0x3d, 0xd8}, "\ufffd"},
		{"a mark that lies", []byte("\xff\xfekey = 1, some words and é\n"), "\xff\xfekey = 1, some words and é\n"},
		{"a NUL in front", []byte("\x00ghp"), "\x00ghp"},
		{"empty", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(Decode(tc.in)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func wide(s string, order binary.AppendByteOrder, mark bool) []byte {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func TestLinesAndAdded(t *testing.T) {
	entry := git.Entry{Mode: filemode.Regular, Hash: plumbing.NewHash("1")}
	text := "same\nnew\r\nmoved\nlast"
	d := New("f", entry, entry, []byte(text), []byte("moved\nsame\n"))
	for _, tc := range []struct {
		at    string
		line  int
		added bool
	}{{"same", 1, false}, {"new", 2, true}, {"moved", 3, false}, {"last", 4, true}} {
		start := strings.Index(text, tc.at)
		if got := d.Line(start); got != tc.line {
			t.Errorf("%s is on line %d, want %d", tc.at, got, tc.line)
		}
		if got := d.Added(start, start+len(tc.at)); got != tc.added {
			t.Errorf("Added(%s) = %v", tc.at, got)
		}
		if line, at := d.LineText(start); string(line) != tc.at || at != start {
			t.Errorf("LineText(%s) = %q at %d", tc.at, line, at)
		}
	}
	if !d.Added(0, len(text)) {
		t.Error("a range with one new line counts as old")
	}
	if fresh := New("f", git.Entry{}, entry, []byte(text), nil); !fresh.Added(0, 4) {
		t.Error("a line of a new file counts as old")
	}
}

// TestBytesOfUTF16: what begins as UTF-16 does may be none of it.
func TestBytesOfUTF16(t *testing.T) {
	for _, text := range []string{
		"\xff\xfekey = plain text of one byte each\n",
		string(wide("UTF-16 to begin with, quite long", binary.LittleEndian, false)) + "\nkey = plain text of one byte each\n\x00",
	} {
		d := New("f", git.Entry{}, git.Entry{}, []byte(text), nil)
		var all []byte
		for _, l := range d.Layers() {
			all = append(all, l.Text...)
		}
		if !bytes.Contains(append(all, d.Text...), []byte("key = plain text of one byte each")) {
			t.Errorf("%.20q: neither text %q nor layers %q", text, d.Text, all)
		}
	}
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("b"), 1, 2)
	f.Add([]byte{0xff, 0xfe, 'a', 0, 0, 0xd8}, []byte{}, 0, 1)
	f.Fuzz(func(t *testing.T, text, was []byte, start, end int) {
		entry := git.Entry{Mode: filemode.Regular}
		d := New("f", entry, entry, text, was)
		if len(d.Text) == 0 {
			return
		}
		start = (start%len(d.Text) + len(d.Text)) % len(d.Text)
		end = start + (end%len(d.Text)+len(d.Text))%len(d.Text)
		d.Added(start, min(end, len(d.Text)))
		line, at := d.LineText(start)
		if at > start || bytes.IndexByte(line, '\n') >= 0 {
			t.Fatalf("line %q at %d does not hold %d", line, at, start)
		}
		if want := 1 + bytes.Count(d.Text[:start], []byte("\n")); d.Line(start) != want {
			t.Fatalf("line %d, want %d", d.Line(start), want)
		}
	})
}
