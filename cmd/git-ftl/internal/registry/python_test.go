package registry

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPip(t *testing.T) {
	password, token := fake("pw"), fake("pypi-")
	public := []string{"pypi.org:443", "files.pythonhosted.org:443"}
	for _, test := range []row{
		{"an index in the place of the public one", map[string]string{
			"~/.config/pip/pip.conf": "[global]\nindex-url = https://bob:" + password + "@nexus.acme.dev/repository/pypi/simple\ntimeout = 60\n"}, nil, result{
			Hosts:       []string{"nexus.acme.dev:443/repository/pypi private"},
			Credentials: []string{"pip:nexus.acme.dev/repository/pypi basic [nexus.acme.dev] [auth] [/repository/pypi] = " + password},
			Files:       map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://bob:<pip:nexus.acme.dev/repository/pypi>@nexus.acme.dev/repository/pypi/simple\n"},
		}},
		{"more indexes, over several lines, beside the public one", map[string]string{
			"/etc/pip.conf": "[install]\nextra_index_url:\n  https://__token__:" + token + "@a.acme.dev/simple/\n  http://b.acme.dev:8080/\n"}, nil, result{
			Hosts:       []string{"pypi.org:443", "files.pythonhosted.org:443", "a.acme.dev:443 private", "b.acme.dev:8080 private"},
			Credentials: []string{"pip:a.acme.dev basic [a.acme.dev] [auth] [] = " + token},
			Files: map[string]string{".config/pip/pip.conf": "[global]\nextra-index-url =\n    https://__token__:<pip:a.acme.dev>@a.acme.dev/simple/\n    http://b.acme.dev:8080/\n" +
				"trusted-host =\n    b.acme.dev:8080\n"},
		}},
		{"environment before files", map[string]string{"~/.pip/pip.conf": "[global]\nindex-url=https://file.acme.dev/\n"}, []string{"PIP_INDEX_URL=https://" + token + "@env.acme.dev/simple"}, result{
			Hosts:       []string{"env.acme.dev:443 private"},
			Credentials: []string{"pip:env.acme.dev#user basic [env.acme.dev] [auth] [] = " + token},
			Files:       map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://<pip:env.acme.dev#user>@env.acme.dev/simple\n"},
		}},
		{"the public one by name", map[string]string{"~/.config/pip/pip.conf": "[global]\nindex-url=https://pypi.org/simple\n"}, nil, result{
			Hosts: public, Files: map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://pypi.org/simple\n"},
		}},
		{"no index at all", map[string]string{"~/.config/pip/pip.conf": "[global]\nno-index = yes\n"}, nil, result{
			Files: map[string]string{".config/pip/pip.conf": "[global]\nno-index = true\n"},
		}},
		{"no files", map[string]string{"~/.config/pip/pip.conf": "[global]\nindex-url=https://a.acme.dev\n"}, []string{"PIP_CONFIG_FILE=/dev/null"}, result{Hosts: public}},
		{"a bad line costs itself", map[string]string{"~/.config/pip/pip.conf": "[global]\n" + token + "\nindex-url=https://a.acme.dev\n"}, nil, result{
			Hosts: []string{"a.acme.dev:443 private"},
			Files: map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://a.acme.dev\n"},
			Notes: []string{"~/.config/pip/pip.conf:2: not a line of a pip.conf"},
		}},
		{"a password that nobody escaped", map[string]string{"~/.config/pip/pip.conf": "[global]\nindex-url=https://bob:" + password + "#x@a.acme.dev/\n"}, nil, result{
			Notes: []string{"~/.config/pip/pip.conf:2: " + errURL.Error()},
		}},
		{"a password of digits that nobody escaped", map[string]string{"~/.config/pip/pip.conf": "[global]\nindex-url=https://bob:123#x@a.acme.dev/\n"}, nil, result{
			Notes: []string{"~/.config/pip/pip.conf:2: " + errHost.Error()},
		}},
		{"netrc", map[string]string{
			"~/.config/pip/pip.conf": "[global]\nindex-url=https://a.acme.dev/pypi/simple\n",
			"~/.netrc":               "# mine\nmachine other.dev login eve password " + token + "\nmachine A.acme.dev\n  login bob\n  account x\n  password " + password + "\nmacdef init\nmachine a.acme.dev login x password y\n\ndefault login anonymous password " + token + "\n"}, nil, result{
			Hosts:       []string{"a.acme.dev:443/pypi private"},
			Credentials: []string{"netrc:a.acme.dev/pypi basic [a.acme.dev] [auth] [/pypi] = " + password},
			Files: map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://a.acme.dev/pypi/simple\n",
				".netrc": "machine a.acme.dev login bob password <netrc:a.acme.dev/pypi>\n"},
		}},
		{"netrc of a public registry", map[string]string{"~/.netrc": "machine pypi.org login bob password " + password + "\n"}, nil, result{Hosts: public}},
	} {
		test.run(t, "pip")
	}
}

func TestUv(t *testing.T) {
	password := fake("")
	for _, test := range []row{
		{"indexes", map[string]string{"~/.config/uv/uv.toml": `
[[index]]
name = "acme"
url = "https://bob:` + password + `@a.acme.dev/pypi/simple" # comment
default = true

[[index]]
url = 'https://b.acme.dev/+simple/'
[pip]
extra-index-url = [
  "https://c.acme.dev/simple", # one
]
`}, nil, result{
			Hosts:       []string{"a.acme.dev:443/pypi private", "b.acme.dev:443 private", "c.acme.dev:443 private"},
			Credentials: []string{"uv:a.acme.dev/pypi basic [a.acme.dev] [auth] [/pypi] = " + password},
			Files: map[string]string{".config/uv/uv.toml": "[[index]]\nurl = \"https://bob:<uv:a.acme.dev/pypi>@a.acme.dev/pypi/simple\"\nname = \"acme\"\ndefault = true\n" +
				"[[index]]\nurl = \"https://b.acme.dev/+simple/\"\n[[index]]\nurl = \"https://c.acme.dev/simple\"\n"},
		}},
		{"a list of tables, login from variables", map[string]string{"/etc/uv/uv.toml": `index = [{ name = "my-idx", url = "https://a.acme.dev/simple", explicit = true }]`},
			[]string{"UV_INDEX_MY_IDX_USERNAME=bob", "UV_INDEX_MY_IDX_PASSWORD=" + password}, result{
				Hosts:       []string{"a.acme.dev:443 private", "pypi.org:443", "files.pythonhosted.org:443"},
				Credentials: []string{"uv:a.acme.dev basic [a.acme.dev] [auth] [] = " + password},
				Files:       map[string]string{".config/uv/uv.toml": "[[index]]\nurl = \"https://bob:<uv:a.acme.dev>@a.acme.dev/simple\"\nname = \"my-idx\"\nexplicit = true\n"},
			}},
		{"variables", nil, []string{"UV_DEFAULT_INDEX=https://a.acme.dev/simple", "UV_INDEX=x=https://b.acme.dev/ https://c.acme.dev/"}, result{
			Hosts: []string{"a.acme.dev:443 private", "b.acme.dev:443 private", "c.acme.dev:443 private"},
			Files: map[string]string{".config/uv/uv.toml": "[[index]]\nurl = \"https://a.acme.dev/simple\"\ndefault = true\n[[index]]\nurl = \"https://b.acme.dev/\"\nname = \"x\"\n[[index]]\nurl = \"https://c.acme.dev/\"\n"},
		}},
	} {
		test.run(t, "uv")
	}
}

// TestIndexes: where an index is named, the public one is not asked.
func TestIndexes(t *testing.T) {
	password, token := fake("pw"), fake("pypi-")
	const public = "https://pypi.org/simple/ :"
	pip := func(text string) map[string]string {
		return map[string]string{"~/.config/pip/pip.conf": "[global]\n" + text + "\n"}
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		env   []string
		want  []string
	}{
		{"nothing is named", nil, nil, []string{public}},
		{"pip's", pip("index-url = https://bob:" + password + "@a.acme.dev/pypi/simple"), nil, []string{"https://a.acme.dev/pypi/simple/ bob:" + password}},
		{"a token for a user", nil, []string{"PIP_INDEX_URL=https://" + token + "@a.acme.dev/+simple/"}, []string{"https://a.acme.dev/+simple/ " + token + ":"}},
		{"more of pip's, in order", pip("extra-index-url = https://b.acme.dev/ https://c.acme.dev/x"), nil, []string{public, "https://b.acme.dev/ :", "https://c.acme.dev/x/ :"}},
		{"pip's before uv's", pip("index-url = https://a.acme.dev/"), []string{"UV_DEFAULT_INDEX=https://b.acme.dev/"}, []string{"https://a.acme.dev/ :"}},
		{"uv's where pip names none", nil, []string{"UV_DEFAULT_INDEX=https://b.acme.dev/", "UV_INDEX=x=https://c.acme.dev/", "UV_INDEX_X_USERNAME=eve", "UV_INDEX_X_PASSWORD=" + password},
			[]string{"https://c.acme.dev/ eve:" + password, "https://b.acme.dev/ :"}},
		{"more of uv's, beside the public one", map[string]string{"/etc/uv/uv.toml": "[[index]]\nurl = \"https://c.acme.dev/\"\n[[index]]\nname = \"only\"\nurl = \"https://d.acme.dev/\"\nexplicit = true\n"}, nil,
			[]string{public, "https://c.acme.dev/ :"}},
		{"no index at all", pip("no-index = true\nextra-index-url = https://b.acme.dev/"), nil, nil},
		{"one that cannot be read is not the public one", pip("index-url = ftp://a.acme.dev/"), nil, nil},
		{"nor one of uv's", nil, []string{"UV_DEFAULT_INDEX=file:///x"}, nil},
		{"nobody signs in over plain http", pip("index-url = http://bob:" + password + "@a.acme.dev/"), nil, []string{"http://a.acme.dev/ :"}},
		{"netrc", map[string]string{
			"~/.config/pip/pip.conf": "[global]\nindex-url = https://a.acme.dev/simple\nextra-index-url = https://x:y@A.acme.dev/two http://a.acme.dev/\n",
			"~/.netrc":               "machine a.acme.dev login bob password " + password + "\n"}, nil,
			[]string{"https://a.acme.dev/simple/ bob:" + password, "https://a.acme.dev/two/ x:y", "http://a.acme.dev/ :"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := Read(source(test.files, test.env...))
			var got []string
			for _, x := range rs.Indexes {
				got = append(got, fmt.Sprintf("%s %s:%s", x.URL, x.User.Reveal(), x.Password.Reveal()))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			mustHide(t, rs)
		})
	}
}
