package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// office is a private registry of every kind at a private address, which demands
// real values, and a proxy with what Read makes of a user's files.
type office struct {
	password, token string
	registries      Registries
	proxy           string // URL
	home            string // of the sandbox, with the files in it
	files           map[string][]byte

	mu    sync.Mutex
	seen  []string // method, path, whether the login was right
	notes []proxy.Decision
}

const officeURL = "https://example.com:8443" // the name in the certificate of httptest

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{password: fake("pw-"), token: fake("tok-"), home: t.TempDir()}
	o.files = o.packages(t)
	upstream := httptest.NewTLSServer(o)
	t.Cleanup(upstream.Close)
	login := strings.Replace(officeURL, "://", "://bob:"+o.password+"@", 1)
	o.registries = Read(source(map[string]string{
		"~/.npmrc":                  "registry=" + officeURL + "/npm/\n//example.com:8443/npm/:_authToken=" + o.token + "\n",
		"~/.config/pip/pip.conf":    "[global]\nindex-url = " + officeURL + "/pypi/simple\n",
		"~/.netrc":                  "machine example.com login bob password " + o.password + "\n",
		"~/.config/go/env":          "GOPROXY=" + login + "/go\nGOSUMDB=off\n",
		"~/.cargo/config.toml":      "[registries.acme]\nindex = \"sparse+" + officeURL + "/cargo/index/\"\n",
		"~/.cargo/credentials.toml": "[registries.acme]\ntoken = \"Bearer " + o.token + "\"\n",
	}))
	mustHide(t, o.registries)
	for _, f := range o.registries.Files {
		name := filepath.Join(o.home, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.serve(t, upstream)
	return o
}

// serve puts the proxy between the tools and the registry.
func (o *office) serve(t *testing.T, upstream *httptest.Server) {
	t.Helper()
	authority, err := proxy.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(upstream.Certificate())
	private := netip.MustParseAddr("10.20.30.40")
	p, err := proxy.New(proxy.Config{
		Authority: authority, Roots: roots, Policy: proxy.Policy{Rules: o.registries.Rules(), Credentials: o.registries.Credentials},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) { return []netip.Addr{private}, nil },
		Dial: func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
			if addr != netip.AddrPortFrom(private, 8443) {
				return nil, fmt.Errorf("nothing at %s", addr)
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", upstream.Listener.Addr().String())
		},
		Record: func(d proxy.Decision) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.notes = append(o.notes, d)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.Serve(context.Background(), asProxy{l}) }()
	t.Cleanup(func() {
		p.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	o.proxy = "http://" + l.Addr().String()
	if err := os.WriteFile(filepath.Join(o.home, "ca.pem"), authority.CertPEM(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// asProxy's connections say that they came to the port of the sandbox's proxy.
type asProxy struct{ net.Listener }

func (l asProxy) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return proxyConn{c.(*net.TCPConn)}, nil
}

type proxyConn struct{ *net.TCPConn }

func (c proxyConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3128} }

// ServeHTTP demands the real value of each tool.
func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	ok := r.Header.Get("Authorization") == "Bearer "+o.token
	if strings.HasPrefix(r.URL.Path, "/pypi/") || strings.HasPrefix(r.URL.Path, "/go/") {
		ok = user == "bob" && password == o.password
	}
	o.mu.Lock()
	o.seen = append(o.seen, fmt.Sprint(r.Method, " ", r.URL.Path, " ", ok))
	o.mu.Unlock()
	data, found := o.files[strings.TrimSuffix(r.URL.Path, "/")]
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", `Basic realm="office"`)
		w.WriteHeader(http.StatusUnauthorized)
	case !found:
		w.WriteHeader(http.StatusNotFound)
	default:
		if strings.Contains(r.URL.Path, "/simple/") {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write(data)
	}
}

// packages are one package for each tool, by path.
func (o *office) packages(t *testing.T) map[string][]byte {
	crate := tarball(t, "left-1.0.0/Cargo.toml", "[package]\nname = \"left\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "left-1.0.0/src/lib.rs", "")
	sum := sha256.Sum256(crate)
	return map[string][]byte{
		"/npm/left":                  []byte(`{"name":"left","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"left","version":"1.0.0","dist":{"tarball":"` + officeURL + `/npm/left/-/left-1.0.0.tgz"}}}}`),
		"/npm/left/-/left-1.0.0.tgz": tarball(t, "package/package.json", `{"name":"left","version":"1.0.0"}`),
		"/pypi/simple/left":          []byte(`<!DOCTYPE html><a href="../../packages/left-1.0-py3-none-any.whl">left-1.0-py3-none-any.whl</a>`),
		"/pypi/packages/left-1.0-py3-none-any.whl": zipped(t, "left.py", "", "left-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: left\nVersion: 1.0\n",
			"left-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "left-1.0.dist-info/RECORD", ""),
		"/go/example.com/left/@v/v1.0.0.info": []byte(`{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`),
		"/go/example.com/left/@v/v1.0.0.mod":  []byte("module example.com/left\n"),
		"/go/example.com/left/@v/v1.0.0.zip":  zipped(t, "example.com/left@v1.0.0/go.mod", "module example.com/left\n"),
		"/cargo/index/config.json":            []byte(`{"dl":"` + officeURL + `/cargo/dl","api":"` + officeURL + `/cargo","auth-required":true}`),
		"/cargo/index/le/ft/left":             []byte(`{"name":"left","vers":"1.0.0","deps":[],"cksum":"` + hex.EncodeToString(sum[:]) + `","features":{},"yanked":false}` + "\n"),
		"/cargo/dl/left/1.0.0/download":       crate,
	}
}

// tarball has files by name and content.
func tarball(t *testing.T, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := tar.NewWriter(gz)
	for pair := range slices.Chunk(files, 2) {
		if err := w.WriteHeader(&tar.Header{Name: pair[0], Mode: 0o644, Size: int64(len(pair[1])), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(pair[1]))
	}
	_, _ = w.Close(), gz.Close()
	return out.Bytes()
}

func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for pair := range slices.Chunk(files, 2) {
		f, err := w.Create(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(pair[1]))
	}
	_ = w.Close()
	return out.Bytes()
}

// run is a tool as it is run in the sandbox: nothing of this machine's own
// configuration reaches it.
func (o *office) run(t *testing.T, dir string, env []string, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	ca := filepath.Join(o.home, "ca.pem")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.home, "HTTPS_PROXY=" + o.proxy, "https_proxy=" + o.proxy, "SSL_CERT_FILE=" + ca,
		"NODE_EXTRA_CA_CERTS=" + ca, "PIP_CERT=" + ca, "CARGO_HTTP_CAINFO=" + ca}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s\nregistry: %q\nproxy: %+v", strings.Join(argv, " "), err, out, o.seen, o.notes)
	}
	for _, secret := range []string{o.password, o.token} {
		if bytes.Contains(out, []byte(secret)) {
			t.Errorf("%s shows a real value", argv[0])
		}
	}
	return string(out)
}

// TestTools: the tools themselves, with no more than the files that they get in a
// sandbox, install from a private registry that demands the real credentials.
func TestTools(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("runs package managers")
	}
	o := newOffice(t)
	for _, test := range []struct {
		tool string
		run  func(t *testing.T, dir, tool string) string // the file that must be there then
	}{
		{"npm", func(t *testing.T, dir, tool string) string {
			o.run(t, dir, nil, tool, "install", "--no-fund", "--no-audit", "--no-update-notifier", "--prefix", dir, "left")
			return "node_modules/left/package.json"
		}},
		{"python3", func(t *testing.T, dir, tool string) string {
			exe, err := exec.Command(tool, "-c", "import pip, sys; print(sys.executable)").Output() // a shim needs the real home
			if err != nil {
				t.Skip("no pip")
			}
			o.run(t, dir, nil, strings.TrimSpace(string(exe)), "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir", "--target", dir, "left")
			return "left.py"
		}},
		{"go", func(t *testing.T, dir, tool string) string {
			o.run(t, dir, []string{"GOMODCACHE=" + dir, "GOFLAGS=-modcacherw", "GOCACHE=" + dir, "GOTOOLCHAIN=local"}, tool, "mod", "download", "example.com/left@v1.0.0")
			return "example.com/left@v1.0.0/go.mod"
		}},
		{"cargo", func(t *testing.T, dir, tool string) string {
			for name, text := range map[string]string{"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nleft = { version = \"1\", registry = \"acme\" }\n", "lib.rs": ""} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Replace(text, "[dep", "[lib]\npath = \"lib.rs\"\n[dep", 1)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			own, _ := os.UserHomeDir() // rustup's cargo finds its toolchain there
			o.run(t, dir, []string{"RUSTUP_HOME=" + filepath.Join(own, ".rustup")}, tool, "fetch")
			return "Cargo.lock"
		}},
	} {
		t.Run(test.tool, func(t *testing.T) {
			tool, err := exec.LookPath(test.tool)
			if err != nil {
				t.Skipf("no %s here", test.tool)
			}
			dir := t.TempDir()
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(test.run(t, dir, tool)))); err != nil {
				t.Errorf("not installed: %v", err)
			}
		})
	}
}

// TestReadOnly: with the credentials of the tools a sandbox can read below the
// registry's path, and nothing else.
func TestReadOnly(t *testing.T) {
	o := newOffice(t)
	shadows := map[string]string{}
	for _, c := range o.registries.Credentials {
		shadows[c.Name] = c.Shadow
	}
	npm := "Bearer " + shadows["npm:example.com:8443/npm"]
	for _, test := range []struct {
		name, method, path, auth, body string
		status                         int
		swapped                        bool
	}{
		{"read", "GET", "/npm/left", npm, "", 200, true},
		{"publish", "PUT", "/npm/left", npm, "{}", 403, false},
		{"publish without a login", "PUT", "/npm/left", "", "{}", 403, false},
		{"an audit where a credential is bound", "POST", "/npm/-/npm/v1/security/advisories/bulk", "", "{}", 403, false},
		{"delete", "DELETE", "/npm/left", npm, "", 403, false},
		{"another path", "GET", "/api/users", npm, "", 403, false},
		{"out of the path", "GET", "/npm/../api", npm, "", 403, false},
		{"a token of the sandbox's own", "GET", "/npm/left", "Bearer " + fake("npm_"), "", 403, false},
		{"without a login", "GET", "/npm/left", "", "", 401, false},
		{"a body with a read", "GET", "/npm/left", "", "x", 403, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			o.mu.Lock()
			before := len(o.seen)
			o.mu.Unlock()
			args := []string{"-s", "-o", os.DevNull, "-w", "%{http_code}", "--path-as-is", "-X", test.method, "--proxy", o.proxy, "--cacert", filepath.Join(o.home, "ca.pem")}
			if test.auth != "" {
				args = append(args, "-H", "Authorization: "+test.auth)
			}
			if test.body != "" {
				args = append(args, "-d", test.body)
			}
			curl, err := exec.LookPath("curl")
			if err != nil {
				t.Skip("no curl here")
			}
			if got := o.run(t, o.home, nil, append([]string{curl}, append(args, officeURL+test.path)...)...); got != fmt.Sprint(test.status) {
				t.Errorf("status %s, want %d", got, test.status)
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if reached := len(o.seen) > before; reached != (test.status != 403) {
				t.Errorf("the registry saw %q", o.seen[before:])
			}
			if swapped := strings.HasSuffix(o.seen[len(o.seen)-1], " true") && len(o.seen) > before; swapped != test.swapped {
				t.Errorf("the registry saw %q", o.seen[before:])
			}
		})
	}
}
