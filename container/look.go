package container

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// ImageFiles are the files of an image, of which nothing is run. They are what the
// image's author put there: hostile. Names are those of io/fs, from the top. Close
// it at the end.
type ImageFiles struct {
	ctx    context.Context
	engine *DockerEngine
	id     string // of a container that never starts
}

// maxLook bounds a file of an image that is read, in bytes.
const maxLook = 256 << 20

// Files opens the files of an image by its id. All that is done with them ends with
// ctx.
func (e *DockerEngine) Files(ctx context.Context, image string) (*ImageFiles, error) {
	made, err := e.api.ContainerCreate(ctx, &container.Config{
		Image: image, Entrypoint: []string{"/never-started"}, Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}, &container.HostConfig{NetworkMode: "none", LogConfig: container.LogConfig{Type: "none"}}, nil, nil, "")
	if err != nil {
		return nil, fmt.Errorf("look into image %.19s: %w", image, err)
	}
	return &ImageFiles{ctx, e, made.ID}, nil
}

// Close forgets the files.
func (f *ImageFiles) Close() error {
	return f.engine.Remove(context.WithoutCancel(f.ctx), f.id)
}

// ReadFile is the content of a regular file: folders on the way may be links, the
// file may not. Errors: fs.ErrNotExist, fs.ErrInvalid.
func (f *ImageFiles) ReadFile(name string) ([]byte, error) {
	_, data, err := f.read(name, 0)
	return data, err
}

// ReadLink is what a link says. Errors: fs.ErrNotExist, fs.ErrInvalid where it is
// none.
func (f *ImageFiles) ReadLink(name string) (string, error) {
	h, _, err := f.read(name, fs.ModeSymlink)
	if err != nil {
		return "", err
	}
	return h.Linkname, nil
}

// read gives what the engine archives of a path of that type: the first entry.
func (f *ImageFiles) read(name string, want fs.FileMode) (*tar.Header, []byte, error) {
	stat, err := f.engine.api.ContainerStatPath(f.ctx, f.id, "/"+name)
	switch {
	case cerrdefs.IsNotFound(err):
		err = fs.ErrNotExist
	case err == nil && (!fs.ValidPath(name) || stat.Mode.Type() != want || stat.Size > maxLook):
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	r, _, err := f.engine.api.CopyFromContainer(f.ctx, f.id, "/"+name)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s of an image: %w", name, err)
	}
	t := tar.NewReader(r)
	h, err := t.Next()
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(t, maxLook))
	}
	return h, data, errors.Join(err, r.Close())
}
