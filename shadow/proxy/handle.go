package proxy

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-ftl/git-ftl/shadow/internal/needle"
)

// exchange is one request with its answer.
type exchange struct {
	p       *Proxy
	st      *state
	t       target
	needles *needle.Set // of what the answer must not hold; nil for a host that is not bound
	leak    leak
	d       Decision
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok || !s.begin() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer s.wait.Done()
	x := &exchange{p: s.p, st: s.p.state.Load(), d: Decision{Time: s.p.cfg.Now(), Method: clip(r.Method, 40), Verdict: Allowed}}
	if r.Method == http.MethodConnect {
		x.connect(w, r, c)
		return
	}
	select {
	case s.p.slots <- struct{}{}:
		defer func() { <-s.p.slots }()
	default:
		x.turnAway(w, &refusal{status: http.StatusServiceUnavailable, reason: "too many requests at once"})
		return
	}
	x.serve(w, r, c)
}

// serve decides on a request and sends it on or says why not.
func (x *exchange) serve(w http.ResponseWriter, r *http.Request, c *conn) {
	defer x.finish()
	t, refused := identify(c.way, r)
	x.t, x.d.Host, x.d.Port, x.d.Path = t, t.host, t.port, clip(r.URL.EscapedPath(), maxPath)
	x.look(r)
	var out *http.Request
	if refused == nil {
		out, refused = x.decide(r)
	}
	if refused != nil {
		x.refuse(w, refused)
		return
	}
	x.send(&answer{ResponseWriter: w, x: x}, out)
}

// decide is the request to send, or why none is sent.
func (x *exchange) decide(r *http.Request) (*http.Request, *refusal) {
	if x.st.mode == None {
		return nil, forbidden("this sandbox has no network")
	}
	if !x.t.secure && x.st.isBound(x.t.host) {
		return nil, forbidden(x.t.host + " has a credential and is reached over https only")
	}
	bound := x.st.bound(x.t)
	if len(bound) == 0 {
		refused := x.st.permit(x.t, r)
		x.unspent(r, refused)
		return r, refused
	}
	x.needles = x.st.scrub(bound)
	out := r.Clone(r.Context())
	if !x.anonymous(r) {
		names, refused := spend(x.t, bound, out)
		if refused != nil {
			if refused.path && x.st.narrowed(x.t) {
				refused.hint = x.t.allowHint()
			}
			return nil, refused
		}
		x.d.Secrets, x.d.Verdict = names, Swapped
	}
	dropUntrusted(out) // not before: a signature covers what was sent
	return out, nil
}

// anonymous reports whether a request to a registry goes without any credential.
func (x *exchange) anonymous(r *http.Request) bool {
	return anyCredential(r) == "" && slices.ContainsFunc(x.st.rules, func(rule Rule) bool {
		return rule.Registry && rule.covers(x.t) && rule.admits(r) == nil
	})
}

// scrub are the needles for the answers of a host, made once.
func (st *state) scrub(bound []*credential) *needle.Set {
	var names []string
	for _, c := range bound {
		names = append(names, strconv.Itoa(slices.Index(st.credentials, c)))
	}
	key := strings.Join(names, ",")
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.scrubbers[key] == nil {
		st.scrubbers[key] = newNeedles(st.credentials, bound)
	}
	return st.scrubbers[key]
}

// dropUntrusted takes out of a request for a bound host what would get around a
// check: slices of an answer, encodings, other names for method, host and path.
func dropUntrusted(r *http.Request) {
	for _, name := range []string{"Range", "If-Range", "X-Http-Method-Override", "X-Http-Method", "X-Method-Override",
		"X-Original-Url", "X-Rewrite-Url", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Host",
		"Connection"} { // which can name headers that go no further, such as our own credential
		r.Header.Del(name)
	}
	r.Header.Set("Accept-Encoding", "identity")
	r.Trailer = nil
}

// send passes the request on and streams the answer back.
func (x *exchange) send(w http.ResponseWriter, out *http.Request) {
	via, err := x.st.route(x.p, x.t)
	if err != nil {
		x.fail(w, err)
		return
	}
	if out.Body != nil && out.Body != http.NoBody && !x.st.shadows.Empty() {
		out.Body = &witness{ReadCloser: out.Body, needles: x.st.shadows, seen: x.leak.add}
	}
	(&httputil.ReverseProxy{
		Rewrite:        func(pr *httputil.ProxyRequest) { x.t.rewrite(pr) },
		Transport:      via,
		FlushInterval:  -1,
		BufferPool:     x.p.forward,
		ErrorLog:       log.New(io.Discard, "", 0),
		ModifyResponse: x.receive,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, err error) { x.fail(w, err) },
	}).ServeHTTP(w, out)
}

// rewrite gives a request the one name that was checked.
func (t target) rewrite(pr *httputil.ProxyRequest) {
	pr.Out.URL.Scheme = "http"
	if t.secure {
		pr.Out.URL.Scheme = "https"
	}
	pr.Out.URL.Host, pr.Out.Host, pr.Out.URL.User = t.hostHeader(), t.hostHeader(), nil
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery
	pr.Out.Header.Del("Host")
	pr.Out.Header.Del("Sec-Websocket-Extensions")
}

// hostHeader is the host with its port, where that is not the scheme's own.
func (t target) hostHeader() string {
	if t.secure && t.port == 443 || !t.secure && t.port == 80 {
		return strings.TrimSuffix(target{host: t.host}.address(), ":0")
	}
	return t.address()
}

// receive looks through an answer before anything of it goes on.
func (x *exchange) receive(res *http.Response) error {
	res.Header.Del("Alt-Svc")
	res.Header.Del("Sec-Websocket-Extensions")
	if x.needles == nil {
		return nil
	}
	return scrubResponse(res, x.needles)
}

// fail answers for an upstream that cannot be reached or looked through.
func (x *exchange) fail(w http.ResponseWriter, err error) {
	refused := &refusal{status: http.StatusBadGateway, reason: "cannot reach " + x.t.host}
	switch {
	case errors.Is(err, errAddress):
		refused = &refusal{status: http.StatusForbidden, reason: x.t.host + " has no public address"}
		if !errors.Is(err, errNever) {
			refused.hint = "git ftl allow " + x.t.address()
		}
	case errors.Is(err, errEncoding):
		refused.reason = errEncoding.Error()
	}
	if refused.status == http.StatusForbidden {
		x.d.Secrets = nil
	}
	x.refuse(w, refused)
}

// refuse answers with a text that says what to do.
func (x *exchange) refuse(w http.ResponseWriter, refused *refusal) {
	if refused.status != http.StatusBadGateway {
		x.d.Verdict = Denied
	}
	x.d.Reason, x.d.Hint, x.d.Status = refused.reason, refused.hint, refused.status
	text := "git-ftl: error: " + refused.reason + "\n"
	if refused.hint != "" {
		text += "git-ftl: hint: " + refused.hint + "\n"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(refused.status)
	_, _ = io.WriteString(w, text)
}

// turnAway refuses what is not looked at any further.
func (x *exchange) turnAway(w http.ResponseWriter, refused *refusal) {
	x.refuse(w, refused)
	x.finish()
}

// look notes whose shadows are in the head of a request.
func (x *exchange) look(r *http.Request) {
	names := map[string]bool{}
	x.st.shadows.Found([]byte(r.URL.RequestURI()), names)
	for name, values := range r.Header {
		x.st.shadows.Found([]byte(name), names)
		for _, v := range values {
			x.st.shadows.Found([]byte(v), names)
		}
	}
	x.leak.add(names)
}

// finish writes the audit line.
func (x *exchange) finish() {
	var own []string
	for _, c := range x.st.bound(x.t) {
		own = append(own, c.Name)
	}
	x.d.Shadows = x.leak.names(own)
	if x.d.Verdict == Allowed && len(x.d.Shadows) > 0 {
		x.d.Verdict = Leaked
	}
	x.p.record(x.d)
}

// connect opens a tunnel to what is looked at as any other connection.
func (x *exchange) connect(w http.ResponseWriter, r *http.Request, c *conn) {
	host, port, ok := splitHost(r.Host, 0)
	x.t = target{host: host, port: port}
	x.d.Host, x.d.Port = host, port
	switch {
	case !ok || port == 0 || !c.way.connects() || r.TLS != nil || r.ProtoMajor != 1:
		x.turnAway(w, &refusal{status: http.StatusBadRequest, reason: "this is not a place for CONNECT"})
		return
	case !x.st.tunnels(x.t):
		x.turnAway(w, &refusal{status: http.StatusForbidden, reason: x.t.address() + " is not allowed", hint: x.t.allowHint()})
		return
	}
	under, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if _, err := fmt.Fprint(under, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = under.Close()
		return
	}
	inner := &conn{Conn: under, r: buffered.Reader, way: way{port: c.way.port, host: host, hostTLS: port}, server: c.server}
	if !c.server.track(inner, 2*maxConns) {
		_ = under.Close()
		return
	}
	c.server.take(inner)
}

// tunnels reports whether a CONNECT is answered: always where what comes next is
// TLS or HTTP, which gets a refusal that can be read.
func (st *state) tunnels(t target) bool {
	if t.port == 443 || t.port == 80 || st.mode == Open && !isLocal(t.host) && !isLoopback(t.host) || len(st.bound(t)) > 0 {
		return true
	}
	return slices.ContainsFunc(st.rules, func(r Rule) bool { return r.covers(t) })
}

// leak collects the names of secrets whose shadows were seen.
type leak struct {
	mu  sync.Mutex
	set map[string]bool
}

func (l *leak) add(names map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.set == nil {
		l.set = map[string]bool{}
	}
	for name := range names {
		l.set[name] = true
	}
}

// names are what was seen, in order, but those.
func (l *leak) names(but []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for name := range l.set {
		if !slices.Contains(but, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// answer is what goes back: it notes the status and looks through 1xx too.
type answer struct {
	http.ResponseWriter
	x *exchange
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status < 200 && status != http.StatusSwitchingProtocols {
		if a.x.needles != nil {
			scrubHeader(a.Header(), a.x.needles)
		}
		a.Header().Del("Alt-Svc")
	} else {
		a.x.d.Status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
