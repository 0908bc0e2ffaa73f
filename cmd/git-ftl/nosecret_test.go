package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestNoSecretInside: promise 2. An agent uses secrets of every kind with four
// clients at servers that demand the real values and send them back in every
// encoding; no place that the agent, its patch or a reader of records can look
// into holds one of them. Each place also holds a value that was planted there and
// is found in every encoding.
func TestNoSecretInside(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: secrets in a sandbox (-short)")
	}
	needEngine(t)
	w := newSecretWorld(t)
	w.keep()
	forms := w.canaryText()
	run := w.start("exec", "--events", "--", "sh", "agent.sh", forms)
	run.until("planted")
	box := w.box()
	w.plantInside(box, forms)
	w.lookInside("while it runs", box)
	w.root(box, "", "touch /tmp/looked")
	run.end()
	w.plantInside(box, forms)
	w.lookInside("after it", box)
	w.lookOutside(box, forms, run)

	if all := w.refused(); len(all) > 0 {
		t.Errorf("not every client got through with every real value:\n%s\n%s", strings.Join(all, "\n"), w.unusual(run))
	}
	if all := w.sweep.hits(canaryName); len(all) > 0 {
		t.Errorf("real values are in\n%s", strings.Join(all, "\n"))
	}
	if all := w.sweep.missing(canaryName, w.canary, slices.Concat(whileItRuns(), afterIt(), outside())); len(all) > 0 {
		t.Errorf("what was planted is not found in\n%s", strings.Join(all, "\n"))
	}
}

// canaryName is of the value that nobody keeps, and that is planted everywhere.
const canaryName = "the planted one"

// whileItRuns are the places of a sandbox in which an agent works.
func whileItRuns() []string {
	var all []string
	for _, place := range []string{"/workspace", "/home", "/tmp", "/var", "/dev", "/.ftl", "/etc", "/root", "environments", "command lines", "deleted files"} {
		all = append(all, "while it runs: "+place)
	}
	return all
}

// afterIt are those that are left.
func afterIt() []string {
	return []string{"after it: /workspace", "after it: /home", "after it: /tmp", "after it: /var", "after it: /dev", "after it: /.ftl", "after it: /etc", "after it: /root"}
}

// secretWorld is a user with secrets, a repository, and servers that demand them.
type secretWorld struct {
	t       *testing.T
	began   time.Time
	home    string
	repo    string
	env     []string
	kept    []keptSecret
	canary  string
	image   string
	bin     string // git-ftl
	sweep   *sweep
	network *internet

	mu  sync.Mutex
	got map[string]string // by name and client: what was wrong, "" for nothing
}

func newSecretWorld(t *testing.T) *secretWorld {
	t.Helper()
	image, err := clients()
	if err != nil {
		t.Fatal(err)
	}
	// A margin for the clock of an engine elsewhere, less than an image takes to build.
	w := &secretWorld{t: t, began: time.Now().Add(-2 * time.Second), kept: keptSecrets(t), canary: "Canary" + randomText(t, 24), sweep: newSweep(), got: map[string]string{}}
	w.home, w.repo, w.image = t.TempDir(), t.TempDir(), image
	w.network = newInternet(t)
	t.Cleanup(w.network.close)
	w.network.serve(w.demand, "*.upstream.example")
	roots := filepath.Join(w.home, "roots.pem")
	w.check(w.network.ca.write(roots))
	bin := t.TempDir()
	self, err := os.Executable()
	w.check(err)
	w.bin = filepath.Join(bin, "git-ftl")
	w.check(os.Symlink(self, w.bin))
	w.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+w.home, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1",
		"DBUS_SESSION_BUS_ADDRESS="+keyringBus(), "FTL_MASTER_KEY="+strings.Repeat("0123456789abcdef", 4), "FTL_IMAGE="+image,
		"SSL_CERT_FILE="+roots, "HTTPS_PROXY="+w.network.proxy("", false))
	w.write(filepath.Join(w.home, ".gitconfig"), gitConfig)
	for _, k := range w.kept {
		w.sweep.want(k.name, k.value)
	}
	w.sweep.want(canaryName, w.canary)
	w.makeRepo()
	t.Cleanup(func() { w.git("ftl", "sandbox", "rm", "--all", "--force") })
	return w
}

func (w *secretWorld) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *secretWorld) write(file, text string) {
	w.t.Helper()
	w.check(os.MkdirAll(filepath.Dir(file), 0o755))
	w.check(os.WriteFile(file, []byte(text), 0o644))
}

// git runs it in the repository, and gives what it said on stdout.
func (w *secretWorld) git(args ...string) []byte {
	w.t.Helper()
	return w.gitWith("", args...)
}

func (w *secretWorld) gitWith(stdin string, args ...string) []byte {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.repo, w.env, strings.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args[:min(3, len(args))], err, errs.Bytes())
	}
	return out
}

func (w *secretWorld) docker(stdin string, args ...string) []byte {
	w.t.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), "DOCKER_BUILDKIT=0"), strings.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("docker %s: %v\n%s%.300s", args[0], err, errs.Bytes(), out)
	}
	return out
}

// makeRepo is a repository with the agent's programs, and what they are to send.
func (w *secretWorld) makeRepo() {
	w.git("init", "-q")
	type row struct {
		Name  string `json:"name"`
		URL   string `json:"url"`
		Place string `json:"place"`
	}
	var plan []row
	for _, k := range w.kept {
		plan = append(plan, row{k.name, "https://" + k.host() + "/index/" + k.name, k.place})
	}
	text, err := json.Marshal(plan)
	w.check(err)
	w.write(filepath.Join(w.repo, "plan.json"), string(text))
	for _, name := range []string{"agent.sh", "curl.sh", "client.py", "client.mjs"} {
		data, err := os.ReadFile(filepath.Join("testdata", "agent", name))
		w.check(err)
		w.write(filepath.Join(w.repo, name), string(data))
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(w.repo, "gocall"), "./testdata/agent/client")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	w.write(filepath.Join(w.repo, "canary.txt"), w.canaryText())
	w.git("add", ".")
	w.git("commit", "-qm", "first")
}

// canaryText is the planted value in every encoding that an argument can have, a
// word each.
func (w *secretWorld) canaryText() string {
	var words []string
	for _, f := range plantable(w.canary) {
		words = append(words, string(f.text))
	}
	return strings.Join(words, " ")
}

// host is the server that demands a secret.
func (k keptSecret) host() string {
	return strings.ToLower(strings.ReplaceAll(k.name, "_", "-")) + ".upstream.example"
}

// bindPlace is the place as a binding has it.
func (k keptSecret) bindPlace() string {
	if strings.HasPrefix(k.place, "basic-") {
		return "auth"
	}
	return k.place
}

// keep puts each secret where its user has it, and binds those that no tool binds.
func (w *secretWorld) keep() {
	w.git("ftl", "auth", "init", "--store", "env")
	files := map[source]string{}
	for _, k := range w.kept {
		at := "https://" + k.host()
		switch k.from {
		case inVault:
			w.gitWith(k.value+"\n", "ftl", "auth", "set", k.name)
		case inHost:
			w.git("config", "--add", "ftl.secrets", k.name)
			w.env = append(w.env, k.name+"="+k.value)
		case inEnv, inNested:
			quote := map[bool]string{true: `"`, false: "'"}[strings.Contains(k.value, "\n")]
			files[k.from] += k.name + "=" + quote + k.value + quote + "\n"
		case inNpmrc:
			files[k.from] = "registry=" + at + "/\n//" + k.host() + "/:_authToken=" + k.value + "\n"
		case inNetrc:
			files[k.from] = "machine " + k.host() + " login bob password " + k.value + "\n"
			files[inPip] += "extra-index-url = " + at + "/index/simple\n"
		case inPip:
			files[k.from] = "[global]\nindex-url = " + strings.Replace(at, "://", "://bob:"+k.value+"@", 1) + "/index/simple\n" + files[k.from]
		case inCargo:
			files[".cargo/config.toml"] = "[registries.acme]\nindex = \"sparse+" + at + "/index/\"\n"
			files[k.from] = "[registries.acme]\ntoken = \"" + k.value + "\"\n"
		}
		if !strings.HasPrefix(k.name, "TOOL_") {
			w.git("ftl", "auth", "bind", k.name, "--host", k.host(), "--in", k.bindPlace())
		}
	}
	for name, text := range files {
		dir := w.home
		if name == inEnv || name == inNested {
			dir = w.repo
		}
		w.write(filepath.Join(dir, string(name)), text)
	}
}
