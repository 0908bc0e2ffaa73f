package proxy

import (
	"sync/atomic"
	"time"
)

// Verdict is what became of a request.
type Verdict string

// Verdicts, from nothing special to what a reviewer should see.
const (
	Allowed Verdict = "allowed"
	Swapped Verdict = "swapped" // with a real value in the place of its shadow
	Denied  Verdict = "denied"
	Leaked  Verdict = "leaked" // passed, with the shadow of a secret that is not bound there
)

// Decision is the audit line of one request or raw connection. It holds no value
// of a secret. Host, Method and Path come from the sandbox: escape before showing.
type Decision struct {
	Time    time.Time `json:"time"` // when it began
	Host    string    `json:"host"` // normalised; "" where none could be read
	Port    int       `json:"port"`
	Method  string    `json:"method,omitempty"` // "" for raw TCP
	Path    string    `json:"path,omitempty"`   // without query
	Verdict Verdict   `json:"verdict"`
	Reason  string    `json:"reason,omitempty"`  // of what was denied
	Hint    string    `json:"hint,omitempty"`    // a command that would let it pass; "" where none does
	Secrets []string  `json:"secrets,omitempty"` // names that were swapped
	Shadows []string  `json:"shadows,omitempty"` // names whose shadows went where they are not bound
	Status  int       `json:"status,omitempty"`  // of the answer; 0 where there was none
}

// Counts are numbers of decisions by verdict.
type Counts struct{ Allowed, Swapped, Denied, Leaked int64 }

type counters struct{ allowed, swapped, denied, leaked atomic.Int64 }

func (c *counters) load() Counts {
	return Counts{c.allowed.Load(), c.swapped.Load(), c.denied.Load(), c.leaked.Load()}
}

func (c *counters) add(v Verdict) {
	switch v {
	case Swapped:
		c.swapped.Add(1)
	case Denied:
		c.denied.Add(1)
	case Leaked:
		c.leaked.Add(1)
	default:
		c.allowed.Add(1)
	}
}

const maxPath = 1 << 10 // bytes in a Decision

// clip keeps what a sandbox can put into a record small.
func clip(s string, size int) string { return s[:min(len(s), size)] }

// record counts a decision and hands it on.
func (p *Proxy) record(d Decision) {
	p.counts.add(d.Verdict)
	p.cfg.Record(d)
}

// refusal is why something does not pass, in words for who sent it.
type refusal struct {
	status int
	reason string
	hint   string // a command of the user, "" for none
	path   bool   // for its path alone
}

func (r *refusal) Error() string { return r.reason }

func forbidden(reason string) *refusal { return &refusal{status: 403, reason: reason} }

func misdirected(reason string) *refusal { return &refusal{status: 421, reason: reason} }
