package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// service is a port of this machine's loopback that a setting names.
type service struct {
	setting string
	port    string
}

// localPort finds such a service in the value of a setting.
var localPort = lazyregexp.New(`(?:^|[/@,;=\s])(?:localhost|127\.0\.0\.1|\[::1\]):([1-9][0-9]{0,4})\b`)

// localHost is the value of a setting whose port is another setting.
var localHost = lazyregexp.New(`^(?:localhost|127\.0\.0\.1|::1)$`)

// services are those that settings name: in a URL, as host and port, or as PGHOST
// beside PGPORT.
func services(lines []shadow.Line) []service {
	var all []service
	for _, l := range lines {
		value := l.Value.Reveal()
		for _, m := range localPort.FindAllStringSubmatch(value, -1) {
			all = append(all, service{l.Name, m[1]})
		}
		prefix, ok := strings.CutSuffix(l.Name, "HOST")
		if !ok || !localHost.MatchString(value) {
			continue
		}
		for _, other := range lines {
			if port := other.Value.Reveal(); other.Name == prefix+"PORT" && localPort.MatchString("localhost:"+port) {
				all = append(all, service{l.Name, port})
			}
		}
	}
	return all
}

// sayClosed names services of this machine that the agent is told of and cannot
// reach: what it meets there is a refused connection, which says nothing.
func (r *run) sayClosed(open []proxy.Rule) {
	said := map[string]bool{}
	for _, s := range r.secret.services {
		if said[s.port] || slices.ContainsFunc(open, func(o proxy.Rule) bool { return o.Host == "localhost" && fmt.Sprint(o.Port) == s.port }) {
			continue
		}
		said[s.port] = true
		r.note(fmt.Sprintf("%s names localhost:%s of this machine, which is closed inside; git ftl allow localhost:%s", s.setting, s.port, s.port))
	}
}
