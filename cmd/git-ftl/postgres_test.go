package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// postgresPrograms is the folder of Debian's newest server, "" without one.
func postgresPrograms() string {
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return filepath.Dir(all[len(all)-1])
}

// hasPostgres is the condition of scripts that need a server: they fail where all
// that tests need is promised to be there.
func hasPostgres() (bool, error) {
	if postgresPrograms() == "" && os.Getenv("FTL_REQUIRE_DOCKER") == "1" {
		return false, errors.New("FTL_REQUIRE_DOCKER=1, and Debian's package postgresql is not installed")
	}
	return postgresPrograms() != "", nil
}

// cmdPostgres starts a server on a free port of the loopback, whose user app has a
// password: postgres PASSWORD. It sets PGPORT.
func cmdPostgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: postgres PASSWORD")
	}
	dir, err := os.MkdirTemp("", "ftl-postgres-")
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(dir) })
	data, password := filepath.Join(dir, "data"), filepath.Join(dir, "password")
	ts.Check(os.WriteFile(password, []byte(args[0]+"\n"), 0o644))
	ts.Check(os.Chmod(dir, 0o777)) // the server refuses to be root
	program := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(postgresPrograms(), name), args...)
		if os.Getuid() == 0 {
			cmd = exec.Command("setpriv", append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", cmd.Path}, args...)...)
		}
		cmd.Dir = dir
		return cmd
	}
	if out, err := program("initdb", "-D", data, "-U", "app", "-A", "scram-sha-256", "--pwfile="+password, "--no-sync").CombinedOutput(); err != nil {
		ts.Fatalf("initdb: %v\n%s", err, out)
	}
	port := freePort(ts)
	server := program("postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir, "-c", "fsync=off")
	ts.Check(server.Start())
	ts.Defer(func() { _ = server.Process.Signal(os.Interrupt); _ = server.Wait() })
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if program("pg_isready", "-q", "-h", "127.0.0.1", "-p", port).Run() == nil {
			break
		}
		if time.Now().After(end) {
			ts.Fatalf("the server does not start")
		}
	}
	ts.Setenv("PGPORT", port)
}

func freePort(ts *testscript.TestScript) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
