package corpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Clean are n texts of every kind that looks like a credential and is none.
func Clean(seed uint64, n int) []Sample {
	r := rand.New(rand.NewPCG(seed, 2))
	var out []Sample
	for range n {
		for _, kind := range [][]Sample{hashes(r), locks(r), placeholders(r), assets(r), programs(r)} {
			out = append(out, kind...)
		}
	}
	return out
}

func uuid(r *rand.Rand) string {
	return text(r, lowerHex, 8) + "-" + text(r, lowerHex, 4) + "-4" + text(r, lowerHex, 3) + "-a" + text(r, lowerHex, 3) + "-" + text(r, lowerHex, 12)
}

func hashes(r *rand.Rand) []Sample {
	return []Sample{
		{Path: "a.go", Text: `const id = "` + uuid(r) + "\"\n", What: "UUID"},
		{Path: "a.yaml", Text: "request_id: " + uuid(r) + "\n", What: "UUID"},
		{Path: "a.txt", Text: text(r, lowerHex, 64) + "  git-ftl.tar.gz\n", What: "SHA-256"},
		{Path: "a.rb", Text: `sha256 "` + text(r, lowerHex, 64) + "\"\n", What: "SHA-256"},
		{Path: "a.md", Text: "fixed in " + text(r, lowerHex, 40) + "\n", What: "object id"},
		{Path: "a.yml", Text: "      - uses: actions/checkout@" + text(r, lowerHex, 40) + " # v4\n", What: "object id"},
		{Path: "a.yaml", Text: "image: app@sha256:" + text(r, lowerHex, 64) + "\n", What: "digest"},
		{Path: "a.py", Text: `etag = "` + text(r, lowerHex, 32) + "\"\n", What: "MD5"},
		{Path: "a.html", Text: `<script integrity="sha384-` + text(r, base64ed, 64) + `" src="a.js"></script>`, What: "SRI"},
		{Path: "go.mod", Text: "require golang.org/x/x v0.0.0-20240102030405-" + text(r, lowerHex, 12) + "\n", What: "pseudo version"},
	}
}

func locks(r *rand.Rand) []Sample {
	return []Sample{
		{Path: "go.sum", Text: "github.com/a/b v1.2.3 h1:" + text(r, base64ed, 43) + "=\n", What: "go.sum"},
		{Path: "package-lock.json", Text: `"integrity": "sha512-` + text(r, base64ed, 86) + "==\"\n", What: "package-lock"},
		{Path: "yarn.lock", Text: "  integrity sha512-" + text(r, base64ed, 86) + "==\n", What: "yarn.lock"},
		{Path: "Cargo.lock", Text: `checksum = "` + text(r, lowerHex, 64) + "\"\n", What: "Cargo.lock"},
		{Path: "poetry.lock", Text: `    {file = "x.whl", hash = "sha256:` + text(r, lowerHex, 64) + "\"},\n", What: "poetry.lock"},
	}
}

func placeholders(r *rand.Rand) []Sample {
	var out []Sample
	for _, v := range []string{
		"xxxxxxxxxxxxxxxxxxxxxxxx", "****************", "<TOKEN>", "${API_TOKEN}", "your-api-key-here", "YOUR_API_KEY", "aaaaaaaaaaaaaaaaaaaaaaaa",
		"0123456789abcdef0123456789abcdef", "abcdefghijklmnopqrstuvwxyz", "changeme", "{{ .Values.token }}", "%(token)s", "process.env.TOKEN", "$TOKEN",
		"ghp_" + strings.Repeat("x", 36), "sk_live_" + strings.Repeat("0", 24), "AKIA" + strings.Repeat("A", 16), "AKIAIOSFODNN7" + "EXAMPLE",
		"xoxb-" + strings.Repeat("1", 11) + "-" + strings.Repeat("1", 11) + "-" + strings.Repeat("a", 24),
	} {
		name := pick(r, "API_TOKEN", "SECRET_KEY", "PASSWORD", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY")
		out = append(out,
			Sample{Path: ".env", Text: name + "=" + v + "\n", What: "placeholder", Span: v},
			Sample{Path: "a.go", Text: "const x = \"" + v + "\" // " + name + "\n", What: "placeholder", Span: v},
			Sample{Path: "a.yaml", Text: strings.ToLower(name) + ": \"" + v + "\"\n", What: "placeholder", Span: v})
	}
	return append(out,
		Sample{Path: "a.md", Text: "postgres://user:password@localhost/db\n", What: "placeholder"},
		Sample{Path: "a.sh", Text: "git clone https://$USER:$TOKEN@git.internal/x\n", What: "placeholder"},
		Sample{Path: "a.sh", Text: "curl -H \"Authorization: Bearer $TOKEN\" x\n", What: "placeholder"})
}

func assets(r *rand.Rand) []Sample {
	var js strings.Builder
	for range 200 {
		fmt.Fprintf(&js, "function %s(%s,%s){return %s[%d]}var %s=%d;", text(r, alnum[36:], 2), text(r, alnum[36:], 1), text(r, alnum[36:], 1), text(r, alnum[36:], 1), r.IntN(900), text(r, alnum[36:], 2), r.IntN(1<<30))
	}
	return []Sample{
		{Path: "a.css", Text: "a{background:url(data:image/png;base64,iVBORw0KGgo" + text(r, base64ed, 800) + "=)}\n", What: "image"},
		{Path: "a.html", Text: `<img src="data:image/gif;base64,R0lGODlh` + text(r, base64ed, 400) + `==">`, What: "image"},
		{Path: "a.js", Text: js.String(), What: "minified"},
		{Path: "a.min.css", Text: strings.Repeat(".a"+text(r, lowerHex, 6)+"{color:#"+text(r, lowerHex, 6)+"}", 100), What: "minified"},
		{Path: "a.js.map", Text: `{"mappings":"` + strings.Repeat("AAAA,SAASA,", 50) + `"}`, What: "source map"},
		{Path: "cert.pem", Text: "-----BEGIN CERTIFICATE-----\n" + wrapped(text(r, base64ed, 900)) + "-----END CERTIFICATE-----\n", What: "certificate"},
		{Path: "key.pub", Text: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + text(r, base64ed, 500) + " me@host\n", What: "public key"},
	}
}

func programs(r *rand.Rand) []Sample {
	var out []Sample
	for i, line := range []string{
		`token := lexer.Next()`, `if token == "identifier" {`, `password := os.Getenv("DB_PASSWORD")`, `secretName: my-app-credentials`,
		`apiKey = config.get("service.api_key_v2")`, `return errors.New("password: must have 8 characters")`, `"private_key": null,`,
		`keyPath = "/etc/ssl/private/server1.key"`, `token_url: https://auth.internal/oauth2/token`, `pem.Decode([]byte("-----BEGIN PRIVATE KEY-----"))`,
		`credentials: projects/foo-123/secrets/bar/versions/7`, `passwordField = "user_password_2"`, `secret: !Ref DatabaseSecretArn1`,
		`t("login.password.placeholder1")`, `author = "Bearer of bad news 2024"`, `const tokenType2 = "TOKEN_TYPE_IDENTIFIER_2"`,
	} {
		out = append(out, Sample{Path: pick(r, "a.go", "a.py", "a.ts", "a.yaml"), Text: line + "\n", What: fmt.Sprintf("program %d", i)})
	}
	return out
}
