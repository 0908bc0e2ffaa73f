// Command client sends the requests of plan.json with the values of variables.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
)

type row struct{ Name, URL, Place string }

func main() {
	text, err := os.ReadFile("plan.json")
	if err != nil {
		log.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(text, &rows); err != nil {
		log.Fatal(err)
	}
	for _, r := range rows {
		answer, err := http.DefaultClient.Do(r.request(os.Getenv(r.Name)))
		if err != nil {
			log.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.Header, string(body))
	}
}

func (r row) request(value string) *http.Request {
	kind, field, _ := strings.Cut(r.Place, ":")
	req, err := http.NewRequest(http.MethodGet, r.URL+"/go", nil)
	if err != nil {
		log.Fatal(err)
	}
	switch kind {
	case "auth":
		req.Header.Set("Authorization", "Bearer "+value)
	case "token":
		req.Header.Set("Authorization", value)
	case "basic-user":
		req.SetBasicAuth(value, "")
	case "basic-password":
		req.SetBasicAuth("bob", value)
	case "header":
		req.Header.Set(field, value)
	case "query":
		req.URL.RawQuery = url.Values{field: {value}}.Encode()
	case "form":
		return post(req, "application/x-www-form-urlencoded", []byte(url.Values{"n": {"1"}, field: {value}}.Encode()))
	case "json":
		text, err := json.Marshal(map[string]any{"n": 1, field: value})
		if err != nil {
			log.Fatal(err)
		}
		return post(req, "application/json", text)
	}
	return req
}

func post(req *http.Request, media string, body []byte) *http.Request {
	out, err := http.NewRequest(http.MethodPost, req.URL.String(), bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	out.Header.Set("Content-Type", media)
	return out
}
