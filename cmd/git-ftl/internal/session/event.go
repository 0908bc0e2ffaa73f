package session

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/transcript"
)

// Kinds of events.
const (
	EventBegin  = "begin"  // the snapshot is taken
	EventStage  = "stage"  // a stage has ended
	EventOutput = "output" // the agent, or what prepares its sandbox, printed a line
	EventText   = "text"   // the agent said something
	EventTool   = "tool"   // the agent uses a tool
	EventRetry  = "retry"  // the agent asks its model once more
	EventLog    = "log"    // the agent printed a line beside its events
	EventNote   = "note"   // something that the user should know
	EventResult = "result" // the result is stored, and tests or a review of it follow
	EventEnd    = "end"    // the task is over

	EventToolEnd = "tool_end" // a tool gave something back
)

// Event is one thing that happened in a task: a line of its transcript and of
// --events. Text is escaped: it can be shown as it is. Its keys are a contract.
type Event struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"event"`
	ID      string    `json:"id,omitempty"`     // of the task, "" where it is about none
	Stream  string    `json:"stream,omitempty"` // of output and log: stdout or stderr
	Text    string    `json:"text,omitempty"`   // of output and log, a line without its end; of text, with its lines; what a tool is used on; of a note
	Tool    string    `json:"tool,omitempty"`   // bash, edit, read, search, fetch, or its own name
	Stage   string    `json:"stage,omitempty"`
	Result  string    `json:"result,omitempty"`   // of a stage, "" where there is nothing to say; of tool_end: ok, failed or stopped
	Millis  float64   `json:"ms,omitempty"`       // that a stage took
	Cost    float64   `json:"cost_usd,omitempty"` // of the stage of an agent that knows
	Outcome *Outcome  `json:"outcome,omitempty"`
	Failure *Failure  `json:"failure,omitempty"` // of the end, where the command failed
}

// Failure is an error as a person is told of it.
type Failure struct {
	Code    int      `json:"code"` // exit code
	Error   string   `json:"error"`
	Details []string `json:"details,omitempty"`
	Hints   []string `json:"hints,omitempty"`
}

// Reporter is told what happens. It is safe for concurrent use: the sandbox
// boots beside the snapshot, and attempts run beside each other.
type Reporter interface{ Event(Event) }

// note tells of something outside a task's own course.
func (s *Session) note(text string) {
	s.Report.Event(Event{Time: s.Now(), Kind: EventNote, Text: text})
}

// tell passes an event on, and keeps it.
func (r *run) tell(e Event) {
	e.Time, e.ID = r.Now(), r.out.ID
	if r.log != nil {
		if line, err := json.Marshal(e); err == nil {
			r.log.Append(line)
		}
	}
	r.Report.Event(e)
}

func (r *run) note(text string) { r.tell(Event{Kind: EventNote, Text: text}) }

// output returns where a command's streams go. end passes on what they left
// without a newline.
func (r *run) output() (stdout, stderr io.Writer, end func()) {
	line := func(stream string) *Lines {
		return NewLines(func(text string) { r.tell(Event{Kind: EventOutput, Stream: stream, Text: r.secret.scrub(text)}) })
	}
	a, b := line("stdout"), line("stderr")
	return a, b, func() {
		a.Flush()
		b.Flush()
	}
}

// Lines is a writer that parts a stream into lines, escaped. It is safe for
// concurrent use.
type Lines struct {
	show func(text string)

	mu  sync.Mutex
	buf []byte
}

// NewLines passes each line to show, without its end. Flush passes on what has
// none yet.
func NewLines(show func(text string)) *Lines { return &Lines{show: show} }

// maxLine is where a line without an end is broken, in bytes.
const maxLine = 4096

// Write implements io.Writer. It never fails: a closed terminal must not end the
// agent.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			i = len(p)
		}
		l.buf = append(l.buf, p[:i]...)
		for len(l.buf) > maxLine {
			l.line(l.buf[:maxLine])
			l.buf = append(l.buf[:0], l.buf[maxLine:]...)
		}
		if i == len(p) {
			break
		}
		l.line(l.buf)
		l.buf, p = l.buf[:0], p[i+1:]
	}
	return n, nil
}

// Flush ends a last line that has no end.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buf) > 0 {
		l.line(l.buf)
		l.buf = l.buf[:0]
	}
}

func (l *Lines) line(b []byte) {
	text := string(bytes.TrimSuffix(b, []byte("\r")))
	if i := strings.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:] // a progress bar: what a terminal would show at the end
	}
	l.show(escape.Text(text))
}

// Transcript reads what happened in a task from a turn on, by its full ID. The
// caller closes it.
func (s *Session) Transcript(id string, turn int) *transcript.Reader {
	return transcript.Open(s.Repo.Path("transcripts", id), turn)
}

// LastEvent returns what a running task told last; false where it told nothing.
func (s *Session) LastEvent(id string) (Event, bool) {
	var e Event
	line, err := transcript.Last(s.Repo.Path("transcripts", id))
	return e, err == nil && json.Unmarshal(line, &e) == nil
}
