package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
)

// Recorded gives every recorded sandbox as its record has it, State left empty:
// no engine is asked.
func (p *Pool) Recorded() ([]Info, error) {
	names, err := p.recorded()
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, name := range names {
		rec, err := p.read(name)
		if err != nil || rec == nil {
			continue
		}
		info := Info{ID: rec.ID, Name: name, Holds: rec.Hold, Image: rec.Fit.Image, Created: rec.Created, LastUsed: rec.LastUsed}
		unlock, err := p.lock(name)
		if err != nil {
			return nil, err
		}
		if info.Busy = unlock == nil; !info.Busy {
			unlock()
		}
		list = append(list, info)
	}
	return slices.Clip(list), nil
}

// DropExport removes the export of a sandbox that has no record. Errors: ErrBusy
// where a task is about to make it, or it has a record by now.
func (p *Pool) DropExport(name string) error {
	unlock, err := p.lock(name)
	if err == nil && unlock == nil {
		err = ErrBusy
	}
	if err != nil {
		return fmt.Errorf("drop export %s: %w", name, err)
	}
	defer unlock()
	rec, err := p.read(name)
	if err == nil && rec != nil {
		err = ErrBusy
	}
	if err != nil {
		return fmt.Errorf("drop export %s: %w", name, err)
	}
	return os.RemoveAll(p.export(name))
}

// Orphans gives the engine's sandboxes that carry the nonce of this installation
// and that no record in their state folder names.
func (p *Pool) Orphans(ctx context.Context) ([]Info, error) {
	list, err := p.Engine.List(ctx, map[string]string{labelOwner: p.Owner})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, p.known), nil
}

// Built is an image that git-ftl built, by its name.
type Built struct {
	Ref     string // name and tag
	ID      string
	Size    int64 // bytes that its removal frees
	Created time.Time
	Used    bool // a container is made of it, running or not
}

// Images lists the images of the engine that git-ftl built.
func (e *DockerEngine) Images(ctx context.Context) ([]Built, error) {
	found, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("reference", imageFolder+"*"))})
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	all, err := e.api.ContainerList(ctx, container.ListOptions{All: true})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	var list []Built
	for _, img := range found {
		used := slices.ContainsFunc(all, func(c container.Summary) bool { return c.ImageID == img.ID })
		size := img.Size - e.shared(ctx, img.ID)
		for _, ref := range img.RepoTags {
			if strings.HasPrefix(ref, imageFolder) {
				list = append(list, Built{Ref: ref, ID: img.ID, Size: size, Created: time.Unix(img.Created, 0), Used: used})
			}
		}
	}
	return list, nil
}

// imageFolder begins the name of every image that git-ftl builds.
const imageFolder = "git-ftl/"

// shared is the size of the image that ours are built on, where this one is built
// on it and it stays.
func (e *DockerEngine) shared(ctx context.Context, id string) int64 {
	base, err := e.api.ImageInspect(ctx, baseOf(dockerfile))
	if err != nil {
		return 0
	}
	img, err := e.api.ImageInspect(ctx, id)
	n := len(base.RootFS.Layers)
	if err != nil || n == 0 || len(img.RootFS.Layers) < n || !slices.Equal(base.RootFS.Layers, img.RootFS.Layers[:n]) {
		return 0
	}
	return base.Size
}

// RemoveImage takes a name from an image, and removes the image with its last
// one. Errors: ErrBusy where a container is made of it.
func (e *DockerEngine) RemoveImage(ctx context.Context, ref string) error {
	if !strings.HasPrefix(ref, imageFolder) {
		return errors.New("image " + ref + " is none of ours")
	}
	_, err := e.api.ImageRemove(ctx, ref, image.RemoveOptions{PruneChildren: true})
	switch {
	case cerrdefs.IsNotFound(err):
		return nil
	case cerrdefs.IsConflict(err):
		err = ErrBusy
	}
	if err != nil {
		return fmt.Errorf("remove image %s: %w", ref, err)
	}
	return nil
}

// Size is what a sandbox takes beside its image, in bytes; 0 where that cannot be
// told.
func (e *DockerEngine) Size(ctx context.Context, id string) int64 {
	c, _, err := e.api.ContainerInspectWithRaw(ctx, id, true)
	if err != nil || c.ContainerJSONBase == nil || c.SizeRw == nil {
		return 0
	}
	return *c.SizeRw
}
