package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// entry is one setting of an .ftlconfig, flattened.
type entry struct {
	name   string // as keys names it, agents.NAME.command, or what the file says where no setting is called so
	values []string
	kind   shape
}

type shape int

const (
	scalar shape = iota
	array
	object
)

// maxDepth bounds how deep values lie in each other.
const maxDepth = 16

// parseFile reads .ftlconfig: an object in JSON, UTF-8 with or without a mark. A
// name that is there twice, also in another spelling, is an error, since readers
// could differ on which of them counts. A null is as if the name were not there.
func parseFile(data []byte) ([]entry, error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	dec.UseNumber()
	top, err := decode(dec, 0)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	fields, ok := top.([]field)
	if err == nil && !ok {
		err = errors.New("it is another value")
	}
	if err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	var all []entry
	for _, f := range fields {
		all = append(all, entries(f)...)
	}
	return all, twice(all)
}

// twice refuses names that are there more than once.
func twice(all []entry) error {
	seen := map[string]bool{}
	for _, e := range all {
		name := fold(e.name)
		if seen[name] {
			return fmt.Errorf("%s is there twice", shorten(e.name))
		}
		seen[name] = true
	}
	return nil
}

// fold makes equal what find and agentKey take for the same.
func fold(name string) string {
	if _, ok := agentKey(name); ok {
		return name
	}
	return strings.ToLower(name)
}

// field is a name of an object with its value: nil, a string, []any or []field.
type field struct {
	name  string
	value any
}

// decode reads one value. Unlike json.Unmarshal it keeps names that are there
// twice, in the order of the file.
func decode(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("it is nested too deep")
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return decodeObject(dec, depth)
		}
		return decodeArray(dec, depth)
	case nil:
		return nil, nil
	default:
		return fmt.Sprint(t), nil
	}
}

func decodeObject(dec *json.Decoder, depth int) (any, error) {
	fields := []field{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		value, err := decode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field{fmt.Sprint(name), value})
	}
	_, err := dec.Token()
	return fields, err
}

func decodeArray(dec *json.Decoder, depth int) (any, error) {
	values := []any{}
	for dec.More() {
		value, err := decode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	_, err := dec.Token()
	return values, err
}

// entries flattens a field of the file. Of agents each field is an entry.
func entries(f field) []entry {
	name := canonical(f.name)
	fields, ok := f.value.([]field)
	switch {
	case ok && name == "languageOverrides":
		return []entry{{name, pairs(fields), array}}
	case !ok || name != "agents":
		return single(name, f.value)
	}
	var all []entry
	for _, a := range fields {
		fields, ok := a.value.([]field)
		if !ok {
			all = append(all, single("agents."+a.name, a.value)...)
		}
		for _, f := range fields {
			all = append(all, single("agents."+a.name+"."+f.name, f.value)...)
		}
	}
	return all
}

func single(name string, value any) []entry {
	switch v := value.(type) {
	case nil:
		return nil
	case []field:
		return []entry{{name, texts(v), object}}
	case []any:
		return []entry{{name, texts(v), array}}
	default:
		return []entry{{name, texts(v), scalar}}
	}
}

// pairs writes the fields of an object as NAME=VALUE, as git config has them.
func pairs(fields []field) []string {
	all := []string{}
	for _, f := range fields {
		all = append(all, f.name+"="+strings.Join(texts(f.value), " "))
	}
	return all
}

// texts lists the values below one, for people to see them all.
func texts(value any) []string {
	all := []string{}
	switch v := value.(type) {
	case nil:
	case []field:
		for _, f := range v {
			all = append(all, f.name)
			all = append(all, texts(f.value)...)
		}
	case []any:
		for _, e := range v {
			all = append(all, texts(e)...)
		}
	default:
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// canonical is the name by which a setting is known, whatever its case and
// whether it is max_file or maxFile.
func canonical(name string) string {
	name = camel(name)
	if k, ok := find(name); ok {
		return k.name
	}
	if agent, ok := agentKey(name); ok {
		return "agents." + agent + ".command"
	}
	for _, p := range append(planned(), "agents") {
		if strings.EqualFold(p, name) {
			return p
		}
	}
	return name
}

// fits reports what is wrong with the form of a value, before it is read.
func (e entry) fits() error {
	switch list := slices.Contains(lists(), e.name); {
	case e.kind == object:
		return fmt.Errorf("%s: %s: an object is no value of it", File, e.name)
	case !list && (e.kind == array || len(e.values) != 1):
		return fmt.Errorf("%s: %s: a list is no value of it", File, e.name)
	}
	return nil
}
