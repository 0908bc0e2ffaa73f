// Package proxy is the one way out of a sandbox: it lets pass what a Policy names
// and swaps shadows for real values, only for the hosts, places, methods and paths
// that a credential is bound to.
//
// It promises that no real value goes to another host than those that it is bound
// to, over nothing but verified TLS, and that what such a host answers holds no
// real value. Everything that a sandbox sends is taken for hostile. It never
// follows a redirect, never looks a name up a second time for the address that it
// checked, and never puts a value into a Decision.
package proxy

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"
)

// Config is what a Proxy is made of. Authority is needed, the rest may be left out.
type Config struct {
	Authority *Authority // mints the certificates that the sandbox sees
	Policy    Policy

	// Resolve looks a name up; nil is the host's resolver. Dial connects to one
	// address, which has been checked; nil is net.Dialer.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)

	// Upstream names the user's own proxy for a URL, nil for none: the semantics
	// of HTTPS_PROXY and NO_PROXY. What goes that way is resolved there. Raw TCP
	// never goes that way.
	Upstream func(*url.URL) (*url.URL, error)

	Roots  *x509.CertPool // trusted upstream; nil is the host's store
	Record func(Decision) // called once for each request when it ends, from many goroutines; nil is nobody
	Now    func() time.Time
}

// Proxy serves sandboxes. Its methods may be called at any time, from anywhere.
type Proxy struct {
	cfg     Config
	state   atomic.Pointer[state]
	forward httputil.BufferPool
	counts  counters
	slots   chan struct{}
	ctx     context.Context
	close   context.CancelFunc
}

// Bounds on what a sandbox can keep busy.
const (
	maxConns     = 1024
	maxRequests  = 2048
	maxStreams   = 250 // of one HTTP/2 connection
	maxHeader    = 64 << 10
	maxSwapBody  = 1 << 20
	helloTimeout = 30 * time.Second
	idleTimeout  = 2 * time.Minute
)

// New checks the policy and makes a proxy of it. Close it at the end.
func New(cfg Config) (*Proxy, error) {
	if cfg.Authority == nil {
		return nil, errors.New("a proxy needs an authority")
	}
	if cfg.Resolve == nil {
		cfg.Resolve = lookUp
	}
	if cfg.Dial == nil {
		cfg.Dial = dialDirect
	}
	if cfg.Record == nil {
		cfg.Record = func(Decision) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Proxy{cfg: cfg, forward: newBuffers(), slots: make(chan struct{}, maxRequests)}
	p.ctx, p.close = context.WithCancel(context.Background())
	if err := p.SetPolicy(cfg.Policy); err != nil {
		return nil, err
	}
	return p, nil
}

// SetPolicy puts another policy in the place of the one in force: it holds for
// every request from now on, also on connections that are open. Requests and raw
// streams that are under way go on. With an error the old one stays.
func (p *Proxy) SetPolicy(policy Policy) error {
	st, err := compile(policy)
	if err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	st.direct = p.transport(st)
	if p.cfg.Upstream != nil {
		st.via = p.proxied()
	}
	if old := p.state.Swap(st); old != nil {
		old.closeIdle()
	}
	return nil
}

// Close ends every Serve, with all its connections.
func (p *Proxy) Close() {
	p.close()
	p.state.Load().closeIdle()
}

// Counts are the decisions since New.
func (p *Proxy) Counts() Counts { return p.counts.load() }

func (st *state) closeIdle() {
	for _, t := range []*http.Transport{st.direct, st.via} {
		if t != nil {
			t.CloseIdleConnections()
		}
	}
}
