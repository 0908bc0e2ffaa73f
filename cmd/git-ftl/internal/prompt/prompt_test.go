package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// reads gives what a prompt makes of keys; what follows the text stays unread.
func reads(t *testing.T, p *Prompt, keys string) (text string, rest string, err error) {
	t.Helper()
	in := strings.NewReader(keys)
	p.In, p.Out = in, io.Discard
	text, err = p.Read("> ")
	left, _ := io.ReadAll(in)
	return text, string(p.left) + string(left), err
}

// TestKeys: what keys make of a text.
func TestKeys(t *testing.T) {
	for _, row := range []struct{ name, keys, want string }{
		{"text", "ab\r", "ab"},
		{"other scripts", "héllo 你好 👍\r", "héllo 你好 👍"},
		{"back", "ab\x7fc\r", "ac"},
		{"left and right", "ac\x1b[Db\x1b[Cd\r", "abcd"},
		{"home and end", "b\x01a\x05c\r", "abc"},
		{"home and end by their keys", "b\x1b[Ha\x1b[Fc\x1bOH.\x1b[4~.\r", ".abc."},
		{"delete", "abc\x1b[H\x1b[3~\r", "bc"},
		{"Ctrl-D within a text", "abc\x01\x04\r", "bc"},
		{"words", "one two three\x1bb\x1bbX\x1bfY\r", "one XtwoY three"},
		{"words with Ctrl", "one two\x1b[1;5DX\r", "one Xtwo"},
		{"cut and yank", "one two\x17\x01\x19 \r", "two one "},
		{"cut to the end", "one two\x01\x1bf\x0b\r", "one"},
		{"cut to the beginning", "one two\x15x\r", "x"},
		{"a new line", "one\x1b\rtwo\r", "one\ntwo"},
		{"up and down in it", "one\x1b\rtwo\x1b[AX\x1b[BY\r", "oneX\ntwoY"},
		{"Ctrl-C drops", "abc\x03d\r", "d"},
		{"Escape alone", "a\x1b\x7fb\r", "b"}, // Escape and a key is a key with Alt
		{"Escape before Ctrl-C", "a\x1b\x03b\r", "b"},
		{"a key that means nothing", "a\x1b[15~\x1bOP\x02b\r", "ba"},
		{"no end of a sequence", "a\x1b[" + strings.Repeat("1", 40) + "\r", "a1111111111"},
		{"pasted", "a\x1b[200~b\nc\r\nd\re\x1b[201~f\r", "ab\nc\nd\nef"},
		{"a paste with controls", "\x1b[200~a\x1b[31m\x03\x07\tb\x1b[201~\r", "a[31m\tb"},
		{"a paste of one that pretends to end", "\x1b[200~a\x1b[201\n\x1b[201~\r", "a[201\n"},
		{"broken UTF-8", "a\xffb\r", "a\ufffdb"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, rest, err := reads(t, &Prompt{}, row.keys+"next")
			if got != row.want || rest != "next" || err != nil {
				t.Errorf("%q, rest %q, %v; want %q", got, rest, err, row.want)
			}
		})
	}
}

func TestEndOfInput(t *testing.T) {
	for _, row := range []struct {
		name, keys string
		want       error
	}{
		{"Ctrl-D", "\x04", io.EOF},
		{"too long", strings.Repeat("x", 21) + "\r", ErrLong},
		{"too long by yanks", "0123456789\x15\x19\x19\x19\r", ErrLong},
		{"Ctrl-D after what was dropped", "ab\x03\x04", io.EOF},
		{"a terminal that is gone", "ab", io.EOF},
	} {
		t.Run(row.name, func(t *testing.T) {
			if text, _, err := reads(t, &Prompt{most: 20}, row.keys); !errors.Is(err, row.want) {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// TestRecall: the way through what was typed before.
func TestRecall(t *testing.T) {
	for _, row := range []struct{ name, keys, want string }{
		{"the newest", "\x1b[A\r", "third try"},
		{"an older one", "\x10\x10\r", "second"},
		{"not beyond the oldest", "\x10\x10\x10\x10\x10\r", "first try"},
		{"back to what was typed", "draft\x10\x10\x0e\x0e\r", "draft"},
		{"edited", "\x10!\r", "third try!"},
		{"searched", "try\x12\x12\r", "first try"},
		{"searched in vain", "nowhere\x12\r", "nowhere"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := &History{path: filepath.Join(t.TempDir(), "h")}
			for _, text := range []string{"first try", "second", "third try"} {
				h.Add(text)
			}
			if got, _, err := reads(t, &Prompt{History: h}, row.keys); got != row.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, row.want)
			}
		})
	}
}

// TestHistoryFile: private, bounded, shared, and without what is to be kept out.
func TestHistoryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	open := func() *History {
		t.Helper()
		h, err := OpenHistory(path, func(text string) bool { return !strings.HasPrefix(text, "auth ") })
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	one, other := open(), open()
	one.Add("several\nlines")
	one.Add("several\nlines")
	one.Add("auth set X")
	other.Add("by another")
	other.Add(strings.Repeat("long ", maxEntry))
	if err := appendTo(path, "\"half a li"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"several\nlines", "by another"}, open().entries); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}

	for i := range 2*maxEntries + 1 {
		one.Add(fmt.Sprint(i))
	}
	if n := len(open().entries); n != maxEntries {
		t.Errorf("%d entries", n)
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Count(data, []byte("\n")) != maxEntries || !bytes.HasSuffix(data, []byte(fmt.Sprintf("\"%d\"\n", 2*maxEntries))) {
		t.Errorf("the file has %d lines, %v", bytes.Count(data, []byte("\n")), err)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestComplete: a Tab goes as far as it can, a second one lists.
func TestComplete(t *testing.T) {
	words := func(before string) (int, []Candidate) {
		return strings.LastIndex(before, " ") + 1, []Candidate{{"apply", "Merge."}, {"append", ""}, {"reject", ""}, {"sub/", ""}}
	}
	for _, row := range []struct{ name, keys, want, shown string }{
		{"the only one", "rej\t\r", "reject ", ""},
		{"as far as all go", "a\t\r", "app", ""},
		{"listed", "app\t\t\r", "app", "apply        Merge."},
		{"not listed", "app\tx\t\r", "appx", ""},
		{"a folder", "x su\t\r", "x sub/", ""},
		{"within a text", "x re z\x1b[D\x1b[D\t\r", "x reject  z", ""},
		{"unknown", "zz\t\t\r", "zz", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &Prompt{In: strings.NewReader(row.keys), Out: &out, Complete: words}
			got, err := p.Read("> ")
			if got != row.want || err != nil || strings.Contains(out.String(), "Merge.") != (row.shown != "") || !strings.Contains(out.String(), row.shown) {
				t.Errorf("%q, %v, shown %q", got, err, out.String())
			}
		})
	}
}

// TestLay: rows, widths and the place of the cursor.
func TestLay(t *testing.T) {
	for _, row := range []struct {
		name, text string
		pos        int
		rows       []string
		row, col   int
	}{
		{"nothing", "", 0, []string{"> "}, 0, 2},
		{"within", "abc", 1, []string{"> abc"}, 0, 3},
		{"a full row", "12345678", 8, []string{"> 12345678", ""}, 1, 0},
		{"at the break", "123456789", 8, []string{"> 12345678", "9"}, 1, 0},
		{"wide", "你好你好", 4, []string{"> 你好你好", ""}, 1, 0},
		{"wide at the break", "a你好你好", 5, []string{"> a你好你", "好"}, 1, 2},
		{"a mark has no width", "e\u0301x", 2, []string{"> e\u0301x"}, 0, 3},
		{"lines", "ab\ncd", 4, []string{"> ab", "  cd"}, 1, 3},
		{"an end of line", "ab\ncd", 2, []string{"> ab", "  cd"}, 0, 4},
		{"what steers is shown", "a\x1b\u202e", 3, []string{`> a\x1b`, `\u202e`}, 1, 6},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := lay("> ", []rune(row.text), row.pos, 10)
			if diff := cmp.Diff(row.rows, v.rows); diff != "" || v.row != row.row || v.col != row.col {
				t.Errorf("cursor %d,%d, want %d,%d; rows (-want +got):\n%s", v.row, v.col, row.row, row.col, diff)
			}
		})
	}
}

func TestClip(t *testing.T) {
	text := []rune("1\n2\n3\n4\n5\n6\n7")
	for _, row := range []struct {
		name   string
		pos    int
		height int
		want   view
	}{
		{"room for all", 0, 7, view{row: 0, height: 7, rows: []string{"> 1", "  2", "  3", "  4", "  5", "  6", "  7"}}},
		{"the end", len(text), 3, view{row: 2, height: 3, rows: []string{"  5", "  6", "  7"}}},
		{"the beginning", 0, 3, view{row: 0, height: 3, rows: []string{"> 1", "  2", "  3"}}},
		{"the middle", 6, 3, view{row: 1, height: 3, rows: []string{"  3", "  4", "  5"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := lay("> ", text, row.pos, 80)
			v.clip(row.height)
			got := view{row: v.row, height: v.height, rows: v.rows}
			if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(view{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// ours are the sequences that a prompt writes itself.
var ours = regexp.MustCompile(`\x1b\[(\?2004[hl]|K|[0-9]+[AC]|H|2J)`)

// FuzzKeys: whatever a terminal sends, or a person pastes, nothing of it steers the
// terminal.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"abc\r", "\x1b[200~a\x1b]0;x\x07\x1b[201~\r", "\x1b[A\x12\t\t你\u202e\x9b31m\r", "a\x1b[1;5D\x17\x19\x0c\r"} {
		f.Add([]byte(seed), 20)
	}
	f.Fuzz(func(t *testing.T, keys []byte, cols int) {
		var out bytes.Buffer
		p := &Prompt{most: 500, In: bytes.NewReader(keys), Out: &out, Size: func() (int, int) { return cols % 200, 10 }}
		p.Complete = func(string) (int, []Candidate) { return 0, []Candidate{{"a\x1b[31m", "\x1b"}, {"a\x1b[32m", ""}} }
		for {
			if _, err := p.Read("> "); err != nil && !errors.Is(err, ErrLong) {
				break
			}
		}
		plain := ours.ReplaceAllString(out.String(), "")
		for _, r := range plain {
			if unicode.IsControl(r) && r != '\r' && r != '\n' {
				t.Fatalf("%q steers the terminal: %q", keys, out.String())
			}
		}
	})
}
