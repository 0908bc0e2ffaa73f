package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

const (
	besideTime   = 10 * time.Second // of the agent, and of the tester
	besideRounds = 2
	besideBound  = 1.1
)

const benchTests = `{"files":[{"path":"tests/test_bench.py","content":"import unittest\n\n\nclass Bench(unittest.TestCase):\n    def test_bench(self):\n        open('bench.txt').close()\n"}]}`

// measureTests times an agent and a tester beside each other, by when the change is
// there and the tests are written, and beside that each of them alone.
func measureTests(bin string) (err error) {
	scratch, err := os.MkdirTemp("", "ftl-bench-*")
	if err != nil {
		return err
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	b := &bench{bin: bin, dir: filepath.Join(scratch, "repo"), scratch: scratch, files: 200, rounds: besideRounds}
	b.env = append(os.Environ(), "HOME="+scratch, "GIT_CONFIG_NOSYSTEM=1", "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
	defer b.clean()
	if err := b.makeRepo(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.dir, "bench.py"), []byte("def bench():\n    pass\n"), 0o644); err != nil {
		return err
	}
	model := &modelserver.Canned{Turns: []modelserver.Turn{{Pieces: []string{benchTests}}}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		time.Sleep(besideTime)
		r.Body = io.NopCloser(bytes.NewReader(body))
		model.ServeHTTP(w, r)
	}))
	defer server.Close()
	if err := b.run(b.dir, "git", "config", "ftl.tester", "openai/canned@"+server.URL+"/v1"); err != nil {
		return err
	}
	return b.beside()
}

func (b *bench) beside() error {
	const result, written, end = `"event":"result"`, `"stage":"write"`, `"event":"end"`
	slow := fmt.Sprintf("sleep %g; date +%%N > bench.txt", besideTime.Seconds())
	var both, longer, verdict []float64
	if _, err := b.moments(nil, "exec", "--no-tests", "true"); err != nil { // so that the sandbox is warm
		return err
	}
	for range b.rounds {
		alone, err := b.moments([]string{end}, "exec", "--events", "--no-tests", "--", "sh", "-c", slow)
		if err != nil {
			return err
		}
		writing, err := b.moments([]string{written}, "exec", "--events", "--", "sh", "-c", "date +%N > bench.txt")
		if err != nil {
			return err
		}
		all, err := b.moments([]string{result, written, end}, "exec", "--events", "--", "sh", "-c", slow)
		if err != nil {
			return err
		}
		both, longer, verdict = append(both, max(all[0], all[1])), append(longer, max(alone[0], writing[0])), append(verdict, all[2])
	}
	fmt.Printf("\nan agent and a tester of %s each\n", besideTime)
	b.row("both beside each other / the longer one", both, longer, besideBound)
	fmt.Printf("  %-46s %9.1f ms\n", "until the verdict on base and result", median(verdict))
	return nil
}

// moments runs git-ftl and gives, for each text, the time in ms until a line of its
// output has it.
func (b *bench) moments(texts []string, args ...string) ([]float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.bin, args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	start, at := time.Now(), make([]float64, len(texts))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		for i, text := range texts {
			if at[i] == 0 && strings.Contains(lines.Text(), text) {
				at[i] = float64(time.Since(start).Microseconds()) / 1000
			}
		}
	}
	err = errors.Join(lines.Err(), cmd.Wait())
	for i, text := range texts {
		if at[i] == 0 {
			err = errors.Join(err, fmt.Errorf("nothing says %s", text))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("git-ftl %s: %w\n%s", strings.Join(args, " "), err, &said)
	}
	return at, nil
}
