package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// Ring keeps short texts for the user, as the keyring of a system does. A call
// may take as long as a person takes to answer a prompt.
type Ring interface {
	Set(service, account, text string) error
	Get(service, account string) (string, error)
	Delete(service, account string) error
}

// Errors of a keyring.
var (
	ErrNoBus     = errors.New("there is no session bus, and so no keyring")
	ErrNoService = errors.New("no keyring answers on the session bus")
	ErrLocked    = errors.New("the keyring is locked")
	ErrTimeout   = errors.New("the keyring does not answer in time; is a prompt open?")
	ErrAbsent    = errors.New("the keyring has no key for this vault")
)

// System is the keyring of the operating system.
func System() Ring { return system{} }

// Quiet is System for who may not ask a person: where a prompt would be shown, it
// is locked.
func Quiet() Ring { return quiet{} }

type quiet struct{ system }

// Get implements Ring.
func (q quiet) Get(service, account string) (string, error) {
	if sealed() {
		return "", ErrLocked
	}
	return q.system.Get(service, account)
}

type system struct{}

// Set implements Ring.
func (system) Set(service, account, text string) error {
	return reached(func() error { return keyring.Set(service, account, text) })
}

// Get implements Ring.
func (system) Get(service, account string) (string, error) {
	var text string
	err := reached(func() (err error) {
		text, err = keyring.Get(service, account)
		return err
	})
	return text, err
}

// Delete implements Ring.
func (system) Delete(service, account string) error {
	return reached(func() error { return keyring.Delete(service, account) })
}

// reached calls the library where it has a keyring to talk to, and adds to its
// errors what they mean. What has no kind of its own came from a service that
// was asked and did not open: a prompt that was dismissed or could not be shown.
func reached(call func() error) error {
	if err := reachable(); err != nil {
		return err
	}
	err := call()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrAbsent
	case errors.Is(err, keyring.ErrUnsupportedPlatform), unanswered(err):
		return fmt.Errorf("%w: %w", ErrNoService, err)
	}
	return fmt.Errorf("%w: %w", ErrLocked, err)
}

// timed is a ring whose calls end.
type timed struct {
	Ring
	limit time.Duration
}

func (o Options) ring() timed {
	r := timed{o.Ring, o.Timeout}
	if r.Ring == nil {
		r.Ring = none{}
	}
	if r.limit == 0 {
		r.limit = 30 * time.Second
	}
	return r
}

// Probe asks whether the keyring of o could keep a key: nil, or its error. It
// writes nothing.
func Probe(ctx context.Context, o Options) error {
	_, err := o.ring().get(ctx, "probe")
	if errors.Is(err, ErrAbsent) {
		return nil
	}
	return err
}

func (r timed) set(ctx context.Context, account, text string) error {
	_, err := r.within(ctx, func() (string, error) { return "", r.Ring.Set(service, account, text) })
	return err
}

func (r timed) get(ctx context.Context, account string) (string, error) {
	return r.within(ctx, func() (string, error) { return r.Ring.Get(service, account) })
}

// within gives up on a call at its deadline. The call itself cannot be ended, as
// the library waits for the prompt without one: its goroutine goes with the
// process.
func (r timed) within(ctx context.Context, call func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := call()
		done <- answer{text, err}
	}()
	limit := time.NewTimer(r.limit)
	defer limit.Stop()
	select {
	case a := <-done:
		return a.text, a.err
	case <-limit.C:
		return "", ErrTimeout
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// none is the keyring of a caller that gave none.
type none struct{}

// Set implements Ring.
func (none) Set(_, _, _ string) error { return ErrNoService }

// Get implements Ring.
func (none) Get(_, _ string) (string, error) { return "", ErrNoService }

// Delete implements Ring.
func (none) Delete(_, _ string) error { return ErrNoService }
