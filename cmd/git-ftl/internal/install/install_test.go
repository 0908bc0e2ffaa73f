package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/shadow"
)

// archive is a package as npm packs it.
func archive(t *testing.T) (data []byte, sum string) {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, f := range []tar.Header{
		{Name: "package/bin/tool", Mode: 0o755},
		{Name: "package/bin/data.json", Mode: 0o600},
		{Name: "package/bin/setuid", Mode: 0o4777},
		{Name: "package/README.md", Mode: 0o644},
		{Name: "package/bin/../../../etc/passwd", Mode: 0o644},
		{Name: "package/bin/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
	} {
		content := "content of " + f.Name
		if f.Typeflag == 0 {
			f.Typeflag, f.Size = tar.TypeReg, int64(len(content))
		}
		if err := w.WriteHeader(&f); err != nil {
			t.Fatal(err)
		}
		if f.Size > 0 {
			_, _ = io.WriteString(w, content)
		}
	}
	_ = w.Close()
	_ = z.Close()
	all := sha512.Sum512(buf.Bytes())
	return buf.Bytes(), base64.StdEncoding.EncodeToString(all[:])
}

func TestAdd(t *testing.T) {
	data, sum := archive(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/npm/@scope/tool/-/tool-1.2.3.tgz" || r.Header.Get("Authorization") != "Bearer token-of-the-user" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(data)
	}))
	defer server.Close()
	good := Registry{URL: server.URL + "/npm", Token: shadow.NewSecret("token-of-the-user")}
	wants := agent.Package{Name: "@scope/tool", Version: "1.2.3", SHA512: sum, Take: []string{"bin"}, Below: "bin/", Into: "/opt/x"}
	other := wants
	other.SHA512 = strings.Repeat("A", 86) + "=="
	nothing := wants
	nothing.Take = []string{"lib"}
	for _, tc := range []struct {
		name       string
		registries []Registry
		pack       agent.Package
		want       []string
		fails      string
	}{
		{"the files that are taken", []Registry{good}, wants, []string{"/opt/x/tool 755", "/opt/x/data.json 644", "/opt/x/setuid 755"}, ""},
		{"the second registry has it", []Registry{{URL: server.URL + "/elsewhere"}, good}, wants, []string{"/opt/x/tool 755", "/opt/x/data.json 644", "/opt/x/setuid 755"}, ""},
		{"another content", []Registry{good}, other, nil, "is not what was pinned"},
		{"nothing to take", []Registry{good}, nothing, nil, "nothing of"},
		{"no token", []Registry{{URL: server.URL + "/npm"}}, wants, nil, "401"},
		{"no registry", nil, wants, nil, "no registry"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			in := &Installer{Client: server.Client(), Registries: tc.registries}
			var got []string
			err := in.Add(t.Context(), tc.pack, func(name string, mode, size int64, content io.Reader) error {
				got = append(got, fmt.Sprintf("%s %o", name, mode))
				return nil
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if tc.fails == "" && err != nil || tc.fails != "" && (err == nil || !strings.Contains(err.Error(), tc.fails)) {
				t.Errorf("got %v, want %q", err, tc.fails)
			}
			if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestRegistries(t *testing.T) {
	token := shadow.NewSecret("token-of-the-user")
	rs := registry.Registries{
		Hosts: []registry.Host{
			{Tool: "pip", Host: "pip.example"},
			{Tool: "npm", Host: "npm.example", Port: 443, PathPrefix: "/repo"},
			{Tool: "npm", Host: "plain.example", Port: 80},
			{Tool: "npm", Host: "npm.example", Port: 8443},
		},
		Credentials: []shadow.Credential{{Real: token, Binding: shadow.Binding{Hosts: []string{"npm.example"}, Kind: shadow.Replace}}},
	}
	var got []string
	for _, r := range Registries(rs) {
		got = append(got, fmt.Sprint(r.URL, " ", !r.Token.IsZero()))
	}
	want := []string{"https://npm.example/repo true", "http://plain.example false", "https://npm.example:8443 false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
