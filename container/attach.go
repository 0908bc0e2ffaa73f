package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// maxNoise bounds what is kept of a process's standard error, in bytes.
const maxNoise = 8 << 10

// Attach implements Engine.
func (e *DockerEngine) Attach(ctx context.Context, id string, argv []string) (io.ReadWriteCloser, error) {
	made, err := e.api.ContainerExecCreate(ctx, id, container.ExecOptions{
		Cmd: argv, User: "0:0", WorkingDir: "/", AttachStdin: true, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return nil, gone("attach to", id, err)
	}
	// The connection of a hijacked request ends with ctx, and this one outlives the call.
	conn, err := e.api.ContainerExecAttach(context.WithoutCancel(ctx), made.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, gone("attach to", id, err)
	}
	return newExecStream(conn), nil
}

// execStream is one exec's standard input and output.
type execStream struct {
	conn  types.HijackedResponse
	out   *io.PipeReader
	noise noise
	done  chan struct{} // closed when nothing more comes
}

func newExecStream(conn types.HijackedResponse) *execStream {
	out, w := io.Pipe()
	s := &execStream{conn: conn, out: out, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_, err := stdcopy.StdCopy(w, &s.noise, conn.Reader)
		w.CloseWithError(s.noise.explain(err))
	}()
	return s
}

func (s *execStream) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *execStream) Write(p []byte) (int, error) { return s.conn.Conn.Write(p) }

// Close ends the exec's standard input and waits for the reader.
func (s *execStream) Close() error {
	s.conn.Close()
	err := s.out.Close()
	<-s.done
	return err
}

// noise keeps the first bytes that a process wrote to standard error.
type noise struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer and takes everything.
func (n *noise) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = append(n.text, p[:min(len(p), maxNoise-len(n.text))]...)
	return len(p), nil
}

// explain gives the error of a stream that ended with err, io.EOF where there is
// nothing to say.
func (n *noise) explain(err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := printable(strings.TrimSpace(string(n.text)))
	switch {
	case err == nil && text == "":
		return io.EOF
	case err == nil:
		return fmt.Errorf("%w: %s", io.EOF, text)
	}
	return errors.Join(err, io.EOF)
}

// printable replaces what would act on a terminal, and what is no text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}
