//go:build linux

package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/container/internal/rootfs"
	"github.com/git-ftl/git-ftl/container/internal/wire"
)

func authority(t testing.TB, subject pkix.Name) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: subject, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// image makes the root folder of one, of files, and of links where the text
// begins with "-> ".
func image(t testing.TB, files map[string]string) rootfs.Root {
	t.Helper()
	root := rootfs.Root{Dir: t.TempDir(), UID: uint32(os.Getuid())}
	for name, text := range files {
		path := filepath.Join(root.Dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, link := strings.CutPrefix(text, "-> "); link {
			must(t, os.Symlink(target, path))
			continue
		}
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	must(t, os.MkdirAll(filepath.Join(root.Dir, "etc"), 0o755))
	must(t, os.MkdirAll(filepath.Join(root.Dir, ".ftl"), 0o755))
	return root
}

func TestInstall(t *testing.T) {
	const old = "old bundle\n"
	for _, row := range []struct {
		name    string
		files   map[string]string
		bundles []string // that are to hold the authority, once
		missing int
	}{
		{"Debian", map[string]string{"etc/ssl/certs/ca-certificates.crt": old}, []string{"etc/ssl/certs/ca-certificates.crt"}, 0},
		{"Alpine", map[string]string{"etc/ssl/certs/ca-certificates.crt": old, "etc/ssl/cert.pem": "-> certs/ca-certificates.crt"},
			[]string{"etc/ssl/certs/ca-certificates.crt", "etc/ssl/cert.pem"}, 0},
		{"Fedora", map[string]string{"etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": old,
			"etc/pki/tls/certs/ca-bundle.crt": "-> /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "etc/pki/tls/cert.pem": "-> certs/ca-bundle.crt"},
			[]string{"etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"}, 0},
		{"SUSE", map[string]string{"var/lib/ca-certificates/ca-bundle.pem": old, "etc/ssl/ca-bundle.pem": "-> ../../var/lib/ca-certificates/ca-bundle.pem",
			"var/lib/ca-certificates/pem/x.pem": "x", "etc/ssl/certs": "-> /var/lib/ca-certificates/pem"},
			[]string{"var/lib/ca-certificates/ca-bundle.pem"}, 0},
		{"Arch", map[string]string{"etc/ca-certificates/extracted/tls-ca-bundle.pem": old, "etc/ssl/certs/ca-certificates.crt": "-> ../../ca-certificates/extracted/tls-ca-bundle.pem",
			"etc/ssl/cert.pem": "-> ../ca-certificates/extracted/tls-ca-bundle.pem"}, []string{"etc/ca-certificates/extracted/tls-ca-bundle.pem"}, 0},
		{"nothing", nil, []string{"etc/ssl/certs/ca-certificates.crt", "etc/ssl/cert.pem"}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := image(t, row.files)
			first, second := authority(t, pkix.Name{CommonName: "one"}), authority(t, pkix.Name{CommonName: "two"})
			_, missing, err := Install(root, first)
			must(t, err)
			if len(missing) != row.missing {
				t.Errorf("missing: %q", missing)
			}
			_, _, err = Install(root, second)
			must(t, err)
			for _, name := range append(row.bundles, wire.BundleFile) {
				data, err := os.ReadFile(filepath.Join(root.Dir, name))
				must(t, err)
				if bytes.Contains(data, first) || bytes.Count(data, second) != 1 || row.missing == 0 && !bytes.HasPrefix(data, []byte(old)) {
					t.Errorf("%s:\n%s", name, data)
				}
			}
			own, err := os.ReadFile(filepath.Join(root.Dir, wire.CAFile))
			must(t, err)
			if d := cmp.Diff(string(second), string(own)); d != "" {
				t.Error(d)
			}
			for name, target := range row.files {
				if _, link := strings.CutPrefix(target, "-> "); link {
					if info, err := os.Lstat(filepath.Join(root.Dir, name)); err != nil || info.Mode().Type() != fs.ModeSymlink {
						t.Errorf("%s is no link any more", name)
					}
				}
			}
		})
	}
}

// TestEnsure: what is there already is not written again, and whatever changed is
// mended.
func TestEnsure(t *testing.T) {
	old := string(authority(t, pkix.Name{CommonName: "old"}))
	const bundle = "etc/ssl/certs/ca-certificates.crt"
	for _, row := range []struct {
		name   string
		change func(t *testing.T, dir string)
		writes bool
	}{
		{"nothing", func(*testing.T, string) {}, false},
		{"the bundle, at the same size and time", func(t *testing.T, dir string) {
			info, err := os.Stat(filepath.Join(dir, bundle))
			must(t, err)
			data, err := os.ReadFile(filepath.Join(dir, bundle))
			must(t, err)
			data[len(data)-80] ^= 1
			must(t, os.WriteFile(filepath.Join(dir, bundle), data, 0o644))
			must(t, os.Chtimes(filepath.Join(dir, bundle), info.ModTime(), info.ModTime()))
		}, true},
		{"the bundle is gone", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, bundle))) }, true},
		{"another bundle came", func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "etc/ssl/cert.pem"), []byte(old), 0o644))
		}, true},
		{"a link by hash is gone", func(t *testing.T, dir string) {
			links, err := filepath.Glob(filepath.Join(dir, "etc/ssl/certs/*.0"))
			must(t, err)
			must(t, os.Remove(links[0]))
		}, true},
		{"the authority's file", func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, wire.CAFile), 3)) }, true},
		{"Java came", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Join(dir, "usr/bin"), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, "usr/bin/keytool"), nil, 0o755))
		}, true},
		{"what is remembered", func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, wire.TrustFile), []byte("{"), 0o644))
		}, true},
		{"what is remembered is anybody's", func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, wire.TrustFile), 0o666)) }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := image(t, map[string]string{bundle: old})
			ca := authority(t, pkix.Name{CommonName: "one"})
			_, _, err := Ensure(root, ca)
			must(t, err)
			row.change(t, root.Dir)
			was, err := root.Stamp(wire.CAFile)
			must(t, err)
			java, _, err := Ensure(root, ca)
			must(t, err)
			if is, err := root.Stamp(wire.CAFile); err != nil || (is != was) != row.writes {
				t.Errorf("written again: %v, %v", is != was, err)
			}
			data, err := os.ReadFile(filepath.Join(root.Dir, bundle))
			must(t, err)
			if bytes.Count(data, ca) != 1 || java != (row.name == "Java came") {
				t.Errorf("java %v, bundle %s", java, data)
			}
			other := authority(t, pkix.Name{CommonName: "two"})
			_, _, err = Ensure(root, other)
			must(t, err)
			if data, err := os.ReadFile(filepath.Join(root.Dir, bundle)); err != nil || bytes.Contains(data, ca) || !bytes.Contains(data, other) {
				t.Errorf("another authority: %v %s", err, data)
			}
		})
	}
}

// TestInstallRefusesWhatTheAgentLeads: a path through a folder that others write
// is not followed.
func TestInstallRefusesWhatTheAgentLeads(t *testing.T) {
	ca := authority(t, pkix.Name{CommonName: "one"})
	for _, row := range []struct {
		name  string
		files map[string]string
		open  string // folder or file that anybody may write
	}{
		{"folder", map[string]string{"etc/ssl/certs/ca-certificates.crt": "x"}, "etc/ssl"},
		{"link into one", map[string]string{"etc/ssl/cert.pem": "-> /home/x/cert.pem", "home/x/cert.pem": "x"}, "home/x"},
		{"file", map[string]string{"etc/ssl/certs/ca-certificates.crt": "x"}, "etc/ssl/certs/ca-certificates.crt"},
		{"loop", map[string]string{"etc/ssl/cert.pem": "-> cert.pem"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := image(t, row.files)
			if row.open != "" {
				must(t, os.Chmod(filepath.Join(root.Dir, row.open), 0o777))
			}
			_, _, err := Install(root, ca)
			if err == nil || row.open != "" && !errors.Is(err, rootfs.ErrUnsafe) {
				t.Errorf("installed: %v", err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	ca := authority(t, pkix.Name{CommonName: "one"})
	for _, row := range []struct {
		name, data, err string
	}{
		{"one", "junk\n" + string(ca) + "junk\n", ""},
		{"none", "junk", "no certificate"},
		{"a key", string(ca) + "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n", "more than certificates"},
		{"broken", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "read authority"},
		{"large", strings.Repeat("x", maxCA+1), "over"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, clean, err := Parse([]byte(row.data))
			switch {
			case row.err == "" && (err != nil || !bytes.Equal(clean, ca)):
				t.Errorf("%v: %s", err, clean)
			case row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)):
				t.Error(err)
			}
		})
	}
}

func TestSubjectHash(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("NOT TESTED: no openssl to compare with")
	}
	for _, subject := range []pkix.Name{
		{CommonName: "plain"},
		{CommonName: "  Two  Spaces and CASE ", Organization: []string{"Ö, Ltd", "second"}, Country: []string{"DE"}},
		{},
	} {
		t.Run(subject.String(), func(t *testing.T) {
			ca := authority(t, subject)
			certs, _, err := Parse(ca)
			must(t, err)
			cmd := exec.Command(openssl, "x509", "-noout", "-subject_hash")
			cmd.Stdin = bytes.NewReader(ca)
			out, err := cmd.Output()
			must(t, err)
			got, err := subjectHash(certs[0])
			if err != nil || got != strings.TrimSpace(string(out)) {
				t.Errorf("%s, %v; openssl says %s", got, err, out)
			}
		})
	}
}

func TestJavaStore(t *testing.T) {
	keytool, err := exec.LookPath("keytool")
	if err != nil {
		t.Skip("NOT TESTED: no keytool to compare with")
	}
	bundle := append([]byte("# text\n"), authority(t, pkix.Name{CommonName: "first one"})...)
	bundle = append(bundle, authority(t, pkix.Name{CommonName: "second one"})...)
	store := filepath.Join(t.TempDir(), "store")
	must(t, os.WriteFile(store, javaStore(bundle), 0o600))
	out, err := exec.Command(keytool, "-list", "-v", "-keystore", store, "-storepass", storePassword, "-storetype", "JKS").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "2 entries") || !strings.Contains(string(out), "second one") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestNames(t *testing.T) {
	for _, row := range []struct {
		name, file string
		missing    int
	}{
		{"none", "", 0},
		{"dns", "passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return] dns # x\n", 0},
		{"no dns", "hosts: files # dns\n", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			files := map[string]string{}
			if row.file != "" {
				files["etc/nsswitch.conf"] = row.file
			}
			if got := Names(image(t, files)); len(got) != row.missing {
				t.Errorf("%q", got)
			}
		})
	}
}

// BenchmarkEnsure is what a task waits for, with as many certificates as an image
// has: the first time, and in a sandbox that has it all.
func BenchmarkEnsure(b *testing.B) {
	var bundle bytes.Buffer
	for i := range 140 {
		bundle.Write(authority(b, pkix.Name{CommonName: fmt.Sprint("root ", i)}))
	}
	root := image(b, map[string]string{"etc/ssl/certs/ca-certificates.crt": bundle.String()})
	ca := authority(b, pkix.Name{CommonName: "one"})
	for name, f := range map[string]func(rootfs.Root, []byte) (bool, []string, error){"install": Install, "again": Ensure} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := f(root, ca); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
