package review

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/git-ftl/git-ftl/patch"
)

// changeOf is a change of files with hunks of lines, which have so many bytes more
// than a usual one.
func changeOf(files, hunks, lines, wider int) Change {
	c := Change{ID: "pvkq", Task: "a large change"}
	for f := range files {
		path := fmt.Sprintf("pkg/file%03d.go", f)
		file := File{Path: path, Change: patch.Modified}
		for h := range hunks {
			var text strings.Builder
			fmt.Fprintf(&text, "@@ -%[1]d,%[2]d +%[1]d,%[2]d @@ func F()\n", 1+2*h*lines, lines/2)
			for i := range lines {
				fmt.Fprintf(&text, "%c\tif err := os.WriteFile(path, []byte(\"text %d\"), 0o644); err != nil { // a comment%s\n",
					"-+"[i%2], f+h+i, strings.Repeat("日本 word", wider/12))
			}
			file.Pieces = append(file.Pieces, patch.Piece{Path: path, Change: patch.Modified, Hunk: true, Text: text.String()})
		}
		c.Files = append(c.Files, file)
		c.Findings = append(c.Findings, Finding{Rule: "rule", Severity: "warn", Path: path, Line: 2, Message: "a message"})
	}
	return c
}

// BenchmarkFrame does what a person does with a change of 10,000 lines on a large
// screen, with colours, and draws each frame into the cells of a terminal: a frame
// has 16 ms where 60 are drawn in a second. What 99 of 100 stay below is p99-ms.
func BenchmarkFrame(b *testing.B) {
	one, many, small, wide := changeOf(1, 1, 10000, 0), changeOf(1000, 1, 10, 0), changeOf(1000, 5, 2, 0), changeOf(10, 1, 1000, 4<<10)
	for _, tc := range []struct {
		name  string
		c     Change
		first []string
		keys  []string
	}{
		{"line by line", one, nil, []string{"j"}},
		{"by screens", one, nil, []string{"space"}},
		{"1000 files, by screens", many, nil, []string{"space"}},
		{"5000 hunks, from one to the next", small, nil, []string{"]"}},
		{"5000 hunks, marks", small, nil, []string{"]", "y"}},
		{"side by side, by screens", one, []string{"v"}, []string{"space"}},
		{"side by side, there and back", many, nil, []string{"v"}},
		{"from end to end", one, nil, []string{"G", "g"}},
		{"files, in their list", many, []string{"tab"}, []string{"j"}},
		{"search, from match to match", one, []string{"/", "'text 9", "enter"}, []string{"n"}},
		{"search, without a match", one, []string{"/", "'nowhere", "enter"}, []string{"n"}},
		{"search, and on by screens", many, []string{"/", "'err", "enter"}, []string{"space"}},
		{"comment", one, []string{"]", "j"}, []string{"j", "c", "'x", "enter"}},
		{"lines of 4 KB, by screens", wide, nil, []string{"space"}},
		{"lines of 4 KB, their ends", wide, slices.Repeat([]string{"l"}, 300), []string{"space"}},
		{"lines of 4 KB, search", wide, []string{"/", "'word", "enter"}, []string{"n", "space"}},
	} {
		b.Run(tc.name, func(b *testing.B) { frames(b, tc.c, tc.first, tc.keys) })
	}
}

func frames(b *testing.B, c Change, first, keys []string) {
	const width, height = 200, 50
	m := newModel(Review{Change: c})
	m.ctx = b.Context()
	coloured := make(chan tea.Msg, 1<<16)
	m.send = func(msg tea.Msg) { coloured <- msg }
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.theme = newTheme(colorprofile.TrueColor, true, true)
	for _, key := range presses(b, first) {
		m.Update(key)
	}
	canvas := lipgloss.NewCanvas(width, height)
	var t times
	all := presses(b, keys)
	for b.Loop() {
		for _, key := range all {
			if m.cur == len(m.doc.rows)-1 && key.Code != 'g' {
				m.cur = 0
			}
			t.take(func() {
				m.Update(key)
				for len(coloured) > 0 {
					m.Update(<-coloured)
				}
				canvas.Clear()
				canvas.Compose(lipgloss.NewLayer(m.View().Content))
			})
		}
	}
	b.StopTimer()
	t.report(b)
	m.running.Wait()
}

// times are what frames took: of a processor, and until they were there.
type times struct{ work, wall []time.Duration }

func (t *times) take(frame func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin, worked := time.Now(), spent()
	frame()
	t.work, t.wall = append(t.work, spent()-worked), append(t.wall, time.Since(begin))
}

// report prints them in place of what a round of keys takes.
func (t *times) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	for _, of := range []struct {
		all  []time.Duration
		name string
	}{{t.work, "cpu-ms"}, {t.wall, "ms"}} {
		slices.Sort(of.all)
		ms := func(at int) float64 { return float64(of.all[at].Microseconds()) / 1000 }
		b.ReportMetric(ms(len(of.all)/2), "p50-"+of.name)
		b.ReportMetric(ms(len(of.all)*99/100), "p99-"+of.name)
		b.ReportMetric(ms(len(of.all)-1), "worst-"+of.name)
	}
}

// presses are keys in words, as those of a screen under test.
func presses(b *testing.B, keys []string) (all []tea.KeyPressMsg) {
	for _, k := range keys {
		if text, ok := strings.CutPrefix(k, "'"); ok {
			for _, r := range text {
				all = append(all, tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		all = append(all, keyOfName(b, k))
	}
	return all
}

// BenchmarkOpen lays a change of 10,000 lines out and draws the first frame of it.
func BenchmarkOpen(b *testing.B) {
	for _, tc := range []struct {
		name string
		c    Change
	}{
		{"one file", changeOf(1, 1, 10000, 0)}, {"1000 files", changeOf(1000, 1, 10, 0)}, {"5000 hunks", changeOf(1000, 5, 2, 0)},
	} {
		b.Run(tc.name, func(b *testing.B) {
			var t times
			for b.Loop() {
				var m *model
				t.take(func() {
					m = newModel(Review{Change: tc.c})
					m.ctx = b.Context()
					m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
					_ = m.View()
				})
				m.running.Wait()
			}
			t.report(b)
		})
	}
}
