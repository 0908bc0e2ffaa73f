package container

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// Pool is the sandboxes of one state folder: warm ones are claimed, others made.
// Any number of processes may use the folder at once.
type Pool struct {
	Engine Engine
	Dir    string           // holds sandboxes/NAME.json, locks/sandbox-NAME and exports/NAME, whose tree/ and objects/ the sandbox sees
	Owner  string           // nonce of the installation
	Now    func() time.Time // clock
}

// Acquire claims the first free sandbox of s.Name that is as s wants it, or
// makes one in place of the first that is not. Sandboxes that hold unsaved work
// are left alone. The errors are ErrNoImage and what the engine says.
func (p *Pool) Acquire(ctx context.Context, s Spec) (*Sandbox, error) {
	s.Export = p.Dir // Resolve drops it where the engine mounts nothing
	want, err := p.Engine.Resolve(ctx, s)
	if err != nil {
		return nil, err
	}
	names, err := p.recorded()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if rec, err := p.read(name); err != nil || rec == nil || rec.Group != s.Name {
			continue
		}
		if sb, err := p.take(ctx, claim{name: name, want: want}); sb != nil || err != nil {
			return sb, err
		}
	}
	for n := 1; ; n++ {
		c := claim{name: fmt.Sprintf("%s-%d", s.Name, n), want: want, make: true}
		if sb, err := p.take(ctx, c); sb != nil || err != nil {
			return sb, err
		}
	}
}

// claim is one try for a sandbox.
type claim struct {
	name string
	want Spec
	make bool // a new one, where the present one cannot be used
}

// take gives nil where the sandbox is in use, holds work, or cannot be used as
// it is and none may be made.
func (p *Pool) take(ctx context.Context, c claim) (*Sandbox, error) {
	unlock, err := p.lock(c.name)
	if err != nil || unlock == nil {
		return nil, err
	}
	sb, err := p.takeLocked(ctx, c)
	if sb == nil {
		unlock()
		return nil, err
	}
	sb.unlock = unlock
	return sb, nil
}

func (p *Pool) takeLocked(ctx context.Context, c claim) (*Sandbox, error) {
	spec := c.want
	spec.Name = c.name
	if spec.Export != "" {
		spec.Export = p.export(c.name)
	}
	rec, err := p.read(c.name)
	if err != nil || rec != nil && rec.Hold != "" {
		return nil, err
	}
	sb, why, err := p.reuse(ctx, spec, rec)
	if sb != nil || err != nil || !c.make {
		return sb, err
	}
	made, err := p.make(ctx, spec, c.want.Name, rec)
	if err != nil {
		return nil, err
	}
	return p.open(ctx, &Sandbox{Replaced: why, pool: p, name: c.name, rec: *made, spec: spec})
}

// reuse opens the recorded sandbox, or says why it cannot stand for spec.
func (p *Pool) reuse(ctx context.Context, spec Spec, rec *record) (sb *Sandbox, why string, err error) {
	if rec == nil {
		return nil, "", nil
	}
	if why, err = p.unusable(ctx, rec, spec); why != "" || err != nil {
		return nil, why, err
	}
	sb, err = p.open(ctx, &Sandbox{pool: p, name: spec.Name, rec: *rec, spec: spec, warm: true})
	if err != nil && ctx.Err() == nil {
		return nil, err.Error(), nil
	}
	return sb, "", err
}

// unusable says why the recorded sandbox cannot stand for want, "" where it can.
func (p *Pool) unusable(ctx context.Context, rec *record, want Spec) (string, error) {
	switch {
	case rec.ID == "":
		return "it was never finished", nil
	case want.Fresh:
		return "a fresh one was asked for", nil
	}
	switch err := p.mine(ctx, rec); {
	case errors.Is(err, ErrGone):
		return "the engine has it no more", nil
	case err != nil:
		return "", err
	}
	return rec.Fit.unlike(fitOf(want)), nil
}

// make makes a new sandbox in place of old, which may be nil. The record is
// written first, so that a crash in between leaves nothing that nobody knows of.
func (p *Pool) make(ctx context.Context, spec Spec, group string, old *record) (*record, error) {
	rec := &record{Engine: "git-ftl-" + spec.Name + "-" + nonce(4), Group: group, Fit: fitOf(spec), Created: p.Now()}
	if old != nil {
		rec.Hold = old.Hold
		if err := p.discard(ctx, old); err != nil {
			return nil, err
		}
	}
	if err := p.write(spec.Name, rec); err != nil {
		return nil, err
	}
	if err := makeExport(p.export(spec.Name)); err != nil {
		return nil, fmt.Errorf("make export folder: %w", err)
	}
	made := spec
	made.Name = rec.Engine
	made.Labels = map[string]string{}
	maps.Copy(made.Labels, spec.Labels)
	maps.Copy(made.Labels, p.labels())
	made.Labels[labelName] = spec.Name
	id, err := p.Engine.Create(ctx, made)
	if err != nil {
		return nil, err
	}
	rec.ID = id
	if err := p.write(spec.Name, rec); err != nil {
		return nil, errors.Join(err, p.Engine.Remove(context.WithoutCancel(ctx), id))
	}
	return rec, nil
}

// makeExport makes the folders that a sandbox sees. The one for the tunnel's
// socket is nobody else's.
func makeExport(dir string) error {
	for name, mode := range map[string]os.FileMode{"tree": 0o755, "objects": 0o755, "tunnel": 0o700} {
		if err := os.MkdirAll(filepath.Join(dir, name), mode); err != nil {
			return err
		}
	}
	return nil
}

// labels find the sandboxes of this pool.
func (p *Pool) labels() map[string]string {
	return map[string]string{labelOwner: p.Owner, labelDir: p.Dir}
}

// open starts a claimed sandbox and speaks to its guest.
func (p *Pool) open(ctx context.Context, s *Sandbox) (*Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// discard removes a recorded sandbox from the engine, also one that a crash left
// without its id in the record.
func (p *Pool) discard(ctx context.Context, rec *record) error {
	list, err := p.Engine.List(ctx, p.labels())
	if err != nil {
		return err
	}
	for _, info := range list {
		if info.ID == rec.ID || rec.ID == "" && info.Name == rec.Engine {
			if err := p.Engine.Remove(ctx, info.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// live gives the state of every sandbox whose label carries our nonce.
func (p *Pool) live(ctx context.Context) (map[string]State, error) {
	list, err := p.Engine.List(ctx, p.labels())
	if err != nil {
		return nil, err
	}
	live := make(map[string]State, len(list))
	for _, info := range list {
		live[info.ID] = info.State
	}
	return live, nil
}

func (p *Pool) export(name string) string { return filepath.Join(p.Dir, "exports", name) }

// Reclaim claims an existing sandbox by name, whatever its spec and whether or
// not it holds work, and changes nothing in it; it speaks to the guest that the
// sandbox was made with. The errors are ErrBusy and ErrGone.
func (p *Pool) Reclaim(ctx context.Context, name string) (*Sandbox, error) {
	rec, unlock, err := p.claim(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("reclaim sandbox %s: %w", name, err)
	}
	spec := Spec{Name: name, Guest: Binary{Version: rec.Fit.Guest}, Export: rec.Fit.Export}
	sb, err := p.open(ctx, &Sandbox{pool: p, name: name, rec: *rec, spec: spec, warm: true})
	if err != nil {
		unlock()
		return nil, err
	}
	sb.unlock = unlock
	return sb, nil
}

// claim locks an existing sandbox and checks that it is ours.
func (p *Pool) claim(ctx context.Context, name string) (rec *record, unlock func(), err error) {
	unlock, err = p.lock(name)
	if err != nil {
		return nil, nil, err
	}
	if unlock == nil {
		return nil, nil, ErrBusy
	}
	rec, err = p.read(name)
	if err == nil && rec == nil {
		err = ErrGone
	}
	if err == nil {
		err = p.mine(ctx, rec)
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return rec, unlock, nil
}

// mine gives ErrGone unless the engine has the recorded sandbox under our nonce.
func (p *Pool) mine(ctx context.Context, rec *record) error {
	live, err := p.live(ctx)
	if err != nil {
		return err
	}
	if state, ok := live[rec.ID]; !ok || state == Gone {
		return ErrGone
	}
	return nil
}

// nonce gives n random bytes in hex.
func nonce(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: the runtime aborts instead
	return hex.EncodeToString(b)
}
