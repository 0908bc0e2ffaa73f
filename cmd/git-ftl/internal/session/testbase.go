package session

import (
	"cmp"
	"context"
	"sync"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/testrun"
	"github.com/git-ftl/git-ftl/snapshot"
)

// baseline is what there is to know of tests before a change: the tests, and what
// they say of the tree as it was. It comes about beside the agent, once for all
// attempts at a task and for the turns that mend what fails.
type baseline struct {
	task *run // the one that began it; nothing of it is changed
	of   snapshot.Snapshot

	found chan struct{} // closed when own is there
	own   string        // the project's command, "" for none

	written chan struct{} // closed when the rest of this group is there
	files   []testrun.File
	runs    []testrun.Run
	why     string      // nothing new was written, "" where something was or nobody wanted it
	writer  *chat.Reply // nil where no model was asked

	over   chan struct{} // closed when before is there
	before said
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	boxes map[*testbox]bool // in which something runs, on either side
}

// said is what the tests say of one tree.
type said struct {
	own     testrun.Report
	written []testrun.Report // one for each run
	fault   string           // of the setup command
	err     error            // of the sandbox or the context
}

// beginTests has tests written and run on the tree as it was, beside the agent.
func (r *run) beginTests(ctx context.Context) {
	if !r.wantsTests() {
		return
	}
	shared := r.task.Beside
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.base == nil || shared.base.of.Commit != r.snap.Commit {
		shared.base.end()
		shared.base = r.newBaseline(ctx)
	}
	r.tests = shared.base
}

// wantsTests reports whether tests have a say on this task.
func (r *run) wantsTests() bool {
	return !r.task.NoTests && (r.task.again || r.Config.Tester != "" || r.Config.Test != "")
}

func (r *run) newBaseline(ctx context.Context) *baseline {
	b := &baseline{
		task: r.besides(), of: r.snap, boxes: map[*testbox]bool{},
		found: make(chan struct{}), written: make(chan struct{}), over: make(chan struct{}),
	}
	ctx, b.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	go func() { // until end
		defer close(b.over)
		b.own = b.task.ownCommand(ctx) // which may have to look at the whole tree
		close(b.found)
		var writing sync.WaitGroup
		writing.Go(func() {
			defer close(b.written)
			b.write(ctx)
		})
		b.before = b.on(ctx, b.task, b.of)
		writing.Wait()
	}()
	return b
}

// besides is a task as it is when its agent begins, for what goes on beside it.
func (r *run) besides() *run {
	return &run{
		Session: r.Session, task: r.task, from: r.from, snap: r.snap, start: r.start, startTree: r.startTree, image: r.image, log: r.log, secret: r.secret,
		out: Outcome{ID: r.out.ID, Task: r.out.Task, Mends: r.out.Mends, Turns: r.out.Turns},
	}
}

// end stops what goes on, and waits for it; nil is done.
func (b *baseline) end() {
	if b == nil {
		return
	}
	b.cancel(errInterrupted)
	<-b.over
}

// on runs the tests on a tree: the project's own at once, the others when they are
// written.
func (b *baseline) on(ctx context.Context, r *run, at snapshot.Snapshot) (s said) {
	box, err := r.openTestbox(ctx, at)
	if err != nil {
		return said{err: err}
	}
	b.enter(box)
	defer b.leave(box)
	s.fault = box.fault
	<-b.found
	if b.own != "" {
		if s.own, s.err = box.own(ctx, b.own); s.err != nil {
			return s
		}
	}
	select {
	case <-b.written:
	case <-ctx.Done():
		s.err = context.Cause(ctx)
		return s
	}
	for _, t := range b.runs {
		report, err := box.written(ctx, t)
		if err != nil {
			s.err = err
			return s
		}
		s.written = append(s.written, report)
	}
	return s
}

func (b *baseline) enter(box *testbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.boxes[box] = true
}

func (b *baseline) leave(box *testbox) {
	b.mu.Lock()
	delete(b.boxes, box)
	b.mu.Unlock()
	box.close()
}

// kill ends what the tests of a task run; false where there is nothing.
func (b *baseline) kill(ctx context.Context, id string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	killed := false
	for box := range b.boxes {
		killed = box.out.ID == id && box.box.Kill(ctx) == nil || killed
	}
	return killed
}

// idle reports that there is nothing to run, once that is known.
func (b *baseline) idle() bool {
	select {
	case <-b.written:
		return b.own == "" && len(b.runs) == 0
	default:
		return false
	}
}

// testResult runs the tests on the result as well, and compares. With an error the
// verdict says only what it would have been of.
func (r *run) testResult(ctx context.Context) (Tests, error) {
	b := r.tests
	t := Tests{Of: *r.out.Result, Touched: r.out.Tests.Touched}
	after := said{}
	if !b.idle() {
		at := r.snap
		result, err := r.Queue.Find(ctx, r.out.ID)
		if err != nil {
			return t, err
		}
		at.Commit, at.Tree = result.Commit, result.Tree
		after = b.on(ctx, r.besides(), at)
	}
	select {
	case <-b.over:
	case <-ctx.Done():
		return t, context.Cause(ctx)
	}
	t.Writer = cmp.Or(b.writer, r.out.Tests.Writer)
	if err := cmp.Or(after.err, b.before.err); err != nil {
		return t, err
	}
	for i, run := range b.runs {
		t.Written = append(t.Written, verdictsOf(testrun.Compare(run.Path, b.before.written[i], after.written[i]))...)
	}
	if b.own != "" {
		t.Own = ownOf(b.own, b.before.own, after.own)
	}
	t.sum(b.why)
	if fault := cmp.Or(after.fault, b.before.fault); fault != "" {
		t.Detail += "; " + fault
	}
	return t, nil
}
