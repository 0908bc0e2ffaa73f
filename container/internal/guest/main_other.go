//go:build !linux

package guest

import (
	"fmt"
	"os"
)

// Main says that it needs Linux and returns 1.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "guest: runs on Linux only")
	return 1
}
