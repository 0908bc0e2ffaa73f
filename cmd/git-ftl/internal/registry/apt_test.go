package registry

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAptHosts(t *testing.T) {
	apt := func(host string, port int, path string) Host {
		return Host{Tool: "apt", Host: host, Port: port, PathPrefix: path}
	}
	for _, row := range []struct {
		name, file, text string
		want             []Host
	}{
		{"lines", "/etc/apt/sources.list", "# deb http://off.example/debian x main\ndeb http://deb.example/debian bookworm main\ndeb-src\thttps://src.example:8443/ bookworm main # why\n",
			[]Host{apt("deb.example", 80, "/debian"), apt("src.example", 8443, "")}},
		{"options", "/etc/apt/sources.list.d/x.list", "deb [ arch=amd64 signed-by=/usr/share/keyrings/x.gpg ] https://x.example/apt/ stable main\ndeb [trusted=yes] http://flat.example/ ./\n",
			[]Host{apt("x.example", 443, "/apt"), apt("flat.example", 80, "")}},
		{"stanzas", "/etc/apt/sources.list.d/debian.sources", "Types: deb deb-src\nURIs: http://deb.example/debian\n  https://more.example/debian\n# a comment\nSuites: bookworm\n\nTypes: deb\nURIs: http://security.example/debian-security\nEnabled: yes\n\n\nuris: http://off.example/\nenabled: No\n",
			[]Host{apt("deb.example", 80, "/debian"), apt("more.example", 443, "/debian"), apt("security.example", 80, "/debian-security")}},
		{"stanzas with keys inside", "/x.sources", "URIs: http://deb.example/debian\r\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n URIs: http://evil.example/\n -----END PGP PUBLIC KEY BLOCK-----\n",
			[]Host{apt("deb.example", 80, "/debian")}},
		{"others", "/etc/apt/sources.list", "deb cdrom:[Debian]/ x main\ndeb file:/srv x main\ndeb mirror+http://m.example/list x main\ndeb http://user:password@private.example/ x main\ndeb http:///nowhere x main\ndeb http://*.example/ x main\ndeb http://odd].example/ x main\ndeb http://deb.example\nrpm http://rpm.example/ x\n", nil},
		{"twice", "/etc/apt/sources.list", "deb http://deb.example/debian a main\ndeb http://deb.example/debian b main\n", []Host{apt("deb.example", 80, "/debian")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, AptHosts(map[string]string{row.file: row.text})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzAptHosts: whatever an image has there, the proxy takes what comes of it.
func FuzzAptHosts(f *testing.F) {
	f.Add("deb [trusted=yes] http://deb.example/debian bookworm main\n", "Types: deb\nURIs: http://a.example/\n https://b.example:8443/x\nEnabled: no\n")
	f.Fuzz(func(t *testing.T, lines, stanzas string) {
		hosts := AptHosts(map[string]string{"/etc/apt/sources.list": lines, "/etc/apt/sources.list.d/x.sources": stanzas})
		for _, h := range hosts {
			if h.Private || h.Tool != "apt" {
				t.Errorf("%+v", h)
			}
		}
		if len(hosts) > maxHosts {
			t.Errorf("%d hosts", len(hosts))
		}
		mustTake(t, Registries{Hosts: hosts})
	})
}
