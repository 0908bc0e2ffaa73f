// Package shadow keeps real secrets on the host and gives a sandbox shadows of
// them: values of the same shape that are worth nothing.
//
// It never prints, logs or returns a real value but through Secret.Reveal, and
// never writes one but encrypted.
package shadow

import (
	"fmt"
	"log/slog"
)

// Secret is a real value. Whatever prints, encodes or logs it says [secret]. In
// an unexported field of a struct, where fmt calls no method, it prints an
// address: hence the pointer.
type Secret struct{ value *string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal is the value itself, for the one place that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

const masked = "[secret]"

// String implements fmt.Stringer.
func (Secret) String() string { return masked }

// Format implements fmt.Formatter for every verb and flag.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }

// MarshalText implements encoding.TextMarshaler, and with it JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }
