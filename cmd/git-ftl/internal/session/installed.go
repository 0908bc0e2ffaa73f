package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// installed is a repository of this user that git-ftl works in. What carries its
// name in an engine is the user's own also when its folder is gone: a label alone
// says nothing, since an image or another machine can have it too.
type installed struct {
	ID    string `json:"id"`    // of the identity
	State string `json:"state"` // state folder
	file  string // of the note
}

// notes is the folder that has a note of each repository, "" where the user has
// no home.
func (s *Session) notes() string {
	switch {
	case s.Home == "":
		return ""
	case runtime.GOOS == "windows":
		return filepath.Join(s.Home, "AppData", "Local", "git-ftl", "repositories")
	case runtime.GOOS == "darwin":
		return filepath.Join(s.Home, "Library", "Application Support", "git-ftl", "repositories")
	}
	return filepath.Join(s.Home, ".local", "state", "git-ftl", "repositories")
}

// register notes this repository, or that it is still there.
func (s *Session) register() error {
	id, dir := s.identity().ID, s.notes()
	if id == "" || dir == "" {
		return nil
	}
	data, err := json.Marshal(installed{ID: id, State: s.Repo.State})
	if err != nil {
		return err
	}
	name := filepath.Join(dir, id+".json")
	now := s.Now()
	if was, err := os.ReadFile(name); err == nil && string(was) == string(data) {
		return os.Chtimes(name, now, now)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// strangers are the noted repositories whose folder is gone or another's by now.
func (s *Session) strangers() []installed {
	var gone []installed
	for _, r := range s.others() {
		_, err := os.Lstat(r.State)
		if errors.Is(err, fs.ErrNotExist) || err == nil && readIdentity(r.State).ID != r.ID {
			gone = append(gone, r)
		}
	}
	return gone
}

// others are the noted repositories but this one. A note that cannot be read is
// passed over.
func (s *Session) others() []installed {
	dir := s.notes()
	if dir == "" {
		return nil
	}
	names, _ := git.Glob(dir, "*.json")
	own := s.identity().ID
	var all []installed
	for _, name := range names {
		r := installed{file: name}
		data, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(data, &r) != nil || r.ID == "" || !filepath.IsAbs(r.State) || r.ID == own {
			continue
		}
		all = append(all, r)
	}
	return all
}

// identity is who this repository is, zero where it was never asked for.
func (s *Session) identity() identity { return readIdentity(s.Repo.State) }

func readIdentity(state string) (id identity) {
	data, err := os.ReadFile(filepath.Join(state, "identity.json"))
	if err != nil || json.Unmarshal(data, &id) != nil {
		return identity{}
	}
	return id
}

// unregister takes the note of this repository back, and the folders that are
// empty then.
func (s *Session) unregister() error {
	id, dir := s.identity().ID, s.notes()
	if id == "" || dir == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, id+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(dir) // where it is empty
	_ = os.Remove(filepath.Dir(dir))
	return nil
}
