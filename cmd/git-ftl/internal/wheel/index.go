package wheel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
)

// link is a file that an index has of a package,
// packaging.python.org/en/latest/specifications/simple-repository-api. That it was
// withdrawn (yanked) does not count for a version that is pinned.
type link struct {
	url    *url.URL
	name   string
	sha256 string // of the file, in hexadecimal; "" where the index does not say
	python string // conditions on the version of the interpreter
}

// maxPage bounds a page of an index, in bytes.
const maxPage = 64 << 20

// errNone says that an index has no such package.
var errNone = errors.New("it is not there")

// page is what an index has of a package.
func (in *Installer) page(ctx context.Context, x registry.Index, name string) ([]link, error) {
	resp, err := in.get(ctx, x, x.URL+name+"/", "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if err == nil && len(data) > maxPage {
		err = fmt.Errorf("%s has more than %d bytes", resp.Request.URL.Redacted(), maxPage)
	}
	if err != nil {
		return nil, err
	}
	links, err := parsePage(resp.Request.URL, resp.Header.Get("Content-Type"), data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", resp.Request.URL.Redacted(), err)
	}
	return links, nil
}

// get asks for a page or a file. The login of an index goes to its own host alone.
// Errors: errNone.
func (in *Installer) get(ctx context.Context, x registry.Index, at, accept string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err == nil {
		err = refuse(q.URL)
	}
	if err != nil {
		return nil, err
	}
	if accept != "" {
		q.Header.Set("Accept", accept)
	}
	if index, err := url.Parse(x.URL); err == nil && sameOrigin(index, q.URL) && !(x.User.IsZero() && x.Password.IsZero()) {
		q.SetBasicAuth(x.User.Reveal(), x.Password.Reveal())
	}
	client := *in.Client
	client.CheckRedirect = redirected
	resp, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	err = fmt.Errorf("%s answers %s", q.URL.Redacted(), resp.Status)
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
		err = fmt.Errorf("%w: %w", errNone, err)
	}
	return nil, errors.Join(err, resp.Body.Close())
}

// redirected follows an index to another place, without its login where that is
// another host.
func redirected(q *http.Request, via []*http.Request) error {
	if len(via) > 10 {
		return errors.New("too many redirects")
	}
	if !sameOrigin(via[0].URL, q.URL) {
		q.Header.Del("Authorization")
	}
	return refuse(q.URL)
}

// refuse takes no answer that anybody on the way could have given: what a package
// is known by comes from its index. pip refuses the same.
func refuse(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme == "https" || u.Scheme == "http" && local {
		return nil
	}
	return fmt.Errorf("%s is not asked: only https says who answers", u.Redacted())
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// parsePage reads a page in either of its formats.
func parsePage(at *url.URL, contentType string, data []byte) ([]link, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its type %q is none: %w", contentType, err)
	case kind == "application/vnd.pypi.simple.v1+json" || kind == "application/json":
		return parseJSON(at, data)
	case kind == "application/vnd.pypi.simple.v1+html" || kind == "text/html":
		return parseHTML(at, data)
	}
	return nil, fmt.Errorf("its type %q is not that of an index", kind)
}

func parseJSON(at *url.URL, data []byte) ([]link, error) {
	var page struct {
		Meta struct {
			Version string `json:"api-version"`
		} `json:"meta"`
		Files []struct {
			Name   string            `json:"filename"`
			URL    string            `json:"url"`
			Hashes map[string]string `json:"hashes"`
			Python string            `json:"requires-python"`
		} `json:"files"`
	}
	if err := json.Unmarshal(data, &page); err != nil {
		return nil, err
	}
	if major, _, _ := strings.Cut(page.Meta.Version, "."); major != "1" {
		return nil, fmt.Errorf("its version %q is not 1", page.Meta.Version)
	}
	var all []link
	for _, f := range page.Files {
		u, err := at.Parse(f.URL)
		if err != nil {
			continue
		}
		all = append(all, link{url: u, name: f.Name, sha256: strings.ToLower(f.Hashes["sha256"]), python: f.Python})
	}
	return all, nil
}

func parseHTML(at *url.URL, data []byte) ([]link, error) {
	var all []link
	for t := html.NewTokenizer(bytes.NewReader(data)); ; {
		switch t.Next() {
		case html.ErrorToken:
			if err := t.Err(); !errors.Is(err, io.EOF) {
				return nil, err
			}
			return all, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			token := t.Token()
			href, err := at.Parse(attribute(token, "href"))
			switch {
			case err != nil || attribute(token, "href") == "":
			case token.Data == "base" && len(all) == 0:
				at = href
			case token.Data == "a":
				all = append(all, anchor(href, token))
			}
		}
	}
}

// anchor reads a link of a page. Its last segment is the name of the file.
func anchor(u *url.URL, token html.Token) link {
	name := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	l := link{url: u, name: name, python: attribute(token, "data-requires-python")}
	if sum, ok := strings.CutPrefix(u.Fragment, "sha256="); ok {
		l.sha256 = strings.ToLower(sum)
	}
	return l
}

func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}
