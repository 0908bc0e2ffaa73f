package shadow

import "testing"

func TestIsPlain(t *testing.T) {
	for _, test := range []struct {
		name, value string
		want        bool
	}{
		{"DEBUG", "true", true},
		{"FEATURE_KEY", "false", true},
		{"ANY_SECRET", "", true},
		{"PORT", "5432", true},
		{"TIMEOUT", "30s", true},
		{"RATIO", "0.75", true},
		{"MAX_TOKENS", "4096", true},
		{"PASSWORD_MIN_LENGTH", "12", true},
		{"TOKEN_TTL", "3600", true},
		{"HOST", "db.example.com", true},
		{"HOST", "localhost:5432", true},
		{"ADDR", "10.0.0.1:80", true},
		{"ADDR", "::1", true},
		{"AWS_REGION", "us-east-1", true},
		{"MAIL_FROM", "robot@example.com", true},
		{"DATA_DIR", "/var/lib/app data", true},
		{"SRC", "./src/main.go", true},
		{"TEMPLATES", "src/app/templates", true},
		{"NODE_ENV", "production", true},
		{"LOG_LEVEL", "debug", true},
		{"APP_NAME", "my-long-application-name-2", true},
		{"VERSION", "v1.2.3-rc1", true},
		{"API_URL", "https://api.example.com/v1?x=1", true},
		{"ORIGINS", "http://localhost:3000,https://example.com", true},
		{"AUTH_URL", "https://auth.example.com/", true},

		{"DB_PASSWORD", "postgres", false},
		{"PIN", "1234", false},
		{"apiKey", "word", false},
		{"SECRET_KEY_BASE", "changeme", false},
		{"AWS_ACCESS_KEY_ID", "word", false},
		{"OTHER", "correct-horse-battery-staple", false},
		{"OTHER", "hunter2hunter2", false},
		{"OTHER", "p@ss", false},
		{"OTHER", "pa$$w0rd$1", false},
		{"OTHER", "411111111111111", true},
		{"OTHER", "4111111111111111", false},
		{"OTHER", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", false},
		{"APP_NAME", "aB3dE6gH9jK2mN5pQ8sT1vW4", false},
		{"DATA_DIR", "/bPxRfi8CYz1w9QmT3kLpV7nXe2Sd4Ga6Hj0Ku5", false},
		{"DATABASE_URL", "postgres://u:p@h/db", false},
		{"SENTRY_URL", "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/42", false},
		{"HOOK_URL", "https://hooks.slack.com/services/T0/B0/aB3dE6gH9jK2mN5pQ8sT1vW4", false},
		{"OTHER", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sflKxwRJSMeKKF2QT4fw", false},
		{"ORIGINS", "localhost,aB3dE6gH9jK2mN5pQ8sT1vW4", false},
	} {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			if got := isPlain(test.name, test.value); got != test.want {
				t.Errorf("plain is %v", got)
			}
		})
	}
}
