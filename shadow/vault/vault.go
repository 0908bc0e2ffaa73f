// Package vault keeps secrets in one encrypted file of the user. Its master key
// is in the keyring of the operating system, or where the user chose instead:
// behind a passphrase, in an identity file, in the environment.
//
// Nothing falls back by itself: the file says where its key is. It never holds
// a value that is not encrypted, and a file that cannot be read is never
// written over.
package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
)

// Errors of a vault. Those of the keyring are in ring.go.
var (
	ErrNone     = errors.New("there is no vault yet")
	ErrExists   = errors.New("there is a vault already")
	ErrWrongKey = errors.New("the key does not open the vault")
	ErrDamaged  = errors.New("the vault file is damaged")
	ErrUnknown  = errors.New("no such secret")
	ErrNoKey    = errors.New("the key of the vault was not given")
)

// Store says where the master key is.
type Store string

// The places of a master key.
const (
	InKeyring     Store = "keyring"
	ByPassphrase  Store = "passphrase"
	ByIdentity    Store = "identity"
	InEnvironment Store = "env"
)

// Options say where a vault is and what can open it.
type Options struct {
	File    string        // its folder is made when it is missing
	Ring    Ring          // the keyring of the system
	Timeout time.Duration // of one call to the keyring; 0 is 30 seconds

	Passphrase func(context.Context) (shadow.Secret, error) // asks, or knows
	Identity   string                                       // path of an age identity file, for Create; the vault remembers it
	MasterKey  shadow.Secret                                // 32 bytes in hex or base64
	Now        func() time.Time
}

// Entry is what is kept of a name: a secret, a binding, or both. A name that has
// a binding alone is of a secret that comes from elsewhere, such as an env file.
type Entry struct {
	Name    string    `json:"name"`
	Project string    `json:"project,omitempty"` // "" is every project
	Stored  bool      `json:"stored"`            // there is a value
	Short   bool      `json:"short,omitempty"`   // it is too short to protect
	Changed time.Time `json:"changed"`

	Revealed bool            `json:"revealed,omitempty"` // this value was printed once
	Binding  *shadow.Binding `json:"binding,omitempty"`  // nil: what is known of the name counts
	Value    shadow.Secret   `json:"-"`                  // of Visible and Get alone
}

// Vault is an open vault. Several processes may have the same one open: each
// call reads the file anew, and a change is made under a lock.
type Vault struct {
	file string
	head header
	key  shadow.Secret // 32 bytes
	now  func() time.Time
}

// Create makes an empty vault and its master key. ErrExists where there is one;
// an error of the keyring where that cannot keep a key.
func Create(ctx context.Context, store Store, o Options) (*Vault, error) {
	file, err := place(o.File)
	if err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, file)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := os.Lstat(file); err == nil {
		return nil, fmt.Errorf("make a vault in %s: %w", file, ErrExists)
	}
	v := &Vault{file: file, head: header{Store: store, ID: newID()}, now: o.now}
	if v.key, err = o.newKey(ctx, &v.head); err != nil {
		return nil, err
	}
	v.head.Check = checkOf(v.key)
	return v, v.write(contents{})
}

// Open unlocks a vault. ErrNone where there is none, ErrWrongKey or ErrDamaged
// where the file cannot be read, ErrNoKey or an error of the keyring where the
// key cannot be had.
func Open(ctx context.Context, o Options) (*Vault, error) {
	head, _, err := load(o.File)
	if err != nil {
		return nil, err
	}
	file, err := place(o.File)
	if err != nil {
		return nil, err
	}
	v := &Vault{file: file, head: head, now: o.now}
	if v.key, err = o.key(ctx, head); err != nil {
		return nil, err
	}
	if checkOf(v.key) != head.Check {
		return nil, fmt.Errorf("open %s with the key from %s: %w", file, head.Store.where(head), ErrWrongKey)
	}
	_, err = v.read()
	return v, err
}

// Set keeps a secret under a name for one project, or for all with "", in place
// of what was there. A binding stays.
func (v *Vault) Set(ctx context.Context, name, project string, value shadow.Secret) error {
	return v.change(ctx, func(c *contents) error {
		r := c.record(name, project)
		r.Stored, r.Data, r.Revealed = true, []byte(value.Reveal()), false
		return nil
	})
}

// Bind says where the secret of a name may be used, in place of what is known of
// the name. The secret need not be here.
func (v *Vault) Bind(ctx context.Context, name, project string, b shadow.Binding) error {
	return v.change(ctx, func(c *contents) error {
		c.record(name, project).Binding = &b
		return nil
	})
}

// Remove forgets secret and binding of a name. ErrUnknown where there is none.
func (v *Vault) Remove(ctx context.Context, name, project string) error {
	return v.change(ctx, func(c *contents) error {
		i := c.find(name, project)
		if i < 0 {
			return fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		c.Secrets = slices.Delete(c.Secrets, i, i+1)
		return nil
	})
}

// List gives what is kept for every project without values, by name.
func (v *Vault) List() ([]Entry, error) {
	c, err := v.read()
	all := make([]Entry, 0, len(c.Secrets))
	for _, r := range c.Secrets {
		all = append(all, r.entry())
	}
	return all, err
}

// Visible gives what one project sees, with values and by name: what is kept for
// it, and what is for every project where it has nothing of its own.
func (v *Vault) Visible(project string) ([]Entry, error) {
	c, err := v.read()
	var all []Entry
	for _, r := range c.Secrets { // by name, and with "" first
		if r.Project != "" && r.Project != project {
			continue
		}
		e := r.entry()
		if r.Stored {
			e.Value = shadow.NewSecret(string(r.Data))
		}
		if last := len(all) - 1; last >= 0 && all[last].Name == e.Name {
			all[last] = e.over(all[last])
			continue
		}
		all = append(all, e)
	}
	return all, err
}

// over is a project's own entry, completed by the one of every project.
func (e Entry) over(every Entry) Entry {
	if e.Binding == nil {
		e.Binding = every.Binding
	}
	if !e.Stored {
		e.Stored, e.Short, e.Revealed, e.Value = every.Stored, every.Short, every.Revealed, every.Value
	}
	return e
}

// Get gives the secret of a name as a project sees it. ErrUnknown where it sees
// none.
func (v *Vault) Get(name, project string) (Entry, error) {
	all, err := v.Visible(project)
	if err != nil {
		return Entry{}, err
	}
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name && e.Stored })
	if i < 0 {
		return Entry{}, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	return all[i], nil
}

// Reveal is Get for a person's eyes: it is noted that the value was printed.
func (v *Vault) Reveal(ctx context.Context, name, project string) (shadow.Secret, error) {
	var value shadow.Secret
	err := v.change(ctx, func(c *contents) error {
		for _, scope := range []string{project, ""} {
			if i := c.find(name, scope); i >= 0 && c.Secrets[i].Stored {
				c.Secrets[i].Revealed = true
				value = shadow.NewSecret(string(c.Secrets[i].Data))
				return nil
			}
		}
		return fmt.Errorf("%s: %w", name, ErrUnknown)
	})
	return value, err
}

// Mint makes the shadows of a project.
func (v *Vault) Mint(project string) *shadow.Mint {
	return shadow.NewMint(derive(v.key, "shadow"), project)
}

// change reads, changes and writes under the lock.
func (v *Vault) change(ctx context.Context, f func(*contents) error) error {
	unlock, err := lock(ctx, v.file)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := v.read()
	if err != nil {
		return err
	}
	c.now = v.now()
	if err := f(&c); err != nil {
		return err
	}
	slices.SortFunc(c.Secrets, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Project, b.Project))
	})
	return v.write(c)
}

// Status is what can be said of a vault without its key.
type Status struct {
	File       string `json:"file"`
	Exists     bool   `json:"exists"`
	Store      Store  `json:"store,omitempty"`
	Where      string `json:"where,omitempty"`      // the store in words
	Generation string `json:"generation,omitempty"` // changes with every change
}

// Inspect tells of a vault without opening it. A missing one is no error.
func Inspect(file string) (Status, error) {
	s := Status{File: file}
	head, all, err := load(file)
	if errors.Is(err, ErrNone) || errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Exists, s.Store, s.Where, s.Generation = true, head.Store, head.Store.where(head), generation(all)
	return s, nil
}
