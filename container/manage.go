package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// List gives every recorded sandbox.
func (p *Pool) List(ctx context.Context) ([]Info, error) {
	live, err := p.live(ctx)
	if err != nil {
		return nil, err
	}
	list, err := p.Recorded()
	for i := range list {
		if list[i].State = live[list[i].ID]; list[i].State == "" {
			list[i].State = Gone
		}
	}
	return list, err
}

// Stop lets a sandbox sleep: its files stay. The errors are ErrBusy where a task
// uses it, and ErrGone.
func (p *Pool) Stop(ctx context.Context, name string) error {
	rec, unlock, err := p.claim(ctx, name)
	if err != nil {
		return fmt.Errorf("stop sandbox %s: %w", name, err)
	}
	defer unlock()
	_, err = p.Engine.Stop(ctx, rec.ID)
	return err
}

// Remove deletes a sandbox with its record, its export and all that is in it.
// The errors are ErrBusy where a task uses it, ErrHeld where it holds work that
// is stored nowhere else, and ErrGone where there is no record.
func (p *Pool) Remove(ctx context.Context, name string) error {
	return p.remove(ctx, name, false)
}

// Discard is Remove for a sandbox that may hold work, which is lost.
func (p *Pool) Discard(ctx context.Context, name string) error {
	return p.remove(ctx, name, true)
}

func (p *Pool) remove(ctx context.Context, name string, held bool) error {
	unlock, err := p.lock(name)
	if err == nil && unlock == nil {
		err = ErrBusy
	}
	if err != nil {
		return fmt.Errorf("remove sandbox %s: %w", name, err)
	}
	defer unlock()
	rec, err := p.read(name)
	if err == nil && rec == nil {
		err = ErrGone
	}
	if err != nil {
		return fmt.Errorf("remove sandbox %s: %w", name, err)
	}
	// Where the engine lost it, there is no work left to lose.
	if rec.Hold != "" && !held && !errors.Is(p.mine(ctx, rec), ErrGone) {
		return fmt.Errorf("remove sandbox %s: %w of task %s", name, ErrHeld, rec.Hold)
	}
	if err := p.discard(ctx, rec); err != nil {
		return err
	}
	return errors.Join(p.forget(name), os.RemoveAll(p.export(name)))
}

// Sweep removes what is left in the engine of this installation's sandboxes whose
// state folder is gone or does not know them, and gives their names there. It
// looks at the sandboxes of all state folders.
func (p *Pool) Sweep(ctx context.Context) ([]string, error) {
	list, err := p.Orphans(ctx)
	if err != nil {
		return nil, err
	}
	var swept []string
	for _, info := range list {
		if err := p.Engine.Remove(ctx, info.ID); err != nil {
			return swept, err
		}
		swept = append(swept, info.Name)
	}
	return swept, nil
}

// known tells whether a record names the sandbox, also one that is being made.
// What cannot be told is known.
func (p *Pool) known(info Info) bool {
	home := &Pool{Dir: info.Labels[labelDir]}
	if !filepath.IsAbs(home.Dir) {
		return true
	}
	if !exists(home.Dir) {
		return false
	}
	rec, err := home.read(info.Labels[labelName])
	return err != nil || rec != nil && (rec.ID == info.ID || rec.Engine == info.Name)
}
