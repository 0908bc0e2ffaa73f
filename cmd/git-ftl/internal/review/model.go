package review

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review/syntax"
)

// Widths from which there is room for more, in columns.
const (
	listFrom   = 100 // the list of files beside the change
	splitFrom  = 120 // old and new side by side
	bothFrom   = 160 // both
	numberFrom = 60  // numbers of lines
)

// gutter is what stands before each row: the cursor, the mark of its hunk.
const gutter = 3

// model is the screen. Its methods run in one goroutine.
type model struct {
	Review
	ctx     context.Context // of what goes on in the background
	running sync.WaitGroup
	send    func(tea.Msg) // to Update, from anywhere
	keeps   chan Decisions
	outcome Outcome

	hunks     []hunk
	doc       document
	theme     *theme
	keys      map[string]func(*model) tea.Cmd
	languages syntax.Highlighter
	coloured  map[chunk]colours
	colouring bool // a chunk is on its way

	width, height int
	method        ansi.Method
	cur, top      int  // rows: of the cursor, the first on the screen
	shift         int  // columns that code is moved to the left
	split         bool // as wanted, where there is room
	listing       bool // the keys move in the list of files
	query         query
	message       string  // instead of the status, until the next key
	prompt        *prompt // nil where nothing is asked
	page          *page   // nil where none is open
	answer        *answer // the newest, nil where there is none
}

func newModel(r Review) *model {
	m := &model{
		Review: r, ctx: context.Background(), keeps: make(chan Decisions, 1), send: func(tea.Msg) {},
		theme: newTheme(colorprofile.Unknown, false, false), coloured: map[chunk]colours{},
		width: 80, height: 24, method: ansi.WcWidth, message: r.Note,
	}
	m.Decisions = r.Decisions.clone()
	m.keys = map[string]func(*model) tea.Cmd{}
	for _, b := range bindings() {
		for _, k := range b.keys {
			m.keys[k] = b.do
		}
	}
	m.hunks = hunksOf(r.Change.Files, m.Decisions.Split)
	m.lay()
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.RequestBackgroundColor }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.lay()
	case tea.ColorProfileMsg:
		m.theme = newTheme(msg.Profile, m.theme.known, m.theme.dark)
	case tea.BackgroundColorMsg:
		m.theme = newTheme(m.theme.profile, true, msg.IsDark())
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore && (msg.Value.IsSet() || msg.Value.IsReset()) {
			m.method = ansi.GraphemeWidth // as the renderer measures from here on
			m.lay()
		}
	case tea.PasteMsg:
		if m.prompt != nil {
			m.prompt.insert(msg.Content)
		}
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case colouredMsg:
		m.coloured[msg.chunk], m.colouring = msg.colours, false
	case answerMsg:
		m.hear(msg)
	}
	m.colour()
	return m, cmd
}

// press does what a key means where it is pressed.
func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	if m.prompt != nil {
		return m.answers(key)
	}
	m.message = ""
	name := key.String()
	if m.page != nil && m.turn(name) {
		return nil
	}
	if m.listing && m.choose(name) {
		return nil
	}
	if do := m.keys[name]; do != nil {
		return do(m)
	}
	if name == "esc" {
		m.query = ""
	} else {
		m.message = "no key " + name + "; ? lists them"
	}
	return nil
}

// background runs f beside the screen, which Run waits for.
func (m *model) background(f func()) { m.running.Go(f) }

// lay makes the rows anew, with the cursor where it was.
func (m *model) lay() {
	was := row{file: -1, hunk: -1}
	if m.cur < len(m.doc.rows) {
		was = m.doc.rows[m.cur]
	}
	m.doc = layOut(m.Change, m.hunks, &m.Decisions, shape{m.mainWidth(), m.sideBySide(), m.method})
	m.cur = m.doc.find(was)
	m.follow()
}

// find is the row that shows what another did, in rows that were laid out
// otherwise: the same lines, the hunk, or the file.
func (d *document) find(was row) int {
	switch {
	case was.hunk >= 0 && was.hunk < len(d.hunks):
		at := d.hunks[was.hunk]
		if was.kind != codeRow {
			return at
		}
		for i := at; i < len(d.rows) && d.rows[i].hunk == was.hunk; i++ {
			if r := d.rows[i]; r.kind == codeRow && max(r.left, r.right) >= max(was.left, was.right) {
				return i
			}
		}
		return at
	case was.file >= 0 && was.file+1 < len(d.files):
		return d.files[was.file+1]
	}
	return 0
}

// sideBySide reports whether old and new stand beside each other.
func (m *model) sideBySide() bool { return m.split && m.width >= splitFrom }

// listWidth is the width of the list of files, 0 where it has no place of its own.
func (m *model) listWidth() int {
	if m.width < listFrom || m.sideBySide() && m.width < bothFrom {
		return 0
	}
	return min(max(m.width/4, 26), 44)
}

func (m *model) mainWidth() int {
	if list := m.listWidth(); list > 0 {
		return m.width - list - 1
	}
	return m.width
}

// body is how many rows there are for the change.
func (m *model) body() int {
	rows := max(m.height-2, 1)
	if m.page != nil && m.page.answer {
		return max(rows-m.pageHeight(), 0)
	}
	return rows
}

// follow moves the screen to the cursor.
func (m *model) follow() {
	rows := m.body()
	m.cur = min(max(m.cur, 0), len(m.doc.rows)-1)
	margin := min(2, (rows-1)/2)
	m.top = min(m.top, m.cur-margin)
	m.top = max(m.top, m.cur-rows+1+margin)
	m.top = max(min(m.top, len(m.doc.rows)-rows), 0)
}

// changed keeps what was decided just now.
func (m *model) changed() {
	select {
	case <-m.keeps: // it was not written yet
	default:
	}
	m.keeps <- m.Decisions.clone()
}
