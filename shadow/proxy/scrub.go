package proxy

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/git-ftl/git-ftl/shadow/internal/needle"
)

// scrubber is what needles make of a stream. It holds back only a tail that could
// begin a run, so that an event goes on when it comes.
type scrubber struct {
	from    io.Reader
	needles *needle.Set
	in      []byte // held back
	out     []byte // what is left of ready
	ready   []byte
	buf     []byte
	err     error
}

const scrubBuffer = 32 << 10

// newScrubber reads from a stream of that length, -1 where it is not known.
func newScrubber(from io.Reader, n *needle.Set, length int64) *scrubber {
	size := int64(scrubBuffer)
	if length >= 0 {
		size = min(size, length+1)
	}
	return &scrubber{from: from, needles: n, buf: make([]byte, size)}
}

// Read implements io.Reader.
func (s *scrubber) Read(p []byte) (int, error) {
	for len(s.out) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.fill()
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

func (s *scrubber) fill() {
	n, err := s.from.Read(s.buf)
	s.err = err
	if n == 0 && err == nil {
		return
	}
	in := s.buf[:n]
	if len(s.in) > 0 {
		s.in = append(s.in, in...)
		in = s.in
	}
	// A stream that broke off could have gone on with the rest of a secret: what
	// was held back then is a part of it and no more.
	out, used := s.needles.Replace(s.ready[:0], in, err != nil)
	s.out, s.ready = out, out
	s.in = append(s.in[:0], in[used:]...)
}

// errEncoding is a body that cannot be looked into.
var errEncoding = errors.New("the answer has an encoding that cannot be searched for secrets")

// scrubResponse takes every real value out of the answer of a bound host.
func scrubResponse(res *http.Response, n *needle.Set) error {
	if res.StatusCode == http.StatusSwitchingProtocols {
		return errEncoding
	}
	encoding := strings.ToLower(strings.Join(res.Header.Values("Content-Encoding"), ","))
	open, ok := decoder(encoding)
	if !ok {
		return fmt.Errorf("read answer: %w", errEncoding)
	}
	scrubHeader(res.Header, n)
	for _, name := range []string{"Content-Encoding", "Accept-Ranges", "Content-MD5", "Digest", "Content-Digest", "Set-Cookie", "Set-Cookie2"} {
		res.Header.Del(name) // a cookie would be a second credential
	}
	if res.Body == nil || res.Body == http.NoBody || res.Request.Method == http.MethodHead || res.ContentLength == 0 {
		return nil
	}
	res.Body = &scrubbedBody{scrubber: newScrubber(open(res.Body), n, res.ContentLength), body: res.Body, res: res}
	res.Header.Del("Content-Length")
	res.ContentLength = -1
	return nil
}

// scrubHeader replaces in values, and drops what has a secret in its name.
func scrubHeader(h http.Header, n *needle.Set) {
	for name, values := range h {
		if n.Text(strings.ToLower(name)) != strings.ToLower(name) || n.Text(name) != name {
			delete(h, name)
			continue
		}
		for i := range values {
			values[i] = n.Text(values[i])
		}
	}
}

// scrubbedBody also sees to the trailers, which are known at the end and passed on
// after Close.
type scrubbedBody struct {
	*scrubber
	body io.Closer
	res  *http.Response
}

func (b *scrubbedBody) Close() error {
	err := b.body.Close()
	scrubHeader(b.res.Trailer, b.needles)
	return err
}

// decoder is how to read a content encoding.
func decoder(encoding string) (func(io.Reader) io.Reader, bool) {
	switch encoding {
	case "", "identity":
		return func(r io.Reader) io.Reader { return r }, true
	case "gzip", "x-gzip":
		return func(r io.Reader) io.Reader { return &lazy{from: r, open: openGzip} }, true
	case "deflate":
		return func(r io.Reader) io.Reader { return &lazy{from: r, open: openDeflate} }, true
	}
	return nil, false
}

// lazy opens a decoder at the first read, since that waits for bytes.
type lazy struct {
	from io.Reader
	open func(io.Reader) (io.Reader, error)
	to   io.Reader
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.to == nil {
		to, err := l.open(l.from)
		if err != nil {
			return 0, err
		}
		l.to = to
	}
	return l.to.Read(p)
}

func openGzip(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }

// openDeflate takes both things that servers call deflate.
func openDeflate(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(buffered)
	}
	return flate.NewReader(buffered), nil
}

// witness reads a body and notes whose shadows are in it.
type witness struct {
	io.ReadCloser
	needles *needle.Set
	tail    []byte
	seen    func(names map[string]bool)
}

func (w *witness) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	names := map[string]bool{}
	// Only the seam with what came before is copied.
	seam := append(w.tail, p[:min(n, w.needles.Longest())]...)
	w.needles.Found(seam, names)
	w.needles.Found(p[:n], names)
	if n >= w.needles.Longest() {
		seam = p[:n]
	}
	w.tail = append(w.tail[:0], seam[max(0, len(seam)-w.needles.Longest()):]...)
	if len(names) > 0 {
		w.seen(names)
	}
	return n, err
}
