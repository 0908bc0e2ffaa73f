package shadow

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// assignments writes what was read as NAME=value, and "bad N".
func assignments(lines []Line) []string {
	var all []string
	for _, l := range lines {
		if l.Bad() {
			all = append(all, fmt.Sprintf("bad %d", l.Number))
			continue
		}
		all = append(all, l.Name+"="+l.Value.Reveal())
	}
	return all
}

func TestParseEnv(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"plain", "A=1\nB=two\n", []string{"A=1", "B=two"}},
		{"no line end", "A=1", []string{"A=1"}},
		{"nothing", "", nil},
		{"export", "export A=1\n  export  B = 2\n", []string{"A=1", "B=2"}},
		{"CRLF", "A=1\r\nB=\"two\"\r\n", []string{"A=1", "B=two"}},
		{"byte order mark", "\ufeffA=1\n", []string{"A=1"}},
		{"comments", "# A=0\nA=1 # one\n\n   # x\n", []string{"A=1"}},
		{"hash within", "A=abc#def\nB=abc #def\nC='abc #def'\nD= # nothing\n", []string{"A=abc#def", "B=abc", "C=abc #def", "D="}},
		{"colon", "A: value\nB:\nC:x\n", []string{"A=value", "B=", "bad 3"}},
		{"single quotes", `A='a\nb $X \'x'` + "\n", []string{`A=a\nb $X 'x`}},
		{"double quotes", `A="a\nb\t\"x\" \\ \$X"` + "\n", []string{"A=a\nb\t\"x\" \\ $X"}},
		{"octal", `A="\0101\012"` + "\n", []string{"A=A\n"}},
		{"backticks", "A=`a\"b'\\n`\n", []string{"A=a\"b'\\n"}},
		{"several lines", "A=\"one\ntwo\n\"\nB='x\ny' # c\nC=3\n", []string{"A=one\ntwo\n", "B=x\ny", "C=3"}},
		{"PEM without quotes", "A=-----BEGIN X-----\nMIIE=\n-----END X-----\nB=2\n", []string{"A=-----BEGIN X-----\nMIIE=\n-----END X-----", "B=2"}},
		{"dollars stay", "A=pa$$w0rd$1\nB=${X:-d}\nC=\"$HOME\"\n", []string{"A=pa$$w0rd$1", "B=${X:-d}", "C=$HOME"}},
		{"a bad line costs itself", "A=1\n!!! oops\nB=2\n", []string{"A=1", "bad 2", "B=2"}},
		{"a quote without end", "A=\"oops\nB=2\nC='3'\n", []string{"bad 1", "B=2", "C=3"}},
		{"a quote that the next one closes", "A=\"oops\nB=2\nC=\"3\"\nD=4\n", []string{"bad 1", "B=2", "C=3", "D=4"}},
		{"a quote that a comment closes", "A=\"oops\nB=2\n# a \"word\" here\nC=3\n", []string{"bad 1", "B=2", "C=3"}},
		{"several lines that end like a name", "A=\"one\ntwo=\"\nB=2\n", []string{"A=one\ntwo=", "B=2"}},
		{"a path that ends the quote badly", `A='C:\'` + "\nB='2'\n", []string{"bad 1", "B=2"}},
		{"a name alone is inherited", "PATH\nA=1\n", []string{"A=1"}},
		{"a value alone is bad", "hunter22hunter\nA=1\n", []string{"bad 1", "A=1"}},
		{"a value with = is no name", "aB3dE6gH9jK2mN5pQ8sT1vW4==\nA=1\n", []string{"bad 1", "A=1"}},
		{"names of others", "a.b-c[0]=1\n1A=2\n", []string{"a.b-c[0]=1", "bad 2"}},
		{"text behind a quote", "A=\"x\"y\n", []string{"A=x"}},
		{"NUL and other bytes", "A=\x00\xff\nB=2\n", []string{"A=\x00\xff", "B=2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, assignments(ParseEnv([]byte(test.file)))); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadings: whatever another reader makes of a value is known, too.
func TestReadings(t *testing.T) {
	for _, test := range []struct {
		file string
		want []string
	}{
		{`A=pa$$w0rd$1`, []string{"pa$w0rd$1", "pa$w0rd", "pa$"}},
		{`A=abc#def`, []string{"abc"}},
		{`A=abc #def`, []string{"abc #def"}},
		{`A="a\nb"`, []string{`a\nb`, `"a\nb"`}},
		{`A='a\nb'`, []string{"a\nb"}},
		{`A=${X:-default}y`, []string{"y", "defaulty"}},
		{`A="x"y`, []string{`"x"y`}},
		{`!A="half`, []string{`!A="half`, `"half`, `half`}},
	} {
		t.Run(test.file, func(t *testing.T) {
			lines := ParseEnv([]byte(test.file + "\n"))
			if len(lines) != 1 {
				t.Fatalf("%d lines", len(lines))
			}
			got := map[string]bool{}
			for _, r := range lines[0].Readings {
				got[r.Reveal()] = true
			}
			for _, want := range test.want {
				if !got[want] {
					t.Errorf("%q is missing among %v", want, got)
				}
			}
			if got[lines[0].Value.Reveal()] && !lines[0].Bad() {
				t.Error("the value is among its other readings")
			}
		})
	}
}

const envFile = `# Settings of the app
export NODE_ENV=production   # or test
PORT=5432
DB_HOST = db.example.com
DB_PASSWORD='p4ss w0rd!' #kept
A_PASSWORD=abc #d8f8g8
B_PASSWORD=abcdefgh # old one
DATABASE_URL="postgres://app:s3cretpass1@db.example.com:5432/app?sslmode=require"
OPENAI_API_KEY=sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4
# OLD_KEY=hunter2hunter2
# PORT=5433
# the password was p4ss w0rd! once, and aB3dE6gH9jK2mN5pQ8sT1vW9 is another
this line holds hunter3hunter3

CERT="-----BEGIN X-----
aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=
-----END X-----"
` + "TICKS=`with \"quotes\" and 'more'`\nLAST=abc#def9!x"

// nobody chose a name.
func nobody(string) bool { return false }

// TestShadowedChosen: a name that the user bound is of a secret, whatever it looks
// like.
func TestShadowedChosen(t *testing.T) {
	const file = "WORD=tangerine\nHOST=db.example.com\nPIN=1234\nEMPTY=\nOTHER=tangerine\n"
	chosen := func(name string) bool { return name != "OTHER" }
	out, lines := Shadowed([]byte(file), chosen, func(name, _ string) string { return Marker + name })
	want := "WORD=ftl_shadow_WORD\nHOST=ftl_shadow_HOST\nPIN=ftl_shadow_PIN\nEMPTY=\nOTHER=tangerine\n"
	if string(out) != want {
		t.Errorf("got %q", out)
	}
	for _, l := range lines {
		if l.Plain == (l.Shadow != "") {
			t.Errorf("%s: plain %v, shadow %q", l.Name, l.Plain, l.Shadow)
		}
	}
}

// TestShadowedOfValues: a shadow is made of what is in the file and of nothing else,
// or a task would have credentials that nobody gave it.
func TestShadowedOfValues(t *testing.T) {
	const file = "# one and another\nTOKEN=aB3dE6gH9jK2mN5pQ8sT1vW4 # kept\n"
	Shadowed([]byte(file), nobody, func(name, value string) string {
		if !strings.Contains(file, value) {
			t.Errorf("%s: a shadow of %q", name, value)
		}
		return Marker + name
	})
}

func TestShadowed(t *testing.T) {
	mint := testMint("p")
	got, lines := Shadowed([]byte(envFile), nobody, mint.Shadow)
	want := `# Settings of the app
export NODE_ENV=production   # or test
PORT=5432
DB_HOST = db.example.com
DB_PASSWORD='<db_password>' #kept
A_PASSWORD=<a_password>
B_PASSWORD=<b_password> # old one
DATABASE_URL="postgres://app:<database_url>@db.example.com:5432/app?sslmode=require"
OPENAI_API_KEY=sk-proj-<openai_api_key>
# OLD_KEY=<old_key>
# PORT=5433
# the password was <db_password> once, and <a_comment> is another
# left out: this line could not be read

CERT="<cert>"
` + "TICKS=`<ticks>`\nLAST=<last>"
	masked := regexp.MustCompile(`ftl_shadow_([a-z_]+)_[0-9a-f]{32}`).ReplaceAllString(string(got), "<$1>")
	if diff := cmp.Diff(want, masked); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	for _, secret := range []string{"p4ss w0rd!", "s3cretpass1", "aB3dE6gH9jK2mN5pQ8sT1vW4", "hunter2", "hunter3", "aGVsbG8", "quotes", "def9", "d8f8"} {
		if bytes.Contains(got, []byte(secret)) {
			t.Errorf("%q is in the file", secret)
		}
	}
	for _, l := range lines {
		if l.Bad() {
			continue
		}
		read := ParseEnv(got)
		want := l.Shadow
		if l.Plain {
			want = l.Value.Reveal()
		}
		if !strings.Contains(strings.Join(assignments(read), "\n"), l.Name+"="+want) {
			t.Errorf("%s does not read back as %q", l.Name, want)
		}
	}
}

// TestShadowedQuoting: whatever the shadow, it reads back as it is.
func TestShadowedQuoting(t *testing.T) {
	for _, quoted := range []string{`A_KEY=x9x9x9`, `A_KEY='x9x9x9'`, `A_KEY="x9x9x9"`, "A_KEY=`x9x9x9`", "A_KEY=\"x9\nx9\" # c", "A_KEY=x9x9x9\r"} {
		for _, shadow := range []string{"word", "two words", "it's", `a"b`, "a`b", `back\slash`, "$HOME ${X}", "two\nlines", "a#b", " #c", `{"a":"b\n"}`, "ä"} {
			file := quoted + "\nB=2\n"
			out, _ := Shadowed([]byte(file), nobody, func(_, _ string) string { return shadow })
			if got := assignments(ParseEnv(out)); len(got) != 2 || got[0] != "A_KEY="+shadow || got[1] != "B=2" {
				t.Errorf("%q with %q is %q and reads as %q", file, shadow, out, got)
			}
		}
	}
}

// TestShadowedInShell: sh and Node's parser read the same names.
func TestShadowedInShell(t *testing.T) {
	file := "A='x y'\nexport B_KEY=\"h8h8h8h8\"\nC=1\n"
	out, lines := Shadowed([]byte(file), nobody, testMint("p").Shadow)
	run, err := exec.Command("sh", "-c", string(out)+"echo \"$A|$B_KEY|$C\"").Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "x y|" + lines[1].Shadow + "|1\n"; string(run) != want {
		t.Errorf("sh reads %q, want %q", run, want)
	}
}

func TestAdded(t *testing.T) {
	before := "A=1\n# C=0\nB=2\n"
	after := "B=3\nC=1\nA=1\nD: x\nC=2\n!!\n"
	if diff := cmp.Diff([]string{"C", "D"}, Added([]byte(before), []byte(after))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzShadowed: no file is too odd. Nothing is lost or added, the result reads
// the same, and no secret of the file stays in it.
func FuzzShadowed(f *testing.F) {
	f.Add([]byte(envFile))
	f.Add([]byte("A=\"oops\nB=2\nC=\"3\"\nD=4\n"))
	f.Add([]byte("\ufeffA_KEY: 'x\r\ny' #z\r\n"))
	f.Add([]byte("K=-----BEGIN X\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		var whole strings.Builder
		for _, s := range segments(file) {
			whole.WriteString(s.raw)
			if s.raw == "" {
				t.Fatal("an empty segment")
			}
			if s.kind == assignment && s.head+s.between(s.value)+s.tail != s.raw {
				t.Fatalf("%q is not %q", s.raw, s.head+s.between(s.value)+s.tail)
			}
		}
		if whole.String() != string(file) {
			t.Fatalf("the segments are not the file: %q", whole.String())
		}
		out, lines := Shadowed(file, nobody, func(name, _ string) string { return Marker + strings.ToLower(safeName(name)) })
		var want []string
		for _, l := range lines {
			if l.Plain {
				want = append(want, l.Name+"="+l.Value.Reveal())
			} else if !l.Bad() {
				want = append(want, l.Name+"="+l.Shadow)
			}
		}
		if diff := cmp.Diff(want, assignments(ParseEnv(out))); diff != "" {
			t.Fatalf("%q became %q (-want +got):\n%s", file, out, diff)
		}
	})
}
