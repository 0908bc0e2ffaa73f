package guestbin

import (
	"bytes"
	"compress/gzip"
	"testing"
	"testing/fstest"
)

func TestUnpack(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte("binary")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"guest-linux-amd64.gz": {Data: z.Bytes()},
		"guest-linux-arm64.gz": {Data: z.Bytes()[:z.Len()-3]},
	}
	for arch, row := range map[string]struct {
		want string
		ok   bool
	}{"amd64": {"binary", true}, "arm64": {"", false}, "riscv64": {"", true}} {
		t.Run(arch, func(t *testing.T) {
			got, err := unpack(files, arch)
			if string(got) != row.want || (err == nil) != row.ok {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
