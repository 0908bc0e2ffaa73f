package linear

import (
	"fmt"
	"testing"
)

// verdict is a test that only remembers whether it failed.
type verdict struct {
	testing.TB
	failed bool
}

func (v *verdict) Errorf(string, ...any) { v.failed = true }

func (v *verdict) Logf(string, ...any) {}

func (v *verdict) Helper() {}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name  string
		steps func(n int) int
		fails bool
	}{
		{"linear", func(n int) int { return 10 * n }, false},
		{"logarithm beside", func(n int) int { return n * len(fmt.Sprintf("%b", n)) }, false},
		{"square", func(n int) int { return n * n / 8192 }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := &verdict{TB: t}
			sum := 0
			Check(v, func(size int) func() {
				return func() {
					for i := range test.steps(size) {
						sum = sum*31 + i
					}
				}
			})
			if v.failed != test.fails {
				t.Errorf("failed: %v (%d)", v.failed, sum)
			}
		})
	}
}
