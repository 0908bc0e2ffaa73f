// Package trust makes the clients inside a sandbox trust the authority of its
// proxy. It runs nothing of the image: what update-ca-certificates and keytool
// would do is done here, in root's files alone.
package trust

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
)

// maxCA bounds the authority, in bytes of PEM.
const maxCA = 64 << 10

// Parse reads the certificates of a PEM file, and gives them as PEM with nothing
// else in it. It is an error if there is none, or one is broken.
func Parse(data []byte) (certs []*x509.Certificate, clean []byte, err error) {
	if len(data) > maxCA {
		return nil, nil, fmt.Errorf("read authority: over %d bytes", maxCA)
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, nil, errors.New("read authority: it holds more than certificates")
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, fmt.Errorf("read authority: %w", err)
		}
		certs = append(certs, cert)
		clean = append(clean, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})...)
	}
	if len(certs) == 0 {
		return nil, nil, errors.New("read authority: no certificate in it")
	}
	return certs, clean, nil
}

// Marks around what is added to a bundle. Readers of PEM skip them.
const (
	beginMark = "# begin of git-ftl's sandbox authority\n"
	endMark   = "# end of git-ftl's sandbox authority\n"
)

// withCA gives a bundle with ca as its only addition of ours.
func withCA(bundle, ca []byte) []byte {
	for {
		from := bytes.Index(bundle, []byte(beginMark))
		if from < 0 {
			break
		}
		length := bytes.Index(bundle[from:], []byte(endMark))
		if length < 0 {
			break
		}
		bundle = append(bytes.Clone(bundle[:from]), bundle[from+length+len(endMark):]...)
	}
	if len(bundle) > 0 && bundle[len(bundle)-1] != '\n' {
		bundle = append(bytes.Clone(bundle), '\n')
	}
	return bytes.Join([][]byte{bundle, []byte(beginMark), ca, []byte(endMark)}, nil)
}

// utf8Tag is ASN.1's number of a UTF8String.
const utf8Tag = 12

// subjectHash is the name that OpenSSL looks a certificate up by in a folder:
// SHA-1 of the subject in its canonical form (X509_NAME_hash, x_name.c), the first
// four bytes read backwards.
func subjectHash(cert *x509.Certificate) (string, error) {
	var names pkix.RDNSequence
	if _, err := asn1.Unmarshal(cert.RawSubject, &names); err != nil {
		return "", fmt.Errorf("read subject: %w", err)
	}
	sum := sha1.New()
	for _, set := range names {
		var canonical []asn1.RawValue
		for _, attribute := range set {
			raw, err := canonicalAttribute(attribute)
			if err != nil {
				return "", err
			}
			canonical = append(canonical, asn1.RawValue{FullBytes: raw})
		}
		raw, err := asn1.MarshalWithParams(canonical, "set")
		if err != nil {
			return "", fmt.Errorf("encode subject: %w", err)
		}
		sum.Write(raw)
	}
	return fmt.Sprintf("%08x", binary.LittleEndian.Uint32(sum.Sum(nil))), nil
}

// canonicalAttribute folds case and white space of a text.
func canonicalAttribute(a pkix.AttributeTypeAndValue) ([]byte, error) {
	value := a.Value
	if text, ok := value.(string); ok {
		folded := strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, strings.Join(strings.Fields(text), " "))
		value = asn1.RawValue{Tag: utf8Tag, Bytes: []byte(folded)}
	}
	raw, err := asn1.Marshal(struct {
		Type  asn1.ObjectIdentifier
		Value any
	}{a.Type, value})
	if err != nil {
		return nil, fmt.Errorf("encode subject: %w", err)
	}
	return raw, nil
}

// storePassword is the one that every Java knows, of a store that hides nothing.
const storePassword = "changeit"

// javaStore makes a trust store in Java's own format (JKS, as in OpenJDK's
// JavaKeyStore.java), with the certificates of a PEM bundle that can be read.
func javaStore(bundle []byte) []byte {
	var body bytes.Buffer
	count := uint32(0)
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		count++
		number(&body, uint32(2)) // a trusted certificate
		text(&body, fmt.Sprintf("ca-%d", count))
		number(&body, uint64(0)) // made at no time
		text(&body, "X.509")
		number(&body, uint32(len(block.Bytes)))
		body.Write(block.Bytes)
	}
	var store bytes.Buffer
	number(&store, [3]uint32{0xfeedfeed, 2, count})
	store.Write(body.Bytes())
	sum := sha1.New()
	_ = binary.Write(sum, binary.BigEndian, utf16.Encode([]rune(storePassword)))
	sum.Write([]byte("Mighty Aphrodite"))
	sum.Write(store.Bytes())
	store.Write(sum.Sum(nil))
	return store.Bytes()
}

// number writes an integer of fixed size, text a short ASCII one.
func number(w *bytes.Buffer, v any) { _ = binary.Write(w, binary.BigEndian, v) }

func text(w *bytes.Buffer, s string) {
	number(w, uint16(len(s)))
	w.WriteString(s)
}
