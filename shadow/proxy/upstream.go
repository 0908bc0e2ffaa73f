package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// transport goes to the addresses that dial lets pass.
func (p *Proxy) transport(st *state) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return p.dialAddress(ctx, st, addr)
		},
		TLSClientConfig:        &tls.Config{RootCAs: p.cfg.Roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // an encoding is the sandbox's business, and scrubbed where it matters
		MaxIdleConns:           128,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// proxied goes to the user's own proxy, whose address the user chose.
func (p *Proxy) proxied() *http.Transport {
	t := p.transport(nil)
	t.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		via, err := p.cfg.Upstream(r.URL)
		if err == nil && via == nil {
			err = errors.New("no proxy any more for this host") // dialled here it would not be checked
		}
		return via, err
	}
	return t
}

// route is the transport for a host. What a proxy looks up cannot be checked here:
// an address, and a name that is never public, can.
func (st *state) route(p *Proxy, t target) (http.RoundTripper, error) {
	if p.cfg.Upstream == nil || isLocal(t.host) {
		return st.direct, nil
	}
	u := &url.URL{Scheme: "http", Host: t.hostHeader()}
	if t.secure {
		u.Scheme = "https"
	}
	via, err := p.cfg.Upstream(u)
	if err != nil {
		return nil, fmt.Errorf("choose a proxy for %s: %w", t.host, err)
	}
	if via == nil {
		return st.direct, nil
	}
	if ip, ok := literal(t.host); ok && never(ip) {
		return nil, fmt.Errorf("dial %s: %w", t.host, errNever)
	} else if ok && !reachable(ip, st.private(t), ownAddress) {
		return nil, fmt.Errorf("dial %s: %w", t.host, errAddress)
	}
	return st.via, nil
}

// buffers are for copying bodies.
type buffers struct{ pool sync.Pool }

func newBuffers() httputil.BufferPool {
	return &buffers{sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}}
}

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	held, ok := b.pool.Get().(*[]byte)
	if !ok {
		return make([]byte, 32<<10)
	}
	return *held
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(held []byte) { b.pool.Put(&held) }
