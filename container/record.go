package container

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/gofrs/flock"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// record is what the state folder holds of one sandbox.
type record struct {
	ID       string    `json:"id"`     // the engine's; "" while it is made
	Engine   string    `json:"engine"` // name in the engine, of random end
	Group    string    `json:"group"`  // the work tree's name
	Fit      fit       `json:"fit"`
	Created  time.Time `json:"created"`
	LastUsed time.Time `json:"lastUsed"`
	Hold     string    `json:"hold,omitempty"` // task whose work it holds
	Sent     *sent     `json:"sent,omitempty"` // base that was sent, where nothing is mounted
}

// fit is what a sandbox cannot change once it is made, limits as they were asked
// for: 0 is the engine's default.
type fit struct {
	Image   string  `json:"image"`
	Memory  int64   `json:"memory"`
	CPUs    float64 `json:"cpus"`
	Pids    int64   `json:"pids"`
	Runtime string  `json:"runtime"`
	Guest   string  `json:"guest"`
	Export  string  `json:"export"`
}

func fitOf(s Spec) fit {
	return fit{Image: s.Image, Memory: s.Memory, CPUs: s.CPUs, Pids: s.Pids, Runtime: s.Runtime, Guest: s.Guest.Version, Export: s.Export}
}

// unlike says why a sandbox made as f cannot stand for want, "" where it can.
func (f fit) unlike(want fit) string {
	size := func(n int64) string {
		if n == 0 {
			return "the default"
		}
		return units.BytesSize(float64(n))
	}
	count := func(n float64) string {
		if n == 0 {
			return "the default"
		}
		return fmt.Sprint(n)
	}
	switch {
	case f.Image != want.Image:
		return "the image changed"
	case f.Memory != want.Memory:
		return fmt.Sprintf("memory was %s and is to be %s", size(f.Memory), size(want.Memory))
	case f.CPUs != want.CPUs:
		return fmt.Sprintf("cpus were %s and are to be %s", count(f.CPUs), count(want.CPUs))
	case f.Pids != want.Pids:
		return fmt.Sprintf("the process limit was %s and is to be %s", count(float64(f.Pids)), count(float64(want.Pids)))
	case f.Runtime != want.Runtime:
		return fmt.Sprintf("runtime was %q and is to be %q", f.Runtime, want.Runtime)
	case f.Guest != want.Guest:
		return "its guest is of another version of git-ftl"
	case f.Export != want.Export:
		return "the repository moved"
	}
	return ""
}

// nameShape is what a sandbox's name may be: it becomes a file name.
var nameShape = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

func (p *Pool) recordPath(name string) string {
	return filepath.Join(p.Dir, "sandboxes", name+".json")
}

// read gives the record of a sandbox; nil where there is none or where it cannot
// be read, which makes it none of ours.
func (p *Pool) read(name string) (*record, error) {
	if !nameShape.MatchString(name) {
		return nil, fmt.Errorf("sandbox name %q is not allowed", name)
	}
	data, err := os.ReadFile(p.recordPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read record of sandbox %s: %w", name, err)
	}
	var rec record
	if err := json.Unmarshal(data, &rec); err != nil {
		return nil, nil
	}
	return &rec, nil
}

// write replaces the record in one step.
func (p *Pool) write(name string, rec *record) error {
	data, err := json.MarshalIndent(rec, "", "\t")
	if err != nil {
		return fmt.Errorf("encode record of sandbox %s: %w", name, err)
	}
	dir := filepath.Dir(p.recordPath(name))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), p.recordPath(name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write record of sandbox %s: %w", name, err), os.Remove(f.Name()))
	}
	return nil
}

// forget drops a record.
func (p *Pool) forget(name string) error {
	err := os.Remove(p.recordPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// recorded gives the names of all records, by group and number.
func (p *Pool) recorded() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(p.Dir, "sandboxes"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".json"); ok && nameShape.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return ordinal(a) - ordinal(b) })
	return names, nil
}

// ordinal gives N of a name GROUP-N.
func ordinal(name string) int {
	n, _ := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	return n
}

// lock claims a sandbox by name; nil where another has it. The system drops the
// lock when the process ends, however it ends.
func (p *Pool) lock(name string) (unlock func(), err error) {
	if !nameShape.MatchString(name) {
		return nil, fmt.Errorf("sandbox name %q is not allowed", name)
	}
	path := filepath.Join(p.Dir, "locks", "sandbox-"+name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f := flock.New(path, flock.SetPermissions(0o600))
	held, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock sandbox %s: %w", name, err)
	}
	if !held {
		return nil, nil
	}
	return func() { _ = f.Unlock() }, nil
}
