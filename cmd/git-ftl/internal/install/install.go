// Package install brings the packages of agents from the user's own npm registry.
//
// Every package is pinned by a sum of its whole archive, so that it does not
// matter which registry has it; nothing of one is looked at before the sum is
// right, and nothing of it is run.
package install

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/shadow"
)

// Registry is where packages come from.
type Registry struct {
	URL   string        // without a slash at the end
	Token shadow.Secret // zero where it wants none
}

// Registries are those that the user's npm is configured with.
func Registries(rs registry.Registries) []Registry {
	var all []Registry
	for _, h := range rs.Hosts {
		if h.Tool != "npm" {
			continue
		}
		scheme, host := "https", h.Host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		switch h.Port {
		case 0, 443:
		case 80:
			scheme = "http"
		default:
			host = fmt.Sprintf("%s:%d", host, h.Port)
		}
		r := Registry{URL: scheme + "://" + host + h.PathPrefix}
		for _, c := range rs.Credentials {
			if c.Binding.Kind == shadow.Replace && len(c.Binding.Hosts) == 1 && strings.TrimSuffix(c.Binding.Hosts[0], ":443") == host {
				r.Token = c.Real
			}
		}
		all = append(all, r)
	}
	return all
}

// Installer fetches packages.
type Installer struct {
	Client     *http.Client
	Registries []Registry // asked in turn
}

// maxArchive bounds an archive and one file of it, in bytes.
const maxArchive = 2 << 30

// Add adds the files of a package to a layer of an image.
func (in *Installer) Add(ctx context.Context, p agent.Package, add container.AddFile) error {
	if len(in.Registries) == 0 {
		return errors.New("npm has no registry configured")
	}
	var failed []error
	for _, r := range in.Registries {
		f, err := in.fetch(ctx, r, p)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		return errors.Join(unpack(f, p, add), f.Close(), os.Remove(f.Name()))
	}
	return fmt.Errorf("fetch %s %s: %w", p.Name, p.Version, errors.Join(failed...))
}

// fetch brings an archive into a temporary file and makes sure that it is the one
// that was pinned.
func (in *Installer) fetch(ctx context.Context, r Registry, p agent.Package) (*os.File, error) {
	url := fmt.Sprintf("%s/%s/-/%s-%s.tgz", r.URL, p.Name, path.Base(p.Name), p.Version)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if !r.Token.IsZero() {
		q.Header.Set("Authorization", "Bearer "+r.Token.Reveal())
	}
	resp, err := in.Client.Do(q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, resp.Status)
	}
	f, err := os.CreateTemp("", "git-ftl-package-*")
	if err != nil {
		return nil, err
	}
	sum := sha512.New()
	_, err = io.Copy(io.MultiWriter(f, sum), io.LimitReader(resp.Body, maxArchive))
	if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); err == nil && got != p.SHA512 {
		err = fmt.Errorf("%s is not what was pinned: its SHA-512 is %s", url, got)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// unpack adds what is to be taken of an archive, all of it regular files.
func unpack(f io.Reader, p agent.Package, add container.AddFile) error {
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", p.Name, err)
	}
	for t, taken := tar.NewReader(z), 0; ; {
		h, err := t.Next()
		switch {
		case err == io.EOF && taken > 0:
			return nil
		case err == io.EOF:
			return fmt.Errorf("unpack %s: nothing of %q is in it", p.Name, p.Take)
		case err != nil:
			return fmt.Errorf("unpack %s: %w", p.Name, err)
		}
		to, ok := place(h.Name, p)
		if !ok || h.Typeflag != tar.TypeReg || h.Size > maxArchive {
			continue
		}
		taken++
		if err := add(to, 0o755&(h.Mode|0o444), h.Size, t); err != nil {
			return err
		}
	}
}

// place is where a file of an archive goes: below the package's folder, by its
// path from the top of what is taken.
func place(name string, p agent.Package) (string, bool) {
	_, name, ok := strings.Cut(path.Clean(name), "/") // "package/", most of the time
	if !ok || strings.HasPrefix(name, "../") {
		return "", false
	}
	for _, take := range p.Take {
		if name == take || strings.HasPrefix(name, take+"/") {
			return path.Join(p.Into, strings.TrimPrefix(name, p.Below)), true
		}
	}
	return "", false
}
