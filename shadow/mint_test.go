package shadow

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func testMint(project string) *Mint {
	return NewMint(NewSecret("0123456789abcdef0123456789abcdef"), project)
}

func TestShadow(t *testing.T) {
	token := `ftl_shadow_a_key_[0-9a-f]{32}`
	for _, test := range []struct{ name, value, want string }{
		{"plain text", "correct horse battery", token},
		{"Anthropic", "sk-ant-api03-abcdef", "sk-ant-api03-" + token},
		{"Stripe", "sk_test_abcdef", "sk_test_" + token},
		{"GitHub", "ghp_abcdef", "ghp_" + token},
		{"Slack", "xoxb-1-2-abc", "xoxb-" + token},
		{"AWS key id", "AKIAABCDEFGHIJKLMNOP", `AKIAFTLSHADOW[A-Z2-7]{7}`},
		{"AWS temporary key id", "ASIAABCDEFGHIJKLMNOP", `ASIAFTLSHADOW[A-Z2-7]{7}`},
		{"URL with a password", "postgres://user:p4ss@db.example.com:5432/app?sslmode=require", `postgres://user:` + token + `@db\.example\.com:5432/app\?sslmode=require`},
		{"URL with @ / and : in the password", "redis://:p@s/s:w@cache:6379/0", `redis://:` + token + `@cache:6379/0`},
		{"URL with a token as user", "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/42", `https://` + token + `@o1\.ingest\.sentry\.io/42`},
		{"URL with a secret path", "https://hooks.slack.com/services/T00000000/B00000000/aB3dE6gH9jK2mN5pQ8sT1vW4", `https://hooks\.slack\.com/services/T00000000/B00000000/` + token},
		{"URL with a secret in the query", "https://x.example.com/?user=a&token=hunter2", `https://x\.example\.com/\?user=a&token=` + token},
		{"URL with nothing secret", "https://example.com/", token},
		{"connection string", "Server=db;User Id=sa;Password=hunter22;", `Server=db;User Id=sa;Password=` + token + `;`},
		{"libpq", "host=db user=u password=hunter22", `host=db user=u password=` + token},
		{"several lines", "one\ntwo", token},
		{"PEM that is none", "-----BEGIN PRIVATE KEY-----\nzzzz\n", token},
		{"empty", "", token},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := testMint("p").Shadow("A_KEY", test.value)
			if !regexp.MustCompile(`^` + test.want + `$`).MatchString(got) {
				t.Errorf("the shadow is %q, want %s", got, test.want)
			}
			if again := testMint("p").Shadow("A_KEY", test.value); again != got {
				t.Errorf("the next time it is %q", again)
			}
			for what, other := range map[string]string{
				"another project":    testMint("q").Shadow("A_KEY", test.value),
				"another name":       testMint("p").Shadow("A-KEY", test.value),
				"another key":        NewMint(NewSecret("another key of 32 bytes, really."), "p").Shadow("A_KEY", test.value),
				"another split":      testMint("pA").Shadow("_KEY", test.value),
				"the value reversed": reversed(got),
			} {
				if other == got {
					t.Errorf("%s gives the same", what)
				}
			}
		})
	}
}

// TestShadowKeys: the shadow of a private key is another key of the same kind,
// for Go and for OpenSSL's readers alike, and always the same.
func TestShadowKeys(t *testing.T) {
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ec521, _ := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	x, _ := ecdh.X25519().GenerateKey(rand.Reader)
	pkcs8 := func(k any) []byte { der, _ := x509.MarshalPKCS8PrivateKey(k); return der }
	sec1, _ := x509.MarshalECPrivateKey(ec)
	for _, test := range []struct {
		name, kind string
		der        []byte
		parse      func([]byte) (any, error)
	}{
		{"RSA", "PRIVATE KEY", pkcs8(rsaKey), x509.ParsePKCS8PrivateKey},
		{"RSA, PKCS 1", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey), func(b []byte) (any, error) { return x509.ParsePKCS1PrivateKey(b) }},
		{"ECDSA", "PRIVATE KEY", pkcs8(ec), x509.ParsePKCS8PrivateKey},
		{"ECDSA P-521", "PRIVATE KEY", pkcs8(ec521), x509.ParsePKCS8PrivateKey},
		{"ECDSA, SEC 1", "EC PRIVATE KEY", sec1, func(b []byte) (any, error) { return x509.ParseECPrivateKey(b) }},
		{"Ed25519", "PRIVATE KEY", pkcs8(ed), x509.ParsePKCS8PrivateKey},
		{"X25519", "PRIVATE KEY", pkcs8(x), x509.ParsePKCS8PrivateKey},
	} {
		t.Run(test.name, func(t *testing.T) {
			value := string(pem.EncodeToMemory(&pem.Block{Type: test.kind, Bytes: test.der}))
			got := testMint("p").Shadow("A_KEY", value)
			block, rest := pem.Decode([]byte(got))
			if block == nil || block.Type != test.kind || !strings.HasPrefix(string(rest), Marker) {
				t.Fatalf("the shadow is no PEM of the same kind with a marker: %q", got)
			}
			key, err := test.parse(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			real, err := test.parse(test.der)
			if err != nil {
				t.Fatal(err)
			}
			if reflect.TypeOf(key) != reflect.TypeOf(real) || string(block.Bytes) == string(test.der) {
				t.Errorf("%T in place of %T", key, real)
			}
			if again := testMint("p").Shadow("A_KEY", value); again != got {
				t.Error("the next time it is another key")
			}
			if testMint("q").Shadow("A_KEY", value) == got {
				t.Error("another project has the same key")
			}
		})
	}
}

func TestShadowServiceAccount(t *testing.T) {
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	der, _ := x509.MarshalPKCS8PrivateKey(ed)
	private := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	doc := map[string]any{
		"type": "service_account", "project_id": "my-project", "private_key_id": "0123456789abcdef0123456789abcdef01234567",
		"private_key": private, "client_email": "robot@my-project.iam.gserviceaccount.com",
		"token_uri": "https://oauth2.googleapis.com/token", "nested": map[string]any{"password": "hunter22", "port": 5432.0, "list": []any{"a", "b"}},
	}
	value, _ := json.Marshal(doc)
	var got map[string]any
	text := testMint("p").Shadow("GCP_SECRET", string(value))
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	for _, same := range []string{"type", "project_id", "client_email", "token_uri"} {
		if got[same] != doc[same] {
			t.Errorf("%s is %v", same, got[same])
		}
	}
	for _, gone := range []string{"private_key_id", "private_key"} {
		if s, _ := got[gone].(string); s == doc[gone] || !strings.Contains(s, Marker) {
			t.Errorf("%s is %q", gone, s)
		}
	}
	if block, _ := pem.Decode([]byte(got["private_key"].(string))); block == nil {
		t.Error("the private key is no PEM")
	}
	if strings.Contains(text, "hunter22") {
		t.Error("a password stays in the document")
	}
}

func TestShadowOfURLIsOne(t *testing.T) {
	got := testMint("p").Shadow("A", "mysql://u:pa%40ss@h/db")
	u, err := url.Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	if password, _ := u.User.Password(); !strings.HasPrefix(password, Marker) || u.Host != "h" {
		t.Errorf("%q", got)
	}
}

// TestPart: what a program takes out of the shadow of a URL is what is swapped.
func TestPart(t *testing.T) {
	m := testMint("p")
	for _, test := range []struct{ name, value, want string }{
		{"password", "https://bob:s3cret-Pass-9@host/x", "s3cret-Pass-9"},
		{"escaped", "https://bob:p%40ss%2Fw0rd@host", "p@ss/w0rd"},
		{"a user that is a token", "https://" + "gh" + "p_0123456789abcdefghijABCDEFGHIJ012345@host/r.git", "gh" + "p_0123456789abcdefghijABCDEFGHIJ012345"},
		{"in the query", "https://host/x?api_key=k1J2h3G4f5D6s7A8q9W0", "k1J2h3G4f5D6s7A8q9W0"},
		{"two", "https://bob:s3cret-Pass-9@host/x?api_key=k1J2h3G4f5D6s7A8q9W0", ""},
		{"none", "https://host/x", ""},
		{"no URL", "s3cret-Pass-9", ""},
		{"JSON with one", `{"u":"https://bob:s3cret-Pass-9@host"}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			stands, real, ok := m.Part("NAME", test.value)
			if ok != (test.want != "") || real.Reveal() != test.want {
				t.Fatalf("%q %v, want %q", real.Reveal(), ok, test.want)
			}
			if whole := m.Shadow("NAME", test.value); ok && strings.Count(whole, stands) != 1 {
				t.Errorf("%q does not stand in %q", stands, whole)
			}
		})
	}
}
