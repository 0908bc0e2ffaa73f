package container

import (
	"errors"
	"strings"
	"testing"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	err := progress(strings.NewReader(`{"stream":"Step 1/2 : FROM x\n"}
{"status":"Downloading","id":"abc","progressDetail":{"current":1,"total":9}}
{"status":"Pull complete","id":"abc","progressDetail":{}}
{"stream":"\u001b[31mred\n"}
{"aux":{"ID":"sha256:1"}}
{"errorDetail":{"message":"no \u001b[0m"},"error":"no \u001b[0m"}`), &out)
	if err == nil || err.Error() != "no \ufffd[0m" {
		t.Error(err)
	}
	if want := "Step 1/2 : FROM x\nabc Pull complete\n\ufffd[31mred\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

func TestBuildProxyArguments(t *testing.T) {
	e := &DockerEngine{env: []string{"https_proxy=http://p:1", "NO_PROXY=x", "SECRET=s"}}
	got := e.buildArgs()
	if len(got) != 2 || *got["https_proxy"] != "http://p:1" || *got["NO_PROXY"] != "x" {
		t.Errorf("%v", got)
	}
}

func TestBuildImage(t *testing.T) {
	e := engine(t)
	var out strings.Builder
	img, err := e.BuildImage(t.Context(), &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if img.Size > 450<<20 {
		t.Errorf("the image has %d MB", img.Size>>20)
	}
	s := acquire(t, pool(t, e), Spec{Image: BaseImage()})
	got := shell(t, s, "id -un; for c in git curl rg jq patch make less ps python3; do command -v $c >/dev/null || echo no $c; done; command -v gcc")
	if got != "ftl\n" {
		t.Errorf("inside: %q", got)
	}
	again, err := e.BuildImage(t.Context(), writer(func([]byte) (int, error) { return 0, errors.New("built again") }))
	if err != nil || again.ID != img.ID {
		t.Errorf("second build: %v, %v", again, err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
