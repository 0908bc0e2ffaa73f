package wheel

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustParse(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestPage reads what indexes answer: links are relative to where they stand.
func TestPage(t *testing.T) {
	const html, jsonType = "text/html; charset=utf-8", "application/vnd.pypi.simple.v1+json"
	for _, tc := range []struct {
		name, kind, page string
		want             []string
		fails            string
	}{
		{"a link", html, `<!DOCTYPE html><a href="../../packages/a/x-1.whl#sha256=AB12">x-1.whl</a>`, []string{"https://p.example/packages/a/x-1.whl x-1.whl ab12"}, ""},
		{"what else it says", "application/vnd.pypi.simple.v1+html", `<a href="x-1.whl" data-requires-python="&gt;=3.8,&lt;4" data-yanked="broken">x</a>`, []string{"https://p.example/simple/x/x-1.whl x-1.whl  python >=3.8,<4"}, ""},
		{"another host, another sum", html, `<A HREF='https://f.example/x%2B1-1.whl?token=a#md5=00'>x</A><a>no link</a>`, []string{"https://f.example/x%2B1-1.whl?token=a x+1-1.whl "}, ""},
		{"a base", html, `<base href="https://b.example/deep/"><a href="x-1.whl">x</a>`, []string{"https://b.example/deep/x-1.whl x-1.whl "}, ""},
		{"in a comment", html, `<!-- <a href="x-1.whl">x</a> --><a href="y.whl">y</a>`, []string{"https://p.example/simple/x/y.whl y.whl "}, ""},
		{"nothing", html, "", nil, ""},
		{"JSON", jsonType, `{"meta":{"api-version":"1.4"},"files":[{"filename":"x-1.whl","url":"../../f/x-1.whl","hashes":{"sha256":"ab","md5":"00"},"requires-python":">=3","yanked":"why"},
			{"filename":"x-2.whl","url":"https://f.example/x-2.whl","hashes":{},"requires-python":null,"yanked":false,"provenance":null}]}`,
			[]string{"https://p.example/f/x-1.whl x-1.whl ab python >=3", "https://f.example/x-2.whl x-2.whl "}, ""},
		{"JSON of another version", jsonType, `{"meta":{"api-version":"2.0"},"files":[]}`, nil, `version "2.0" is not 1`},
		{"JSON that is cut", jsonType, `{"meta":{"api-version":"1.0"},"files":[`, nil, "unexpected end"},
		{"another type", "application/octet-stream", "", nil, "is not that of an index"},
		{"no type", "", "", nil, "is none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			links, err := parsePage(mustParse(t, "https://p.example/simple/x/"), tc.kind, []byte(tc.page))
			if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Fatalf("%v, want %q", err, tc.fails)
			}
			var got []string
			for _, l := range links {
				at := *l.url
				at.Fragment = ""
				text := at.String() + " " + l.name + " " + l.sha256
				if l.python != "" {
					text += " python " + l.python
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzPage: no page makes the reader panic.
func FuzzPage(f *testing.F) {
	f.Add("text/html", `<base href="a"><a href="x-1-py3-none-any.whl#sha256=00" data-yanked>x</a>`)
	f.Add("application/vnd.pypi.simple.v1+json", `{"meta":{"api-version":"1.0"},"files":[{"filename":"x-1-py3-none-any.whl","url":"x","yanked":{}}]}`)
	f.Fuzz(func(t *testing.T, kind, page string) {
		links, err := parsePage(mustParse(t, "https://p.example/simple/x/"), kind, []byte(page))
		if err == nil {
			_, _ = debian().choose(links, "x", "1")
		}
	})
}

// FuzzRequirement: no requirement makes the reader panic.
func FuzzRequirement(f *testing.F) {
	f.Add(`left[fast]==1.0; python_version >= "3" and (extra == "x" or sys_platform not in "a")`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRequirement(text)
		if err != nil {
			return
		}
		_, _ = r.pinned()
		_, _ = debian().holds(r.marker, nil)
	})
}
