package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

// provider is the scripted model under the name of a real provider, over TLS and
// through a proxy for git-ftl, and as it is for an agent started by hand.
type provider struct {
	plain, secret, way *httptest.Server
	key, roots         string
}

const providerHost = "api.anthropic.com"

func newProvider(dir string) (*provider, error) {
	p := &provider{key: rand.Text(), roots: filepath.Join(dir, "roots.pem")}
	model := &modelserver.Server{Key: p.key}
	cert, err := p.certificate()
	if err != nil {
		return nil, err
	}
	p.secret = httptest.NewUnstartedServer(model)
	p.secret.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	p.secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.secret.StartTLS()
	p.plain = httptest.NewServer(model)
	p.way = httptest.NewServer(http.HandlerFunc(p.connect))
	return p, nil
}

func (p *provider) close() {
	for _, s := range []*httptest.Server{p.way, p.secret, p.plain} {
		s.Close()
	}
}

// certificate is one of the provider's name that vouches for itself.
func (p *provider) certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{providerHost}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, os.WriteFile(p.roots, text, 0o644)
}

// connect is a proxy that leads to the provider alone.
func (p *provider) connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Host != providerHost+":443" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	up, err := net.Dial("tcp", p.secret.Listener.Addr().String())
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer up.Close()
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	go func() { _, _ = io.Copy(up, from); _ = up.Close() }()
	_, _ = io.Copy(from, up)
}

const (
	claude     = "/opt/git-ftl/claude-code/claude"
	agentTask  = "do: say the first word"
	agentBound = 1.3
)

// agent times a warm task of the real Claude Code, until its first word is there,
// beside the same command line by "docker exec".
func (b *bench) agent() error {
	p, err := newProvider(b.scratch)
	if err != nil {
		return err
	}
	defer p.close()
	b.env = append(b.env, "XDG_CONFIG_HOME="+b.scratch, "HTTPS_PROXY="+p.way.URL, "SSL_CERT_FILE="+p.roots,
		"FTL_MASTER_KEY="+strings.Repeat("0", 64), "ANTHROPIC_API_KEY=")
	image, cpus, err := b.agentBox(p)
	if err != nil {
		fmt.Printf("  NOT RUN: a task of the real agent, which cannot be had here: %v\n", err)
		return nil
	}
	defer func() { _ = exec.Command("docker", "rm", "-f", agentHand).Run() }()
	for _, args := range [][]string{ // the agent looks at the repository that it is in
		{"run", "-d", "--init", "--name", agentHand, "--network", "host", "--cpus", cpus, image, "sleep", "86400"},
		{"cp", b.dir + "/.", agentHand + ":/workspace"},
		{"exec", agentHand, "chown", "-R", "ftl:ftl", "/workspace"},
	} {
		if err := b.run(b.dir, "docker", args...); err != nil {
			return err
		}
	}
	ours, theirs := []float64{}, []float64{}
	for round := range b.rounds + 1 {
		if err := b.touch(); err != nil {
			return err
		}
		a, err := b.firstWord(`"event":"text"`, "", b.bin, "run", "--events", "-a", "claude-code", agentTask)
		if err != nil {
			return err
		}
		o, err := b.firstWord(`"type":"assistant"`, agentTask, "docker", byHand(p)...)
		if err != nil {
			return err
		}
		if round > 0 {
			ours, theirs = append(ours, a), append(theirs, o)
		}
	}
	b.row("claude-code by git ftl run / by docker exec", ours, theirs, agentBound)
	return nil
}

const agentHand = "ftl-bench-agent"

// byHand is the command line and environment that the adapter has.
func byHand(p *provider) []string {
	args := []string{"exec", "-i", "-u", "ftl"}
	for _, kv := range []string{
		"HOME=/home/ftl", "ANTHROPIC_API_KEY=" + p.key, "ANTHROPIC_BASE_URL=" + p.plain.URL,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
	} {
		args = append(args, "-e", kv)
	}
	return append(args, "-w", "/workspace", agentHand, claude, "-p", "--output-format", "stream-json", "--verbose",
		"--dangerously-skip-permissions", "--setting-sources", "user", "--strict-mcp-config")
}

// agentBox sets git-ftl up with the agent and its key, and gives the image of a first
// task's sandbox and its bound of CPUs, which is to be no part of the ratio.
func (b *bench) agentBox(p *provider) (image, cpus string, err error) {
	for _, step := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{"auth", "init", "--store", "env"}},
		{p.key, []string{"auth", "set", "ANTHROPIC_API_KEY"}},
		{"", []string{"run", "-q", "-a", "claude-code", agentTask}},
	} {
		cmd := exec.Command(b.bin, step.args...)
		cmd.Dir, cmd.Env, cmd.Stdin = b.dir, b.env, strings.NewReader(step.stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", "", fmt.Errorf("%s: %w: %s", strings.Join(step.args[:2], " "), err, bytes.TrimSpace(out))
		}
	}
	id, err := exec.Command("docker", "ps", "-q", "--filter", "label=git-ftl.repository="+b.dir).Output()
	if err != nil {
		return "", "", err
	}
	out, err := exec.Command("docker", "inspect", "-f", "{{.Image}} {{.HostConfig.NanoCpus}}", strings.TrimSpace(string(id))).Output()
	var nano float64
	if err == nil {
		_, err = fmt.Sscan(string(out), &image, &nano)
	}
	return image, fmt.Sprint(nano / 1e9), err
}

// firstWord starts a command and gives the time in ms until a line of its output has
// a text. The command then runs to its end.
func (b *bench) firstWord(text, stdin, name string, args ...string) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = b.dir, b.env, strings.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	start, took := time.Now(), 0.0
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if took == 0 && strings.Contains(strings.ReplaceAll(lines.Text(), `": "`, `":"`), text) {
			took = float64(time.Since(start).Microseconds()) / 1000
		}
		said.WriteString(lines.Text() + "\n")
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil || took == 0 {
		return 0, fmt.Errorf("%s %s: no first word: %w\n%s", name, args[0], err, &said)
	}
	return took, nil
}
