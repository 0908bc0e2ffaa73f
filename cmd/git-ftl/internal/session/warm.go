package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-ftl/git-ftl/container"
)

// Warm boots the sandbox that the next task will find, and leaves it warm. It
// builds and fetches no image: that is for a task to do, and to say. Errors:
// container.ErrNoEngine, container.ErrNoImage, context errors.
func (s *Session) Warm(ctx context.Context) error {
	there, err := s.Repo.Lock(ctx, uninstallLock)
	if err != nil {
		return err
	}
	defer there()
	if err := s.rememberFolders(); err != nil {
		return err
	}
	e, err := s.connect(ctx)
	if err != nil {
		return err
	}
	image, err := s.Present(ctx, e.DockerEngine)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	spec, err := s.spec(image)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	box, err := e.pool.Acquire(ctx, spec)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	return errors.Join(box.Release(), e.Close())
}

// Present is the image that the next task takes, where nothing of it has to be built.
// Errors: container.ErrNoImage.
func (s *Session) Present(ctx context.Context, e *container.DockerEngine) (container.Image, error) {
	if s.builds() && s.lastBuilt() == "" {
		return container.Image{}, fmt.Errorf("%w yet of %s", container.ErrNoImage, s.Config.Container.Name)
	}
	image, err := e.Image(ctx, s.ImageRef())
	for _, name := range s.Agents() {
		layer, ok := s.layerOf(image, name)
		if err != nil || !ok {
			continue
		}
		image, err = e.Image(ctx, container.LayerRef(image.ID, layer))
	}
	return image, err
}
