package trust

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/container/internal/rootfs"
	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// bundles are the files that hold all certificates, on Debian, Alpine, Arch,
// Fedora and SUSE; some are links to another.
func bundles() []string {
	return []string{
		"/etc/ssl/certs/ca-certificates.crt",
		"/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
		"/etc/ssl/ca-bundle.pem",
		"/var/lib/ca-certificates/ca-bundle.pem",
		"/etc/ca-certificates/extracted/tls-ca-bundle.pem",
		"/etc/ssl/cert.pem",
		"/etc/pki/tls/cert.pem",
	}
}

const (
	hashDir = "/etc/ssl/certs" // where OpenSSL looks by hash
	ownName = "git-ftl-sandbox.pem"
)

// Install makes the system trust the authority in place of an earlier one of
// ours, and writes the files of wire for clients that do not ask the system.
// missing says what the image lacks, in words.
func Install(root rootfs.Root, ca []byte) (java bool, missing []string, err error) {
	certs, clean, err := Parse(ca)
	if err != nil {
		return false, nil, err
	}
	full, missing, err := installBundles(root, clean)
	if err == nil {
		err = installHash(root, certs, clean)
	}
	java = hasJava(root)
	files := map[string][]byte{wire.CAFile: clean, wire.BundleFile: full}
	if java {
		files[wire.JavaFile] = javaStore(full)
	}
	for name, data := range files {
		if err == nil {
			err = root.Replace(name, data)
		}
	}
	if err != nil {
		return false, nil, fmt.Errorf("install authority: %w", err)
	}
	return java, missing, nil
}

func hasJava(root rootfs.Root) bool {
	return root.Exists("/usr/bin/keytool") || root.Exists("/usr/local/bin/keytool") ||
		root.Exists("/usr/lib/jvm/*/bin/keytool") || root.Exists("/opt/*/bin/keytool")
}

// installBundles adds ca to each bundle that is there, and gives the largest.
func installBundles(root rootfs.Root, ca []byte) (full []byte, missing []string, err error) {
	done := map[string]bool{}
	for _, name := range bundles() {
		place, found, err := root.Find(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!found || done[place]) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		done[place] = true
		old, err := root.Read(place)
		if err != nil {
			return nil, nil, err
		}
		data := withCA(old, ca)
		if err := root.Replace(place, data); err != nil {
			return nil, nil, err
		}
		if len(data) > len(full) {
			full = data
		}
	}
	if full == nil {
		missing = []string{"no bundle of certificates (ca-certificates): only the sandbox's own authority is trusted"}
		full, err = withCA(nil, ca), makeBundles(root, ca)
	}
	return full, missing, err
}

// makeBundles gives an image without certificates the files that most clients
// look for.
func makeBundles(root rootfs.Root, ca []byte) error {
	if err := root.Folder(hashDir); err != nil {
		return err
	}
	for _, name := range []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem"} {
		if err := root.Replace(name, withCA(nil, ca)); err != nil {
			return err
		}
	}
	return nil
}

// installHash makes the links of OpenSSL's folder to the authority.
func installHash(root rootfs.Root, certs []*x509.Certificate, ca []byte) error {
	dir, found, err := root.Find(hashDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !found {
		return nil
	}
	if err != nil {
		return err
	}
	old, err := root.Links(dir, ownName)
	if err != nil {
		return err
	}
	for _, place := range old {
		if err := root.Remove(place); err != nil {
			return err
		}
	}
	if err := root.Replace(path.Join(dir, ownName), ca); err != nil {
		return err
	}
	hash, err := subjectHash(certs[0])
	for n := 0; err == nil; n++ {
		place := path.Join(dir, fmt.Sprintf("%s.%d", hash, n))
		if !root.Exists(place) {
			return root.Link(ownName, place)
		}
	}
	return err
}

// Names says whether the image's C library is told to ask for names at all, as
// text for the user where not.
func Names(root rootfs.Root) []string {
	data, err := root.Read("/etc/nsswitch.conf")
	if err != nil {
		return nil // the libraries' own default asks
	}
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "hosts:" {
			continue
		}
		for _, source := range fields[1:] {
			if source == "dns" {
				return nil
			}
		}
		return []string{"/etc/nsswitch.conf asks no dns for hosts: programs of its C library find no name"}
	}
	return nil
}
