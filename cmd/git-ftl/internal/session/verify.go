package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-ftl/git-ftl/patch"
)

// verify has tests and a reviewer look at the result, which is stored by now and
// told first. Nothing depends on them: what goes wrong is a note, and nobody waits
// for them with the sandbox of the agent.
func (r *run) verify(ctx context.Context) {
	var parts []func(context.Context) func()
	if r.out.Result != nil && !r.interrupted() {
		if r.tests != nil && r.out.Tests.Of != *r.out.Result {
			parts = append(parts, r.test)
		}
		if r.wantsReview() {
			parts = append(parts, r.review)
		}
	}
	if len(parts) == 0 {
		return
	}
	r.tell(Event{Kind: EventResult, Outcome: &r.out})
	if r.box != nil {
		_ = r.box.Release()
	}
	ends := make(chan func())
	for _, part := range parts {
		go func() { ends <- part(ctx) }()
	}
	for range parts {
		(<-ends)() // what is there first is told first
	}
}

// test has the tests run on the result, and gives what is to be done with what they
// say.
func (r *run) test(ctx context.Context) (keep func()) {
	start := r.Now()
	tests, err := r.testResult(r.soft)
	return func() {
		switch {
		case r.interrupted():
			tests.Status, tests.Detail = TestsSkipped, stopped
		case err != nil:
			tests.Status, tests.Detail = TestsSkipped, firstLine(err.Error())
		}
		if tests.Status == TestsSkipped {
			r.note("tests: " + tests.Detail)
		} else {
			e := Event{Stage: "tests", Result: tests.Detail}
			if tests.Writer != nil && !r.task.mends {
				e.Cost = tests.Writer.Usage.Cost
			}
			r.stageOf(e, start)
		}
		if err := r.keepTests(tests); err != nil {
			r.note(fmt.Sprintf("the tests of %s could not be kept: %v", r.out.ID, err))
		}
		r.amend(ctx, "verdict of the tests", tests.Of, tests.into)
	}
}

// keepTests keeps the written tests, for the user and for later turns.
func (r *run) keepTests(t Tests) error {
	select {
	case <-r.tests.written:
	default:
		return nil // nobody waits for a model that is still at it
	}
	if len(r.tests.files) == 0 {
		return nil
	}
	w := Written{Of: r.out.Snapshot, Files: r.tests.files}
	for _, v := range t.Written {
		if v.Status == TestsInvalid && !slices.Contains(w.Invalid, v.Path) {
			w.Invalid = append(w.Invalid, v.Path)
		}
	}
	return r.keepWritten(r.out.ID, w)
}

// untested is what a record says of tests that did not run: why, where they are
// wanted at all.
func (r *run) untested(why string) Tests {
	switch {
	case r.task.NoTests:
		why = notWanted
	case !r.wantsTests():
		why = noTester
	}
	return Tests{Status: TestsSkipped, Detail: why}
}

// forgetVerdicts is for a result that is another one: what was said of the one
// before is not true of it.
func (r *run) forgetVerdicts(ctx context.Context, result patch.Result) {
	kept := r.out.Tests.Kept
	r.out.Findings, r.out.Blocked = r.out.Egress.findings(), false
	r.out.Review, r.out.Tests = nil, r.untested(unfinished)
	r.out.Tests.Kept, r.out.Tests.Touched = kept, r.touched(ctx, result)
}

// amend adds what is known of a result by now to the record as it is by now:
// findings may have been accepted since the task ended.
func (r *run) amend(ctx context.Context, what, of string, change func(*Outcome)) {
	change(&r.out)
	now, err := r.revise(ctx, r.out.ID, func(now *Outcome) error {
		if now.Result == nil || *now.Result != of {
			return errors.New("the result is another one by now")
		}
		change(now)
		now.Stages = r.out.Stages
		return nil
	})
	if err == nil {
		err = r.annotate(ctx, now)
	}
	if err != nil {
		r.note(fmt.Sprintf("the %s of %s could not be kept: %v", what, r.out.ID, err))
	}
}
