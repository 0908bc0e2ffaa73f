package proxy

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// target is where a request goes: every name that it was asked by agrees on it.
type target struct {
	host   string // normalised
	port   int
	secure bool
}

func (t target) address() string { return net.JoinHostPort(t.host, strconv.Itoa(t.port)) }

// allowHint is the command that would let it pass, "" where none does. What is not
// public passes only with its port.
func (t target) allowHint() string {
	ip, isIP := literal(t.host)
	switch {
	case isIP && never(ip):
		return ""
	case t.port != 443 && t.port != 80, isLocal(t.host), isIP && !public(ip):
		return "git ftl allow " + t.address()
	}
	return "git ftl allow " + t.host
}

// normalise brings a host name into the one form that is compared: lower case,
// ASCII, no trailing dot, an IP address in its shortest writing. It refuses what a
// resolver and a certificate could understand in two ways.
func normalise(host string) (string, bool) {
	if ip, ok := literal(host); ok {
		return ip.String(), true
	}
	host = strings.TrimSuffix(host, ".")
	if !isASCII(host) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", false
		}
		host = ascii
	}
	host = strings.ToLower(host)
	if len(host) > 253 || !labelled(host) {
		return "", false
	}
	return host, true
}

// labelled reports whether a name has well-formed labels.
func labelled(host string) bool {
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, labelLetters) != "" {
			return false
		}
		last = label
	}
	return last[0] < '0' || last[0] > '9' // 127.1, 0x7f.1 and 2130706433 are addresses to some
}

const labelLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_"

// literal reads an IP address, in brackets or not.
func literal(host string) (netip.Addr, bool) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return netip.Addr{}, false
	}
	return ip.Unmap(), true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// splitHost reads host[:port] as it stands in a Host header or a CONNECT line.
func splitHost(text string, port int) (string, int, bool) {
	host := text
	if h, p, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 || p != strconv.FormatUint(n, 10) {
			return "", 0, false
		}
		host, port = h, int(n)
	}
	host, ok := normalise(host)
	if !ok {
		return "", 0, false
	}
	return host, port, true
}

// way is how a connection came: by the port that was dialled in the sandbox, and
// for a CONNECT by what it named.
type way struct {
	port    int
	host    string // of a CONNECT, "" for none
	hostTLS int    // port of a CONNECT
}

const proxyPort = 3128

// connects reports whether a CONNECT may come that way.
func (w way) connects() bool { return w.port == proxyPort && w.host == "" }

// identify says where a request goes, and refuses one whose Host, SNI, CONNECT
// target and absolute form do not all say the same.
func identify(w way, r *http.Request) (target, *refusal) {
	t := target{secure: r.TLS != nil}
	port := 80
	if t.secure {
		port = 443
	}
	var ok bool
	t.host, t.port, ok = splitHost(r.Host, port)
	if !ok {
		return target{}, &refusal{status: 400, reason: "the request names no valid host"}
	}
	if refused := sameEverywhere(t, r); refused != nil {
		return t, refused
	}
	return t, w.agrees(t, r)
}

// sameEverywhere compares the names inside of one request.
func sameEverywhere(t target, r *http.Request) *refusal {
	for _, named := range r.Header["Host"] { // HTTP/2 keeps it beside :authority
		if host, _, ok := splitHost(named, 0); !ok || host != t.host {
			return misdirected("Host and :authority differ")
		}
	}
	if r.URL.IsAbs() && !t.isURL(r.URL) {
		return misdirected("the request's URL is not of this connection")
	}
	if t.secure && !sniIs(r.TLS, t.host) {
		return misdirected("the host of the request is not the one of the TLS connection")
	}
	return nil
}

// isURL reports whether a URL is of a target, over the same scheme.
func (t target) isURL(u *url.URL) bool {
	scheme := "http"
	if t.secure {
		scheme = "https"
	}
	host, _, ok := splitHost(u.Host, 0)
	return ok && host == t.host && u.Scheme == scheme
}

// sniIs reports whether a TLS connection was opened for a host; an IP address has no SNI.
func sniIs(state *tls.ConnectionState, host string) bool {
	if state.ServerName == "" {
		_, isIP := literal(host)
		return isIP
	}
	name, ok := normalise(state.ServerName)
	return ok && name == host
}

// agrees compares a request with how its connection came.
func (w way) agrees(t target, r *http.Request) *refusal {
	if w.host != "" {
		if w.host != t.host || w.hostTLS != t.port {
			return misdirected("the host of the request is not the one of the CONNECT")
		}
		return nil
	}
	if w.port == proxyPort {
		if t.secure || !r.URL.IsAbs() {
			return &refusal{status: http.StatusBadRequest, reason: "this port takes proxy requests only"}
		}
		return nil
	}
	if w.port != t.port {
		return misdirected("the port of the request is not the one of the connection")
	}
	if t.secure && r.TLS.ServerName == "" && !isLoopback(t.host) {
		return misdirected("the TLS connection named no host")
	}
	return nil
}
