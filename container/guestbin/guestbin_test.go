package guestbin

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
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
	sum := &fstest.MapFile{Data: fmt.Appendf(nil, "%x\n", sha256.Sum256([]byte("binary")))}
	files := fstest.MapFS{
		"guest-linux-amd64.gz": {Data: z.Bytes()}, "guest-linux-amd64.sum": sum,
		"guest-linux-arm64.gz": {Data: z.Bytes()[:z.Len()-3]}, "guest-linux-arm64.sum": sum,
		"guest-linux-arm.gz": {Data: z.Bytes()}, "guest-linux-arm.sum": {Data: []byte("other")},
	}
	for _, row := range []struct {
		arch, want string
		built, ok  bool
	}{
		{"amd64", "binary", true, true},
		{"arm64", "", true, false}, // cut off
		{"arm", "", true, false},   // of another build
		{"riscv64", "", false, false},
	} {
		t.Run(row.arch, func(t *testing.T) {
			if built := version(files, row.arch) != ""; built != row.built {
				t.Errorf("built in: %v", built)
			}
			got, err := unpack(files, row.arch)
			if string(got) != row.want || (err == nil) != row.ok {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
