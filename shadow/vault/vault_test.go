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
	"strings"
	"sync"
	"testing"

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
