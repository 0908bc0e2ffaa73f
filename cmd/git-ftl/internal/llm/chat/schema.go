package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Schema is the part of JSON Schema that every provider takes: closed objects
// that have each of their properties, arrays, strings, integers and booleans.
type Schema struct {
	Type        string             // object, array, string, integer or boolean
	Description string             // for the model
	Properties  map[string]*Schema // of an object
	Items       *Schema            // of an array
	Enum        []string           // of a string; none: any
	// Max is the most items of an array or bytes of a string, 0 for any. Providers
	// take no such bound, so that it is told in words and checked here.
	Max int
}

// params is the schema as providers take it.
func (s *Schema) params() map[string]any {
	m := map[string]any{"type": s.Type}
	if d := s.description(); d != "" {
		m["description"] = d
	}
	if s.Enum != nil {
		m["enum"] = s.Enum
	}
	if s.Items != nil {
		m["items"] = s.Items.params()
	}
	if s.Type == "object" {
		properties := map[string]any{}
		for name, p := range s.Properties {
			properties[name] = p.params()
		}
		m["properties"], m["additionalProperties"] = properties, false
		m["required"] = slices.Sorted(maps.Keys(s.Properties))
	}
	return m
}

func (s *Schema) description() string {
	switch {
	case s.Max == 0:
		return s.Description
	case s.Type == "array":
		return strings.TrimSpace(fmt.Sprintf("%s (at most %d)", s.Description, s.Max))
	}
	return strings.TrimSpace(fmt.Sprintf("%s (at most %d bytes)", s.Description, s.Max))
}

// check says at which place a decoded value is not of the schema.
func (s *Schema) check(v any, at string) error {
	switch s.Type {
	case "object":
		if o, ok := v.(map[string]any); ok {
			return s.checkObject(o, at)
		}
	case "array":
		if a, ok := v.([]any); ok {
			return s.checkArray(a, at)
		}
	case "string":
		if t, ok := v.(string); ok {
			return s.checkString(t, at)
		}
	case "integer":
		if n, ok := v.(json.Number); ok {
			if _, err := n.Int64(); err == nil {
				return nil
			}
		}
	case "boolean":
		if _, ok := v.(bool); ok {
			return nil
		}
	}
	return fmt.Errorf("%s is no %s", at, s.Type)
}

func (s *Schema) checkObject(o map[string]any, at string) error {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		v, ok := o[name]
		if !ok {
			return fmt.Errorf("%s has no %q", at, name)
		}
		if err := s.Properties[name].check(v, at+"."+name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if s.Properties[name] == nil {
			return fmt.Errorf("%s has a property %q too many", at, clip(name, 40))
		}
	}
	return nil
}

func (s *Schema) checkArray(a []any, at string) error {
	if s.Max > 0 && len(a) > s.Max {
		return fmt.Errorf("%s has %d items, more than %d", at, len(a), s.Max)
	}
	for i, v := range a {
		if err := s.Items.check(v, fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) checkString(t, at string) error {
	if s.Max > 0 && len(t) > s.Max {
		return fmt.Errorf("%s has %d bytes, more than %d", at, len(t), s.Max)
	}
	if s.Enum != nil && !slices.Contains(s.Enum, t) {
		return fmt.Errorf("%s is none of %s", at, strings.Join(s.Enum, ", "))
	}
	return nil
}

// decode reads the one JSON value of an answer into a value, if it is of the
// schema. Words around it, a fence, and a model's thoughts before it are dropped.
func (s *Schema) decode(text string, into any) error {
	if _, rest, ok := strings.Cut(text, "</think>"); ok {
		text = rest
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return errors.New("the answer holds no JSON object")
	}
	text = text[from : to+1]
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the answer holds more than one JSON object")
	}
	if err := s.check(v, "the answer"); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}
