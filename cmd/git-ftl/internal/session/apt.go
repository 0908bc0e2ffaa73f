package session

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// maxApt bounds what is read of an image's files of apt, in bytes.
const maxApt = 256 << 10

// printApt prints the names and contents of these files, each between NULs.
const printApt = `for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
	if [ -f "$f" ]; then printf '%s\0' "$f"; head -c 65536 -- "$f"; printf '\0'; fi
done`

// aptMirrors adds the mirrors of the image's own package manager to the registries.
// They are read when a sandbox is new, before anything of an agent has run in it,
// and kept for its later tasks.
func (r *run) aptMirrors(ctx context.Context) error {
	if r.Config.Network == string(proxy.None) {
		return nil
	}
	name := "apt/" + r.box.Name()
	files := map[string]string{}
	if r.box.Warm() {
		data, err := r.Repo.ReadState(name)
		if err != nil || json.Unmarshal(data, &files) != nil {
			return nil // a sandbox of an earlier version: --fresh makes it known
		}
	} else {
		var err error
		if files, err = r.readApt(ctx); err != nil {
			return err
		}
		data, err := json.Marshal(files)
		if err != nil {
			return err
		}
		if err := r.Repo.WriteState(name, data); err != nil {
			return err
		}
	}
	r.secret.tools.Hosts = slices.Concat(r.secret.tools.Hosts, registry.AptHosts(files))
	return nil
}

func (r *run) readApt(ctx context.Context) (map[string]string, error) {
	var out bytes.Buffer
	exit, err := r.box.Run(ctx, container.Cmd{Argv: []string{"sh", "-c", printApt}, Env: agentEnv(r.image, ""), Stdout: &limited{to: &out, left: maxApt}})
	files := map[string]string{}
	if err != nil || exit.Code != 0 {
		return files, err
	}
	parts := strings.Split(out.String(), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		files[parts[i]] = parts[i+1]
	}
	return files, nil
}

// limited drops what is over a bound.
type limited struct {
	to   *bytes.Buffer
	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.to.Write(p[:n])
	return len(p), nil
}
