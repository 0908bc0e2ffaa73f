package registry

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// AptHosts are the mirrors that an image's files of apt name, by the format of
// sources.list(5): a path that ends in .sources holds stanzas, another one lines.
// They are for reading, and none has a private address, since they are the image's
// and not the user's. What signs in, or is no http or https, is left out.
func AptHosts(files map[string]string) []Host {
	r := newReader(Source{})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		uris := aptLines(files[name])
		if path.Ext(name) == ".sources" {
			uris = aptStanzas(files[name])
		}
		for _, uri := range uris {
			p, l, err := parsePlace(uri)
			if err == nil && l == (login{}) {
				r.add(Host{Tool: "apt", Host: p.host, Port: p.port, PathPrefix: p.path})
			}
		}
	}
	return r.out.Hosts
}

// aptLines are the addresses of "deb [options] uri suite component...".
func aptLines(text string) []string {
	var uris []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		kind, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(line, "\t", " ")), " ")
		if kind != "deb" && kind != "deb-src" {
			continue
		}
		rest = strings.TrimSpace(rest)
		if strings.HasPrefix(rest, "[") {
			_, rest, _ = strings.Cut(rest, "]")
		}
		if fields := strings.Fields(rest); len(fields) > 1 {
			uris = append(uris, fields[0])
		}
	}
	return uris
}

// aptStanzas are the addresses of fields "URIs", but of stanzas that say "Enabled:
// no".
func aptStanzas(text string) []string {
	var all, uris []string
	enabled, field := true, ""
	end := func() {
		if enabled {
			all = append(all, uris...)
		}
		uris, enabled, field = nil, true, ""
	}
	for line := range strings.Lines(text + "\n\n") {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "":
			end()
			continue
		case line[0] == '#':
			continue
		case line[0] != ' ' && line[0] != '\t':
			name, value, _ := strings.Cut(line, ":")
			field, line = strings.ToLower(name), value
		}
		switch field {
		case "uris":
			uris = append(uris, strings.Fields(line)...)
		case "enabled":
			enabled = !isNo(line)
		}
	}
	return all
}

// isNo reads a truth value as apt's StringToBool does.
func isNo(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "no", "false", "without", "off", "disable", "0":
		return true
	}
	return false
}
