package shadow

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const planted = "planted-real-value-8c41"

// holders are values of every exported type, with a real value inside.
func holders() map[string]any {
	secret := NewSecret(planted)
	type closed struct{ s Secret }
	type deep struct {
		c []closed
		m map[string]*closed
	}
	return map[string]any{
		"secret":     secret,
		"pointer":    &secret,
		"slice":      []Secret{secret},
		"map":        map[string]Secret{"a": secret},
		"key":        map[Secret]int{secret: 1},
		"unexported": closed{secret},
		"deep":       &deep{[]closed{{secret}}, map[string]*closed{"a": {secret}}},
		"credential": Credential{Name: "A", Shadow: "s", Real: secret},
		"needle":     Needle{"raw", secret, true},
		"line":       Line{Name: "A", Value: secret, Readings: []Secret{secret}},
		"mint":       NewMint(secret, "p"),
		"mint value": *NewMint(secret, "p"),
		"error":      fmt.Errorf("with %v: %w", secret, errors.New("x")),
	}
}

// TestNoValueIsPrinted formats and encodes every exported type in every way.
func TestNoValueIsPrinted(t *testing.T) {
	if !holds(planted) || !holds(fmt.Sprintf("%x", planted)) {
		t.Fatal("the scan does not find the value itself")
	}
	for name, v := range holders() {
		t.Run(name, func(t *testing.T) {
			for _, verb := range "vsqxXdtTpbcoOUeEfFgG" {
				for _, flags := range []string{"", "+", "#", " ", "-9", "010", ".3", "+#"} {
					if out := fmt.Sprintf("%"+flags+string(verb), v); holds(out) {
						t.Errorf("%%%s%c prints %s", flags, verb, out)
					}
				}
			}
			for how, out := range encoded(v) {
				if holds(out) {
					t.Errorf("%s writes %s", how, out)
				}
			}
		})
	}
}

func encoded(v any) map[string]string {
	asJSON, _ := json.Marshal(v)
	asXML, _ := xml.Marshal(v)
	var asGob, asLog bytes.Buffer
	_ = gob.NewEncoder(&asGob).Encode(v)
	slog.New(slog.NewTextHandler(&asLog, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&asLog, nil)).Info("x", "v", v)
	return map[string]string{"json": string(asJSON), "xml": string(asXML), "gob": asGob.String(), "slog": asLog.String(), "println": fmt.Sprintln(v)}
}

// holds reports whether a text holds the planted value in any encoding, or as
// the decimal bytes that %d prints.
func holds(text string) bool {
	decimal := strings.Trim(fmt.Sprint([]byte(planted)), "[]")
	return found(planted, text) || strings.Contains(text, decimal)
}
