package guest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"time"

	"github.com/git-ftl/git-ftl/container/internal/network"
	"github.com/git-ftl/git-ftl/container/internal/rootfs"
	"github.com/git-ftl/git-ftl/container/internal/trust"
	"github.com/git-ftl/git-ftl/container/internal/tunnel"
	"github.com/git-ftl/git-ftl/container/internal/wire"
)

const (
	maxNetwork = 1 << 20 // bytes of a network's JSON
	probeTime  = 5 * time.Second
)

// join gives the sandbox its network. Nothing of the agent is alive meanwhile.
func (s *server) join(w http.ResponseWriter, r *http.Request) {
	var req wire.Network
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxNetwork)).Decode(&req); err != nil {
		http.Error(w, "read network: "+err.Error(), http.StatusBadRequest)
		return
	}
	leave, err := s.gate.alone(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	defer leave()
	report, err := s.joined(req)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, report)
}

func (s *server) joined(req wire.Network) (wire.NetworkReport, error) {
	var report wire.NetworkReport
	var err error
	root := rootfs.Root{Dir: "/"}
	if len(req.CA) > 0 {
		if report.Java, report.Missing, err = trust.Ensure(root, req.CA); err != nil {
			return report, err
		}
	}
	if err := network.Point(root); err != nil {
		return report, err
	}
	report.Missing = append(report.Missing, trust.Names(root)...)
	dial := s.host.Open
	if req.Socket != "" {
		socket := func() (net.Conn, error) { return net.Dial("unix", path.Join(wire.Sockets, path.Base(req.Socket))) }
		if probe(socket) == nil {
			dial, report.Socket = socket, true
		}
	}
	if err := s.network.Open(req.Open); err != nil {
		return report, err
	}
	return report, s.network.Arm(dial)
}

// probe asks the host for the bytes that it is sent, so that whatever else
// answers on a socket is not taken for the host.
func probe(dial func() (net.Conn, error)) error {
	stream, err := dial()
	if err != nil {
		return err
	}
	defer stream.Close()
	if err := stream.SetDeadline(time.Now().Add(probeTime)); err != nil {
		return err
	}
	c, err := tunnel.Dial(stream, tunnel.Probe)
	if err != nil {
		return err
	}
	question := rand.Text()
	if _, err := io.WriteString(c, question); err != nil {
		return err
	}
	if err := c.CloseWrite(); err != nil {
		return err
	}
	reply, err := io.ReadAll(io.LimitReader(c, int64(len(question))+1))
	if err == nil && string(reply) != question {
		err = errors.New("the socket is not the host's")
	}
	if err != nil {
		return fmt.Errorf("try the socket: %w", err)
	}
	return nil
}

// ports changes what leads to the host, while the agent runs too.
func (s *server) ports(w http.ResponseWriter, r *http.Request) {
	var req wire.Ports
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxNetwork)).Decode(&req); err != nil {
		http.Error(w, "read ports: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.network.Close(req.Close)
	if err := s.network.Open(req.Open); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
	}
}
