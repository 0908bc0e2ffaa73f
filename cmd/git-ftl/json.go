package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// json prints one object on stdout. What could steer a terminal is escaped in
// JSON's own way, so that the values stay the same.
func (a *app) json(v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprint(a.stdout, escape.JSON(out.String()))
	return err
}

// jsonLine prints one object on a line of its own.
func (a *app) jsonLine(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, escape.JSON(string(data)))
	return err
}
