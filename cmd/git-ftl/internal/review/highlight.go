package review

import "github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review/syntax"

// Code gets its colours in the background, in chunks as they come to be seen: a
// lexer takes a second for some thousand lines.
const chunkLines = 100

// chunk is a part of a hunk.
type chunk struct {
	hunk string
	n    int
}

// colours are the spans of a chunk's lines, nil where they are on their way.
type colours [][]syntax.Span

// colouredMsg says that a chunk has its colours.
type colouredMsg struct {
	chunk   chunk
	colours colours
}

// spans are those of a line, nil where it has none yet.
func (m *model) spans(h *hunk, line int) []syntax.Span {
	c := m.coloured[chunk{h.key, line / chunkLines}]
	if i := line % chunkLines; i < len(c) {
		return c[i]
	}
	return nil
}

// colour starts what is needed for the rows that are on the screen, one chunk at a
// time: whoever pages on does not wait for the colours of what is gone.
func (m *model) colour() {
	if m.colouring {
		return
	}
	if len(m.coloured) > 64+4*m.height { // twice what a screen can need
		clear(m.coloured)
	}
	for _, r := range m.doc.rows[m.top:min(m.top+m.body(), len(m.doc.rows))] {
		if r.kind != codeRow {
			continue
		}
		for _, line := range sides(r.left, r.right) {
			key := chunk{m.hunks[r.hunk].key, line / chunkLines}
			if _, ok := m.coloured[key]; !ok {
				m.colourChunk(key, &m.hunks[r.hunk])
				return
			}
		}
	}
}

func (m *model) colourChunk(key chunk, h *hunk) {
	m.colouring = true
	lines := h.lines[key.n*chunkLines : min((key.n+1)*chunkLines, len(h.lines))]
	path := h.piece.Path
	m.background(func() {
		c := make(colours, len(lines))
		for _, drop := range []byte{'+', '-'} { // the old file, then the new one
			var texts []string
			var at []int
			for i, l := range lines {
				if l.op != drop && l.op != 0 {
					texts, at = append(texts, l.text), append(at, i)
				}
			}
			for i, spans := range m.languages.Lines(m.ctx, path, texts) {
				c[at[i]] = spans
			}
		}
		m.send(colouredMsg{key, c})
	})
}
