package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-ftl/git-ftl/container"
)

// clients is the sandbox's image with Node and psql beside curl and Python.
var clients = sync.OnceValues(func() (string, error) {
	base, err := baseImage()
	if err != nil {
		return "", err
	}
	return imageWith(base, "nodejs", "postgresql-client")
})

// managers is clients with npm and Go.
var managers = sync.OnceValues(func() (string, error) {
	base, err := clients()
	if err != nil {
		return "", err
	}
	return imageWith(base, "npm", "golang-go")
})

// baseImage builds what tasks run in where nobody says otherwise.
func baseImage() (string, error) {
	e, err := container.Docker(context.Background(), os.Environ(), os.Getenv("HOME"))
	if err != nil {
		return "", err
	}
	_, err = e.BuildImage(context.Background(), io.Discard)
	return container.BaseImage(), errors.Join(err, e.Close())
}

// imageWith is an image with more of Debian's packages. The engine keeps it under
// a name of what goes into it.
func imageWith(base string, packages ...string) (string, error) {
	file := fmt.Sprintf("FROM %s\nRUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends %s && rm -rf /var/lib/apt/lists/*\n",
		base, strings.Join(packages, " "))
	name := fmt.Sprintf("git-ftl-test/%s:%.6x", packages[0], sha256.Sum256([]byte(file)))
	if exec.Command("docker", "image", "inspect", name).Run() == nil {
		return name, nil
	}
	var out bytes.Buffer
	build := exec.Command("docker", "build", "--force-rm", "-t", name, "-")
	build.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	build.Stdin, build.Stdout, build.Stderr = strings.NewReader(file), &out, &out
	if err := build.Run(); err != nil {
		text := out.String()
		return "", fmt.Errorf("build %s: %w\n%s", name, err, text[max(0, len(text)-2000):])
	}
	return name, nil
}

// cmdImage makes tasks run in an image: image clients|managers.
func cmdImage(ts *testscript.TestScript, neg bool, args []string) {
	images := map[string]func() (string, error){"clients": clients, "managers": managers}
	if neg || len(args) != 1 || images[args[0]] == nil {
		ts.Fatalf("usage: image clients|managers")
	}
	name, err := images[args[0]]()
	ts.Check(err)
	ts.Setenv("FTL_IMAGE", name)
}
