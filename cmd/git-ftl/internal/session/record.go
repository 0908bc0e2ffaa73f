package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
)

// Status of a task.
const (
	Running     = "running"
	Pending     = "pending"     // it has a result to decide on
	Empty       = "empty"       // the agent changed nothing
	Failed      = "failed"      // the agent or the sandbox failed; what it changed is stored
	Interrupted = "interrupted" // stopped by a person, or its git-ftl died
	Timeout     = "timeout"     // stopped at the time bound
	Budget      = "budget"      // stopped at the cost bound
)

// Outcome is the record of one task and the object that --json prints. Its keys
// are a contract.
type Outcome struct {
	ID        string             `json:"id"`
	Task      string             `json:"task"`
	Mends     bool               `json:"mends,omitempty"` // the task is what failed of the tests: their words, no person's
	Agent     string             `json:"agent"`
	Model     string             `json:"model"`
	Status    string             `json:"status"`
	Snapshot  string             `json:"snapshot"` // commit
	Result    *string            `json:"result"`   // commit, null where nothing changed
	Ref       string             `json:"ref"`
	Files     []File             `json:"files"`
	Findings  []lint.Finding     `json:"findings"`
	Blocked   bool               `json:"blocked"`
	LeftOut   []snapshot.LeftOut `json:"left_out"`
	Tests     Tests              `json:"tests"`
	Review    *Review            `json:"review"` // null where nobody reviewed this result
	AgentExit int                `json:"agent_exit"`
	Usage     agent.Usage        `json:"usage"` // of this turn; the cost of a conversation where its agent counts so
	Egress    Egress             `json:"egress"`
	Stages    []Stage            `json:"stages"`
	Warm      bool               `json:"warm"`

	Turn  int      `json:"turn"`            // counts the task and its follow-ups, from 1
	Turns []Turn   `json:"turns,omitempty"` // those before this one, which it goes on from
	Argv  []string `json:"argv,omitempty"`  // of a command as the agent
	Start string   `json:"start"`           // commit that the workspace started from: the snapshot, or a result on it

	Session  string            `json:"session,omitempty"`  // the conversation, by the agent's own id
	Folder   string            `json:"folder,omitempty"`   // of the workspace, where the agent started
	Image    string            `json:"image,omitempty"`    // by content
	Versions map[string]string `json:"versions,omitempty"` // of the agents that the image got

	Error    string `json:"error,omitempty"` // why the task failed, one sentence
	Fault    string `json:"fault,omitempty"` // of the agent's model: auth, busy, budget, other, or missing
	State    string `json:"state"`           // of the result: undecided, applied …; "" without one
	Kept     bool   `json:"kept"`            // its change was refused, and the sandbox keeps it
	WorkTree string `json:"work_tree"`       // key of the work tree it belongs to
	Branch   string `json:"branch"`          // where it started, "" for a detached HEAD
	Head     string `json:"head"`            // commit where it started, "" if unborn
	Dirty    int    `json:"dirty"`           // paths that differed from HEAD then
	Sandbox  string `json:"sandbox"`

	LFSPointers int      `json:"lfs_pointers"`       // files that the agent sees as LFS pointers
	Shadowed    bool     `json:"shadowed"`           // the agent sees left-out env files with shadow values
	Revealed    []string `json:"revealed,omitempty"` // secrets that the user printed once
	Named       []string `json:"named"`              // tracked files that look like credentials, said once

	Created time.Time `json:"created"`
	Started time.Time `json:"started,omitzero"` // of the agent
	Ended   time.Time `json:"ended,omitzero"`
	Dropped []Dropped `json:"dropped"` // litter that is not part of the change
	Reset   Reset     `json:"reset"`
}

// File is one path of a change.
type File struct {
	Path       string `json:"path"`
	Change     string `json:"change"` // added, modified, deleted or type
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
}

func changed(files []patch.FileStat) []File {
	all := make([]File, len(files))
	for i, f := range files {
		all[i] = File{f.Path, string(f.Change), f.Insertions, f.Deletions}
	}
	return all
}

// Egress sums up what left the sandbox.
type Egress struct {
	Allowed int      `json:"allowed"`
	Denied  []string `json:"denied"`
	Swapped []string `json:"swapped"`

	Denials map[string]int `json:"denials,omitempty"` // how often, by host

	// By host, the command that lets it pass; none where no command does.
	Hints map[string]string `json:"hints,omitempty"`

	Sent []Sent `json:"sent,omitempty"` // what a reviewer should know of, of all turns
}

// Stage is one step of the pipeline and its time.
type Stage struct {
	Name   string  `json:"name"`
	Millis float64 `json:"ms"`
}

// Reset says what it took to make the workspace equal to the snapshot.
type Reset struct {
	Files   int     `json:"files"`
	Written int     `json:"written"`
	Removed int     `json:"removed"`
	Millis  float64 `json:"ms"`
}

// Dropped is something new in the workspace that is not part of the change.
type Dropped struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Why   string `json:"why"`
}

func newOutcome(id string) Outcome {
	return Outcome{
		ID: id, Turn: 1, Status: Running, Ref: resultRef(id),
		Files: []File{}, Findings: []lint.Finding{}, LeftOut: []snapshot.LeftOut{}, Named: []string{}, Stages: []Stage{}, Dropped: []Dropped{},
		Egress: Egress{Denied: []string{}, Swapped: []string{}},
	}
}

func resultRef(id string) string { return "refs/ftl/results/" + id }

// Insertions and Deletions are the lines of the whole change.
func (o Outcome) Insertions() (n int) {
	for _, f := range o.Files {
		n += f.Insertions
	}
	return n
}

// Deletions counts removed lines.
func (o Outcome) Deletions() (n int) {
	for _, f := range o.Files {
		n += f.Deletions
	}
	return n
}

// save writes down what a task knows of itself. Which of its tests an apply kept is
// no affair of its own.
func (s *Session) save(ctx context.Context, o Outcome) error {
	unlock, err := s.lockRecords(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if now, err := s.Task(o.ID); err == nil {
		o.Tests.Kept = now.Tests.Kept
	}
	return s.writeRecord(o)
}

// revise changes the record of a task as it is by now, and returns it. Errors: those
// of Task and of change.
func (s *Session) revise(ctx context.Context, id string, change func(*Outcome) error) (Outcome, error) {
	unlock, err := s.lockRecords(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer unlock()
	o, err := s.Task(id)
	if err == nil {
		err = change(&o)
	}
	if err == nil {
		err = s.writeRecord(o)
	}
	return o, err
}

// lockRecords keeps others from writing between a look at a record and its change: a
// task writes its own while a person decides on its result. It is held for moments,
// and what was done is written down even where a person wants to wait no more.
func (s *Session) lockRecords(ctx context.Context) (unlock func(), err error) {
	return s.Repo.Lock(context.WithoutCancel(ctx), "records")
}

func (s *Session) writeRecord(o Outcome) error {
	data, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return s.Repo.WriteState("tasks/"+o.ID+".json", append(data, '\n'))
}

// Task reads the record of a task by its full ID; errors.Is(err,
// fs.ErrNotExist) where there is none.
func (s *Session) Task(id string) (Outcome, error) {
	var o Outcome
	data, err := s.Repo.ReadState("tasks/" + id + ".json")
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("read record of %s: %w", id, err)
	}
	return o, nil
}

// Tasks lists the records of all tasks, newest first. A record that cannot be
// read is left out.
func (s *Session) Tasks() ([]Outcome, error) {
	ids, err := s.ids("tasks")
	if err != nil {
		return nil, err
	}
	var all []Outcome
	for _, id := range ids {
		if o, err := s.Task(id); err == nil {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b Outcome) int { return b.Created.Compare(a.Created) })
	return all, nil
}

// ids lists the files of a state folder without their ending.
func (s *Session) ids(folder string) ([]string, error) {
	entries, err := os.ReadDir(s.Repo.Path(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if id := strings.TrimSuffix(e.Name(), ".json"); !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
