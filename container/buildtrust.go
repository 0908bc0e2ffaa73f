package container

import (
	"bytes"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxCertificates bounds a bundle, in bytes.
const maxCertificates = 4 << 20

// hostBundles are the files of a system that hold all its certificates, as
// crypto/x509 looks for them on Linux (root_linux.go).
func hostBundles() []string {
	return []string{
		"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
		"/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
	}
}

// certificates are those that this machine trusts, as PEM; nil where they are in
// no file. own says that the caller's environment names others than the system's,
// or a proxy that is itself reached by TLS, so that a build cannot go without.
func (e *DockerEngine) certificates() (pem []byte, own bool) {
	for _, proxy := range e.buildArgs() {
		own = own || strings.HasPrefix(strings.ToLower(*proxy), "https://")
	}
	files := hostBundles()
	if named := e.env.get("SSL_CERT_FILE"); named != "" {
		own = own || !slices.ContainsFunc(files, func(f string) bool { return sameFile(f, named) })
		files = []string{named}
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Size() > maxCertificates {
			continue
		}
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte("-----BEGIN CERTIFICATE-----")) {
			return data, own
		}
	}
	return nil, false
}

func sameFile(a, b string) bool {
	one, err1 := filepath.EvalSymlinks(a)
	other, err2 := filepath.EvalSymlinks(b)
	return err1 == nil && err2 == nil && one == other
}

// trusting makes the commands of a recipe trust certificates that no layer of the
// image keeps: the classic builder has no secrets, so the commands run in a stage
// of their own, whose files alone are taken over.
func (r recipe) trusting(pem []byte) recipe {
	const dir = "/ftl-build"
	var first, last strings.Builder
	for line := range strings.Lines(string(r.file)) {
		switch {
		case strings.HasPrefix(line, "FROM "):
			first.WriteString(strings.TrimSuffix(line, "\n") + " AS made\n" +
				"COPY ca.pem apt.conf " + dir + "/\n" +
				"ENV APT_CONFIG=" + dir + "/apt.conf SSL_CERT_FILE=" + dir + "/ca.pem CURL_CA_BUNDLE=" + dir + "/ca.pem\n")
			continue
		case strings.HasPrefix(line, "ENV "):
			last.WriteString(line)
		}
		first.WriteString(line)
	}
	file := first.String() + "RUN rm -r " + dir + "\nFROM scratch\nCOPY --from=made / /\n" + last.String() + "CMD [\"sh\"]\n"
	return recipe{tag: r.tag, file: []byte(file), with: map[string][]byte{
		"ca.pem":   pem,
		"apt.conf": []byte("Acquire::https::CaInfo \"" + dir + "/ca.pem\";\n"),
	}}
}

// buildNetwork lets a build reach a proxy on this machine's loopback, which is
// another one in a network of its own.
func (e *DockerEngine) buildNetwork(args map[string]*string) string {
	for name, value := range args {
		text := *value
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		if err != nil || !e.at.local() || strings.EqualFold(name, "NO_PROXY") {
			continue
		}
		ip, err := netip.ParseAddr(u.Hostname())
		if u.Hostname() == "localhost" || err == nil && ip.IsLoopback() {
			return "host"
		}
	}
	return ""
}
