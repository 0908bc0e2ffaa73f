package container

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/build"
)

//go:embed image/Dockerfile
var dockerfile []byte

// BaseImage is the reference of the image that BuildImage makes. It changes with
// what goes into it.
func BaseImage() string {
	sum := sha256.Sum256(dockerfile)
	return "git-ftl/base:" + hex.EncodeToString(sum[:])[:12]
}

// BuildImage makes BaseImage where the engine lacks it, with the engine's classic
// builder; the caller's proxy variables and certificates hold for the build. Progress goes to w as
// lines of plain text. The error is ErrNoImage where the image that it builds on
// is not there and cannot be pulled.
func (e *DockerEngine) BuildImage(ctx context.Context, w io.Writer) (Image, error) {
	img, err := e.Image(ctx, BaseImage())
	if err == nil || !errors.Is(err, ErrNoImage) {
		return img, err
	}
	if err := e.build(ctx, w); err != nil {
		return Image{}, fmt.Errorf("build image %s: %w", BaseImage(), err)
	}
	return e.Image(ctx, BaseImage())
}

// recipe is what an image is built from.
type recipe struct {
	tag  string
	file []byte            // the Dockerfile
	with map[string][]byte // more files beside it
}

// build tries without this machine's certificates, which most builds do not need,
// unless the user's environment says that theirs are others.
func (e *DockerEngine) build(ctx context.Context, w io.Writer) error {
	plain := recipe{tag: BaseImage(), file: dockerfile}
	ca, own := e.certificates()
	if own {
		return e.buildFrom(ctx, plain.trusting(ca), w)
	}
	err := e.buildFrom(ctx, plain, w)
	if err == nil || len(ca) == 0 || errors.Is(err, ErrNoImage) || ctx.Err() != nil {
		return err
	}
	if _, err := io.WriteString(w, "once more, with the certificates of this machine\n"); err != nil {
		return fmt.Errorf("write progress: %w", err)
	}
	return e.buildFrom(ctx, plain.trusting(ca), w)
}

func (e *DockerEngine) buildFrom(ctx context.Context, r recipe, w io.Writer) error {
	context, err := r.context()
	if err != nil {
		return err
	}
	args := e.buildArgs()
	err = e.buildOf(ctx, context, build.ImageBuildOptions{Tags: []string{r.tag}, BuildArgs: args, NetworkMode: e.buildNetwork(args)}, w)
	if err != nil {
		return e.baseMissing(ctx, err)
	}
	return nil
}

// buildOf builds from a tar with a Dockerfile at its top.
func (e *DockerEngine) buildOf(ctx context.Context, from io.Reader, o build.ImageBuildOptions, w io.Writer) error {
	if o.Dockerfile == "" {
		o.Dockerfile = "Dockerfile"
	}
	o.Remove, o.ForceRemove, o.Version = true, true, build.BuilderV1
	resp, err := e.api.ImageBuild(ctx, from, o)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return progress(resp.Body, w)
}

// context is a tar of the Dockerfile and what lies beside it.
func (r recipe) context() (io.Reader, error) {
	var buf bytes.Buffer
	t := tar.NewWriter(&buf)
	files := maps.Clone(r.with)
	if files == nil {
		files = map[string][]byte{}
	}
	files["Dockerfile"] = r.file
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(files[name]))})
		if err == nil {
			_, err = t.Write(files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	return &buf, t.Close()
}

// buildArgs are those that a build may use without declaring them, and that leave
// no trace in the image.
func (e *DockerEngine) buildArgs() map[string]*string {
	args := map[string]*string{}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "FTP_PROXY", "ALL_PROXY"} {
		for _, spelling := range []string{name, strings.ToLower(name)} {
			if value := e.env.get(spelling); value != "" {
				args[spelling] = &value
			}
		}
	}
	return args
}

// progress copies a builder's messages as lines and gives its error.
func progress(r io.Reader, w io.Writer) error {
	for dec := json.NewDecoder(r); ; {
		var msg struct {
			Stream string `json:"stream"`
			Status string `json:"status"`
			ID     string `json:"id"`
			Detail struct {
				Total int64 `json:"total"`
			} `json:"progressDetail"`
			Error string `json:"error"`
		}
		switch err := dec.Decode(&msg); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("read progress: %w", err)
		case msg.Error != "":
			return errors.New(printable(msg.Error))
		}
		text := printable(msg.Stream)
		// Bars of a pull redraw themselves a hundred times.
		if msg.Status != "" && msg.Detail.Total == 0 {
			text = printable(strings.TrimSpace(msg.ID+" "+msg.Status)) + "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return fmt.Errorf("write progress: %w", err)
		}
	}
}

// baseMissing says how to bring the image in that ours is built on, where that is
// what failed.
func (e *DockerEngine) baseMissing(ctx context.Context, err error) error {
	from := baseOf(dockerfile)
	if _, missing := e.Image(ctx, from); !errors.Is(missing, ErrNoImage) {
		return err
	}
	return fmt.Errorf("%w: %s could not be pulled (%w); bring it in with `docker pull %s` where a registry can be reached, "+
		"`docker load` from another machine, or `debootstrap --variant=minbase bookworm DIR` and `tar -C DIR -c . | docker import - %s`",
		ErrNoImage, from, err, from, from)
}

// baseOf gives the image of a Dockerfile's FROM line.
func baseOf(file []byte) string {
	for line := range strings.Lines(string(file)) {
		if from, ok := strings.CutPrefix(line, "FROM "); ok {
			return strings.TrimSpace(from)
		}
	}
	return ""
}
