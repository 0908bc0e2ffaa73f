package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// isService reports whether a connection may be neither TLS nor HTTP.
func (s *server) isService(w way) bool {
	port := w.port
	if w.host != "" {
		port = w.hostTLS
	}
	return isLocal(w.host) || isLoopback(w.host) || port != 443 && port != 80 && port != proxyPort
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isLoopback(host string) bool {
	ip, ok := literal(host)
	return ok && ip.IsLoopback()
}

// service serves a port that is not of the web: a service of the host, a server
// that the user named with its port, or TLS and HTTP on another port.
func (s *server) service(c *conn) {
	st := s.p.state.Load()
	raw, ok := st.rawTarget(c.way)
	if ok && isLocal(raw.host) {
		s.pipe(c, st, raw)
		return
	}
	patience := helloTimeout
	if ok {
		patience = rawPatience
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	first, err := c.r.Peek(1)
	_ = c.SetReadDeadline(time.Time{})
	switch {
	case err == nil && readable(first[0]):
		s.hand(c, first[0])
	case ok && (err == nil || isTimeout(err)):
		s.pipe(c, st, raw)
	default:
		s.p.record(Decision{Time: s.p.cfg.Now(), Host: c.way.host, Port: c.way.port, Verdict: Denied, Reason: "this port is not allowed"})
		_ = c.Close()
	}
}

// readable reports whether a connection that begins so is TLS or HTTP.
func readable(first byte) bool { return first == tlsHandshake || first >= 'A' && first <= 'Z' }

// rawTarget is the one server that a connection to a port can be meant for.
func (st *state) rawTarget(w way) (target, bool) {
	t := target{host: localName(w.host), port: w.port}
	if w.host != "" {
		t.port = w.hostTLS
	}
	if st.mode == None {
		return t, false
	}
	var found []string
	for _, rule := range st.rules {
		if rule.Port != t.port || t.host != "" && !rule.names(t.host) {
			continue
		}
		if isLocal(rule.Host) {
			return target{host: "localhost", port: t.port}, true
		}
		if st.opaque(rule) {
			found = append(found, rule.Host)
		}
	}
	if len(found) != 1 {
		return t, false
	}
	t.host = found[0]
	return t, true
}

// opaque reports whether a rule says nothing of what passes.
func (st *state) opaque(r Rule) bool {
	return !r.Registry && len(r.Methods)+len(r.Paths) == 0 && r.Host[0] != '*' && !st.isBound(r.Host)
}

// pipe connects both ends until both are through.
func (s *server) pipe(c *conn, st *state, t target) {
	defer func() { _ = c.Close() }()
	d := Decision{Time: s.p.cfg.Now(), Host: t.host, Port: t.port, Verdict: Allowed}
	defer func() { s.p.record(d) }()
	up, err := s.p.dial(s.ctx, t, st.private(t) || isLocal(t.host))
	if err != nil {
		if errors.Is(err, errAddress) {
			d.Verdict, d.Reason = Denied, errAddress.Error()
		}
		return
	}
	defer context.AfterFunc(s.ctx, func() { _ = up.Close() })()
	defer func() { _ = up.Close() }()
	seen := &leak{}
	from := &witness{ReadCloser: io.NopCloser(c), needles: st.shadows, seen: seen.add}
	var wait sync.WaitGroup
	wait.Go(func() { stream(up, from) })
	stream(c, up)
	// The server has said its last word; what the sandbox still sends has nobody to read it.
	_ = c.Close()
	wait.Wait()
	if d.Shadows = seen.names(nil); d.Shadows != nil {
		d.Verdict = Leaked
	}
}

// stream copies one direction and passes its end on.
func stream(to net.Conn, from io.Reader) {
	_, _ = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	_ = closeWrite(to)
}
