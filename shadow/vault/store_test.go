package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
)

// TestStores: a value of any kind comes back from every store, and the folder
// holds nothing of it in any encoding.
func TestStores(t *testing.T) {
	values := map[string]string{
		"PLAIN": planted, "LINES": planted + "\nsecond\r\n", "BINARY": planted + "\x00\xff\xfe", "UNICODE": planted + " ä€😀 $HOME 'q' \"d\"",
		"EMPTY": "", "LARGE": strings.Repeat(planted, 20000),
	}
	for store, o := range stores(t) {
		t.Run(string(store), func(t *testing.T) {
			v := create(t, store, o)
			for name, value := range values {
				set(t, v, name, "", value)
			}
			o.Identity = "" // the vault remembers it
			v = open(t, o)
			for name, value := range values {
				if got := get(t, v, name, ""); got != value {
					t.Errorf("%s comes back as %.40q", name, got)
				}
			}
			status, err := Inspect(o.File)
			if err != nil || status.Store != store || !status.Exists || status.Where == "" {
				t.Errorf("status %+v, %v", status, err)
			}
			hidden(t, filepath.Dir(o.File), v.key.Reveal())
		})
	}
}

// hidden wants no planted value, no name and no key in any file of a folder, and
// every file to be the user's alone.
func hidden(t *testing.T, dir, key string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{planted, key, "UNICODE"} {
			for _, form := range append(shadow.Encodings(secret), []byte(secret)) {
				if len(form) > 0 && bytes.Contains(data, form) {
					t.Errorf("%s holds a secret as %.40q", f.Name(), form)
				}
			}
		}
		if info, err := f.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

// TestWrongKey: another key, a missing one and a damaged file are told apart, and
// nothing is written over.
func TestWrongKey(t *testing.T) {
	for store, o := range stores(t) {
		t.Run(string(store), func(t *testing.T) {
			set(t, create(t, store, o), "A", "", planted)
			before, err := os.ReadFile(o.File)
			if err != nil {
				t.Fatal(err)
			}
			for _, test := range []struct {
				name string
				o    Options
				want error
			}{
				{"another key", another(t, store, o), ErrWrongKey},
				{"no key", Options{File: o.File, Ring: newBox()}, map[Store]error{InKeyring: ErrAbsent, ByPassphrase: ErrNoKey, ByIdentity: ErrWrongKey, InEnvironment: ErrNoKey}[store]},
			} {
				if _, err := Open(t.Context(), test.o); !errors.Is(err, test.want) {
					t.Errorf("%s: %v, want %v", test.name, err, test.want)
				}
				if _, err := Create(t.Context(), store, test.o); !errors.Is(err, ErrExists) {
					t.Errorf("%s: made anew: %v", test.name, err)
				}
			}
			if after, err := os.ReadFile(o.File); err != nil || !bytes.Equal(before, after) {
				t.Error("the file changed")
			}
		})
	}
}

// another is the same vault with another key in the same store.
func another(t *testing.T, store Store, o Options) Options {
	t.Helper()
	switch store {
	case InKeyring:
		b := newBox()
		for account := range o.Ring.(*box).texts {
			b.texts[account] = strings.Repeat("00", 32)
		}
		o.Ring = b
	case ByPassphrase:
		o.Passphrase = passphrase("open barley")
	case ByIdentity:
		head, _, err := load(o.File)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Rename(head.Identity, head.Identity+".old"), makeIdentity(head.Identity)); err != nil {
			t.Fatal(err)
		}
	case InEnvironment:
		o.MasterKey = shadow.NewSecret(strings.Repeat("10", 32))
	}
	return o
}

// TestDamage flips, cuts and grows the file in every part.
func TestDamage(t *testing.T) {
	o := stores(t)[InEnvironment]
	v := create(t, InEnvironment, o)
	set(t, v, "A", "", planted)
	whole, err := os.ReadFile(o.File)
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string][]byte{"empty": {}, "longer": append(bytes.Clone(whole), 0), "text": []byte("hello\n")}
	for i := 0; i < len(whole); i += 3 {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		damage[fmt.Sprint("flipped at ", i)] = flipped
		damage[fmt.Sprint("cut at ", i)] = whole[:i]
	}
	for what, data := range damage {
		if err := os.WriteFile(o.File, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, openErr := Open(t.Context(), o)
		setErr := v.Set(t.Context(), "B", "", shadow.NewSecret("x"))
		for _, err := range []error{openErr, setErr} {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrWrongKey) && !errors.Is(err, ErrAbsent) {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if after, err := os.ReadFile(o.File); err != nil || !bytes.Equal(after, data) {
			t.Fatalf("%s: the file was written over", what)
		}
	}
}

// TestSwapped: a file that another vault's took the place of is not written to.
func TestSwapped(t *testing.T) {
	all := stores(t)
	v, other := create(t, InEnvironment, all[InEnvironment]), create(t, InKeyring, all[InKeyring])
	if err := os.Rename(other.file, v.file); err != nil {
		t.Fatal(err)
	}
	if err := v.Set(t.Context(), "A", "", shadow.NewSecret("x")); !errors.Is(err, ErrWrongKey) {
		t.Errorf("written to another vault: %v", err)
	}
}

// TestDeadline: a prompt that nobody answers is given up, and no vault is made.
func TestDeadline(t *testing.T) {
	b := newBox()
	b.hold = make(chan struct{})
	defer close(b.hold)
	o := Options{File: filepath.Join(t.TempDir(), "v"), Ring: b, Timeout: 20 * time.Millisecond}
	if _, err := Create(t.Context(), InKeyring, o); !errors.Is(err, ErrTimeout) || errors.Is(err, ErrAbsent) {
		t.Errorf("no timeout: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Timeout = time.Hour
	if _, err := Create(ctx, InKeyring, o); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted call: %v", err)
	}
	if _, err := os.Stat(o.File); !errors.Is(err, os.ErrNotExist) {
		t.Error("a vault was made without its key")
	}
}

// TestNoFallback: an error of the keyring is never a reason for another store.
func TestNoFallback(t *testing.T) {
	for _, cause := range []error{ErrNoBus, ErrNoService, ErrLocked} {
		b := newBox()
		b.err = cause
		o := Options{File: filepath.Join(t.TempDir(), "v"), Ring: b, Passphrase: passphrase("x"), MasterKey: shadow.NewSecret(strings.Repeat("0f", 32))}
		if _, err := Create(t.Context(), InKeyring, o); !errors.Is(err, cause) {
			t.Errorf("%v became %v", cause, err)
		}
		if _, err := os.Stat(o.File); !errors.Is(err, os.ErrNotExist) {
			t.Error("a vault was made")
		}
	}
}

func TestParseKey(t *testing.T) {
	for _, test := range []struct {
		name, text string
		ok         bool
	}{
		{"hex", strings.Repeat("0f", 32), true},
		{"base64 with a line end", "DwwPDwwPDwwPDwwPDwwPDwwPDwwPDwwPDwwPDwwPDw8=\n", true},
		{"base64 without padding", "DwwPDwwPDwwPDwwPDwwPDwwPDwwPDwwPDwwPDwwPDw8", true},
		{"short", strings.Repeat("0f", 31), false},
		{"a passphrase", planted, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			key, err := parseKey(test.text)
			if (err == nil) != test.ok || test.ok && len(key.Reveal()) != 32 {
				t.Errorf("%d bytes, %v", len(key.Reveal()), err)
			}
			if err != nil && strings.Contains(err.Error(), strings.TrimSpace(test.text)) {
				t.Errorf("the error holds the text: %v", err)
			}
		})
	}
}
