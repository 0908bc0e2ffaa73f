package registry

import (
	"encoding/base64"
	"testing"
)

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestNpm(t *testing.T) {
	token, other := fake("npm_"), fake("")
	public := []string{"registry.npmjs.org:443"}
	for _, test := range []row{
		{"a token of the public registry", map[string]string{"~/.npmrc": "//registry.npmjs.org/:_authToken=" + token + "\n"}, nil, result{
			Hosts:       public,
			Credentials: []string{"npm:registry.npmjs.org replace [registry.npmjs.org] [auth] [] = " + token},
			Files:       map[string]string{".npmrc": "//registry.npmjs.org/:_authToken=<npm:registry.npmjs.org>\n"},
		}},
		{"registry with a path, its token from a variable", map[string]string{
			"~/.npmrc": "; work\nregistry = https://npm.acme.dev/artifactory/api/npm/all/ # mirror\nsave-exact=true\nalways-auth\n//npm.acme.dev/artifactory/api/npm/all/:_authToken=${ACME_TOKEN}\n"},
			[]string{"ACME_TOKEN=" + token}, result{
				Hosts:       []string{"npm.acme.dev:443/artifactory/api/npm/all private"},
				Credentials: []string{"npm:npm.acme.dev/artifactory/api/npm/all replace [npm.acme.dev] [auth] [/artifactory/api/npm/all] = " + token},
				Files: map[string]string{".npmrc": "registry=https://npm.acme.dev/artifactory/api/npm/all/\n" +
					"//npm.acme.dev/artifactory/api/npm/all/:_authToken=<npm:npm.acme.dev/artifactory/api/npm/all>\n"},
			}},
		{"a scope beside the public registry, its token keyed to the whole host", map[string]string{
			"~/.npmrc": "@acme:registry=https://gitlab.acme.dev/api/v4/packages/npm/\n//gitlab.acme.dev/:_authToken=\"" + token + "\"\n"}, nil, result{
			Hosts:       []string{"gitlab.acme.dev:443/api/v4/packages/npm private", "registry.npmjs.org:443"},
			Credentials: []string{"npm:gitlab.acme.dev/api/v4/packages/npm replace [gitlab.acme.dev] [auth] [/api/v4/packages/npm] = " + token},
			Files: map[string]string{".npmrc": "@acme:registry=https://gitlab.acme.dev/api/v4/packages/npm/\n" +
				"//gitlab.acme.dev/:_authToken=<npm:gitlab.acme.dev/api/v4/packages/npm>\n"},
		}},
		{"one token for two paths is one credential", map[string]string{
			"~/.npmrc": "registry=https://pkgs.acme.dev/f/npm/registry/\n//pkgs.acme.dev/f/npm/registry/:_authToken=" + token + "\n//pkgs.acme.dev/g/:_authToken=" + token + "\n"}, nil, result{
			Hosts:       []string{"pkgs.acme.dev:443/f/npm/registry private", "pkgs.acme.dev:443/g private"},
			Credentials: []string{"npm:pkgs.acme.dev/f/npm/registry replace [pkgs.acme.dev] [auth] [/f/npm/registry /g] = " + token},
			Files: map[string]string{".npmrc": "registry=https://pkgs.acme.dev/f/npm/registry/\n" +
				"//pkgs.acme.dev/f/npm/registry/:_authToken=<npm:pkgs.acme.dev/f/npm/registry>\n//pkgs.acme.dev/g/:_authToken=<npm:pkgs.acme.dev/f/npm/registry>\n"},
		}},
		{"two tokens of one place of names", map[string]string{
			"~/.npmrc": "//a.acme.dev/:_authToken=" + token + "\n//a.acme.dev:8443/:_authToken=" + other + "\n"}, nil, result{
			Hosts:       []string{"registry.npmjs.org:443", "a.acme.dev:443 private", "a.acme.dev:8443 private"},
			Credentials: []string{"npm:a.acme.dev replace [a.acme.dev] [auth] [] = " + token, "npm:a.acme.dev:8443 replace [a.acme.dev:8443] [auth] [] = " + other},
			Files:       map[string]string{".npmrc": "//a.acme.dev/:_authToken=<npm:a.acme.dev>\n//a.acme.dev:8443/:_authToken=<npm:a.acme.dev:8443>\n"},
		}},
		{"a variable that is not set", map[string]string{"~/.npmrc": "//a.acme.dev/:_authToken=${NOPE}\n"}, nil, result{
			Hosts: public, Notes: []string{"~/.npmrc:1: credential left out: it names a variable that is not set"},
		}},
		{"plain http", map[string]string{"~/.npmrc": "registry=http://localhost:4873/\n//localhost:4873/:_authToken=" + token + "\n"}, nil, result{
			Hosts: []string{"localhost:4873 private"},
			Files: map[string]string{".npmrc": "registry=http://localhost:4873/\n"},
			Notes: []string{"~/.npmrc:2: credential left out: it would go over plain http, where nothing is swapped"},
		}},
		{"environment before files, the user's before the global one", map[string]string{
			"/etc/my.npmrc": "registry=https://second.acme.dev/\n@a:registry=https://user.acme.dev\n", "/usr/local/etc/npmrc": "@a:registry=https://global.acme.dev\n@b:registry=https://global.acme.dev\n",
			"~/.npmrc": "@c:registry=https://ignored.acme.dev\n"},
			[]string{"npm_config_registry=https://first.acme.dev", "NPM_CONFIG_USERCONFIG=/etc/my.npmrc"}, result{
				Hosts: []string{"first.acme.dev:443 private", "user.acme.dev:443 private", "global.acme.dev:443 private"},
				Files: map[string]string{".npmrc": "registry=https://first.acme.dev\n@a:registry=https://user.acme.dev\n@b:registry=https://global.acme.dev\n"},
			}},
		{"what npm cannot be told with headers", map[string]string{"~/.npmrc": "//a.acme.dev/:certfile=/x\n//a.acme.dev/:tokenHelper=/y\n"}, nil, result{
			Hosts: public,
			Notes: []string{"~/.npmrc:1: client certificate left out: nothing but headers is swapped", "~/.npmrc:2: token helper left out: no program is run"},
		}},
		{"an address that nobody can name", map[string]string{"~/.npmrc": "registry=https://*.acme.dev/\n@a:registry=ftp://x\n@b:registry=https://a.acme.dev/../x\n"}, nil, result{
			Notes: []string{"~/.npmrc:1: " + errHost.Error(), "~/.npmrc:2: " + errURL.Error(), "~/.npmrc:3: " + errPath.Error()},
		}},
		{"a token in the path", map[string]string{"~/.npmrc": "registry=https://npm.acme.dev/" + other + "/\n"}, nil, result{
			Notes: []string{"~/.npmrc:1: " + errSecret.Error()},
		}},
		{"a token that lost its key", map[string]string{"~/.npmrc": token + "\n[" + token + "]\n"}, nil, result{Hosts: public}},
	} {
		test.run(t, "npm")
	}
}

// TestNpmBasic: every way in which npm keeps a user and a password.
func TestNpmBasic(t *testing.T) {
	password := fake("pw-")
	credential := []string{"npm:n.acme.dev basic [n.acme.dev] [auth] [] = " + password}
	for _, test := range []struct{ name, file string }{
		{"_auth of a host", "//n.acme.dev/:_auth=" + b64("bob:"+password)},
		{"user and password of a host", "//n.acme.dev/:username=bob\n//n.acme.dev/:_password=" + b64(password)},
		{"_auth without a host", "_auth=" + b64("bob:"+password)},
		{"user and password without a host", "username=bob\n_password=" + b64(password)},
	} {
		rs := Read(source(map[string]string{"~/.npmrc": "registry=https://n.acme.dev/\n" + test.file + "\n"}))
		want := "registry=https://n.acme.dev/\n//n.acme.dev/:_auth="
		if len(rs.Credentials) == 1 {
			want += b64("bob:"+rs.Credentials[0].Shadow) + "\n"
		}
		row{test.name, map[string]string{"~/.npmrc": "registry=https://n.acme.dev/\n" + test.file + "\n"}, nil, result{
			Hosts: []string{"n.acme.dev:443 private"}, Credentials: credential, Files: map[string]string{".npmrc": want},
		}}.run(t, "npm")
	}
	row{"no base64", map[string]string{"~/.npmrc": "//n.acme.dev/:_auth=" + password}, nil, result{
		Hosts: []string{"registry.npmjs.org:443"}, Notes: []string{"~/.npmrc:1: credential left out: it is not base64 of a user and a password"},
	}}.run(t, "npm")
}

// TestNpmText: quotes, comments and variables as npm reads them.
func TestNpmText(t *testing.T) {
	n := &npmrc{r: newReader(Source{Env: []string{"A=x", "B="}})}
	for _, test := range []struct{ name, text, want string }{
		{"plain", "a b", "a b"},
		{"double quotes", `"a;\"b"`, `a;"b`},
		{"single quotes", `'a'`, "a"},
		{"a comment", "a ; b", "a"},
		{"an escaped comment", `a\;b\#c\\d`, `a;b#c\d`},
		{"a variable", "${A}-${B}-", "x--"},
		{"an unknown one", "${NOPE}", "${NOPE}"},
		{"one that may be unknown", "<${NOPE?}>", "<>"},
		{"an escaped one", `\${A}`, "${A}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := n.expand(iniText(test.text)); got != test.want {
				t.Errorf("%s is %q, want %q", test.text, got, test.want)
			}
		})
	}
}
