package guest

import (
	"context"
	"errors"
	"sync"
	"time"
)

const endTime = 20 * time.Second // for killed runs to send what they wrote

var errInUse = errors.New("the workspace is being reset or compared")

// gate lets either runs or one change of the workspace pass, and leaves no
// process of the agent alive between them. The network is up for runs only: from
// before the first one starts until after all of the agent is dead.
type gate struct {
	kill func(context.Context) error
	up   func() error
	down func()

	mu        sync.Mutex
	runs      int
	exclusive bool
	ending    bool // the last run's processes are being killed
}

// enter starts a run. It waits while the last one's leftovers die.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		exclusive, ending := g.exclusive, g.ending
		err := errInUse
		if !exclusive && !ending {
			err = g.begin()
		}
		g.mu.Unlock()
		if exclusive || !ending {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// begin counts a run; g.mu is held.
func (g *gate) begin() error {
	if g.runs == 0 {
		if err := g.up(); err != nil {
			return err
		}
	}
	g.runs++
	return nil
}

// leave ends a run; the last one takes all that is left with it.
func (g *gate) leave() error {
	g.mu.Lock()
	last := g.runs == 1
	if last {
		g.ending = true
	} else {
		g.runs--
	}
	g.mu.Unlock()
	if !last {
		return nil
	}
	// A host that is gone does not let the agent live.
	err := g.kill(context.Background())
	g.down()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs--
	g.ending = false
	return err
}

// alone kills all runs and holds the gate until the returned function is
// called.
func (g *gate) alone(ctx context.Context) (leave func(), err error) {
	g.mu.Lock()
	busy := g.exclusive
	g.exclusive = true
	g.mu.Unlock()
	if busy {
		return nil, errInUse
	}
	leave = func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.exclusive = false
	}
	if err := g.quiet(ctx); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

func (g *gate) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	for {
		if err := g.kill(ctx); err != nil {
			return err
		}
		g.mu.Lock()
		quiet := g.runs == 0
		g.mu.Unlock()
		if quiet {
			return nil
		}
		if err := pause(ctx); err != nil {
			return errors.Join(errors.New("a run does not end"), err)
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * time.Millisecond):
		return nil
	}
}
