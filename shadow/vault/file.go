package vault

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/git-ftl/git-ftl/shadow"
)

// The file: a line with its version, a line of JSON that says how to open it, a
// nonce of 24 bytes, and the contents as JSON under XChaCha20-Poly1305. Both
// lines are authenticated with the contents.
const (
	magic   = "git-ftl vault 1\n"
	maxFile = 256 << 20
	keySize = chacha20poly1305.KeySize
)

// header is the second line.
type header struct {
	Store    Store  `json:"store"`
	ID       string `json:"id"`                 // names the key in the keyring
	Check    string `json:"check"`              // tells a wrong key from a damaged file
	Identity string `json:"identity,omitempty"` // path of the identity file
	Wrapped  []byte `json:"wrapped,omitempty"`  // the master key, encrypted by age
}

// contents are the encrypted part.
type contents struct {
	Secrets []record `json:"secrets"`
	now     time.Time
}

// record is an entry with its value, as it is encrypted.
type record struct {
	Entry
	Data []byte `json:"data,omitempty"`
}

func (r record) entry() Entry {
	e := r.Entry
	e.Short = r.Stored && len(r.Data) < shadow.MinLength
	return e
}

func (c *contents) find(name, project string) int {
	return slices.IndexFunc(c.Secrets, func(r record) bool { return r.Name == name && r.Project == project })
}

// record is the one of a name and project, which is made when it is missing, to
// be changed now.
func (c *contents) record(name, project string) *record {
	i := c.find(name, project)
	if i < 0 {
		i = len(c.Secrets)
		c.Secrets = append(c.Secrets, record{Entry: Entry{Name: name, Project: project}})
	}
	c.Secrets[i].Changed = c.now
	return &c.Secrets[i]
}

// load reads the header and all bytes of the file.
func load(file string) (header, []byte, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return header{}, nil, fmt.Errorf("%s: %w", file, ErrNone)
	}
	if err != nil {
		return header{}, nil, fmt.Errorf("read the vault: %w", err)
	}
	defer f.Close()
	all, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return header{}, nil, fmt.Errorf("read the vault: %w", err)
	}
	line, _, ok := bytes.Cut(bytes.TrimPrefix(all, []byte(magic)), []byte("\n"))
	var head header
	if !ok || !bytes.HasPrefix(all, []byte(magic)) || json.Unmarshal(line, &head) != nil || head.Store.where(head) == "" {
		return header{}, nil, fmt.Errorf("%s: %w", file, ErrDamaged)
	}
	return head, all, nil
}

// read decrypts the file as it is now.
func (v *Vault) read() (contents, error) {
	head, all, err := load(v.file)
	if err != nil {
		return contents{}, err
	}
	if head.Check != v.head.Check {
		return contents{}, fmt.Errorf("%s is another vault by now: %w", v.file, ErrWrongKey)
	}
	end := len(magic) + bytes.IndexByte(all[len(magic):], '\n') + 1
	aead, err := v.cipher()
	if err != nil {
		return contents{}, err
	}
	var c contents
	if len(all)-end < chacha20poly1305.NonceSizeX {
		return c, fmt.Errorf("%s: %w", v.file, ErrDamaged)
	}
	nonce, sealed := all[end:end+chacha20poly1305.NonceSizeX], all[end+chacha20poly1305.NonceSizeX:]
	plain, err := aead.Open(nil, nonce, sealed, all[:end])
	if err != nil || json.Unmarshal(plain, &c) != nil {
		return contents{}, fmt.Errorf("%s: %w", v.file, ErrDamaged)
	}
	return c, nil
}

// write encrypts the contents into a new file that takes the old one's place
// when it is on the disk.
func (v *Vault) write(c contents) error {
	head, err := json.Marshal(v.head)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(c)
	if err != nil {
		return err
	}
	aead, err := v.cipher()
	if err != nil {
		return err
	}
	all := slices.Concat([]byte(magic), head, []byte("\n"))
	nonce := make([]byte, chacha20poly1305.NonceSizeX)
	_, _ = rand.Read(nonce)
	sealed := aead.Seal(nonce, nonce, plain, all)
	if err := replace(v.file, slices.Concat(all, sealed)); err != nil {
		return fmt.Errorf("write the vault: %w", err)
	}
	return nil
}

func (v *Vault) cipher() (cipher.AEAD, error) {
	return chacha20poly1305.NewX([]byte(derive(v.key, "contents").Reveal()))
}

// replace puts a file of the user alone in place, at once and for good.
func replace(file string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".vault-*") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // a folder cannot be synced there
		return nil
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// place is where the file really is, in a folder that is there: a link in a
// folder of dotfiles stays one.
func place(file string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the vault: %w", err)
	}
	real, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	return real, err
}

// lock keeps other processes from a change until unlock.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	l := flock.New(file+".lock", flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock the vault: %w", err)
	}
	return func() { _ = l.Unlock() }, nil
}

// derive makes a key of 32 bytes for one purpose.
func derive(key shadow.Secret, purpose string) shadow.Secret {
	out, err := hkdf.Key(sha256.New, []byte(key.Reveal()), nil, "git-ftl "+purpose, keySize)
	if err != nil {
		return shadow.Secret{} // never: the length is a constant
	}
	return shadow.NewSecret(string(out))
}

// checkOf names a key without giving it away.
func checkOf(key shadow.Secret) string {
	return base64.RawStdEncoding.EncodeToString([]byte(derive(key, "check").Reveal()[:16]))
}

// now is the clock that the caller gave.
func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

func newID() string {
	var id [8]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

func generation(all []byte) string {
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:8])
}
