package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// Network is what a sandbox gets in place of a network: the tunnel.
type Network struct {
	CA []byte // PEM certificates of the tunnel's far end, which all programs inside trust; nil for none
}

// NetworkReport says how a sandbox is connected, in the guest's words.
type NetworkReport struct {
	Carrier string   // "socket", or "exec" where the engine shares no socket
	Missing []string // what the image lacks for programs to use the network
}

// Tunnel gives the listener that every connection made inside the sandbox comes
// out of, the same one each time. A connection's LocalAddr is the *net.TCPAddr
// that was dialled inside; it has a CloseWrite, and its Close resets after
// SetLinger(0), as those of a *net.TCPConn. At most 256 are open at once: more
// wait inside, and so does a sender whose reader is slow. Closing the listener
// leaves the sandbox with nothing that answers; Release closes it with all
// connections.
func (s *Sandbox) Tunnel() net.Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inlet()
}

// inlet makes the tunnel's end once; s.mu is held.
func (s *Sandbox) inlet() *inlet {
	if s.in == nil {
		s.in = newInlet()
		if s.released {
			s.in.end()
		}
	}
	return s.in
}

// Connect gives the sandbox its network: from then on, whenever something runs,
// every name is 127.0.0.1 inside, and the ports 80, 443, 3128 and those of Open
// lead to the tunnel. Between runs, and without Connect, there is nothing. It
// ends what runs, so that it comes after Reset and before Run; a second one
// replaces the first. Where the guest cannot do it the sandbox has no network.
func (s *Sandbox) Connect(ctx context.Context, n Network) (NetworkReport, error) {
	c, err := s.guest(ctx)
	if err != nil {
		return NetworkReport{}, err
	}
	s.mu.Lock()
	s.net, s.joined = &n, nil
	s.mu.Unlock()
	return s.join(ctx, c)
}

// join connects the present guest, once.
func (s *Sandbox) join(ctx context.Context, c *conn) (NetworkReport, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.net == nil || s.joined == c {
		return s.report(), nil
	}
	in := s.inlet()
	req := wire.Network{CA: s.net.CA, Open: s.ports}
	if s.spec.Export != "" && c.hello.Dirs {
		// Without a socket the exec is the way.
		req.Socket, _ = in.listenSocket(filepath.Join(s.spec.Export, "tunnel"))
	}
	if !c.carries {
		c.carries = true
		go in.serve(c.session.Accept)
	}
	s.told = wire.NetworkReport{}
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	if err := c.ask(ctx, http.MethodPost, "/network", req, &s.told); err != nil {
		return NetworkReport{}, fmt.Errorf("connect sandbox %s: %w", s.name, err)
	}
	s.joined = c
	return s.report(), nil
}

// report puts the guest's words into ours; s.mu is held.
func (s *Sandbox) report() NetworkReport {
	r := NetworkReport{Carrier: "exec"}
	if s.told.Socket {
		r.Carrier = "socket"
	}
	for _, text := range s.told.Missing {
		r.Missing = append(r.Missing, printable(text))
	}
	return r
}

// Open makes more ports of the sandbox's loopback lead to the tunnel, at once
// where something runs. It is an error if a program inside has one of them.
func (s *Sandbox) Open(ctx context.Context, ports ...int) error {
	s.mu.Lock()
	s.inlet().allow(ports...)
	s.mu.Unlock()
	if err := s.tellPorts(ctx, wire.Ports{Open: ports}); err != nil {
		return fmt.Errorf("open ports: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, port := range ports {
		if !slices.Contains(s.ports, port) {
			s.ports = append(s.ports, port)
		}
	}
	return nil
}

// Close takes ports of Open back and resets what is connected through them, also
// where the guest does not answer.
func (s *Sandbox) Close(ctx context.Context, ports ...int) error {
	s.mu.Lock()
	ports = slices.DeleteFunc(slices.Clone(ports), func(port int) bool { return !slices.Contains(s.ports, port) })
	s.ports = slices.DeleteFunc(s.ports, func(port int) bool { return slices.Contains(ports, port) })
	s.inlet().refuse(ports...)
	s.mu.Unlock()
	if err := s.tellPorts(ctx, wire.Ports{Close: ports}); err != nil {
		return fmt.Errorf("close ports: %w", err)
	}
	return nil
}

// tellPorts tells the guest, where it has a network.
func (s *Sandbox) tellPorts(ctx context.Context, p wire.Ports) error {
	s.mu.Lock()
	c := s.joined
	s.mu.Unlock()
	if c == nil || !c.alive() {
		return nil
	}
	err := c.ask(ctx, http.MethodPost, "/ports", p, nil)
	var refused *statusError
	if errors.As(err, &refused) {
		return errors.New(refused.Text)
	}
	return err
}

// NetEnv gives the variables, as NAME=VALUE, that make programs trust Connect's
// authority where they do not ask the system. It is empty before Connect.
func (s *Sandbox) NetEnv() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.joined == nil || s.net == nil || len(s.net.CA) == 0 {
		return nil
	}
	env := []string{"NODE_EXTRA_CA_CERTS=" + wire.CAFile, "DENO_CERT=" + wire.CAFile}
	for _, name := range []string{
		"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "PIP_CERT", "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO",
	} {
		env = append(env, name+"="+wire.BundleFile)
	}
	if s.told.Java {
		env = append(env, "JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore="+wire.JavaFile+
			" -Djavax.net.ssl.trustStoreType=JKS -Djavax.net.ssl.trustStorePassword=changeit")
	}
	return env
}

// Disconnect takes the network of Connect back: it ends what runs, and from then
// on there is nothing, as before Connect. Files stay.
func (s *Sandbox) Disconnect(ctx context.Context) error {
	s.mu.Lock()
	if s.in != nil {
		s.in.end()
	}
	s.in, s.net, s.joined, s.ports = nil, nil, nil, nil
	s.hangUp()
	s.mu.Unlock()
	if _, err := s.guest(ctx); err != nil {
		return fmt.Errorf("disconnect sandbox %s: %w", s.name, err)
	}
	return nil
}
