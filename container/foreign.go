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
	"net/netip"
	"net/url"
	"strings"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
)

// Foreign is an image by somebody else's Dockerfile. Its commands run on the engine
// with the network that every build there has, as no sandbox does.
type Foreign struct {
	Dockerfile []byte
	Target     string   // stage; "" is the last
	Args       []string // NAME=value
	Owner      string   // whose it is, of letters and digits
	Key        string   // names what Context writes
	Context    func(*tar.Writer) error
}

// Ref is the reference of the image. It changes with what goes into it.
func (f Foreign) Ref() string {
	h := sha256.New()
	for _, part := range append([]string{string(f.Dockerfile), f.Target, f.Owner, f.Key}, f.Args...) {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	return ForeignRefs(f.Owner) + hex.EncodeToString(h.Sum(nil))[:12]
}

// ForeignRefs is what the references of an owner's images begin with.
func ForeignRefs(owner string) string { return imageFolder + "devcontainer:" + owner + "-" }

// BuildForeign makes an image where the engine lacks it, with its classic builder.
// Of the caller's proxies the build gets those that hold no password and are on no
// loopback: neither is for somebody else's commands.
func (e *DockerEngine) BuildForeign(ctx context.Context, f Foreign, w io.Writer) (Image, error) {
	ref := f.Ref()
	if img, err := e.Image(ctx, ref); err == nil || !errors.Is(err, ErrNoImage) {
		return img, err
	}
	args := map[string]*string{}
	for _, kv := range f.Args {
		name, value, _ := strings.Cut(kv, "=")
		args[name] = &value
	}
	maps.Copy(args, openProxies(e.buildArgs()))
	// No path of the context can be of this name, which is made of what is in it.
	name := "dockerfile-" + ref[strings.LastIndexByte(ref, ':')+1:]
	from := func(t *tar.Writer) error {
		if err := f.Context(t); err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(f.Dockerfile))}); err != nil {
			return err
		}
		_, err := t.Write(f.Dockerfile)
		return err
	}
	o := build.ImageBuildOptions{Tags: []string{ref}, Dockerfile: name, Target: f.Target, BuildArgs: args}
	if err := e.stream(ctx, from, o, w); err != nil {
		return Image{}, err
	}
	return e.Image(ctx, ref)
}

// openProxies leaves of the arguments of a build what anybody may know and reach.
func openProxies(args map[string]*string) map[string]*string {
	maps.DeleteFunc(args, func(name string, value *string) bool {
		if strings.EqualFold(name, "NO_PROXY") {
			return false
		}
		text := *value
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.User != nil {
			return true
		}
		ip, err := netip.ParseAddr(u.Hostname())
		return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	})
	return args
}

// Pull brings an image in where the engine lacks it, as anybody may who names none of
// the user's credentials. Progress goes to w as lines of plain text.
func (e *DockerEngine) Pull(ctx context.Context, ref string, w io.Writer) (Image, error) {
	img, err := e.Image(ctx, ref)
	if !errors.Is(err, ErrNoImage) {
		return img, err
	}
	out, err := e.api.ImagePull(ctx, ref, image.PullOptions{})
	if err == nil {
		err = errors.Join(progress(out, w), out.Close())
	}
	if err != nil {
		return Image{}, fmt.Errorf("%w: %s could not be pulled: %w", ErrNoImage, ref, err)
	}
	return e.Image(ctx, ref)
}
