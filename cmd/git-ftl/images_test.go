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
	"path/filepath"
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

// imageWith is an image with more of Debian's packages.
func imageWith(base string, packages ...string) (string, error) {
	file := fmt.Sprintf("FROM %s\nRUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends %s && rm -rf /var/lib/apt/lists/*\n",
		base, strings.Join(packages, " "))
	return imageOf(packages[0], file, "")
}

// imageOf builds a Dockerfile in a folder, "" for none. The engine keeps it under a
// name of what the Dockerfile says.
func imageOf(short, file, folder string) (string, error) {
	name := fmt.Sprintf("git-ftl-test/%s:%.6x", short, sha256.Sum256([]byte(file)))
	if exec.Command("docker", "image", "inspect", name).Run() == nil {
		return name, nil
	}
	args := []string{"build", "--force-rm", "-t", name, "-"}
	if folder != "" {
		args = []string{"build", "--force-rm", "-t", name, "-f", "-", folder}
	}
	var out bytes.Buffer
	build := exec.Command("docker", args...)
	build.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	build.Stdin, build.Stdout, build.Stderr = strings.NewReader(file), &out, &out
	if err := build.Run(); err != nil {
		text := out.String()
		return "", fmt.Errorf("build %s: %w\n%s", name, err, text[max(0, len(text)-2000):])
	}
	return name, nil
}

// languageImages are those of TestLanguages: the base with Node and pytest, and with
// the Go that runs the test.
func languageImages() map[string]func() (string, error) {
	return map[string]func() (string, error){
		"base":   baseImage,
		"node":   clients,
		"pytest": func() (string, error) { return onBase("python3-pytest") },
		"go":     goImage,
	}
}

func moreLanguageImages() map[string]func() (string, error) {
	with := func(packages ...string) func() (string, error) {
		return func() (string, error) { return onBase(packages...) }
	}
	return map[string]func() (string, error){
		"npm":    npmImage("vitest@1", "jest@29", "mocha@10", "tsx@4"), // for Debian's Node
		"node22": npmImage("node@22", "vitest@3", "jest@30", "mocha@11"),
		"django": with("python3-django"),
		"java":   javaImage,
		"c++":    with("cmake", "g++", "make", "libgtest-dev", "catch2", "doctest-dev"),
		"rust":   with("cargo"),
	}
}

// javaImage has what Debian has for Maven where Maven looks.
func javaImage() (string, error) {
	below, err := onBase("default-jdk-headless", "maven", "junit4", "junit5", "gradle",
		"libmaven-resources-plugin-java", "libmaven-compiler-plugin-java", "libsurefire-java")
	if err != nil {
		return "", err
	}
	return imageOf("java", "FROM "+below+"\nRUN mkdir /home/ftl/.m2 && cp -rL /usr/share/maven-repo /home/ftl/.m2/repository && chown -R ftl:ftl /home/ftl/.m2\n", "")
}

// npmImage has packages of npm where a package of any folder finds them, and their
// programs before all others.
func npmImage(packages ...string) func() (string, error) {
	return func() (string, error) {
		base, err := managers()
		if err != nil {
			return "", err
		}
		folder, err := os.MkdirTemp("", "ftl-npm-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(folder)
		trust, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt") // of this machine, which may have its own
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, "trust.crt"), trust, 0o644)
		}
		if err != nil {
			return "", err
		}
		return imageOf("frameworks", "FROM "+base+"\nCOPY trust.crt /etc/trust.crt\n"+
			"RUN mkdir /opt/npm && cd /opt/npm && NODE_EXTRA_CA_CERTS=/etc/trust.crt npm install --no-fund --no-audit --no-update-notifier "+strings.Join(packages, " ")+" && mv node_modules /\n"+
			"ENV PATH=/node_modules/.bin:/usr/local/bin:/usr/bin:/bin\n", folder)
	}
}

func onBase(packages ...string) (string, error) {
	base, err := baseImage()
	if err != nil {
		return "", err
	}
	return imageWith(base, packages...)
}

// goImage has this machine's Go, which is there where its tests run.
func goImage() (string, error) {
	base, err := baseImage()
	if err != nil {
		return "", err
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("find go: %w", err)
	}
	lines := strings.Fields(string(root))
	file := "# " + lines[1] + "\nFROM " + base + "\nCOPY . /usr/local/go\nENV PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin\n"
	return imageOf("go", file, lines[0])
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
