package wire

import (
	"encoding/binary"
	"io"
)

// yamux's frame: version, type, flags, stream, length.
const (
	frameHead = 12
	frameData = 0 // type of a frame that has a body
)

// Joined writes the head and the body of each of yamux's frames at once, which
// the multiplexer writes one after the other: an engine hands every write on by
// itself. Writes are one at a time, as yamux does them.
func Joined(stream io.ReadWriteCloser) io.ReadWriteCloser { return &joined{ReadWriteCloser: stream} }

type joined struct {
	io.ReadWriteCloser
	buf []byte // a head whose body comes next
}

// Write implements io.Writer.
func (j *joined) Write(p []byte) (int, error) {
	if len(j.buf) == 0 && len(p) == frameHead && p[1] == frameData && binary.BigEndian.Uint32(p[8:]) > 0 {
		j.buf = append(j.buf, p...)
		return len(p), nil
	}
	if len(j.buf) == 0 {
		return j.ReadWriteCloser.Write(p)
	}
	j.buf = append(j.buf, p...)
	_, err := j.ReadWriteCloser.Write(j.buf)
	j.buf = j.buf[:0]
	if err != nil {
		return 0, err
	}
	return len(p), nil
}
