package proxy

import (
	"encoding/base32"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/shadow"
)

// TestAttackForeignCredential: the attacker's own credential at a host with one of
// the user's would carry source code away. It does not pass in any place, whether
// alone or beside ours.
func TestAttackForeignCredential(t *testing.T) {
	w := newWorld(t, Policy{Mode: Open, Rules: []Rule{{Host: "api.model.test"}}, Credentials: []shadow.Credential{modelCredential()}})
	reached := false
	w.host("api.model.test", func(http.ResponseWriter, *http.Request) { reached = true })
	for _, place := range []struct {
		name, query string
		header      []string
	}{
		{"Authorization", "", []string{"Authorization", "Bearer sk-attacker"}},
		{"the bound header", "", []string{"X-Api-Key", "sk-attacker"}},
		{"another header", "", []string{"X-Auth-Token", "sk-attacker"}},
		{"a cookie", "", []string{"Cookie", "session=attacker"}},
		{"the query", "?api_key=sk-attacker", nil},
		{"a signature", "?X-Amz-Signature=00&X-Amz-Credential=x", nil},
		{"nothing at all", "", nil},
	} {
		for _, beside := range []bool{false, true} {
			if beside && place.name == "nothing at all" || beside && place.name == "the bound header" {
				continue // no foreign one, and a header of that name that is there twice
			}
			header := place.header
			if beside {
				header = append([]string{"X-Api-Key", shadowKey}, header...)
			}
			got := do(t, w.client(), request(t, "POST", "https://api.model.test/v1/files"+place.query, "source code", header...))
			if got.Status != 403 || reached {
				t.Errorf("%s, beside ours %v: %d, reached %v", place.name, beside, got.Status, reached)
			}
		}
	}
}

// TestAttackLongerString: a shadow is swapped as the whole of a value only, since
// what comes of a part would be an oracle.
func TestAttackLongerString(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential(func(b *shadow.Binding) {
		b.Places = []string{"auth", "header:x-api-key", "query:key", "form:key", "json:key"}
	})}})
	reached := false
	w.host("api.model.test", func(http.ResponseWriter, *http.Request) { reached = true })
	for _, longer := range []string{"x" + shadowKey, shadowKey + "x", shadowKey + "," + shadowKey, strings.ToUpper(shadowKey), shadowKey[:len(shadowKey)-1], "%22" + shadowKey} {
		for _, r := range []*http.Request{
			request(t, "GET", "https://api.model.test/", "", "Authorization", "Bearer "+longer),
			request(t, "GET", "https://api.model.test/", "", "X-Api-Key", longer),
			request(t, "GET", "https://api.model.test/?key="+longer, ""),
			request(t, "POST", "https://api.model.test/", "key="+longer, "Content-Type", "application/x-www-form-urlencoded"),
			request(t, "POST", "https://api.model.test/", `{"key":"`+longer+`"}`, "Content-Type", "application/json"),
		} {
			if got := do(t, w.client(), r); got.Status != 403 || reached {
				t.Errorf("%s %s %v: %d, reached %v", r.Method, r.URL, r.Header, got.Status, reached)
			}
		}
	}
}

// TestAttackOtherPlaces: a shadow that stands where its secret is not bound goes on
// as it is, so that no service shows the real one: in the name of a client, in a
// path, in a prompt, at a host that is merely allowed.
func TestAttackOtherPlaces(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "docs.test"}}, Credentials: []shadow.Credential{modelCredential()}})
	var seen strings.Builder
	see := func(_ http.ResponseWriter, r *http.Request) { _ = r.Write(&seen) }
	w.host("api.model.test", see)
	w.host("docs.test", see)
	for _, host := range []string{"api.model.test", "docs.test"} {
		for _, header := range [][]string{{"User-Agent", shadowKey}, {"Referer", "https://x.test/?" + shadowKey}, {"X-Note", shadowKey}} {
			seen.Reset()
			r := request(t, "POST", "https://"+host+"/"+shadowKey+"?q="+shadowKey, "the key is "+shadowKey, header...)
			if host == "api.model.test" {
				r.Header.Set("X-Api-Key", shadowKey)
			}
			if got := do(t, w.client(), r); got.Status != 200 {
				t.Errorf("%s: %d %s", host, got.Status, got.Body)
			}
			reals := strings.Count(seen.String(), realKey)
			if want := map[string]int{"api.model.test": 1, "docs.test": 0}[host]; reals != want || strings.Count(seen.String(), shadowKey) != 4 {
				t.Errorf("%s %v: %d real values, want %d, in %q", host, header, reals, want, seen.String())
			}
		}
	}
}

// TestAttackRedirect: the proxy follows none, and what a client follows is judged
// like any other request: with the shadow, and by its own address.
func TestAttackRedirect(t *testing.T) {
	w := newWorld(t, Policy{Mode: Open, Credentials: []shadow.Credential{modelCredential()}})
	target := ""
	w.host("api.model.test", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, target, http.StatusTemporaryRedirect)
	})
	w.name("inside.test", "192.168.0.1")
	w.name("metadata.test", "169.254.169.254")
	var stranger string
	w.host("stranger.test", func(_ http.ResponseWriter, r *http.Request) { stranger = r.Header.Get("X-Api-Key") })
	c := w.client()
	c.CheckRedirect = nil
	for _, test := range []struct {
		target string
		status int
	}{
		{"https://inside.test/", 403}, {"http://inside.test/", 403}, {"https://metadata.test/latest", 403}, {"http://169.254.169.254/latest", 403},
		{"http://127.0.0.1/", 403}, {"http://localhost/", 403}, {"https://stranger.test/", 200}, {"http://api.model.test/", 403},
	} {
		target = test.target
		if got := do(t, c, request(t, "GET", "https://api.model.test/", "", "X-Api-Key", shadowKey)); got.Status != test.status {
			t.Errorf("%s: %d %s", target, got.Status, got.Body)
		}
	}
	if stranger != shadowKey {
		t.Errorf("the stranger got %q", stranger)
	}
	for _, a := range w.addresses() {
		if a != w.names["api.model.test"][0].String()+":443" && a != w.names["stranger.test"][0].String()+":443" {
			t.Errorf("dialled %s", a)
		}
	}
}

// TestAttackReflectionBase32 is TestAttackReflection's in an encoding of five bytes
// a group, for a value of many lines too.
func TestAttackReflectionBase32(t *testing.T) {
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("kQ7xZr2mTq9sVb4n", 4) + "\n" + strings.Repeat("Wd8yLp3cHg6fJt5e", 4) + "\n-----END PRIVATE KEY-----\n"
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential(), {
		Name: "PEM", Shadow: otherShad, Real: shadow.NewSecret(key), Binding: shadow.Binding{Hosts: []string{"api.model.test"}, Places: []string{"form:pem"}},
	}}})
	shift := 0
	w.host("api.model.test", func(rw http.ResponseWriter, _ *http.Request) {
		for _, value := range []string{realKey, key} {
			_, _ = io.WriteString(rw, base32.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift)+value+"yz"))+"\n")
		}
	})
	for shift = range 5 {
		got := do(t, w.client(), request(t, "GET", "https://api.model.test/", "", "X-Api-Key", shadowKey))
		for value := range strings.Lines(realKey + "\n" + key) {
			if value = strings.TrimSpace(value); strings.HasPrefix(value, "-----") {
				continue
			}
			for before := range 5 { // whole groups of the value's own bytes, not by shadow.Encodings
				text := base32.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value))
				if inner := text[8 : (before+len(value))/5*8]; strings.Contains(got.Body, inner) {
					t.Errorf("after %d bytes a value came back", shift)
				}
			}
		}
	}
}
