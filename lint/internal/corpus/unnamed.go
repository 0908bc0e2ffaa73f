package corpus

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/rand/v2"
	"strings"
	"time"
)

// Alphabets of values that no provider shaped.
const (
	lowerHex = "0123456789abcdef"
	alnum    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base64ed = alnum + "+/"
)

// unnamed are n samples each of what no provider shapes.
func unnamed(r *rand.Rand, n int) []Sample {
	var out []Sample
	for range n {
		out = append(out, privateKeys(r)...)
		out = append(out, assigned(r)...)
		out = append(out, placed(r)...)
		jwt := JWT(r, "HS256", time.Time{})
		out = append(out, Sample{"credential/jwt", "a.js", "const t = \"" + jwt + "\"\n", "JSON Web Token", jwt})
	}
	return out
}

// PEM is a private key in PKCS #8.
func PEM(r *rand.Rand) string {
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed([]byte(text(r, base64ed, ed25519.SeedSize))))
	if err != nil {
		panic(err) // no Ed25519 key fails
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func privateKeys(r *rand.Rand) []Sample {
	key := PEM(r)
	line := strings.ReplaceAll(key, "\n", `\n`)
	joined := `"` + strings.Join(strings.Split(strings.TrimSpace(key), "\n"), "\\n\" +\n\t\"") + `"`
	rsa := strings.ReplaceAll(key, "PRIVATE KEY", "RSA PRIVATE KEY")
	pgp := "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n" + wrapped(text(r, base64ed, 600)) + "=" + text(r, base64ed, 4) + "\n-----END PGP PRIVATE KEY BLOCK-----\n"
	locked := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC," + text(r, "0123456789ABCDEF", 32) + "\n\n" + wrapped(text(r, base64ed, 600)) + "-----END RSA PRIVATE KEY-----\n"
	putty := "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 2\n" + wrapped(text(r, base64ed, 100)) + "Private-Lines: 1\n" + text(r, base64ed, 44) + "\nPrivate-MAC: " + text(r, lowerHex, 64) + "\n"
	var out []Sample
	for _, s := range [][2]string{
		{"PEM", key}, {"RSA", rsa}, {"PGP", pgp}, {"encrypted", locked},
		{"one line", "KEY=\"" + line + "\"\n"}, {"JSON", `{"private_key": "` + line + `"}`}, {"literals", "var k = " + joined + "\n"},
	} {
		out = append(out, Sample{"credential/private-key", "key.txt", s[1], s[0], ""})
	}
	return append(out, Sample{"credential/putty-key", "key.ppk", putty, "PuTTY", ""})
}

func wrapped(s string) string {
	var b strings.Builder
	for len(s) > 64 {
		b.WriteString(s[:64] + "\n")
		s = s[64:]
	}
	return b.String() + s + "\n"
}

// JWT is a signed web token; a zero end is none.
func JWT(r *rand.Rand, alg string, end time.Time) string {
	head, claims := map[string]any{"alg": alg, "typ": "JWT"}, map[string]any{"sub": text(r, alnum, 8)}
	if !end.IsZero() {
		claims["exp"] = end.Unix()
	}
	part := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err) // strings and numbers only
		}
		return base64.RawURLEncoding.EncodeToString(data)
	}
	signed := part(head) + "." + part(claims)
	mac := hmac.New(sha256.New, []byte(text(r, alnum, 16)))
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func assigned(r *rand.Rand) []Sample {
	value := text(r, alnum, 28) + text(r, "0123456789", 2) + text(r, lowerHex[10:], 2)
	value = shuffled(r, value)
	pass := pick(r, "Tr0ub", "cor3ct", "m1lk") + text(r, "!#%_", 1) + text(r, alnum, 6) + text(r, "0123456789", 1)
	var out []Sample
	for _, s := range []struct{ path, before, after string }{
		{".env", "MY_SECRET=", "\n"},
		{"a.yaml", "  client_secret: ", "\n"},
		{"a.json", `{"apiKey": "`, `"}`},
		{"a.toml", `access_key = "`, "\"\n"},
		{"a.ini", "auth_token = ", "\n"},
		{"a.xml", "<apiKey>", "</apiKey>"},
		{"a.config", `<add key="ApiSecret" value="`, `"/>`},
		{"a.go", `token := "`, "\"\n"},
		{"a.py", "SECRET_KEY = '", "'\n"},
		{"a.ts", "const apiKey: string = '", "';\n"},
		{"a.rb", `config[:secret_token] = "`, "\"\n"},
		{"a.php", `define('AUTH_KEY', '`, "');\n"},
		{"a.sh", "tool --token ", "\n"},
		{"Dockerfile", "ENV API_TOKEN=", "\n"},
		{"k8s.yaml", "        - name: API_TOKEN\n          value: \"", "\"\n"},
		{"k8s.json", `{"name": "API_TOKEN", "value": "`, `"}`},
	} {
		out = append(out, Sample{"credential/generic", s.path, s.before + value + s.after, "generic", value})
	}
	for _, s := range []struct{ path, before, after string }{
		{".env", "DB_PASSWORD=", "\n"},
		{"a.yml", "password: ", "\n"},
		{"a.json", `{"password": "`, `"}`},
		{"a.properties", "spring.datasource.password=", "\n"},
		{"a.xml", "<password>", "</password>"},
		{"a.go", `password := "`, "\"\n"},
		{"a.py", `PASSWD = "`, "\"\n"},
		{"a.java", `setPassword("`, `");`},
		{"a.sql", "CREATE USER x WITH PASSWORD = '", "';"},
		{"a.go", "dsn := \"host=db user=me password=", " sslmode=disable\"\n"},
	} {
		out = append(out, Sample{"credential/password", s.path, s.before + pass + s.after, "password", pass})
	}
	return out
}

// placed are credentials that their place tells.
func placed(r *rand.Rand) []Sample {
	pass := text(r, alnum, 10) + text(r, "0123456789", 2)
	bearer := shuffled(r, text(r, alnum, 36)+text(r, "0123456789", 4))
	both := base64.StdEncoding.EncodeToString([]byte("deploy:" + pass))
	return []Sample{
		{"credential/url", "a.yaml", "url: postgres://app:" + pass + "@db.internal:5432/app\n", "URL", pass},
		{"credential/url", "a.go", `const u = "amqps://app:` + pass + "@mq.internal/\"\n", "URL", pass},
		{"credential/url", "a.sh", "git clone https://" + bearer + "@git.internal/x\n", "URL", bearer},
		{"credential/authorization", "a.py", `h = {"Authorization": "Bearer ` + bearer + "\"}\n", "bearer", bearer},
		{"credential/authorization", "a.sh", "curl -H 'Authorization: Basic " + both + "' x\n", "basic", both},
		{"credential/connection-string", "a.cs", `var c = "Server=db;User Id=sa;Password=` + pass + ";Encrypt=true\";\n", "ADO.NET", pass},
		{"credential/connection-string", "a.go", `db, err := sql.Open("mysql", "app:` + pass + "@tcp(db:3306)/app\")\n", "MySQL", pass},
	}
}
