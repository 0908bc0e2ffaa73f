package container

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/build"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Layer is one more layer for an image: files that belong to root, and nothing
// that is run.
type Layer struct {
	On    string // reference or id of the image below
	Key   string // names the content of the layer
	Files func(add AddFile) error

	// Labels are what the image is to say of it, once Files are written; nil for
	// nothing. Of a value only letters, digits and .:+- and spaces are taken.
	Labels func() map[string]string
}

// AddFile adds a regular file of the layer by its absolute path. It reads size
// bytes.
type AddFile func(name string, mode int64, size int64, content io.Reader) error

// LayerRef is the reference of the image that AddLayer makes on an image of that
// id.
func LayerRef(id string, l Layer) string {
	sum := sha256.Sum256([]byte(id + "\x00" + l.Key))
	return "git-ftl/agents:" + hex.EncodeToString(sum[:])[:12]
}

// AddLayer makes an image of another one and a layer, where the engine lacks it.
// Files are asked for only then. Errors: ErrNoImage where the image below is not
// there.
func (e *DockerEngine) AddLayer(ctx context.Context, l Layer, w io.Writer) (Image, error) {
	below, err := e.Image(ctx, l.On)
	if err != nil {
		return Image{}, err
	}
	ref := LayerRef(below.ID, l)
	if img, err := e.Image(ctx, ref); err == nil || !errors.Is(err, ErrNoImage) {
		return img, err
	}
	from := func(t *tar.Writer) error { return writeLayer(t, below.ID, l) }
	if err := e.stream(ctx, from, build.ImageBuildOptions{Tags: []string{ref}}, w); err != nil {
		return Image{}, fmt.Errorf("build image %s: %w", ref, err)
	}
	return e.Image(ctx, ref)
}

// stream builds from a context that is written while the engine reads it.
func (e *DockerEngine) stream(ctx context.Context, from func(*tar.Writer) error, o build.ImageBuildOptions, w io.Writer) error {
	r, pipe := io.Pipe()
	written := make(chan error, 1)
	go func() {
		t := tar.NewWriter(pipe)
		err := from(t)
		if err == nil {
			err = t.Close()
		}
		_ = pipe.CloseWithError(err)
		written <- err
	}()
	err := e.buildOf(ctx, r, o, w)
	_ = r.CloseWithError(errUnread)
	if failed := <-written; failed != nil && !errors.Is(failed, errUnread) {
		err = failed // which the engine only knows as a context that ends early
	}
	return err
}

// errUnread ends the writing of a context that the engine has given up.
var errUnread = errors.New("the engine reads no more")

// writeLayer writes the context of a build: the files below files/, and the
// Dockerfile, which knows of them then.
func writeLayer(t *tar.Writer, below string, l Layer) error {
	made := map[string]bool{}
	err := l.Files(func(name string, mode, size int64, content io.Reader) error {
		if !path.IsAbs(name) || path.Clean(name) != name {
			return fmt.Errorf("%q is no path of a layer", name)
		}
		if err := writeFolders(t, made, path.Dir(name)); err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: "files" + name, Mode: mode, Size: size}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := io.CopyN(t, content, size)
		return err
	})
	if err != nil {
		return err
	}
	text, err := l.dockerfile(below)
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "Dockerfile", Mode: 0o644, Size: int64(len(text))}); err != nil {
		return err
	}
	_, err = io.WriteString(t, text)
	return err
}

// labelText is what needs no quoting that builders read in several ways.
var labelText = lazyregexp.New(`^[A-Za-z0-9.:+ -]*$`)

func (l Layer) dockerfile(below string) (string, error) {
	text := "FROM " + below + "\nCOPY files/ /\n"
	if l.Labels == nil {
		return text, nil
	}
	labels := l.Labels()
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !labelText.MatchString(name) || !labelText.MatchString(labels[name]) || strings.Contains(name, " ") {
			return "", fmt.Errorf("%q is no label", name+"="+labels[name])
		}
		text += fmt.Sprintf("LABEL %s=%q\n", name, labels[name])
	}
	return text, nil
}

// writeFolders adds the folders above a file, which are root's too.
func writeFolders(t *tar.Writer, made map[string]bool, dir string) error {
	below := ""
	for name := range strings.SplitSeq(strings.TrimPrefix(dir, "/"), "/") {
		below += "/" + name
		if made[below] {
			continue
		}
		made[below] = true
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "files" + below + "/", Mode: 0o755}); err != nil {
			return err
		}
	}
	return nil
}
