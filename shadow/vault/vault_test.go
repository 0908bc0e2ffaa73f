package vault

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
)

const planted = "planted-real-value-8c41"

// box keeps texts in memory, for what the real keyring cannot do on demand.
type box struct {
	mu    sync.Mutex
	texts map[string]string
	err   error         // of every call
	hold  chan struct{} // no call ends before it is closed
}

func newBox() *box { return &box{texts: map[string]string{}} }

// Set implements Ring.
func (b *box) Set(service, account, text string) error {
	if b.hold != nil {
		<-b.hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.texts[service+"/"+account] = text
	return b.err
}

// Get implements Ring.
func (b *box) Get(service, account string) (string, error) {
	if b.hold != nil {
		<-b.hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	text, ok := b.texts[service+"/"+account]
	if !ok && b.err == nil {
		return "", ErrAbsent
	}
	return text, b.err
}

// Delete implements Ring.
func (b *box) Delete(service, account string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.texts, service+"/"+account)
	return b.err
}

func passphrase(text string) func(context.Context) (shadow.Secret, error) {
	return func(context.Context) (shadow.Secret, error) { return shadow.NewSecret(text), nil }
}

// stores are options for each store, in a new folder.
func stores(t *testing.T) map[Store]Options {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name, "vault.ftl") }
	return map[Store]Options{
		InKeyring:     {File: at("keyring"), Ring: newBox()},
		ByPassphrase:  {File: at("passphrase"), Passphrase: passphrase("open sesame")},
		ByIdentity:    {File: at("identity"), Identity: filepath.Join(dir, "age.txt")},
		InEnvironment: {File: at("env"), MasterKey: shadow.NewSecret(strings.Repeat("0f", 32))},
	}
}

func create(t *testing.T, store Store, o Options) *Vault {
	t.Helper()
	v, err := Create(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func open(t *testing.T, o Options) *Vault {
	t.Helper()
	v, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func set(t *testing.T, v *Vault, name, project, value string) {
	t.Helper()
	if err := v.Set(t.Context(), name, project, shadow.NewSecret(value)); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, v *Vault, name, project string) string {
	t.Helper()
	e, err := v.Get(name, project)
	if err != nil {
		t.Fatal(err)
	}
	return e.Value.Reveal()
}

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

func TestScopes(t *testing.T) {
	v := create(t, InEnvironment, stores(t)[InEnvironment])
	set(t, v, "B", "", "global-b-value")
	set(t, v, "A", "", "global-a-value")
	set(t, v, "A", "one", "one-a-value")
	set(t, v, "C", "two", "short")
	see := func(project string) map[string]string {
		all, err := v.Visible(project)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, e := range all {
			got[e.Name] = e.Value.Reveal()
		}
		return got
	}
	for project, want := range map[string]map[string]string{
		"":    {"A": "global-a-value", "B": "global-b-value"},
		"one": {"A": "one-a-value", "B": "global-b-value"},
		"two": {"A": "global-a-value", "B": "global-b-value", "C": "short"},
	} {
		if diff := cmp.Diff(want, see(project)); diff != "" {
			t.Errorf("%q sees (-want +got):\n%s", project, diff)
		}
	}
	list, err := v.List()
	if err != nil || len(list) != 4 || list[0].Name != "A" || list[1].Project != "one" || !list[3].Short || list[0].Short {
		t.Errorf("list %+v, %v", list, err)
	}
	for _, e := range list {
		if !e.Value.IsZero() {
			t.Errorf("the list has the value of %s", e.Name)
		}
	}
	if err := v.Remove(t.Context(), "A", "one"); err != nil || see("one")["A"] != "global-a-value" {
		t.Errorf("removing the project's own: %v", err)
	}
	if err := v.Remove(t.Context(), "A", "one"); !errors.Is(err, ErrUnknown) {
		t.Errorf("removing it again: %v", err)
	}
	if _, err := v.Get("Z", ""); !errors.Is(err, ErrUnknown) {
		t.Errorf("getting what is not there: %v", err)
	}
}

// TestBind: bindings and values come and go on their own, and a project's own
// ones count before those of every project.
func TestBind(t *testing.T) {
	v := create(t, InEnvironment, stores(t)[InEnvironment])
	bind := func(project, host string) {
		if err := v.Bind(t.Context(), "A", project, shadow.Binding{Hosts: []string{host}}); err != nil {
			t.Fatal(err)
		}
	}
	see := func(project string) string {
		all, err := v.Visible(project)
		if err != nil || len(all) > 1 {
			t.Fatal(all, err)
		}
		if len(all) == 0 {
			return "nothing"
		}
		host := ""
		if b := all[0].Binding; b != nil {
			host = b.Hosts[0]
		}
		return all[0].Value.Reveal() + "@" + host
	}
	want := func(what, one, two string) {
		t.Helper()
		if a, b := see("one"), see("two"); a != one || b != two {
			t.Errorf("%s: one sees %s, two %s, want %s and %s", what, a, b, one, two)
		}
	}
	want("at first", "nothing", "nothing")
	bind("", "a.example.com")
	want("a binding alone", "@a.example.com", "@a.example.com")
	if _, err := v.Get("A", "one"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a binding is taken for a value: %v", err)
	}
	set(t, v, "A", "one", "value")
	want("a value of one", "value@a.example.com", "@a.example.com")
	bind("one", "b.example.com")
	want("a binding of one", "value@b.example.com", "@a.example.com")
	set(t, v, "A", "", "every")
	set(t, v, "A", "one", "other")
	want("values", "other@b.example.com", "every@a.example.com")
	if err := v.Remove(t.Context(), "A", "one"); err != nil {
		t.Fatal(err)
	}
	want("without its own", "every@a.example.com", "every@a.example.com")
}

// TestConcurrentSets: changes of several processes are all kept.
func TestConcurrentSets(t *testing.T) {
	o := stores(t)[InEnvironment]
	create(t, InEnvironment, o)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			v, err := Open(t.Context(), o)
			if err == nil {
				err = v.Set(t.Context(), fmt.Sprint("N", i), "", shadow.NewSecret("x"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := open(t, o).List(); err != nil || len(list) != 8 {
		t.Errorf("%d of 8 are there, %v", len(list), err)
	}
}

// TestGeneration changes with every change, and can be told without the key.
func TestGeneration(t *testing.T) {
	o := stores(t)[InKeyring]
	v := create(t, InKeyring, o)
	seen := map[string]bool{}
	for range 3 {
		set(t, v, "A", "", "the same value")
		s, err := Inspect(o.File)
		if err != nil || seen[s.Generation] || s.Generation == "" {
			t.Errorf("generation %q again, %v", s.Generation, err)
		}
		seen[s.Generation] = true
	}
	if s, err := Inspect(o.File + ".none"); err != nil || s.Exists {
		t.Errorf("a vault that is not there: %+v, %v", s, err)
	}
	if _, err := Open(t.Context(), Options{File: o.File + ".none"}); !errors.Is(err, ErrNone) {
		t.Errorf("opening it: %v", err)
	}
}

// TestMint: a project's shadows are the same whenever the vault is opened.
func TestMint(t *testing.T) {
	o := stores(t)[ByIdentity]
	first := create(t, ByIdentity, o).Mint("p").Shadow("A", "x")
	if again := open(t, o).Mint("p").Shadow("A", "y"); again != first {
		t.Errorf("%q and %q", first, again)
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

// TestLinkStays: a vault that is a link into a folder of dotfiles stays one.
func TestLinkStays(t *testing.T) {
	o := stores(t)[InEnvironment]
	set(t, create(t, InEnvironment, o), "A", "", "first-value")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(o.File, link); err != nil {
		t.Skip("NOT RUN: no links here:", err)
	}
	o.File = link
	set(t, open(t, o), "B", "", "second-value")
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Error("the link is gone", err)
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

// TestNoValueIsPrinted formats and encodes every exported type in every way.
func TestNoValueIsPrinted(t *testing.T) {
	secret := shadow.NewSecret(planted)
	v := &Vault{file: "f", key: secret}
	e := Entry{Name: "A", Value: secret}
	for name, value := range map[string]any{
		"vault": v, "vault value": *v, "entry": e, "entries": []Entry{e}, "record": record{Entry: e},
		"options": Options{MasterKey: secret}, "options pointer": &Options{MasterKey: secret},
	} {
		for _, verb := range "vsqxXdtTp" {
			for _, flags := range []string{"", "+", "#"} {
				out := fmt.Sprintf("%"+flags+string(verb), value)
				if strings.Contains(out, planted) || strings.Contains(out, hex.EncodeToString([]byte(planted))) {
					t.Errorf("%s by %%%s%c: %s", name, flags, verb, out)
				}
			}
		}
		if out, _ := json.Marshal(value); bytes.Contains(out, []byte(planted)) {
			t.Errorf("%s as JSON: %s", name, out)
		}
	}
}
