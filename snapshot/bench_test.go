package snapshot_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/snapshot"
)

// BenchmarkWarm takes turns with "git status" on the same tree and reports the
// ratio of the two, which a loaded machine does not change much.
func BenchmarkWarm(b *testing.B) {
	sizes := []int{1000}
	if os.Getenv("FTL_BENCH_BIG") != "" {
		sizes = append(sizes, 27000, 100000)
	}
	for _, n := range sizes {
		w := benchWorld(b, n)
		pass := 0
		b.Run(fmt.Sprintf("files=%d/unchanged", n), func(b *testing.B) { w.bench(b, func() {}) })
		b.Run(fmt.Sprintf("files=%d/edited", n), func(b *testing.B) {
			w.bench(b, func() { pass++; w.write("d7/f3", fmt.Sprint("edit ", pass)) })
		})
	}
}

func benchWorld(b *testing.B, n int) *world {
	w := newWorld(b)
	w.trace = ""
	w.open()
	for i := range n {
		w.write(fmt.Sprintf("d%d/f%d", i/50, i%50), fmt.Sprint("file ", i))
	}
	w.commitAll("first")
	w.write("untracked", "x")
	w.git("status")
	w.take(snapshot.Options{})
	return w
}

func (w *world) bench(b *testing.B, change func()) {
	var status, take time.Duration
	for b.Loop() {
		change()
		start := time.Now()
		w.git("status", "--porcelain")
		status += time.Since(start)
		start = time.Now()
		if _, err := w.store.Take(context.Background(), snapshot.Options{}); err != nil {
			b.Fatal(err)
		}
		take += time.Since(start)
	}
	b.ReportMetric(float64(take)/float64(status), "x-status")
	b.ReportMetric(float64(take.Milliseconds())/float64(b.N), "ms/take")
}

func BenchmarkExport(b *testing.B) {
	w := benchWorld(b, 1000)
	for i := 0; b.Loop(); i++ {
		w.write("d7/f3", fmt.Sprint("edit ", i))
		snap := w.take(snapshot.Options{})
		start := time.Now()
		if _, err := w.store.Export(context.Background(), snap, "box"); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "ms/export")
	}
}
