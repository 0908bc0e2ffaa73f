package linear

import (
	"time"

	"golang.org/x/sys/unix"
)

// used is the processor's time that this thread has had. That of getrusage would
// come in steps of some milliseconds.
func used() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
