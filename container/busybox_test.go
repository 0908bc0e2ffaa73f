package container

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"
)

// busybox makes an image of one static program, which has no certificates, no
// users and no /tmp.
func busybox(t *testing.T, e *DockerEngine) string {
	t.Helper()
	path, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("NOT TESTED: no busybox (busybox-static) to make an image of")
	}
	bin, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(bin))
	if err != nil || slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Skip("NOT TESTED: busybox is not a static one (busybox-static)")
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	heads := []*tar.Header{{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}, {Typeflag: tar.TypeReg, Name: "bin/busybox", Mode: 0o755, Size: int64(len(bin))}}
	for _, name := range strings.Fields("sh cat ls cp chmod rm env stat mkdir grep id wget nslookup") {
		heads = append(heads, &tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox"})
	}
	for _, h := range heads {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write(bin); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const ref = "git-ftl-test/busybox:latest"
	resp, err := e.api.ImageImport(t.Context(), image.ImportSource{Source: &buf, SourceName: "-"}, ref, image.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	if _, err := io.Copy(io.Discard, resp); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.api.ImageRemove(context.WithoutCancel(t.Context()), ref, image.RemoveOptions{}); err != nil {
			t.Error(err)
		}
	})
	return ref
}

// TestTunnelInAnyImage: a shell is enough.
func TestTunnelInAnyImage(t *testing.T) {
	e := engine(t)
	image := busybox(t, e)
	s := acquire(t, pool(t, e), Spec{Image: image})
	probe, err := netprobe()
	if err != nil {
		t.Fatal(err)
	}
	r := newRepository(t)
	reset(t, s, r.base(s, map[string]string{"netprobe": probe}))
	f := newFar(t, s.Tunnel())
	report, err := s.Connect(t.Context(), Network{CA: f.ca})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Missing) != 1 || !strings.Contains(report.Missing[0], "no bundle of certificates") {
		t.Errorf("missing: %q", report.Missing)
	}
	want(t, "wget", netShell(t, s, "wget -qO- http://some.example/"), "GET some.example tls=false\n")
	want(t, "go", netShell(t, s, "cp netprobe p && chmod +x p && env -u SSL_CERT_FILE ./p get https://some.example/"), "GET some.example tls=true\n")
	if got := netShell(t, s, "nslookup -type=a some.example"); !strings.Contains(got, "Address: 127.0.0.1\n") {
		t.Errorf("nslookup: %q", got)
	}
}
