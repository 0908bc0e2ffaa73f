package shadow

// Kind is how a shadow is turned into the real value on the wire.
type Kind string

// Kinds of credentials.
const (
	Replace Kind = "replace" // the value as it is, with or without a scheme such as Bearer
	Basic   Kind = "basic"   // either half of Basic authentication
	SigV4   Kind = "sigv4"   // the key that AWS requests are signed with
)

// Binding says where a secret may be used; the zero Binding is nowhere.
type Binding struct {
	Hosts   []string `json:"hosts"`             // lower case, "api.example.com", "*.example.com" for any name below, ":port" where it is not 443
	Places  []string `json:"places,omitempty"`  // "auth" (Authorization header), "header:NAME", "query:NAME", "form:NAME", "json:NAME"; none is auth
	Methods []string `json:"methods,omitempty"` // upper case; none is any
	Paths   []string `json:"paths,omitempty"`   // prefixes that end at a segment; none is any
	Kind    Kind     `json:"kind,omitempty"`    // "" is Replace
}

// Credential is a secret as a proxy swaps it: in requests that its binding covers
// the shadow becomes the real value, in responses of these hosts the real value
// the shadow.
type Credential struct {
	Name    string
	Shadow  string
	Real    Secret
	Binding Binding // zero: it is never swapped, and only recorded where it is sent
	Chosen  bool    // the user gave it as a secret: it is looked for whatever it looks like
}

// Telling reports whether the value, wherever it turns up, is this secret. A word
// such as "postgres" or "password", which examples have, is not.
func (c Credential) Telling() bool {
	return len(Sought{Name: c.Name, Value: c.Real, Chosen: c.Chosen}.Needles()) > 0
}
