package review

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/git-ftl/git-ftl/patch"
)

// BenchmarkFrame moves through a change of 10,000 lines on a large screen, with
// colours, and draws each frame into the cells of a terminal. A frame has 16 ms
// where 60 are drawn in a second; the slowest of all is worst-ms.
func BenchmarkFrame(b *testing.B) {
	large := func(files, lines int) Change {
		c := Change{ID: "pvkq", Task: "a large change"}
		for f := range files {
			path := fmt.Sprintf("pkg/file%03d.go", f)
			var text strings.Builder
			fmt.Fprintf(&text, "@@ -1,%d +1,%d @@ func F()\n", lines/2, lines/2)
			for i := range lines {
				fmt.Fprintf(&text, "%c\tif err := os.WriteFile(path, []byte(\"text %d\"), 0o644); err != nil { // a comment\n", "-+"[i%2], i)
			}
			c.Files = append(c.Files, File{Path: path, Change: patch.Modified, Pieces: []patch.Piece{{Path: path, Change: patch.Modified, Hunk: true, Text: text.String()}}})
		}
		return c
	}
	for _, tc := range []struct {
		name  string
		c     Change
		split bool
		key   tea.KeyPressMsg
	}{
		{"one file, line by line", large(1, 10000), false, tea.KeyPressMsg{Code: 'j', Text: "j"}},
		{"1000 files, by screens", large(1000, 10), false, tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}},
		{"side by side, by screens", large(1, 10000), true, tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}},
	} {
		b.Run(tc.name, func(b *testing.B) { frames(b, tc.c, tc.split, tc.key) })
	}
}

func frames(b *testing.B, c Change, split bool, key tea.KeyPressMsg) {
	const width, height = 200, 50
	m := newModel(Review{Change: c})
	m.split, m.ctx = split, b.Context()
	coloured := make(chan tea.Msg, 1<<16)
	m.send = func(msg tea.Msg) { coloured <- msg }
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.theme = newTheme(colorprofile.TrueColor, true, true)
	canvas := lipgloss.NewCanvas(width, height)
	worst := time.Duration(0)
	for b.Loop() {
		if m.cur == len(m.doc.rows)-1 {
			m.cur = 0
		}
		begin := time.Now()
		m.Update(key)
		for len(coloured) > 0 {
			m.Update(<-coloured)
		}
		canvas.Clear()
		canvas.Compose(lipgloss.NewLayer(m.View().Content))
		worst = max(worst, time.Since(begin))
	}
	b.StopTimer()
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
	m.running.Wait()
}
