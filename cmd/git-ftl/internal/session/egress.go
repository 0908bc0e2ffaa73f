package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// egress is a task's one way out.
type egress struct {
	proxy *proxy.Proxy
	ports []int // of the loopback inside that lead here, beside the web's
	model []agent.Host
	over  chan struct{}
	ended sync.WaitGroup

	mu      sync.Mutex
	audit   *os.File // nil where it cannot be written
	denied  map[string]int
	hints   map[string]string // of a denied host, what would let it pass
	swapped map[string]bool
	sent    Egress // of it, Sent alone
	allowed int
}

// join gives the sandbox its way out, which ends with the task. Without one it
// has no network at all.
func (r *run) join(ctx context.Context) error {
	if r.Config.Network == string(proxy.None) {
		return nil
	}
	authority, err := r.authority()
	if err != nil {
		return err
	}
	e := &egress{model: r.task.Agent.Hosts, over: make(chan struct{}), denied: map[string]int{}, hints: map[string]string{}, swapped: map[string]bool{}}
	e.sent.Sent = r.out.Egress.Sent // of earlier turns
	policy, stamp := r.policy()
	e.proxy, err = proxy.New(proxy.Config{
		Authority: authority, Policy: policy, Upstream: upstream(r.netEnv()), Now: r.Now,
		Record: func(d proxy.Decision) { r.decided(e, d) },
	})
	if err != nil {
		return fmt.Errorf("egress: %w", err)
	}
	name := r.out.ID + r.part + ".ndjson"
	if err := r.Repo.WriteState("egress/"+name, nil); err == nil {
		e.audit, _ = os.OpenFile(r.Repo.Path("egress", name), os.O_WRONLY|os.O_APPEND, 0o600)
	}
	r.egress = e
	report, err := r.box.Connect(ctx, container.Network{CA: authority.CertPEM()})
	if err != nil {
		return err
	}
	for _, missing := range report.Missing {
		r.note("in the sandbox: " + missing)
	}
	e.ended.Go(func() { _ = e.proxy.Serve(context.WithoutCancel(ctx), r.box.Tunnel()) })
	r.openPorts(ctx, policy.Ports())
	r.sayClosed(policy.Rules)
	e.ended.Go(func() { r.keepPolicy(ctx, stamp) })
	return nil
}

// leaveNetwork ends the way out, and sums up what went through.
func (r *run) leaveNetwork() {
	e := r.egress
	if e == nil {
		return
	}
	close(e.over)
	e.proxy.Close()
	e.ended.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	r.out.Egress = Egress{Allowed: e.allowed, Denied: []string{}, Swapped: []string{}, Denials: e.denied, Hints: e.hints, Sent: e.sent.Sent}
	r.out.Findings = append(r.out.Findings, r.out.Egress.findings()...)
	r.out.Egress.Denied = append(r.out.Egress.Denied, slices.Sorted(maps.Keys(e.denied))...)
	r.out.Egress.Swapped = append(r.out.Egress.Swapped, slices.Sorted(maps.Keys(e.swapped))...)
	if e.audit != nil {
		_ = e.audit.Close()
	}
	r.egress = nil
}

// maxDenied bounds the hosts that a record names.
const maxDenied = 200

// decided keeps a line of audit, and says once for each host that it is denied.
func (r *run) decided(e *egress, d proxy.Decision) {
	host := escape.Text(d.Host)
	if d.Port != 443 && d.Port != 80 && d.Port != 3128 && d.Port != 0 {
		host = fmt.Sprintf("%s:%d", host, d.Port)
	}
	first := e.count(d, host)
	switch {
	case first && host != "":
		r.note(fmt.Sprintf("denied: %s (%s)%s", host, escape.Text(d.Reason), command(d)))
	case d.Verdict == proxy.Leaked:
		r.note(fmt.Sprintf("the shadow of %s was sent to %s, where it is not bound%s", strings.Join(d.Shadows, ", "), host, command(d)))
	}
}

// command is what a user can do about a decision, behind what is said of it.
func command(d proxy.Decision) string {
	if d.Hint == "" {
		return ""
	}
	return "; " + escape.Text(d.Hint)
}

// count keeps a decision, and reports whether a host is denied for the first time.
func (e *egress) count(d proxy.Decision, host string) (first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if line, err := json.Marshal(d); err == nil && e.audit != nil {
		_, _ = e.audit.Write(append(line, '\n'))
	}
	for _, s := range sentOf(d, host) {
		e.sent.add(s)
	}
	switch {
	case d.Verdict != proxy.Denied:
		e.allowed++
		for _, name := range d.Secrets {
			e.swapped[name] = true
		}
	case e.chatter(d): // no news
	default:
		if first = e.denied[host] == 0 && len(e.denied) < maxDenied; first || e.denied[host] > 0 {
			e.denied[host]++
			if d.Hint != "" {
				e.hints[host] = d.Hint
			}
		}
	}
	return first
}

// chatter reports whether a request is one that the agent does without, at the host
// of its model.
func (e *egress) chatter(d proxy.Decision) bool {
	return slices.ContainsFunc(e.model, func(h agent.Host) bool {
		return h.Name == d.Host && slices.ContainsFunc(h.Chatter, func(p string) bool { return strings.HasPrefix(d.Path, p) })
	})
}

// authority is the sandbox's own, made with it.
func (r *run) authority() (*proxy.Authority, error) {
	name := "ca/" + r.box.Name() + ".pem"
	if r.box.Warm() {
		data, err := r.Repo.ReadState(name)
		if err == nil {
			if a, err := proxy.ParseAuthority(data); err == nil {
				return a, nil
			}
		}
	}
	a, err := proxy.NewAuthority("git-ftl " + r.box.Name())
	if err != nil {
		return nil, err
	}
	data, err := a.MarshalPEM()
	if err != nil {
		return nil, err
	}
	return a, r.Repo.WriteState(name, data)
}

// netEnv is the environment with git's proxy, where it names none itself.
func (s *Session) netEnv() []string {
	env := slices.Clone(s.Env)
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY"} {
		if s.Config.Proxy != "" && proxyOf(env, name) == "" {
			env = append(env, name+"="+s.Config.Proxy)
		}
	}
	return env
}

// upstream is the user's own proxy, as an environment names it.
func upstream(env []string) func(*url.URL) (*url.URL, error) {
	c := httpproxy.Config{
		HTTPProxy: proxyOf(env, "HTTP_PROXY"), HTTPSProxy: proxyOf(env, "HTTPS_PROXY"),
		NoProxy: firstSet(env, "no_proxy", "NO_PROXY"),
	}
	return c.ProxyFunc()
}

// proxyOf is the proxy that a variable names, or the one for everything.
func proxyOf(env []string, name string) string {
	return firstSet(env, strings.ToLower(name), name, "all_proxy", "ALL_PROXY")
}

func firstSet(env []string, names ...string) string {
	for _, name := range names {
		for _, kv := range env {
			if value, ok := strings.CutPrefix(kv, name+"="); ok && value != "" {
				return value
			}
		}
	}
	return ""
}

// allowPoll is how often a task looks whether more was allowed.
const allowPoll = 300 * time.Millisecond

// keepPolicy puts what is allowed while the task runs into force.
func (r *run) keepPolicy(ctx context.Context, stamp string) {
	e := r.egress
	tick := time.NewTicker(allowPoll)
	defer tick.Stop()
	for {
		select {
		case <-e.over:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if r.allowStamp() == stamp {
			continue
		}
		policy, now := r.policy()
		stamp = now
		if err := e.proxy.SetPolicy(policy); err != nil {
			r.note("what was allowed does not count: " + err.Error())
			continue
		}
		r.openPorts(ctx, policy.Ports())
	}
}

// openPorts makes services reachable at the same address inside: of the host, and
// of other hosts that are named with their port.
func (r *run) openPorts(ctx context.Context, ports []int) {
	e := r.egress
	var more, less []int
	for _, p := range ports {
		if !slices.Contains(e.ports, p) {
			more = append(more, p)
		}
	}
	for _, p := range e.ports {
		if !slices.Contains(ports, p) {
			less = append(less, p)
		}
	}
	e.ports = slices.Clone(ports)
	if len(less) > 0 {
		_ = r.box.Close(ctx, less...)
	}
	for _, p := range more { // one by one: a program inside may have one of them
		if err := r.box.Open(ctx, p); err != nil {
			r.note(fmt.Sprintf("localhost inside: %v", err))
		}
	}
}

// policy is what passes now: what the user allowed, and the hosts that their
// secrets are bound to.
func (r *run) policy() (p proxy.Policy, stamp string) {
	stamp = r.allowStamp()
	p.Mode = proxy.Mode(r.Config.Network)
	for _, a := range r.Allowed() {
		rule, err := a.rule()
		if err != nil {
			r.note(fmt.Sprintf("%s is no host to allow: %v", a.Host, err))
			continue
		}
		p.Rules = append(p.Rules, rule)
	}
	allowed := p.Rules
	tools := r.secret.tools.ForModules(r.secret.modules, func(h registry.Host) bool {
		return slices.ContainsFunc(allowed, func(rule proxy.Rule) bool { return rule.Covers(h.Host, h.Port) })
	})
	p.Rules = slices.Concat(tools.Rules(), allowed)
	p.Credentials = slices.Concat(r.secret.credentials, tools.Credentials)
	return p, stamp
}

// allowStamp changes when a list of what is allowed does.
func (s *Session) allowStamp() string {
	var b strings.Builder
	for _, dir := range []string{s.Repo.State, s.UserDir} {
		path := filepath.Join(dir, allowFile)
		if dir == "" {
			continue
		}
		if fi, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", path, fi.Size(), fi.ModTime().UnixNano())
		} else if !errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(&b, "%s %v\n", path, err)
		}
	}
	return b.String()
}
