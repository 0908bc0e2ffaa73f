package registry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/shadow"
)

// FuzzRead: whatever stands in a file of any tool, nothing panics, a note shows
// no value, what the sandbox gets holds none, and every credential is bound for
// reading to one host that can be named.
func FuzzRead(f *testing.F) {
	files := []string{"~/.npmrc", "~/.config/pip/pip.conf", "~/.config/uv/uv.toml", "~/.config/go/env", "~/.cargo/config.toml", "~/.cargo/credentials.toml",
		"~/.m2/settings.xml", "~/.gradle/gradle.properties", "~/.gradle/init.gradle", "~/.bundle/config", "~/.netrc"}
	for i, seed := range []string{
		"registry=https://a.acme.dev/x/\n@s:registry=https://b.acme.dev\n//a.acme.dev/:_authToken=abcdefghijk\n//b.acme.dev/:_auth=Ym9iOnBhc3N3b3Jk\n",
		"[global]\nindex-url=https://bob:passwordx@a.acme.dev/simple\nextra-index-url:\n  http://c.acme.dev:81\n",
		"[[index]]\nurl = \"https://bob:passwordx@a.acme.dev/simple\"\ndefault = true\n[pip]\nextra-index-url = ['https://x.acme.dev',\n]\n",
		"GOPROXY=https://bob:passwordx@go.acme.dev|direct\nGOSUMDB=sum.acme.dev+0a+x= https://s.acme.dev\n",
		"[registries.a]\nindex = \"sparse+https://c.acme.dev/index/\"\ntoken = \"Bearer abcdefghi\"\n[source]\ncrates-io.replace-with = 'a'\n",
		"[registries.a]\ntoken = \"\"\"abcdefgh\"\"\"\n",
		mavenFile,
		"nexusUrl=https\\://n.acme.dev/x\nnexusUser=bob\nnexusPassword=passwordx\n",
		"maven { url 'https://b:passwordx@a.acme.dev/m2' }\n",
		"---\nBUNDLE_GEM__FURY__IO: \"bob:passwordx\"\nBUNDLE_MIRROR__ALL: \"https://g.acme.dev\"\n",
		"machine a.acme.dev login bob password passwordx\nmacdef x\ny\n\ndefault login z\n",
	} {
		f.Add(byte(i), seed)
	}
	f.Fuzz(func(t *testing.T, which byte, text string) {
		rs := Read(source(map[string]string{files[int(which)%len(files)]: text}, "PIP_EXTRA_INDEX_URL=https://a.acme.dev/extra"))
		for _, c := range rs.Credentials {
			if _, err := c.Binding.Normal(); err != nil || len(c.Binding.Hosts) != 1 || strings.Join(c.Binding.Methods, " ") != "GET HEAD" {
				t.Errorf("binding of %s: %+v %v", c.Name, c.Binding, err)
			}
			if value := c.Real.Reveal(); len(value) >= shadow.MinLength && !strings.Contains(c.Shadow, value) {
				for _, file := range rs.Files {
					if strings.Contains(withoutNames(string(file.Content), rs.Credentials), value) {
						t.Errorf("%s holds the value of %s", file.Path, c.Name)
					}
				}
			}
		}
		if len(rs.Hosts) > maxHosts || len(rs.Credentials) > maxHosts || len(rs.Notes) > maxNotes {
			t.Errorf("%d hosts, %d credentials, %d notes", len(rs.Hosts), len(rs.Credentials), len(rs.Notes))
		}
		mustTake(t, rs)
	})
}

func withoutNames(text string, all []shadow.Credential) string {
	for _, c := range all {
		text = strings.ReplaceAll(text, c.Shadow, " ")
	}
	return text
}

// FuzzTOML: a document is read to its end or given up at one of its lines.
func FuzzTOML(f *testing.F) {
	f.Add("a = 1\n[b.\"c\"]\nd = [1, 'x', [\"y\"], {z = 2}] # c\n[[e]]\nf = \"\"\"\ng\"\"\"\n")
	f.Add("a = \"\\u00e9\\\"\"\r\nb.c = { d = { e = true } }\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, line := parseTOML(text)
		if line < 0 || line > strings.Count(text, "\n")+1 || line > 0 && entries != nil {
			t.Errorf("%d entries, line %d", len(entries), line)
		}
		for _, e := range entries {
			if e.line < 1 || len(e.path) == 0 || len(e.path) > maxTables+1 {
				t.Errorf("entry %s", fmt.Sprint(e))
			}
		}
	})
}

func TestTOML(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		line             int
	}{
		{"words", "a = 1\nb=true # c\n", "[a]=[1] [b]=[true]", 0},
		{"tables", "[x.\"y z\"]\na.b = 'c\\d'\n[[t]]\n[[t]]\nu = \"\"\n", `[x y z a b]=[c\d] [t 1 u]=[]`, 0},
		{"escapes", `a = "\u00e9\t\"\\"`, "[a]=[é\t\"\\]", 0},
		{"lists", "a = [\n 'b', # c\n [\"d\"],\n]\n", "[a]=[b d]", 0},
		{"tables in line", "a = { b = 1, c.d = { e = 'f' } }", "[a b]=[1] [a c d e]=[f]", 0},
		{"several lines", "a = '''\nx\ny'''\nb = 1", "[a]=[x\ny] [b]=[1]", 0},
		{"no value", "a = 1\nb =\n", "", 2},
		{"no end of a text", "a = 1\n\nb = \"x\nc = 2", "", 3},
		{"more behind a value", "a = 1 2", "", 1},
		{"a bad escape", `a = "\q"`, "", 1},
		{"too deep", "a = " + strings.Repeat("[", 20) + strings.Repeat("]", 20), "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			entries, line := parseTOML(test.text)
			var got []string
			for _, e := range entries {
				got = append(got, fmt.Sprintf("%v=%v", e.path, e.values))
			}
			if text := strings.Join(got, " "); text != test.want || line != test.line {
				t.Errorf("got %q, line %d; want %q, line %d", text, line, test.want, test.line)
			}
		})
	}
}
