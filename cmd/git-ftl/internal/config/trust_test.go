package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
)

func brought(file, include string) trust.Content {
	var c trust.Content
	if file != "" {
		c.Files = append(c.Files, trust.File{Name: ".ftlconfig", Data: []byte(file)})
	}
	if include != "" {
		c.Files = append(c.Files, trust.File{Name: ".ftlinclude", Data: []byte(include)})
	}
	return c
}

// TestTrusted: what counts of the same content without trust and with it.
func TestTrusted(t *testing.T) {
	agent := map[string]config.Agent{"x": {Command: "cmd"}}
	for _, tc := range []struct {
		name, file, include string
		env                 string
		asks                []string // keys
		probe               func(*config.Config) any
		untrusted, trusted  any
		note                string // in both
	}{
		{name: "image", file: `{"image": "i"}`, asks: []string{"image"}, probe: func(c *config.Config) any { return c.Image }, untrusted: "", trusted: "i"},
		{name: "in other case", file: `{"IMAGE": "i"}`, asks: []string{"image"}, probe: func(c *config.Config) any { return c.Image }, untrusted: "", trusted: "i"},
		{name: "with underscores", file: `{"setup_when": ["a", "b"]}`, asks: []string{"setupWhen"}, probe: func(c *config.Config) any { return strings.Join(c.SetupWhen, " ") }, untrusted: strings.Join(config.Default().SetupWhen, " "), trusted: "a b"},
		{name: "the user's own wins", file: `{"image": "i"}`, env: "FTL_IMAGE=mine", asks: []string{"image"}, probe: func(c *config.Config) any { return c.Image }, untrusted: "mine", trusted: "mine"},
		{name: "a limit raised", file: `{"memory": "64g"}`, asks: []string{"memory"}, probe: func(c *config.Config) any { return c.Memory }, untrusted: int64(0), trusted: int64(64 << 30)},
		{name: "no limit at all", file: `{"timeout": "0"}`, asks: []string{"timeout"}, probe: func(c *config.Config) any { return c.Timeout }, untrusted: time.Hour, trusted: time.Duration(0)},
		{name: "a limit lowered", file: `{"timeout": "1m"}`, probe: func(c *config.Config) any { return c.Timeout }, untrusted: time.Minute, trusted: time.Minute},
		{name: "an agent", file: `{"agents": {"x": {"command": "cmd"}}}`, asks: []string{"agents.x.command"}, probe: func(c *config.Config) any { return cmp.Equal(c.Agents, agent) }, untrusted: false, trusted: true},
		{name: "an agent, flat", file: `{"Agents.x.command": "cmd"}`, asks: []string{"agents.x.command"}, probe: func(c *config.Config) any { return cmp.Equal(c.Agents, agent) }, untrusted: false, trusted: true},
		{name: "the choice of an own agent", file: `{"agent": "x"}`, asks: []string{"agent"}, probe: func(c *config.Config) any { return c.Agent }, untrusted: "", trusted: "x"},
		{name: "include is the user's own", file: `{"include": true}`, probe: func(c *config.Config) any { return c.Include }, untrusted: false, trusted: false, note: "include is yours alone to set"},
		{name: "history is the user's own", file: `{"history": 3}`, note: "history is yours alone to set"},
		{name: "of a later version", file: `{"otlp_endpoint": "http://e"}`, asks: []string{"otlpEndpoint"}},
		{name: "of no version", file: `{"frobnicate": [1, {"a": 2}]}`, asks: []string{"frobnicate"}},
		{name: "a bad value", file: `{"image": "i", "retention": "never"}`, asks: []string{"image", "retention"}, probe: func(c *config.Config) any { return c.Retention }, untrusted: config.Default().Retention, trusted: config.Default().Retention},
		{name: "null is nothing", file: `{"image": null, "agents": {"x": {"command": null}}}`, probe: func(c *config.Config) any { return c.Image }, untrusted: "", trusted: ""},
		{name: "a list where one value belongs", file: `{"image": ["a", "b"]}`, probe: func(c *config.Config) any { return c.Image }, untrusted: "", trusted: "", note: "image: a list is no value of it"},
		{name: "an object where a value belongs", file: `{"keep": {"a": 1}}`, probe: func(c *config.Config) any { return len(c.Keep) }, untrusted: len(config.Default().Keep), trusted: len(config.Default().Keep), note: "keep: an object is no value of it"},
		{name: "a command that is a list", file: `{"agents": {"x": {"command": ["sh", "-c", "evil"]}}}`, probe: func(c *config.Config) any { return len(c.Agents) }, untrusted: 0, trusted: 0, note: "a list is no value of it"},
		{name: "lines of .ftlinclude", include: "# why\n\n*.log\r\n!x\n", asks: []string{""}, probe: func(c *config.Config) any { return c.Lines }, untrusted: "", trusted: "# why\n\n*.log\r\n!x\n"},
		{name: "the user takes every .ftlinclude", include: "*.log\n", env: "FTL_INCLUDE=true", probe: func(c *config.Config) any { return c.Lines }, untrusted: "", trusted: ""},
		{name: "an .ftlinclude that says nothing", include: "# *.log\n \n", probe: func(c *config.Config) any { return c.Lines }, untrusted: "", trusted: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo, env := setup(t, "", nil)
			src := config.Source{Env: append(env, tc.env), Content: brought(tc.file, tc.include)}
			for _, want := range []any{tc.untrusted, tc.trusted} {
				c, err := config.Load(t.Context(), repo, src)
				if err != nil {
					t.Fatal(err)
				}
				if tc.probe != nil && tc.probe(c) != want {
					t.Errorf("trusted %v: %v, want %v", src.Trusted, tc.probe(c), want)
				}
				asks, trusted := c.Asks()
				var names []string
				for _, a := range asks {
					names = append(names, a.Key)
				}
				if diff := cmp.Diff(tc.asks, names); diff != "" || trusted != src.Trusted {
					t.Errorf("trusted %v: asks %s", trusted, diff)
				}
				if notes := strings.Join(c.Notes(), "\n"); strings.Contains(notes, "git ftl trust") != (len(tc.asks) > 0 && !src.Trusted) || !strings.Contains(notes, tc.note) {
					t.Errorf("trusted %v: notes %q", src.Trusted, notes)
				}
				src.Trusted = true
			}
		})
	}
}

// TestAmbiguousFile: a file that readers could understand in two ways counts for
// nothing, and cannot be trusted.
func TestAmbiguousFile(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"a name twice", `{"image": "a", "image": "b"}`, "image is there twice"},
		{"in another case", `{"image": "a", "Image": "b"}`, "image is there twice"},
		{"in a letter that folds to it", `{"setup": "a", "ſetup": "b"}`, "setup is there twice"},
		{"with an underscore", `{"max_file": 1, "maxFile": 2}`, "maxFile is there twice"},
		{"escaped", `{"image": "a", "im\u0061ge": "b"}`, "image is there twice"},
		{"an agent twice", `{"agents": {"x": {"command": "a"}, "x": {"command": "b"}}}`, "agents.x.command is there twice"},
		{"a command twice", `{"agents": {"x": {"command": "a", "command": "b"}}}`, "agents.x.command is there twice"},
		{"an agent in two forms", `{"agents": {"x": {"command": "a"}}, "agents.x.command": "b"}`, "agents.x.command is there twice"},
		{"an agent by its dots", `{"agents": {"x": {"y.command": "a"}, "x.y": {"command": "b"}}}`, "agents.x.y.command is there twice"},
		{"two objects", `{"image": "a"}{"image": "b"}`, "something follows the object"},
		{"words behind", `{"image": "a"} x`, "something follows the object"},
		{"cut off", `{"image": "a"`, "not a JSON object"},
		{"a list", `[{"image": "a"}]`, "not a JSON object"},
		{"null", `null`, "not a JSON object"},
		{"nothing", "", ""},
		{"deep", strings.Repeat(`{"a":`, 100000) + "1" + strings.Repeat("}", 100000), "nested too deep"},
		{"deep lists", `{"keep": ` + strings.Repeat("[", 100000), "nested too deep"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo, env := setup(t, "", nil)
			content := brought(tc.file, "")
			c, err := config.Load(t.Context(), repo, config.Source{Env: env, Content: content, Trusted: true})
			if err != nil {
				t.Fatal(err)
			}
			if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes, tc.want) {
				t.Errorf("notes: %q", notes)
			}
			if asks, _ := c.Asks(); c.Image != "" || c.Setup != "" || len(c.Agents) > 0 || len(asks) > 0 || c.MaxFile != config.Default().MaxFile {
				t.Errorf("it counts: %+v", c)
			}
			if err := config.Check(content); (err == nil) != (tc.want == "") {
				t.Errorf("check: %v", err)
			}
		})
	}
}

func TestCheckRefused(t *testing.T) {
	for _, name := range []string{".ftlconfig", ".ftlinclude"} {
		err := config.Check(trust.Content{Refused: map[string]string{name: "it is a link"}})
		if err == nil || err.Error() != name+" cannot be trusted: it is a link" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name          string
		before, after trust.Content
		want          []config.Difference
	}{
		{"the same", brought(`{"image": "a"}`, "x\n"), brought(`{"image": "a"}`, "x\n"), nil},
		{"a value, one more and one less", brought(`{"image": "a", "test": "t"}`, ""), brought(`{"image": "b", "keep": []}`, ""), []config.Difference{
			{File: ".ftlconfig", Key: "image", Old: []string{"a"}, New: []string{"b"}},
			{File: ".ftlconfig", Key: "keep", New: []string{}},
			{File: ".ftlconfig", Key: "test", Old: []string{"t"}},
		}},
		{"a list that only joins alike", brought(`{"keep": ["a b"]}`, ""), brought(`{"keep": ["a", "b"]}`, ""), []config.Difference{
			{File: ".ftlconfig", Key: "keep", Old: []string{"a b"}, New: []string{"a", "b"}},
		}},
		{"a command", brought(`{"agents": {"x": {"command": "a"}}}`, ""), brought(`{"agents": {"x": {"command": "b"}}}`, ""), []config.Difference{
			{File: ".ftlconfig", Key: "agents.x.command", Old: []string{"a"}, New: []string{"b"}},
		}},
		{"only its form", brought(`{"image": "a"}`, "a\nb\n"), brought(`{ "Image": "a" }`, "b\na\n"), []config.Difference{{File: ".ftlconfig"}, {File: ".ftlinclude"}}},
		{"lines", brought("", "a\nb\nb\n"), brought("", "b\nc\n"), []config.Difference{
			{File: ".ftlinclude", Old: []string{"a"}}, {File: ".ftlinclude", Old: []string{"b"}}, {File: ".ftlinclude", New: []string{"c"}},
		}},
		{"a file gone, another new", brought(`{"image": "a"}`, ""), brought("", "x\n"), []config.Difference{
			{File: ".ftlconfig", Key: "image", Old: []string{"a"}}, {File: ".ftlinclude", New: []string{"x"}},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, config.Compare(tc.before, tc.after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNeedsTrustNote: one note names what needs trust and what changed.
func TestNeedsTrustNote(t *testing.T) {
	before := brought(`{"image": "a", "test": "old"}`, "")
	many := `{"k01":1,"k02":1,"k03":1,"k04":1,"k05":1,"k06":1,"k07":1,"k08":1,"k09":1,"k10":1}`
	for _, tc := range []struct {
		name string
		src  config.Source
		want []string
	}{
		{"one key", config.Source{Content: brought(`{"image": "a"}`, "")}, []string{".ftlconfig: image needs trust: git ftl trust"}},
		{"two keys and lines", config.Source{Content: brought(`{"memory": "64g", "image": "a"}`, "*.log\n")}, []string{".ftlconfig: image, memory need trust; .ftlinclude needs trust: git ftl trust"}},
		{"lines alone", config.Source{Content: brought("", "*.log\n")}, []string{".ftlinclude needs trust: git ftl trust"}},
		{"many keys", config.Source{Content: brought(many, "")}, []string{".ftlconfig: k01, k02, k03, k04, k05, k06, k07, k08, 2 more need trust: git ftl trust"}},
		{"a long key", config.Source{Content: brought(`{"`+strings.Repeat("k", 100000)+`": 1}`, "")}, []string{".ftlconfig: " + strings.Repeat("k", 59) + "… needs trust: git ftl trust"}},
		{"a harmless key changed", config.Source{Content: brought(`{"image": "a", "test": "new"}`, ""), Before: &before}, []string{".ftlconfig: image needs trust: git ftl trust (changed since you trusted it: test)"}},
		{"nothing left that needs it", config.Source{Content: brought(`{"test": "new"}`, ""), Before: &before}, nil},
		{"another digest", config.Source{Content: brought(`{"image": "a"}`, ""), Other: true}, []string{".ftlconfig: image needs trust: git ftl trust (FTL_TRUST is the digest of other content)"}},
		{"trusted", config.Source{Content: before, Trusted: true}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo, env := setup(t, "", nil)
			tc.src.Env = env
			c, err := config.Load(t.Context(), repo, tc.src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, c.Notes()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSettingsSayTrust: origin and trust of each value.
func TestSettingsSayTrust(t *testing.T) {
	repo, env := setup(t, "[ftl]\n\tmemory = 3g\n", nil)
	content := brought(`{"image": "i", "memory": "64g", "test": "t", "agents": {"x": {"command": "c"}}}`, "")
	for _, tc := range []struct {
		trusted bool
		want    map[string]config.Setting
	}{
		{false, map[string]config.Setting{
			"image":            {Name: "image", Origin: "built-in", Trust: "missing", Asked: []string{"i"}},
			"memory":           {Name: "memory", Value: "3 GiB", Origin: "file", Trust: "missing", Asked: []string{"64g"}},
			"test":             {Name: "test", Value: "t", Origin: ".ftlconfig", Trust: "not needed"},
			"cpus":             {Name: "cpus", Value: "0", Origin: "built-in"},
			"agents.x.command": {Name: "agents.x.command", Origin: "built-in", Trust: "missing", Asked: []string{"c"}},
		}},
		{true, map[string]config.Setting{
			"image":            {Name: "image", Value: "i", Origin: ".ftlconfig", Trust: "given"},
			"memory":           {Name: "memory", Value: "3 GiB", Origin: "file"},
			"test":             {Name: "test", Value: "t", Origin: ".ftlconfig", Trust: "not needed"},
			"cpus":             {Name: "cpus", Value: "0", Origin: "built-in"},
			"agents.x.command": {Name: "agents.x.command", Value: "c", Origin: ".ftlconfig", Trust: "given"},
		}},
	} {
		c, err := config.Load(t.Context(), repo, config.Source{Env: env, Content: content, Trusted: tc.trusted})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]config.Setting{}
		for _, s := range c.Settings() {
			if _, ok := tc.want[s.Name]; ok {
				s.Origin, _, _ = strings.Cut(s.Origin, ":") // the path of the user's file
				got[s.Name] = s
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("trusted %v: %s", tc.trusted, diff)
		}
	}
}
