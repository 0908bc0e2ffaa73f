// Package linear lets a test hold that work grows in proportion to its input, on
// a busy machine too: it counts the processor's time and not the clock's.
package linear

import (
	"runtime"
	"testing"
	"time"
)

// The larger input is so many times as long. Work in proportion takes 16 times as
// long, work that grows with the square 256 times; the bound is between them.
const (
	factor = 16
	bound  = 64
	looks  = 5 // one that nothing disturbs is enough
)

// Check fails a test whose work is not in proportion to its size. prepare makes an
// input of about so many bytes and returns the work on it.
func Check(t testing.TB, prepare func(size int) (work func())) {
	t.Helper()
	size := 32 << 10
	if testing.Short() {
		size >>= 3
	}
	small, large := time.Hour, time.Hour
	for range looks {
		for range 3 {
			small = min(small, spent(prepare(size)))
		}
		large = min(large, spent(prepare(factor*size)))
		if large < bound*small {
			t.Logf("%d ns a byte", large.Nanoseconds()/int64(factor*size))
			return
		}
	}
	t.Errorf("%v for %d bytes, %v for %d times as many", small, size, large, factor)
}

// spent is what work takes, 1 µs at least.
func spent(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := used()
	work()
	return max(used()-start, time.Microsecond)
}
