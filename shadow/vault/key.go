package vault

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/git-ftl/git-ftl/shadow"
)

// scryptWork is the work factor of a passphrase, 2^17: half a second where a
// command unlocks the vault once. More than maxWork is not tried.
const (
	scryptWork = 17
	maxWork    = 20
)

// service is the name under which the keyring lists the key.
const service = "git-ftl"

func account(h header) string { return "vault-" + h.ID }

// where says in words where the key is; "" for a store that is not known.
func (s Store) where(h header) string {
	switch s {
	case InKeyring:
		return "the keyring of the system"
	case ByPassphrase:
		return "a passphrase"
	case ByIdentity:
		return "the identity file " + h.Identity
	case InEnvironment:
		return "the environment"
	}
	return ""
}

// newKey makes a master key and keeps it in the store of the header.
func (o Options) newKey(ctx context.Context, h *header) (shadow.Secret, error) {
	raw := make([]byte, keySize)
	_, _ = rand.Read(raw)
	key := shadow.NewSecret(string(raw))
	switch h.Store {
	case InKeyring:
		return key, o.toKeyring(ctx, *h, key)
	case ByPassphrase:
		pass, err := o.passphrase(ctx)
		if err != nil {
			return key, err
		}
		to, err := age.NewScryptRecipient(pass.Reveal())
		if err != nil {
			return key, fmt.Errorf("take the passphrase: %w", err)
		}
		to.SetWorkFactor(scryptWork)
		h.Wrapped, err = wrap(key, to)
		return key, err
	case ByIdentity:
		to, err := o.identity(h)
		if err != nil {
			return key, err
		}
		h.Wrapped, err = wrap(key, to)
		return key, err
	case InEnvironment:
		return o.fromEnvironment()
	}
	return key, fmt.Errorf("there is no store %q", h.Store)
}

// key finds the master key where the header says that it is.
func (o Options) key(ctx context.Context, h header) (shadow.Secret, error) {
	switch h.Store {
	case InKeyring:
		return o.fromKeyring(ctx, h)
	case ByPassphrase:
		pass, err := o.passphrase(ctx)
		if err != nil {
			return shadow.Secret{}, err
		}
		id, err := age.NewScryptIdentity(pass.Reveal())
		if err != nil {
			return shadow.Secret{}, fmt.Errorf("take the passphrase: %w", ErrNoKey)
		}
		id.SetMaxWorkFactor(maxWork)
		return unwrap(h, id)
	case ByIdentity:
		ids, err := readIdentity(h.Identity)
		if err != nil {
			return shadow.Secret{}, err
		}
		return unwrap(h, ids...)
	default:
		return o.fromEnvironment()
	}
}

func (o Options) toKeyring(ctx context.Context, h header, key shadow.Secret) error {
	text := base64.StdEncoding.EncodeToString([]byte(key.Reveal()))
	if err := o.ring().set(ctx, account(h), text); err != nil {
		return err
	}
	back, err := o.fromKeyring(ctx, h) // one that cannot be read back is found out now
	if err == nil && back.Reveal() != key.Reveal() {
		err = fmt.Errorf("the keyring gives back another key: %w", ErrWrongKey)
	}
	return err
}

func (o Options) fromKeyring(ctx context.Context, h header) (shadow.Secret, error) {
	text, err := o.ring().get(ctx, account(h))
	if err != nil {
		return shadow.Secret{}, err
	}
	return parseKey(text)
}

func (o Options) fromEnvironment() (shadow.Secret, error) {
	if o.MasterKey.IsZero() {
		return shadow.Secret{}, fmt.Errorf("the environment: %w", ErrNoKey)
	}
	return parseKey(o.MasterKey.Reveal())
}

// parseKey reads 32 bytes in hex or base64. The error never holds the text.
func parseKey(text string) (shadow.Secret, error) {
	text = strings.TrimSpace(text)
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString,
		base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if raw, err := decode(text); err == nil && len(raw) == keySize {
			return shadow.NewSecret(string(raw)), nil
		}
	}
	return shadow.Secret{}, fmt.Errorf("a key has 32 bytes in hex or base64: %w", ErrWrongKey)
}

func (o Options) passphrase(ctx context.Context) (shadow.Secret, error) {
	if o.Passphrase == nil {
		return shadow.Secret{}, fmt.Errorf("the passphrase: %w", ErrNoKey)
	}
	pass, err := o.Passphrase(ctx)
	if err == nil && pass.IsZero() {
		err = fmt.Errorf("the passphrase: %w", ErrNoKey)
	}
	return pass, err
}

// identity gives the recipient of the identity file, which is made when it is
// missing, and notes its path.
func (o Options) identity(h *header) (age.Recipient, error) {
	path, err := filepath.Abs(o.Identity)
	if err != nil || o.Identity == "" {
		return nil, errors.Join(errors.New("an identity file has to be named"), err)
	}
	h.Identity = path
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeIdentity(path); err != nil {
			return nil, fmt.Errorf("make an identity file: %w", err)
		}
	}
	ids, err := readIdentity(path)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		switch id := id.(type) {
		case *age.X25519Identity:
			return id.Recipient(), nil
		case *age.HybridIdentity:
			return id.Recipient(), nil
		}
	}
	return nil, fmt.Errorf("%s holds no age identity", path)
}

func makeIdentity(path string) error {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "# made by git-ftl\n# public key: %s\n%s\n", id.Recipient(), id)
	return errors.Join(err, f.Sync(), f.Close())
}

// readIdentity reads a file of age identities. Its errors name lines, not what
// is in them.
func readIdentity(path string) ([]age.Identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the identity file: %w", err)
	}
	defer f.Close()
	ids, err := age.ParseIdentities(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("%s is no age identity file, or one behind a passphrase: %w", path, ErrNoKey)
	}
	return ids, nil
}

func wrap(key shadow.Secret, to age.Recipient) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to)
	if err != nil {
		return nil, fmt.Errorf("encrypt the key: %w", err)
	}
	_, err = io.WriteString(w, key.Reveal())
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

func unwrap(h header, ids ...age.Identity) (shadow.Secret, error) {
	r, err := age.Decrypt(bytes.NewReader(h.Wrapped), ids...)
	var wrong *age.NoIdentityMatchError
	if errors.As(err, &wrong) {
		return shadow.Secret{}, fmt.Errorf("unlock with %s: %w", h.Store.where(h), ErrWrongKey)
	}
	if err != nil {
		return shadow.Secret{}, fmt.Errorf("unlock with %s: %w", h.Store.where(h), ErrDamaged)
	}
	raw, err := io.ReadAll(io.LimitReader(r, 2*keySize))
	if err != nil || len(raw) != keySize {
		return shadow.Secret{}, fmt.Errorf("unlock with %s: %w", h.Store.where(h), ErrDamaged)
	}
	return shadow.NewSecret(string(raw)), nil
}
