package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// keptHome lists what package managers keep below a home. Its content is as
// untrusted as the agent that wrote it.
func keptHome() []string {
	return []string{
		".cache", ".local", ".npm", ".yarn", ".pnpm-store", ".bun", ".deno", ".nvm", ".cargo", ".rustup", "go", ".m2", ".ivy2",
		".sbt", ".gradle", ".nuget", ".dotnet", ".pyenv", ".conda", ".rbenv", ".gem", ".bundle", ".composer", ".cabal", ".stack",
		".ghcup", ".hex", ".mix",
	}
}

// steeringHome lists configuration inside of keptHome, which would rule the
// next task.
func steeringHome() []string {
	return []string{
		".cargo/config", ".cargo/config.toml", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".m2/settings-security.xml",
		".gradle/init.gradle", ".gradle/init.gradle.kts", ".gradle/init.d", ".gradle/gradle.properties", ".bundle/config", ".gem/credentials",
		".composer/auth.json", ".composer/config.json", ".nuget/NuGet/NuGet.Config", ".cabal/config", ".stack/config.yaml",
		".sbt/1.0/global.sbt", ".sbt/1.0/plugins", ".sbt/repositories",
	}
}

// home reverts the agent's home but for kept paths.
type home struct {
	*remover
	uid    int
	kept   map[string]bool // paths that stay
	above  map[string]bool // folders on the way to one
	steers map[string]bool
}

// resetHome reverts everything in the home but package caches and the agent's
// history, and makes the skeleton anew.
func (c *reset) resetHome() error {
	r, err := openRoot(c.Home)
	if err != nil {
		return err
	}
	defer r.close()
	h := home{remover: newRemover(r), uid: c.UID, kept: map[string]bool{}, above: map[string]bool{}, steers: map[string]bool{}}
	if !c.req.Clean {
		if err := h.keep(c.req.History); err != nil {
			return err
		}
	}
	if err := h.prune(""); err != nil {
		return fmt.Errorf("revert home: %w", err)
	}
	if err := h.close(); err != nil {
		return fmt.Errorf("revert home: %w", err)
	}
	return c.skeleton(r)
}

func (h *home) keep(history []string) error {
	for _, p := range append(keptHome(), history...) {
		if !filepath.IsLocal(p) || filepath.Clean(p) != p || p == "." {
			return fmt.Errorf("history path %q is refused", p)
		}
		h.kept[p] = true
		h.leadTo(p)
	}
	for _, p := range steeringHome() {
		h.steers[p] = true
		h.leadTo(p)
	}
	return nil
}

func (h *home) leadTo(p string) {
	for dir, _ := split(p); dir != ""; dir, _ = split(dir) {
		h.above[dir] = true
	}
}

// prune reverts one folder. Folders of a kept one lose only what steers.
func (h *home) prune(dir string) error {
	if err := fixDir(h.root, dir, h.uid); err != nil {
		return err
	}
	fd, err := h.root.dir(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	names, err := readNames(fd, h.buf)
	if err != nil {
		return err
	}
	inKept := h.inKept(dir)
	for _, name := range names {
		if err := h.pruneEntry(fd, entry{path: join(dir, name)}, inKept); err != nil {
			return err
		}
	}
	return nil
}

func (h *home) pruneEntry(fd int, e entry, inKept bool) error {
	_, name := split(e.path)
	if e.path == h.trash {
		return nil
	}
	if err := e.read(fd, name); err != nil {
		return err
	}
	switch {
	case h.steers[e.path]:
		return h.remove(fd, name)
	case h.above[e.path] && e.isDir():
		return h.prune(e.path)
	case inKept:
		return nil
	case h.kept[e.path] && e.isDir():
		return fixDir(h.root, e.path, h.uid)
	case h.kept[e.path] && e.kind() == unix.S_IFREG:
		return nil
	}
	return h.remove(fd, name)
}

func (h *home) inKept(dir string) bool {
	for ; dir != ""; dir, _ = split(dir) {
		if h.kept[dir] {
			return true
		}
	}
	return false
}

// skeleton copies the regular files of the image's skeleton.
func (c *reset) skeleton(home *root) error {
	files, err := os.ReadDir(c.Skel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read skeleton: %w", err)
	}
	for _, f := range files {
		if !f.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(c.Skel, f.Name()))
		if err != nil {
			return fmt.Errorf("read skeleton: %w", err)
		}
		err = writeOwned(filepath.Join(home.name, f.Name()), data, c.UID)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make home: %w", err)
		}
	}
	return nil
}

// emptyTemp empties the folders that anyone may write to.
func (c *reset) emptyTemp() error {
	for _, name := range c.Temp {
		r, err := openRoot(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err != nil {
			return err
		}
		err = emptyKept(r)
		r.close()
		if err != nil {
			return fmt.Errorf("empty %s: %w", name, err)
		}
	}
	return nil
}
