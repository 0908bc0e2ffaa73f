package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestRegistries runs package managers against private registries, in an image of
// a gigabyte that it builds: the tier of "make test-egress".
func TestRegistries(t *testing.T) {
	if os.Getenv("FTL_TEST_EGRESS") != "1" {
		t.Skip("NOT RUN: npm and Go against private registries (make test-egress)")
	}
	needEngine(t)
	testscript.Run(t, params("testdata/registries"))
}

// cmdNpm starts a registry that demands a token of every request and has the
// package left: npm TOKEN. It is npm.corp.example.
func cmdNpm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: npm TOKEN")
	}
	pack := tarball(ts, "package/package.json", `{"name":"left","version":"1.0.0","main":"left.js"}`, "package/left.js", "module.exports = 'left'\n")
	sum := sha512.Sum512(pack)
	document, err := json.Marshal(map[string]any{"name": "left", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{
		"1.0.0": map[string]any{"name": "left", "version": "1.0.0", "dist": map[string]string{
			"tarball":   "https://npm.corp.example/left/-/left-1.0.0.tgz",
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}},
	}})
	ts.Check(err)
	files := map[string][]byte{"/left": document, "/left/-/left-1.0.0.tgz": pack}
	packages(ts, "npm.corp.example", files, func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+args[0] })
}

// cmdGoproxy starts a proxy of modules that demands a login of every request and
// has example.com/left and example.com/right: goproxy USER PASSWORD. It is
// go.corp.example.
func cmdGoproxy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: goproxy USER PASSWORD")
	}
	files := map[string][]byte{}
	for _, name := range []string{"left", "right"} {
		module := "example.com/" + name
		mod := fmt.Sprintf("module %s\n\ngo 1.18\n", module)
		dir := module + "@v1.0.0/"
		files["/"+module+"/@v/list"] = []byte("v1.0.0\n")
		files["/"+module+"/@v/v1.0.0.info"] = []byte(`{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`)
		files["/"+module+"/@v/v1.0.0.mod"] = []byte(mod)
		files["/"+module+"/@v/v1.0.0.zip"] = zipped(ts, dir+"go.mod", mod, dir+name+".go", "package "+name+"\n\nconst Name = \""+name+"\"\n")
	}
	packages(ts, "go.corp.example", files, func(r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		return user == args[0] && password == args[1]
	})
}

// packages is a network with one server of files for who may have them.
func packages(ts *testscript.TestScript, name string, files map[string][]byte, may func(*http.Request) bool) {
	n := newInternet(ts)
	n.serve(func(w http.ResponseWriter, r *http.Request) {
		data, found := files[r.URL.Path]
		switch {
		case !may(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="office"`)
			w.WriteHeader(http.StatusUnauthorized)
		case !found:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(data)
		}
	}, name)
	connectTo(ts, n, "")
}

// tarball has files by name and content.
func tarball(ts *testscript.TestScript, files ...string) []byte {
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := tar.NewWriter(gz)
	for pair := range slices.Chunk(files, 2) {
		ts.Check(w.WriteHeader(&tar.Header{Name: pair[0], Mode: 0o644, Size: int64(len(pair[1])), Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(pair[1]))
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(gz.Close())
	return out.Bytes()
}

func zipped(ts *testscript.TestScript, files ...string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for pair := range slices.Chunk(files, 2) {
		f, err := w.Create(pair[0])
		ts.Check(err)
		_, err = f.Write([]byte(pair[1]))
		ts.Check(err)
	}
	ts.Check(w.Close())
	return out.Bytes()
}
