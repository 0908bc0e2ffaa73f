// Package pypi is an index of Python packages, for tests: it makes real wheels, whose
// bytes are the same each time, and serves them as PEP 503 (HTML) or PEP 691 (JSON)
// says, with links that are relative to the page.
package pypi

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Wheel is a file of an index.
type Wheel struct {
	Name     string // as in its metadata
	Version  string
	Tags     string            // python-abi-platform; "" is py3-none-any
	Requires []string          // lines of Requires-Dist
	Files    map[string]string // beside its metadata: content by path
	Edit     map[string]string // content in the place of what its RECORD has the sum of
	Links    []string          // paths that are symbolic links

	Python string // data-requires-python
	Yanked bool
	Sum    string // in the index; "" is the right one, "none" is none
}

// File is the name of the file.
func (w Wheel) File() string {
	tags := w.Tags
	if tags == "" {
		tags = "py3-none-any"
	}
	return strings.ReplaceAll(w.Name, "-", "_") + "-" + w.Version + "-" + tags + ".whl"
}

// Bytes are the file.
func (w Wheel) Bytes() []byte {
	info := strings.ReplaceAll(w.Name, "-", "_") + "-" + w.Version + ".dist-info/"
	files := maps.Clone(w.Files)
	if files == nil {
		files = map[string]string{}
	}
	metadata := "Metadata-Version: 2.4\nName: " + w.Name + "\nVersion: " + w.Version + "\n"
	for _, r := range w.Requires {
		metadata += "Requires-Dist: " + r + "\n"
	}
	files[info+"METADATA"] = metadata + "\nRequires-Dist: words of a description\n"
	files[info+"WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	record := ""
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[name]))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name]))
	}
	files[info+"RECORD"] = record + info + "RECORD,,\n"
	maps.Copy(files, w.Edit)
	return w.zip(files)
}

func (w Wheel) zip(files map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(0o644)
		if slices.Contains(w.Links, name) {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		f, err := z.CreateHeader(h)
		if err != nil {
			panic(err)
		}
		_, _ = f.Write([]byte(files[name]))
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// SHA256 is that of the file, in hexadecimal.
func (w Wheel) SHA256() string {
	sum := sha256.Sum256(w.Bytes())
	return hex.EncodeToString(sum[:])
}

// Server is an index at /simple/, with its files below /files/. It implements
// http.Handler.
type Server struct {
	Wheels []Wheel
	Extra  []string // names of files that are no wheels, such as a source
	HTML   bool     // else pages are JSON
	Login  string   // user:password that it demands; "" is none
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if s.Login != "" && user+":"+password != s.Login {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if file, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		s.file(w, r, file)
		return
	}
	name, ok := strings.CutPrefix(path.Clean(r.URL.Path), "/simple/")
	var of []Wheel
	for _, f := range s.Wheels {
		if strings.ToLower(f.Name) == name {
			of = append(of, f)
		}
	}
	switch {
	case !ok || len(of) == 0 && len(s.Extra) == 0:
		http.NotFound(w, r)
	case s.HTML:
		s.html(w, of)
	default:
		s.json(w, of)
	}
}

func (s *Server) file(w http.ResponseWriter, r *http.Request, name string) {
	for _, f := range s.Wheels {
		if f.File() == name {
			_, _ = w.Write(f.Bytes())
			return
		}
	}
	http.NotFound(w, r)
}

// sum is what the index says that it is.
func (w Wheel) sum() string {
	switch w.Sum {
	case "":
		return w.SHA256()
	case "none":
		return ""
	}
	return w.Sum
}

func (s *Server) html(w http.ResponseWriter, of []Wheel) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	page := "<!DOCTYPE html><html><head><meta name=\"pypi:repository-version\" content=\"1.0\"></head><body>\n"
	for _, f := range of {
		href := "../../files/" + f.File()
		if sum := f.sum(); sum != "" {
			href += "#sha256=" + sum
		}
		page += `<a href="` + href + `"`
		if f.Python != "" {
			page += ` data-requires-python="` + html.EscapeString(f.Python) + `"`
		}
		if f.Yanked {
			page += ` data-yanked=""`
		}
		page += ">" + f.File() + "</a><br/>\n"
	}
	for _, name := range s.Extra {
		page += `<a href="../../files/` + name + `">` + name + "</a>\n"
	}
	_, _ = fmt.Fprint(w, page+"</body></html>\n")
}

func (s *Server) json(w http.ResponseWriter, of []Wheel) {
	w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	type object = map[string]any
	files := []object{}
	for _, f := range of {
		hashes := object{"blake2b_256": "00"}
		if sum := f.sum(); sum != "" {
			hashes["sha256"] = sum
		}
		o := object{"filename": f.File(), "url": "../../files/" + f.File(), "hashes": hashes, "yanked": f.Yanked}
		if f.Python != "" {
			o["requires-python"] = f.Python
		}
		files = append(files, o)
	}
	for _, name := range s.Extra {
		files = append(files, object{"filename": name, "url": "../../files/" + name, "hashes": object{}})
	}
	_ = json.NewEncoder(w).Encode(object{"meta": object{"api-version": "1.1"}, "name": "x", "files": files})
}
