package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// verdict is a value with a rule of its own.
type verdict struct {
	Safe  bool     `json:"safe"`
	Level string   `json:"level"`
	Lines []int    `json:"lines"`
	Notes []string `json:"notes"`
}

func (v *verdict) Check() error {
	if v.Safe && len(v.Lines) > 0 {
		return errors.New("safe, and yet it has lines")
	}
	return nil
}

func verdictSchema() *Schema {
	return &Schema{Type: "object", Properties: map[string]*Schema{
		"safe":  {Type: "boolean"},
		"level": {Type: "string", Enum: []string{"low", "high"}},
		"lines": {Type: "array", Max: 2, Items: &Schema{Type: "integer"}},
		"notes": {Type: "array", Items: &Schema{Type: "string", Max: 5, Description: "a word"}},
	}}
}

const goodVerdict = `{"safe":true,"level":"low","lines":[],"notes":["a"]}`

func TestJSON(t *testing.T) {
	good, bad := turn{Pieces: []string{goodVerdict[:10], goodVerdict[10:]}}, turn{Pieces: []string{"I cannot say."}}
	for _, row := range []struct {
		name  string
		turns []turn
		kind  Kind
		why   string
		asked int
	}{
		{name: "good", turns: []turn{good}, asked: 1},
		{name: "in a fence", turns: []turn{{Pieces: []string{"Here:\n```json\n", goodVerdict, "\n```\n"}}}, asked: 1},
		{name: "after thoughts", turns: []turn{{Pieces: []string{"<think>{maybe}</think>\n", goodVerdict}}}, asked: 1},
		{name: "words, then good", turns: []turn{bad, good}, asked: 2},
		{name: "broken off, then good", turns: []turn{{Pieces: []string{goodVerdict[:20]}, Cut: true}, good}, asked: 2},
		{name: "words twice", turns: []turn{bad}, kind: Malformed, why: "holds no JSON", asked: 2},
		{name: "a wrong word, twice", turns: []turn{{Pieces: []string{`{"safe":true,"level":"\u001b","lines":[],"notes":[]}`}}}, kind: Malformed, why: "level is none of low, high", asked: 2},
		{name: "against its own rule, then good", turns: []turn{{Pieces: []string{`{"safe":true,"level":"low","lines":[1],"notes":["a"]}`}}, good}, asked: 2},
		{name: "schemas are not known there", turns: []turn{{Status: 400, Fault: "unknown field"}, good}, asked: 2},
		{name: "no question is taken", turns: []turn{{Status: 400, Fault: "go away"}}, kind: Rejected, why: "go away", asked: 2},
		{name: "no such model", turns: []turn{{Status: 404}}, kind: NoModel, asked: 1},
		{name: "down", turns: []turn{{Status: 500, Header: soon()}}, kind: Unavailable, asked: 3},
	} {
		for _, spec := range specs() {
			t.Run(row.name+"/"+spec, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, row.turns...)
				var got verdict
				r, err := w.open(t, spec, nil).JSON(t.Context(), Prompt{System: "judge", User: "this"}, verdictSchema(), &got)
				mustFail(t, err, row.kind, row.why)
				if diff := cmp.Diff(verdict{true, "low", []int{}, []string{"a"}}, got); row.kind == "" && diff != "" {
					t.Error(diff)
				}
				if n := len(w.Asked()); n != row.asked {
					t.Errorf("asked %d times, want %d", n, row.asked)
				}
				if answers := r.Usage.Output / 100; err == nil && answers > 1 && answers != row.asked {
					t.Errorf("usage %+v of %d questions", r.Usage, row.asked)
				}
			})
		}
	}
}

// TestSecondQuestion: what is told the second time, and what it costs.
func TestSecondQuestion(t *testing.T) {
	for _, spec := range specs() {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, turn{Pieces: []string{"no"}}, turn{Status: 400}, turn{Pieces: []string{goodVerdict}})
			var got verdict
			c := w.open(t, spec, nil)
			r, err := c.JSON(t.Context(), Prompt{User: "this"}, verdictSchema(), &got)
			mustFail(t, err, Rejected, "400")
			if r.Usage.Input != 1000 {
				t.Errorf("usage %+v", r.Usage)
			}
			format := map[string]string{"anthropic": "output_config", "openai": "response_format"}[strings.SplitN(spec, "/", 2)[0]]
			asked := w.Asked()
			if asked[0].Body[format] == nil || asked[1].Body[format] == nil || !strings.Contains(asked[1].User, "no JSON object") {
				t.Errorf("asked %s\n%s", asked[0].Raw, asked[1].Raw)
			}
			w.Turns = []turn{{}, {}, {Status: 400}, {Pieces: []string{goodVerdict}}}
			if _, err := c.JSON(t.Context(), Prompt{User: "this"}, verdictSchema(), &got); err != nil {
				t.Error(err)
			}
			last := w.Asked()[3]
			if last.Body[format] != nil || !strings.Contains(last.System, `"additionalProperties": false`) {
				t.Errorf("asked %s", last.Raw)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	for _, row := range []struct{ name, text, err string }{
		{"good", goodVerdict, ""},
		{"empty", "", "holds no JSON"},
		{"array", "[1]", "holds no JSON"},
		{"two", goodVerdict + goodVerdict, "more than one"},
		{"cut", goodVerdict[:30] + "}", "is no JSON"},
		{"missing", `{"safe":true,"level":"low","lines":[]}`, `has no "notes"`},
		{"too many", `{"safe":true,"level":"low","lines":[],"notes":[],"x":1}`, `"x" too many`},
		{"other case", `{"Safe":true,"level":"low","lines":[],"notes":[]}`, `has no "safe"`},
		{"null", `{"safe":null,"level":"low","lines":[],"notes":[]}`, "safe is no boolean"},
		{"number for a word", `{"safe":true,"level":1,"lines":[],"notes":[]}`, "level is no string"},
		{"fraction", `{"safe":true,"level":"low","lines":[1.5],"notes":[]}`, "lines[0] is no integer"},
		{"huge", `{"safe":true,"level":"low","lines":[1e99],"notes":[]}`, "lines[0] is no integer"},
		{"many items", `{"safe":false,"level":"low","lines":[1,2,3],"notes":[]}`, "3 items, more than 2"},
		{"long word", `{"safe":true,"level":"low","lines":[],"notes":["abcdef"]}`, "notes[0] has 6 bytes, more than 5"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var v verdict
			err := verdictSchema().decode(row.text, &v)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("got %v, want %q", err, row.err)
			}
		})
	}
}

// FuzzDecode: no answer panics, what is taken keeps every bound of the schema, and
// what is said of another can be shown.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{goodVerdict, "```json\n" + goodVerdict, `{"safe":true}`, "{}", `{"a":{"b":[{}]}}`, `{"safe":1e999}`, "<think>", "}{", `{"\u0000":"\ud800"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v verdict
		if err := verdictSchema().decode(text, &v); err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("%d bytes of error", len(err.Error()))
			}
			return
		}
		if v.Level != "low" && v.Level != "high" || len(v.Lines) > 2 || v.Lines == nil || v.Notes == nil {
			t.Errorf("took %+v", v)
		}
		for _, n := range v.Notes {
			if len(n) > 15 { // 5 bytes, each of them at worst a replacement character
				t.Errorf("took %q", n)
			}
		}
		if _, err := json.Marshal(v); err != nil {
			t.Error(err)
		}
	})
}

// FuzzSaid: whatever a server says, it can be shown and quotes no key.
func FuzzSaid(f *testing.F) {
	f.Add("bad key: 0123456789abcdef0123", "0123456789abcdef0123")
	f.Add("\x1b]0;x\a\u202e", "short")
	f.Fuzz(func(t *testing.T, text, key string) {
		c := clientWithKey(key)
		said := c.said(text)
		if len(key) >= keyPiece && strings.Contains(said, key) && !strings.Contains("[a text that quotes the key is not shown]", key) {
			t.Errorf("%q quotes %q", said, key)
		}
		if said != escape.Text(said) || len(said) > 200*10 {
			t.Errorf("%q is not to be shown", said)
		}
		if got := fmt.Sprintf("%v %+v", c, c); len(key) >= keyPiece && strings.Contains(got, key) {
			t.Errorf("%q shows the key", got)
		}
	})
}
