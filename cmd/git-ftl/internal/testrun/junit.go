package testrun

import (
	"encoding/xml"
	"io"
	"strings"
)

// junitReader is a case of JUnit's XML while it is read.
type junitReader struct {
	cases []Case
	open  bool             // within a testcase
	into  *strings.Builder // text of the element that says why, nil outside
	said  strings.Builder
	short string // its message
}

// readJUnit reads one or more documents of JUnit's XML, as far as they are some.
func readJUnit(text string) []Case {
	d := xml.NewDecoder(strings.NewReader(strings.Map(allowed, text)))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var s junitReader
	for len(s.cases) <= maxCases {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch e := token.(type) {
		case xml.StartElement:
			s.start(e)
		case xml.EndElement:
			s.end(e.Name.Local)
		case xml.CharData:
			if s.into != nil && s.into.Len() < 4*maxOutput {
				s.into.Write(e)
			}
		}
	}
	return wholeFiles(s.cases[:min(len(s.cases), maxCases)])
}

// allowed drops what no XML may hold, which runners let through.
func allowed(r rune) rune {
	if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
		return -1
	}
	return r
}

func (s *junitReader) start(e xml.StartElement) {
	name := e.Name.Local
	if name == "testcase" {
		s.open, s.into, s.short = true, nil, ""
		s.said.Reset()
		s.cases = append(s.cases, Case{Name: caseName(attr(e, "classname"), attr(e, "name")), State: Passed})
		return
	}
	if !s.open {
		return
	}
	c := &s.cases[len(s.cases)-1]
	switch name {
	case "failure", "error":
		c.State = Failed
		if name == "error" && attr(e, "message") == "collection failure" { // pytest's word
			c.State, c.Name = Broken, ""
		}
	case "skipped":
		c.State = Skipped
	default:
		return
	}
	s.short, s.into = attr(e, "message"), &s.said
}

func (s *junitReader) end(name string) {
	switch {
	case name == "failure" || name == "error" || name == "skipped":
		s.into = nil
	case name == "testcase" && s.open:
		said := s.said.String()
		if !strings.Contains(said, strings.TrimSpace(s.short)) {
			said = s.short + "\n" + said
		}
		s.cases[len(s.cases)-1].Output, s.open = said, false
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// caseName is a case's name with its class, unless that only says which file.
func caseName(class, name string) string {
	last := class[strings.LastIndexByte(class, '.')+1:]
	switch {
	case class == "" || strings.Contains(class, "/") || isScript(class):
		return name
	case strings.HasPrefix(last, "test_") || strings.HasSuffix(last, "_test"): // a module of Python
		return name
	case last == "global": // Catch2's word for none
		return name
	}
	return last + "." + name
}
