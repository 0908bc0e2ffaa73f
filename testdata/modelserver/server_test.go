package modelserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestProtocols: each protocol demands the key, calls the tool that the request
// has, and says what history it saw.
func TestProtocols(t *testing.T) {
	const script = `do: run ls ; recall`
	for _, tc := range []struct {
		name, path, header        string
		first, called, then, said string
	}{
		{
			"messages", "/v1/messages", "X-Api-Key",
			`{"stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"` + script + `"}]}`, `"name":"Bash"`,
			`{"stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"` + script + `"},{"role":"user","content":[{"type":"tool_result"}]}]}`, "tools used since: 1",
		}, {
			"responses", "/v1/responses", "Authorization",
			`{"stream":true,"input":[{"type":"additional_tools","tools":[{"type":"namespace","tools":[{"name":"exec"}]}]},{"role":"user","content":[{"type":"input_text","text":"` + script + `"}]}]}`, `"custom_tool_call"`,
			`{"stream":true,"input":[{"role":"user","content":"` + script + `"},{"type":"function_call_output"}]}`, "tools used since: 1",
		}, {
			"chat", "/v1/chat/completions", "Authorization",
			`{"stream":true,"tools":[{"function":{"name":"bash"}}],"messages":[{"role":"user","content":"` + script + `"}]}`, `"name":"bash"`,
			`{"stream":true,"messages":[{"role":"user","content":"` + script + `"},{"role":"tool","content":"x"}]}`, "tools used since: 1",
		}, {
			"gemini", "/v1beta/models/x:streamGenerateContent", "X-Goog-Api-Key",
			`{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"role":"user","parts":[{"text":"` + script + `"}]}]}`, `"name":"run_shell_command"`,
			`{"contents":[{"role":"user","parts":[{"text":"` + script + `"}]},{"role":"user","parts":[{"functionResponse":{}}]}]}`, "tools used since: 1",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := httptest.NewServer(&Server{Key: "right"})
			defer s.Close()
			if status, _ := post(t, s.URL+tc.path, tc.header, "wrong", tc.first); status != http.StatusUnauthorized {
				t.Errorf("status %d for another key", status)
			}
			if status, text := post(t, s.URL+tc.path, tc.header, "right", tc.first); status != http.StatusOK || !strings.Contains(text, tc.called) {
				t.Errorf("no %s in %d %s", tc.called, status, text)
			}
			if _, text := post(t, s.URL+tc.path, tc.header, "right", tc.then); !strings.Contains(text, tc.said) {
				t.Errorf("no %q in %s", tc.said, text)
			}
		})
	}
}

func post(t *testing.T, url, header, key, body string) (int, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header == "Authorization" {
		key = "Bearer " + key
	}
	q.Header.Set(header, key)
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestFaults: a step fails as often as it says, and an answer is cut in the middle.
func TestFaults(t *testing.T) {
	s := httptest.NewServer(&Server{Key: "k"})
	defer s.Close()
	ask := func(script string) (*http.Response, error) {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/messages", strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"`+script+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("X-Api-Key", "k")
		return http.DefaultClient.Do(q)
	}
	for i, want := range []int{529, 200} {
		resp, err := ask("do: fail 529 1")
		if err != nil || resp.StatusCode != want {
			t.Fatalf("request %d: %v, %v", i, resp, err)
		}
		_ = resp.Body.Close()
	}
	resp, err := ask("do: cut")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the answer is whole")
	}
}
