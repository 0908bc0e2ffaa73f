package network

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/rootfs"
	"github.com/git-ftl/git-ftl/container/internal/tunnel"
)

// maxPorts bounds the ports that are open besides the fixed ones.
const maxPorts = 64

// Fixed gives the ports that are taken whenever the network is up.
func Fixed() []int { return []int{80, 443, 3128} }

// Network is the one of a sandbox. Its methods may be called at any time.
type Network struct {
	dial  func() (net.Conn, error) // a stream to the host
	slots chan struct{}            // one for each connection

	mu    sync.Mutex
	armed bool
	up    bool
	ports []int // asked for, besides the fixed ones
	open  map[int]*port
	names *resolver
}

// New returns a network that is down and not armed.
func New() *Network {
	return &Network{slots: make(chan struct{}, tunnel.MaxConns), open: map[int]*port{}}
}

// Arm lets Up have an effect, with streams to the host by dial. It proves that
// the ports can be taken; nothing of the agent may be alive.
func (n *Network) Arm(dial func() (net.Conn, error)) error {
	n.Down()
	n.mu.Lock()
	n.dial, n.armed = dial, true
	n.mu.Unlock()
	err := n.Up()
	n.Down()
	if err != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.armed = false
	}
	return err
}

// Up takes the resolver's port and all others, before the agent starts; where
// one of them cannot be taken none is. It does nothing where the network is up
// or not armed.
func (n *Network) Up() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.up || !n.armed {
		return nil
	}
	names, err := listenDNS()
	if err != nil {
		return fmt.Errorf("answer names: %w", err)
	}
	n.names, n.up = names, true
	for _, number := range slices.Concat(Fixed(), n.ports) {
		if err := n.listen(number); err != nil {
			n.down()
			return err
		}
	}
	return nil
}

// Down gives all ports back and resets what is connected.
func (n *Network) Down() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down()
}

func (n *Network) down() {
	for number := range n.open {
		n.shut(number)
	}
	if n.names != nil {
		n.names.close()
		n.names = nil
	}
	n.up = false
}

// Open takes more ports, at once where the network is up, else when it comes up.
// One that is open already is no error. After an error none of them is new.
func (n *Network) Open(ports []int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var added []int
	for _, number := range ports {
		if slices.Contains(n.ports, number) || slices.Contains(Fixed(), number) || slices.Contains(added, number) {
			continue
		}
		if err := n.add(number); err != nil {
			for _, number := range added {
				n.remove(number)
			}
			return err
		}
		added = append(added, number)
	}
	return nil
}

func (n *Network) add(number int) error {
	switch {
	case number < 1 || number > 65535 || number == 53:
		return fmt.Errorf("open port %d: not one that can be opened", number)
	case len(n.ports) >= maxPorts:
		return fmt.Errorf("open port %d: %d are open, the most that can be", number, maxPorts)
	}
	if n.up {
		if err := n.listen(number); err != nil {
			return err
		}
	}
	n.ports = append(n.ports, number)
	return nil
}

// Close gives ports of Open back and resets what is connected through them.
func (n *Network) Close(ports []int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, number := range ports {
		n.remove(number)
	}
}

func (n *Network) remove(number int) {
	if i := slices.Index(n.ports, number); i >= 0 {
		n.ports = slices.Delete(n.ports, i, i+1)
		n.shut(number)
	}
}

// port is one that is taken, on each address of the loopback.
type port struct {
	listeners []net.Listener
	mu        sync.Mutex
	conns     map[net.Conn]struct{} // nil once it is shut
}

// listen takes a port; n.mu is held. The agent cannot have it beside us: Linux
// lets no two sockets listen where their addresses meet.
func (n *Network) listen(number int) error {
	p := &port{conns: map[net.Conn]struct{}{}}
	for _, address := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(address, fmt.Sprint(number)))
		if address == "::1" && noIPv6(err) {
			continue
		}
		if err != nil {
			p.shut()
			return fmt.Errorf("open port %d: %w", number, err)
		}
		p.listeners = append(p.listeners, l)
	}
	n.open[number] = p
	for _, l := range p.listeners {
		go n.accept(p, l)
	}
	return nil
}

// noIPv6 tells the errors of a sandbox without ::1.
func noIPv6(err error) bool {
	return errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT)
}

func (n *Network) shut(number int) {
	if p := n.open[number]; p != nil {
		p.shut()
		delete(n.open, number)
	}
}

func (p *port) shut() {
	for _, l := range p.listeners {
		_ = l.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		reset(c)
	}
	p.conns = nil
}

// hold keeps a connection for shut, which may have come first.
func (p *port) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *port) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// accept hands connections to the host until the listener is closed. When too
// many are open the next ones wait in the kernel's queue.
func (n *Network) accept(p *port, l net.Listener) {
	number := l.Addr().(*net.TCPAddr).Port
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptors for the moment
			time.Sleep(10 * time.Millisecond)
			continue
		}
		n.slots <- struct{}{}
		if !p.hold(c) {
			reset(c)
			<-n.slots
			return
		}
		go func() {
			n.carry(c, number)
			p.drop(c)
		}()
	}
}

// carry relays one connection, and resets it where the host takes none.
func (n *Network) carry(c net.Conn, number int) {
	far, err := n.reach(number)
	if err != nil {
		reset(c)
		<-n.slots
		return
	}
	far.Done = func() { <-n.slots }
	relay(c.(*net.TCPConn), far)
}

func (n *Network) reach(number int) (*tunnel.Conn, error) {
	n.mu.Lock()
	dial := n.dial
	n.mu.Unlock()
	stream, err := dial()
	if err != nil {
		return nil, err
	}
	far, err := tunnel.Dial(stream, number)
	if err != nil {
		_ = stream.Close()
	}
	return far, err
}

// reset closes a connection of the agent so that it notices.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// Point makes the resolvers of the C libraries and of Go ask 127.0.0.1.
func Point(root rootfs.Root) error {
	const file, want = "/etc/resolv.conf", "nameserver 127.0.0.1\n"
	if have, err := root.Read(file); err == nil && string(have) == want {
		return nil
	}
	if err := root.Rewrite(file, []byte(want)); err != nil {
		return fmt.Errorf("point resolvers at the sandbox: %w", err)
	}
	return nil
}
