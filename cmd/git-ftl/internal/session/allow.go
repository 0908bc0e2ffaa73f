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

var errNoHost = errors.New("give a host, such as example.com or example.com:8443")

// rule is what a proxy makes of it.
func (a Allowed) rule() (proxy.Rule, error) {
	if strings.ContainsAny(a.Host, "/@? \t") {
		return proxy.Rule{}, errNoHost
	}
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
	if host == "" || host == "*" {
		return r, errNoHost
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

// allowFile is the name of a list, in a project's state folder and in the user's.
const allowFile = "allow.json"

// Allowed lists what tasks of this project may reach beside the hosts of secrets.
// A list that cannot be read allows nothing.
func (s *Session) Allowed() []Allowed {
	all := append(allowedIn(s.Repo.State, AllowedHere), AllowedEverywhere(s.UserDir)...)
	for _, h := range s.Config.Allow {
		all = append(all, Allowed{strings.ToLower(h), AllowedConfig})
	}
	return all
}

// AllowedEverywhere is the user's list for every project; dir is their own folder, ""
// for none.
func AllowedEverywhere(dir string) []Allowed { return allowedIn(dir, AllowedGlobal) }

func allowedIn(dir, where string) (all []Allowed) {
	if dir == "" {
		return nil
	}
	hosts, err := readAllow(filepath.Join(dir, allowFile))
	if err != nil {
		return nil
	}
	for _, h := range hosts {
		all = append(all, Allowed{h, where})
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

// Allow adds hosts to the project's list, or takes them off; running tasks obey at
// once.
func (s *Session) Allow(ctx context.Context, hosts []Allowed, remove bool) error {
	return changeAllowed(ctx, s.Repo.State, s.Repo.Path("locks", "allow"), hosts, remove)
}

// AllowEverywhere is Allow for the user's list, whose folder is dir.
func AllowEverywhere(ctx context.Context, dir string, hosts []Allowed, remove bool) error {
	if dir == "" {
		return errors.New("there is no home for a list of the user's")
	}
	return changeAllowed(ctx, dir, filepath.Join(dir, allowFile+".lock"), hosts, remove)
}

func changeAllowed(ctx context.Context, dir, lock string, hosts []Allowed, remove bool) error {
	unlock, err := git.LockFile(ctx, lock)
	if err != nil {
		return err
	}
	defer unlock()
	file := filepath.Join(dir, allowFile)
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
