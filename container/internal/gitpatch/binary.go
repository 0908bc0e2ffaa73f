package gitpatch

import (
	"compress/zlib"
	"fmt"
	"io"
)

const (
	base85   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	lineSize = 52 // bytes in a full line, a limit of the format
)

// literal writes the whole new content; a deletion is the empty content.
func (w *Writer) literal(b content) error {
	var size int64
	if b.side != nil {
		size = b.side.Size
	}
	fmt.Fprintf(w, "GIT binary patch\nliteral %d\n", size)
	lines := &lineWriter{w: w}
	z, err := zlib.NewWriterLevel(lines, zlib.BestSpeed)
	if err != nil {
		return err
	}
	if b.big {
		err = b.side.copyTo(z)
	} else {
		_, err = z.Write(b.data)
	}
	if err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := lines.flush(); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

// lineWriter encodes bytes as lines of a length letter and base85 text.
type lineWriter struct {
	w    io.Writer
	buf  [lineSize]byte
	used int
}

func (l *lineWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := copy(l.buf[l.used:], rest)
		l.used += n
		rest = rest[n:]
		if l.used == lineSize {
			if err := l.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

func (l *lineWriter) flush() error {
	if l.used == 0 {
		return nil
	}
	line := make([]byte, 0, 2+lineSize/4*5)
	if l.used <= 26 {
		line = append(line, 'A'+byte(l.used-1))
	} else {
		line = append(line, 'a'+byte(l.used-27))
	}
	clear(l.buf[l.used:])
	for i := 0; i < l.used; i += 4 {
		word := uint32(l.buf[i])<<24 | uint32(l.buf[i+1])<<16 | uint32(l.buf[i+2])<<8 | uint32(l.buf[i+3])
		var digits [5]byte
		for d := 4; d >= 0; d-- {
			digits[d] = base85[word%85]
			word /= 85
		}
		line = append(line, digits[:]...)
	}
	l.used = 0
	_, err := l.w.Write(append(line, '\n'))
	return err
}
