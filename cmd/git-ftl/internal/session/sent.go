package session

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// Sent is a secret that went out in a way that a reviewer should know of: as a
// shadow to a host that it is not bound to, or as the real value in a request that
// can change an account.
type Sent struct {
	Secret string `json:"secret"`
	Host   string `json:"host"`
	Method string `json:"method,omitempty"` // "" for a shadow
	Path   string `json:"path,omitempty"`   // of the first request
	Times  int    `json:"times"`
}

// maxSent bounds what a record keeps of it.
const maxSent = 100

// sentOf is what of a decision is worth a finding.
func sentOf(d proxy.Decision, host string) (all []Sent) {
	switch d.Verdict {
	case proxy.Leaked:
		for _, name := range d.Shadows {
			all = append(all, Sent{Secret: name, Host: host})
		}
	case proxy.Swapped:
		if slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, d.Method) {
			return nil
		}
		for _, name := range d.Secrets {
			known, _, _ := strings.Cut(name, " ") // behind it is the file that it comes from
			if _, harmless, ok := shadow.Known(known); ok && !harmless {
				all = append(all, Sent{Secret: name, Host: host, Method: escape.Text(d.Method), Path: escape.Text(d.Path)})
			}
		}
	}
	return all
}

// add counts one more.
func (e *Egress) add(s Sent) {
	i := slices.IndexFunc(e.Sent, func(o Sent) bool { return o.Secret == s.Secret && o.Host == s.Host && o.Method == s.Method })
	switch {
	case i >= 0:
		e.Sent[i].Times++
	case len(e.Sent) < maxSent:
		s.Times = 1
		e.Sent = append(e.Sent, s)
	}
}

// egressRule begins the rules of what was sent.
const egressRule = "egress/"

// ofChange are the findings of a change itself.
func ofChange(all []lint.Finding) []lint.Finding {
	return slices.DeleteFunc(append([]lint.Finding{}, all...), func(f lint.Finding) bool { return strings.HasPrefix(f.Rule, egressRule) })
}

// findings are warnings about what was sent. They are of the task, not of its
// change: they block nothing.
func (e Egress) findings() []lint.Finding {
	all := []lint.Finding{}
	for _, s := range e.Sent {
		f := lint.Finding{Severity: lint.Warn, Path: s.Host, Rule: egressRule + "unbound",
			Message: fmt.Sprintf("the shadow of %s was sent there, where it is not bound", s.Secret)}
		if s.Method != "" {
			f.Rule, f.Message = egressRule+"write", fmt.Sprintf("%s was used there for what can change an account: %s %s", s.Secret, s.Method, s.Path)
		}
		if s.Times > 1 {
			f.Message += fmt.Sprintf(" (%d times)", s.Times)
		}
		f.ID = lint.Identify(f.Rule, f.Path, []byte(s.Secret+" "+s.Method))
		all = append(all, f)
	}
	return all
}
