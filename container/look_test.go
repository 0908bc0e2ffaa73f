package container

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestImageFiles reads files of an image of which nothing runs, and its labels.
func TestImageFiles(t *testing.T) {
	e := engine(t)
	text := "content\n"
	image, err := e.AddLayer(t.Context(), Layer{
		On: testImage, Key: "look 1",
		Files: func(add AddFile) error {
			if err := add("/opt/look/file", 0o644, int64(len(text)), strings.NewReader(text)); err != nil {
				return err
			}
			return add("/opt/look/empty", 0o755, 0, strings.NewReader(""))
		},
		Labels: func() map[string]string { return map[string]string{"git-ftl.look": "1.2 sha256:00+x"} },
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got := image.Labels["git-ftl.look"]; got != "1.2 sha256:00+x" {
		t.Errorf("label %q", got)
	}
	files, err := e.Files(t.Context(), image.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, file, want string
		link             bool
		err              error
	}{
		{"a file", "opt/look/file", text, false, nil},
		{"an empty one", "opt/look/empty", "", false, nil},
		{"no link", "opt/look/file", "", true, fs.ErrInvalid},
		{"nothing", "opt/look/none", "", false, fs.ErrNotExist},
		{"a folder", "opt/look", "", false, fs.ErrInvalid},
		{"no name", "../opt/look/file", "", false, fs.ErrInvalid},
		{"the top", "/opt/look/file", "", false, fs.ErrInvalid},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got string
			var err error
			if row.link {
				got, err = files.ReadLink(row.file)
			} else {
				var data []byte
				data, err = files.ReadFile(row.file)
				got = string(data)
			}
			if diff := cmp.Diff(row.want, got); diff != "" || !errors.Is(err, row.err) || row.err == nil && err != nil {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
	if _, err := files.ReadFile("opt/look/file"); err == nil {
		t.Error("a container is left")
	}
}

// TestImageLinks: a link says where it leads, and is not read as the file there.
func TestImageLinks(t *testing.T) {
	e := engine(t)
	image, err := e.Image(t.Context(), testImage)
	if err != nil {
		t.Fatal(err)
	}
	files, err := e.Files(t.Context(), image.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	target, err := files.ReadLink("bin")
	if err != nil || target == "" {
		t.Errorf("%q, %v", target, err)
	}
	if _, err := files.ReadFile("bin"); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
}

// TestLayerLabels: a label that a builder could read otherwise is refused.
func TestLayerLabels(t *testing.T) {
	for _, row := range []struct {
		name, label, value, want string
		ok                       bool
	}{
		{"a version", "a.b", "1.2 sha256:00", "FROM x\nCOPY files/ /\nLABEL a.b=\"1.2 sha256:00\"\n", true},
		{"nothing", "a.b", "", "FROM x\nCOPY files/ /\nLABEL a.b=\"\"\n", true},
		{"a line", "a.b", "1\nRUN evil", "", false},
		{"a variable", "a.b", "$PATH", "", false},
		{"two names", "a b", "1", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Layer{Labels: func() map[string]string { return map[string]string{row.label: row.value} }}.dockerfile("x")
			if got != row.want || (err == nil) != row.ok {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
