package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
)

func TestServices(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       []service
	}{
		{"nothing", "A=1\nB=http://example.com:8080/\n", nil},
		{"URL with a password", "DATABASE_URL=postgres://app:localhost@localhost:5432/app?x=1\n", []service{{"DATABASE_URL", "5432"}}},
		{"host and port", "CACHE=127.0.0.1:6379\n", []service{{"CACHE", "6379"}}},
		{"IPv6", "CACHE=http://[::1]:8080\n", []service{{"CACHE", "8080"}}},
		{"several", "BROKERS=localhost:9092,localhost:9093,\n", []service{{"BROKERS", "9092"}, {"BROKERS", "9093"}}},
		{"key and value", "DSN=\"host=db addr=localhost:5432\"\n", []service{{"DSN", "5432"}}},
		{"two settings", "PGPORT=5433\nPGHOST=localhost\nMY_PORT=1\n", []service{{"PGHOST", "5433"}}},
		{"a host alone", "PGHOST=localhost\n", nil},
		{"a longer name", "A=mylocalhost:5432\nB=localhost:5432x\nC=localhost.example.com:1\nD=localhost:0\n", nil},
		{"a bad line", "localhost:5432\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, services(shadow.ParseEnv([]byte(test.file))), cmp.AllowUnexported(service{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
