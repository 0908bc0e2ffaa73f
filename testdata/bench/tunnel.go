package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/git-ftl/git-ftl/container"
)

// volume is what is carried each time, in bytes.
const volume = 128 << 20

// execOnly is an engine that shares nothing with this machine, so that the tunnel
// has to go through the exec.
type execOnly struct{ *container.DockerEngine }

// Resolve implements container.Engine.
func (e execOnly) Resolve(ctx context.Context, s container.Spec) (container.Spec, error) {
	s, err := e.DockerEngine.Resolve(ctx, s)
	s.Export = ""
	return s, err
}

func measureTunnels(rounds int) error {
	scratch, err := os.MkdirTemp("", "ftl-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	b := &bench{scratch: scratch, rounds: rounds}
	return b.tunnels()
}

// tunnels times the tunnel by its two carriers, beside an exec's own stream.
func (b *bench) tunnels() error {
	ctx := context.Background()
	e, err := container.Docker(ctx, os.Environ(), b.scratch)
	if err != nil {
		return err
	}
	defer e.Close()
	fmt.Printf("\ntunnel, %d MB\n", volume>>20)
	for _, engine := range []container.Engine{execOnly{e}, e} {
		if err := b.tunnel(ctx, e, engine); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) tunnel(ctx context.Context, e *container.DockerEngine, engine container.Engine) (err error) {
	image, err := e.Image(ctx, container.BaseImage())
	if err != nil {
		return err
	}
	guest, err := container.Guest(image.Arch)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.scratch, "pool-*")
	if err != nil {
		return err
	}
	pool := &container.Pool{Engine: engine, Dir: dir, Owner: "bench-" + strconv.Itoa(os.Getpid()), Now: time.Now}
	s, err := pool.Acquire(ctx, container.Spec{Name: "bench", Image: image.ID, Guest: guest})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Release(), pool.Remove(ctx, s.Name())) }()
	report, err := s.Connect(ctx, container.Network{})
	if err != nil {
		return err
	}
	far := &far{results: make(chan error, 1)}
	go far.serve(s.Tunnel())
	id, err := idOf(ctx, pool)
	if err != nil {
		return err
	}
	stream := rawStream{ctx, e, id}
	nothing := func() error { return nil }
	rows := []pair{
		{"tunnel by " + report.Carrier + " / raw exec, to the host", 2, nothing, far.run(ctx, s, 80), stream.out},
		{"tunnel by " + report.Carrier + " / raw exec, from the host", 2, nothing, far.run(ctx, s, 443), stream.in},
	}
	for _, row := range rows {
		if err := b.compare(row); err != nil {
			return err
		}
	}
	return nil
}

// idOf gives the engine's id of the pool's one sandbox.
func idOf(ctx context.Context, p *container.Pool) (string, error) {
	list, err := p.List(ctx)
	if err != nil || len(list) != 1 {
		return "", errors.Join(err, fmt.Errorf("%d sandboxes", len(list)))
	}
	return list[0].ID, nil
}

// far is the host's end: it takes all on port 80 and gives as much on 443.
type far struct{ results chan error }

func (f *far) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if c.LocalAddr().(*net.TCPAddr).Port == 80 {
			_, err = io.CopyN(io.Discard, c, volume)
		} else {
			_, err = io.CopyN(c, zeros{}, volume)
		}
		f.results <- errors.Join(err, c.Close())
	}
}

type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// inside moves the volume in the sandbox, by the port that says which way.
const inside = `import socket, sys
n, port = int(sys.argv[1]), int(sys.argv[2])
s, b = socket.create_connection(('127.0.0.1', port)), bytearray(1 << 17)
if port == 80:
    while n > 0: n -= s.send(b[:min(n, len(b))] if n < len(b) else b)
s.shutdown(socket.SHUT_WR)
while True:
    got = s.recv_into(b)
    if not got: break
    n -= got
sys.exit(1 if n else 0)`

func (f *far) run(ctx context.Context, s *container.Sandbox, port int) func() error {
	return func() error {
		exit, err := s.Run(ctx, container.Cmd{
			Argv:   []string{"/usr/bin/python3", "-c", inside, strconv.Itoa(volume), strconv.Itoa(port)},
			Stderr: os.Stderr,
		})
		if err == nil && exit.Code != 0 {
			err = fmt.Errorf("inside: exit %d", exit.Code)
		}
		return errors.Join(err, <-f.results)
	}
}

// rawStream moves the volume through an exec with nothing between.
type rawStream struct {
	ctx context.Context
	e   *container.DockerEngine
	id  string
}

func (r rawStream) out() error {
	stream, err := r.e.Attach(r.ctx, r.id, []string{"/usr/bin/head", "-c", strconv.Itoa(volume), "/dev/zero"})
	if err != nil {
		return err
	}
	defer stream.Close()
	_, err = io.CopyN(io.Discard, stream, volume)
	return err
}

func (r rawStream) in() error {
	stream, err := r.e.Attach(r.ctx, r.id, []string{"/bin/sh", "-c", "head -c " + strconv.Itoa(volume) + " >/dev/null; echo"})
	if err != nil {
		return err
	}
	defer stream.Close()
	if _, err := io.CopyN(stream, zeros{}, volume); err != nil {
		return err
	}
	_, err = io.ReadFull(stream, make([]byte, 1))
	return err
}
