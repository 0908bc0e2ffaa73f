package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/shadow/proxy"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Allowed is one host that tasks may reach.
type Allowed struct {
	Host  string `json:"host"` // "example.com", "*.example.com", "example.com:8443", "localhost:5432"
	Where string `json:"where"`
}

// Places of what is allowed.
const (
	AllowedHere   = "project"
	AllowedGlobal = "global"
	AllowedConfig = "config"
)

// ParseAllowed checks what a person writes of a host. Errors say what is wrong.
func ParseAllowed(text string) (Allowed, error) {
	a := Allowed{Host: strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), "."))}
	_, err := a.rule()
	return a, err
}

// rule is what a proxy makes of it.
func (a Allowed) rule() (proxy.Rule, error) {
	host, port, hasPort := a.Host, "", false
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") && (strings.Count(host, ":") == 1 || strings.Contains(host, "]:")) {
		host, port, hasPort = host[:i], host[i+1:], true
	}
	r := proxy.Rule{Host: strings.Trim(host, "[]"), Private: hasPort}
	if hasPort {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return r, fmt.Errorf("%q is no port", port)
		}
		r.Port = n
	}
	if strings.ContainsAny(host, "/@? \t") || host == "" || host == "*" {
		return r, errors.New("give a host, such as example.com or example.com:8443")
	}
	name, ok := proxy.NormalHost(r.Host)
	switch r.Host = name; {
	case !ok:
		return r, errors.New("it is no host name")
	case name == "localhost" && !hasPort:
		return r, errors.New("name one service of this machine, such as localhost:5432")
	}
	return r, nil
}

// allowFiles are where lists are: this project's, and the user's.
func (s *Session) allowFiles() []string {
	files := []string{s.Repo.Path("allow.json")}
	if s.UserDir != "" {
		files = append(files, filepath.Join(s.UserDir, "allow.json"))
	}
	return files
}

// Allowed lists what tasks of this project may reach beside the hosts of secrets.
// A list that cannot be read allows nothing.
func (s *Session) Allowed() []Allowed {
	var all []Allowed
	for i, file := range s.allowFiles() {
		hosts, err := readAllow(file)
		if err != nil {
			continue
		}
		for _, h := range hosts {
			all = append(all, Allowed{h, []string{AllowedHere, AllowedGlobal}[i]})
		}
	}
	for _, h := range s.Config.Allow {
		all = append(all, Allowed{strings.ToLower(h), AllowedConfig})
	}
	return all
}

func readAllow(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var hosts []string
	if err := json.Unmarshal(data, &hosts); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return hosts, nil
}

// Allow adds hosts to a list, or takes them off; running tasks obey at once.
// global is the user's list for every project.
func (s *Session) Allow(ctx context.Context, hosts []Allowed, global, remove bool) error {
	file := s.allowFiles()[0]
	if global {
		if s.UserDir == "" {
			return errors.New("there is no home for a list of the user's")
		}
		file = s.allowFiles()[1]
	}
	unlock, err := s.Repo.Lock(ctx, "allow")
	if err != nil {
		return err
	}
	defer unlock()
	list, err := readAllow(file)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		list = slices.DeleteFunc(list, func(have string) bool { return have == h.Host })
		if !remove {
			list = append(list, h.Host)
		}
	}
	slices.Sort(list)
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return git.ReplaceFile(file, append(data, '\n'))
}
