package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// recordFile is in the state folder; lockName guards it and the hooks.
const (
	recordFile = "hooks.json"
	lockName   = "hooks"
)

// record is what was installed, by folder. It is written before the hooks are, so
// that after a crash it names all of git-ftl's, and perhaps more.
type record map[string]*folderRecord // by path below the common git dir, with slashes

type folderRecord struct {
	Made  bool                  `json:"made"` // the folder was not there before
	Hooks map[string]hookRecord `json:"hooks"`
}

type hookRecord struct {
	Shim string `json:"shim"`           // SHA-256 of what was installed
	Orig *print `json:"orig,omitempty"` // of what was there before, nil for nothing
}

// print tells whether a file is the one that it was.
type print struct {
	Mode   fs.FileMode `json:"mode"` // with the type
	Target string      `json:"target,omitempty"`
	Hash   string      `json:"sha256,omitempty"`
}

func readRecord(repo *git.Repo) (record, error) {
	r := record{}
	data, err := repo.ReadState(recordFile)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", repo.Path(recordFile), err)
	}
	return r, nil
}

func (r record) write(repo *git.Repo) error {
	if len(r) == 0 {
		if err := os.Remove(repo.Path(recordFile)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return repo.WriteState(recordFile, append(data, '\n'))
}

// key names a folder of hooks, so that a repository can move.
func key(repo *git.Repo, dir string) string {
	rel, err := filepath.Rel(repo.CommonDir, dir)
	if err != nil {
		return filepath.ToSlash(dir)
	}
	return filepath.ToSlash(rel)
}

// folder returns the record of a folder, made where there is none.
func (r record) folder(repo *git.Repo, dir string) *folderRecord {
	k := key(repo, dir)
	if r[k] == nil {
		_, err := os.Stat(dir)
		r[k] = &folderRecord{Made: errors.Is(err, fs.ErrNotExist), Hooks: map[string]hookRecord{}}
	}
	return r[k]
}

// printOf looks at a file without following links; nil where there is none.
func printOf(path string) (*print, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &print{Mode: info.Mode()}
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		p.Target, err = os.Readlink(path)
	case 0:
		var data []byte
		data, err = os.ReadFile(path)
		p.Hash = hash(data)
	default:
		err = fmt.Errorf("%s is neither a file nor a link", path)
	}
	return p, err
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
