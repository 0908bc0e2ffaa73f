package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// errAddress is an address that no sandbox may reach; errNever is one that no
// permission opens.
var (
	errAddress = errors.New("not a public address")
	errNever   = fmt.Errorf("%w, nor one that can be allowed", errAddress)
)

const (
	dialTimeout  = 10 * time.Second
	maxAddresses = 4
)

func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func dialDirect(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", addr.String())
}

// dial connects to a host. The addresses are looked up once, checked, and those
// very addresses dialled, so that a name that changes its address in between gains
// nothing.
func (p *Proxy) dial(ctx context.Context, t target, private bool) (net.Conn, error) {
	all, err := p.addresses(ctx, t.host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", t.host, err)
	}
	all = slices.DeleteFunc(all, never)
	if len(all) == 0 {
		return nil, fmt.Errorf("dial %s: %w", t.host, errNever)
	}
	all = slices.DeleteFunc(all, func(a netip.Addr) bool { return !reachable(a, private, ownAddress) })
	if len(all) == 0 {
		return nil, fmt.Errorf("dial %s: %w", t.host, errAddress)
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() }) // IPv6 is often announced and dead
	for _, a := range all[:min(len(all), maxAddresses)] {
		var conn net.Conn
		dialCtx, cancel := context.WithTimeout(ctx, dialTimeout)
		conn, err = p.cfg.Dial(dialCtx, netip.AddrPortFrom(a, uint16(t.port)))
		cancel()
		if err == nil {
			return conn, nil
		}
	}
	return nil, fmt.Errorf("dial %s: %w", t.host, err)
}

func (p *Proxy) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, ok := literal(host); ok {
		return []netip.Addr{ip}, nil
	}
	if isLocal(host) { // never by a resolver: some ask the network for it
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	all, err := p.cfg.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i] = all[i].Unmap().WithZone("")
	}
	return all, nil
}

// isLocal reports whether a name is the host itself.
func isLocal(host string) bool { return host == "localhost" || strings.HasSuffix(host, ".localhost") }

// reachable reports whether an address may be dialled; private is what the user
// allowed by name and port, own what is an address of this host.
func reachable(a netip.Addr, private bool, own func(netip.Addr) bool) bool {
	if private {
		return !never(a)
	}
	return public(a) && !own(a)
}

// never is what no permission opens: metadata services live there.
func never(a netip.Addr) bool {
	return a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() || within(a,
		"0.0.0.0/8", "255.255.255.255/32", "100.100.100.200/32", "fd00:ec2::254/128", "64:ff9b::/96", "2002::/16")
}

// public reports whether an address is one of the internet at large.
func public(a netip.Addr) bool {
	if a.Is4() {
		return a.IsGlobalUnicast() && !a.IsPrivate() && !within(a, "0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24",
			"192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4")
	}
	// What is outside of 2000::/3 is not global; inside, Teredo and 6to4 hold IPv4 addresses.
	return within(a, "2000::/3") && !within(a, "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
}

func within(a netip.Addr, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return netip.MustParsePrefix(p).Contains(a) })
}

// ownAddress reports whether an address is one of this host; not knowing counts as one.
func ownAddress(a netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(own, func(o net.Addr) bool {
		prefix, err := netip.ParsePrefix(o.String())
		return err == nil && prefix.Addr().Unmap() == a
	})
}

// dialAddress is dial for a transport, which knows a host and a port.
func (p *Proxy) dialAddress(ctx context.Context, st *state, addr string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return nil, err
	}
	t := target{host: host, port: port}
	return p.dial(ctx, t, st.private(t))
}
