//go:build !linux

package linear

import "time"

// used is the clock's time: no other is the thread's own everywhere.
func used() time.Duration { return time.Duration(time.Now().UnixNano()) }
