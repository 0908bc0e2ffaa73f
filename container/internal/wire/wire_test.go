package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestPathKeepsBytes(t *testing.T) {
	for _, want := range []Path{"plain", "ünï", "no\xffUTF-8", "a\nb\t\"c", ""} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Path
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Errorf("%q came as %q, %v", want, got, err)
		}
	}
}

func TestFrames(t *testing.T) {
	var pipe bytes.Buffer
	for _, text := range []string{"one", "", strings.Repeat("x", MaxFrame)} {
		if err := WriteFrame(&pipe, Stderr, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, MaxFrame)
	for _, want := range []string{"one", "", strings.Repeat("x", MaxFrame)} {
		stream, n, err := ReadFrame(&pipe, buf)
		if err != nil || stream != Stderr || string(buf[:n]) != want {
			t.Errorf("stream %d, %d bytes, %v", stream, n, err)
		}
	}
	if _, _, err := ReadFrame(&pipe, buf); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestBadFrames(t *testing.T) {
	buf := make([]byte, MaxFrame)
	for name, row := range map[string]struct {
		in   string
		want error
	}{
		"cut head": {"\x01\x00", io.ErrUnexpectedEOF},
		"cut body": {"\x01\x00\x00\x00\x05abc", io.ErrUnexpectedEOF},
		"no body":  {"\x01\x00\x00\x00\x05", io.ErrUnexpectedEOF},
		"too long": {"\x01\xff\xff\xff\xff", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ReadFrame(strings.NewReader(row.in), buf)
			if err == nil || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
		})
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x01a\x02\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, buf := bytes.NewReader(data), make([]byte, MaxFrame)
		var again bytes.Buffer
		for {
			stream, n, err := ReadFrame(r, buf)
			if err != nil {
				break
			}
			if err := WriteFrame(&again, stream, buf[:n]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(data, again.Bytes()) {
			t.Errorf("%q was read as %q", data, again.Bytes())
		}
	})
}
