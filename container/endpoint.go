package container

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// environ is the environment of a caller as NAME=VALUE entries.
type environ []string

// get gives the last value of a name, "" where it is unset.
func (e environ) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// endpoint is one address where an engine may answer.
type endpoint struct {
	Host   string // unix:///…, npipe://…, tcp://…
	From   string // what named it, for messages
	TLS    string // folder with ca.pem, cert.pem, key.pem, "" for none
	Verify bool   // the server's certificate
}

// local tells whether the address is a socket of this machine.
func (e endpoint) local() bool {
	return strings.HasPrefix(e.Host, "unix://") || strings.HasPrefix(e.Host, "npipe://")
}

// endpoints gives the addresses to try, in order. What the user named, by
// DOCKER_HOST, DOCKER_CONTEXT or the current docker context, is the only one.
func endpoints(env environ, home string) ([]endpoint, error) {
	if host := env.get("DOCKER_HOST"); host != "" {
		e := endpoint{Host: host, From: "DOCKER_HOST", TLS: env.get("DOCKER_CERT_PATH"), Verify: env.get("DOCKER_TLS_VERIFY") != ""}
		if e.Verify && e.TLS == "" {
			e.TLS = configDir(env, home)
		}
		return named(e)
	}
	name, from := env.get("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		var err error
		if name, err = currentContext(configDir(env, home)); err != nil {
			return nil, err
		}
		from = "docker context " + name
	}
	if name != "" && name != "default" {
		e, err := contextEndpoint(configDir(env, home), name)
		if err != nil {
			return nil, err
		}
		e.From = from
		return named(e)
	}
	return usual(env, home), nil
}

// named refuses an address that no client of ours can dial.
func named(e endpoint) ([]endpoint, error) {
	u, err := url.Parse(e.Host)
	if err != nil {
		return nil, fmt.Errorf("%w: %s gives an address that cannot be read: %q", ErrNoEngine, e.From, e.Host)
	}
	switch u.Scheme {
	case "unix", "npipe", "tcp", "http", "https":
		return []endpoint{e}, nil
	case "ssh":
		return nil, fmt.Errorf("%w: %s gives %s, and ssh is not spoken here; forward the socket with "+
			"`ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock %s` and set DOCKER_HOST=unix:///tmp/docker.sock",
			ErrNoEngine, e.From, e.Host, sshTarget(u))
	}
	return nil, fmt.Errorf("%w: %s gives an address of an unknown kind: %q", ErrNoEngine, e.From, e.Host)
}

// sshTarget gives user@host, and the port as ssh's own option.
func sshTarget(u *url.URL) string {
	target := u.Hostname()
	if user := u.User.Username(); user != "" {
		target = user + "@" + target
	}
	if port := u.Port(); port != "" {
		target = "-p " + port + " " + target
	}
	return target
}

// usual gives the sockets where engines listen when nobody said otherwise:
// Docker's, rootless Docker's, Docker Desktop's, and then Podman's.
func usual(env environ, home string) []endpoint {
	list := []endpoint{{Host: defaultHost, From: "default socket"}}
	add := func(from string, parts ...string) {
		if parts[0] != "" {
			list = append(list, endpoint{Host: "unix://" + filepath.ToSlash(filepath.Join(parts...)), From: from})
		}
	}
	runtime := env.get("XDG_RUNTIME_DIR")
	add("rootless socket", runtime, "docker.sock")
	add("desktop socket", home, ".docker", "run", "docker.sock")
	add("rootless podman socket", runtime, "podman", "podman.sock")
	add("podman socket", "/run/podman/podman.sock")
	return list
}

// configDir is docker's configuration folder.
func configDir(env environ, home string) string {
	if dir := env.get("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	return filepath.Join(home, ".docker")
}

// currentContext reads the context that `docker context use` chose.
func currentContext(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	if err == nil {
		err = json.Unmarshal(data, &config)
	}
	if err != nil {
		return "", fmt.Errorf("read docker config of %s: %w", dir, err)
	}
	return config.CurrentContext, nil
}

// contextEndpoint reads a context's metadata as docker/cli stores it
// (cli/context/store): a folder named by the SHA-256 of the context's name.
func contextEndpoint(dir, name string) (endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	data, err := os.ReadFile(filepath.Join(dir, "contexts", "meta", id, "meta.json"))
	if err != nil {
		return endpoint{}, fmt.Errorf("%w: docker context %q is not there: %w", ErrNoEngine, name, err)
	}
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := json.Unmarshal(data, &meta); err != nil {
		return endpoint{}, fmt.Errorf("read docker context %q: %w", name, err)
	}
	docker, ok := meta.Endpoints["docker"]
	if !ok || docker.Host == "" {
		return endpoint{}, fmt.Errorf("%w: docker context %q has no docker endpoint", ErrNoEngine, name)
	}
	e := endpoint{Host: docker.Host, Verify: !docker.SkipTLSVerify}
	if certs := filepath.Join(dir, "contexts", "tls", id, "docker"); exists(certs) {
		e.TLS = certs
	}
	return e, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
