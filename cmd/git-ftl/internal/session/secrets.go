package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// Kept is a secret that the user keeps for this project, and what they say of it.
// One without a value only says where a value from elsewhere may go.
type Kept struct {
	Name     string
	Value    shadow.Secret
	Binding  *shadow.Binding // nil: what is known of the name counts
	Revealed bool            // it was printed once
}

// Vault is what the user keeps for a project; the zero Vault is none.
type Vault struct {
	Mint *shadow.Mint
	Kept []Kept
}

// Keeper opens the user's vault for a project.
type Keeper func(ctx context.Context, project string) (Vault, error)

// Tools reads which package registries the user's own tools are configured with;
// shadows of their credentials come from the mint.
type Tools func(*shadow.Mint) registry.Registries

// secrets are what a task may use, all of it as shadows.
type secrets struct {
	mint        *shadow.Mint
	kept        []Kept
	sought      []shadow.Sought     // what no file of the snapshot holds, and no result may
	values      []lint.Value        // the same as forms to look for
	credentials []shadow.Credential // by name
	telling     []shadow.Credential // those, and the tools', that nothing printed may hold
	env         []string            // NAME=SHADOW of what is kept for the environment, and what is plain
	files       []envFile
	tools       registry.Registries
	modules     []string // of go, that the task's start names
	services    []service
	revealed    []string // names
	unbound     []string // names that are sent nowhere
}

// gather makes shadows of what is known and of what the left-out env files say.
func (r *run) gather(ctx context.Context) error {
	r.shadowKept(r.secret.kept)
	if err := r.shadowFiles(r.secret.kept); err != nil {
		return err
	}
	if r.Config.Network == string(proxy.None) {
		r.secret.tools = registry.Registries{}
	}
	r.secret.modules = r.modules(ctx)
	for _, n := range r.secret.tools.Notes {
		r.note(n.String())
	}
	r.out.Revealed, r.out.Shadowed = r.secret.revealed, len(r.secret.files) > 0
	r.unbindUnfit()
	for _, c := range r.secret.credentials {
		if len(c.Binding.Hosts) == 0 && !strings.Contains(c.Name, " ") { // else one that no command can bind
			r.secret.unbound = append(r.secret.unbound, c.Name)
		}
	}
	for _, name := range r.task.Use {
		if !slices.ContainsFunc(r.secret.credentials, func(c shadow.Credential) bool { return c.Name == name }) {
			r.note(fmt.Sprintf("--use %s: this task has no secret of that name", name))
		}
	}
	r.addParts()
	for _, c := range slices.Concat(r.secret.credentials, r.secret.tools.Credentials) {
		if c.Telling() {
			r.secret.telling = append(r.secret.telling, c)
		}
	}
	return r.conceal()
}

// addParts makes the password of a URL work where the URL is bound: a program sends
// it by itself.
func (r *run) addParts() {
	for _, c := range slices.Clone(r.secret.credentials) {
		var ok bool
		if c.Shadow, c.Real, ok = r.secret.mint.Part(c.Name, c.Real.Reveal()); !ok {
			continue
		}
		c.Chosen = false
		if proxy.Check(c) == nil && (len(c.Binding.Hosts) > 0 || c.Telling()) {
			r.secret.credentials = append(r.secret.credentials, c)
		}
	}
}

// unbindUnfit takes the binding off credentials that cannot be sent as it says, such
// as a value of two lines in a header: one bad line of an env file costs only itself.
func (r *run) unbindUnfit() {
	s := &r.secret
	var fit []shadow.Credential
	for _, c := range s.tools.Credentials {
		if proxy.Check(c) == nil {
			fit = append(fit, c)
		} else {
			s.credentials = append(s.credentials, c)
		}
	}
	s.tools.Credentials = fit
	for i, c := range s.credentials {
		if err := proxy.Check(c); err != nil {
			r.note(err.Error() + "; its shadow is sent nowhere")
			s.credentials[i].Binding = shadow.Binding{}
		}
	}
}

// openVault gives what the user keeps, and a mint in any case.
func (s *Session) openVault(ctx context.Context) (v Vault, err error) {
	project, err := s.Project(ctx)
	if err != nil {
		return v, err
	}
	if s.Keeper != nil {
		if v, err = s.Keeper(ctx, project); err != nil {
			return v, fmt.Errorf("open the vault: %w", err)
		}
	}
	if v.Mint == nil {
		v.Mint, err = s.ownMint(project)
	}
	return v, err
}

// shadowKept makes shadows of what the user keeps, as variables of the agent.
func (r *run) shadowKept(kept []Kept) {
	for _, k := range kept {
		if k.Value.IsZero() {
			continue
		}
		c := shadow.Credential{
			Name: k.Name, Real: k.Value, Shadow: r.secret.mint.Shadow(k.Name, k.Value.Reveal()), Binding: r.bound(k), Chosen: true,
		}
		r.secret.credentials = append(r.secret.credentials, c)
		r.secret.env = append(r.secret.env, k.Name+"="+c.Shadow)
		r.secret.services = append(r.secret.services, services([]shadow.Line{{Name: k.Name, Value: k.Value}})...)
		if k.Revealed {
			r.secret.revealed = append(r.secret.revealed, k.Name)
		}
	}
}

// bound is where a secret may go: where the user says, else what is known of its
// name, if that needs no word of theirs or they gave it for this task.
func (r *run) bound(k Kept) shadow.Binding {
	if k.Binding != nil {
		return *k.Binding
	}
	b, active, ok := shadow.Known(k.Name)
	if ok && (active || slices.Contains(r.task.Use, k.Name)) {
		return r.narrow(k.Name, b)
	}
	return shadow.Binding{}
}

// ownMint makes shadows where the user has no vault: its key need not be secret
// to the user, only to a sandbox.
func (s *Session) ownMint(project string) (*shadow.Mint, error) {
	const name = "mint.key"
	data, err := s.Repo.ReadState(name)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, 32)
		_, _ = rand.Read(key)
		data = []byte(hex.EncodeToString(key))
		err = s.Repo.WriteState(name, data)
	}
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("read %s: it is damaged; remove it", s.Repo.Path(name))
	}
	return shadow.NewMint(shadow.NewSecret(string(key)), project), nil
}

// scrub puts shadows in place of real values in what a sandbox printed, should
// one ever have got there.
func (s secrets) scrub(text string) string {
	for _, c := range s.telling {
		text = strings.ReplaceAll(text, c.Real.Reveal(), c.Shadow)
	}
	return text
}

// sayUnbound names, once for each project, secrets that are sent nowhere.
func (r *run) sayUnbound() {
	const name = "unbound"
	data, _ := r.Repo.ReadState(name)
	said := strings.Fields(string(data))
	unsaid := slices.DeleteFunc(slices.Clone(r.secret.unbound), func(n string) bool { return slices.Contains(said, n) })
	switch len(unsaid) {
	case 0:
		return
	case 1:
		r.note(fmt.Sprintf("%s is a shadow inside and is sent nowhere: git ftl auth bind %s --host HOST", unsaid[0], unsaid[0]))
	default:
		r.note(fmt.Sprintf("%s are shadows inside and are sent nowhere: git ftl auth bind NAME --host HOST", strings.Join(unsaid, ", ")))
	}
	said = append(said, unsaid...)
	_ = r.Repo.WriteState(name, []byte(strings.Join(said, "\n")+"\n"))
}
