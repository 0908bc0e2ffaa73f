package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// Authority mints the certificates that a sandbox is to trust. It is made for one
// sandbox, and its key stays on the host.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	leaf *ecdsa.PrivateKey // shared by all leaves: who has one has the process

	mu     sync.Mutex
	leaves map[string]*tls.Certificate
}

const (
	authorityLife = 2 * 365 * 24 * time.Hour
	leafLife      = 30 * 24 * time.Hour
	maxLeaves     = 1024
)

// NewAuthority makes a key and a certificate of two years for it. The name is
// what clients show; a random part makes it unique.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: fmt.Sprintf("%s %x", name, serial.Bytes()[:6])},
		NotBefore:    now.Add(-24 * time.Hour), NotAfter: now.Add(authorityLife),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	return assemble(der, key)
}

// ParseAuthority reads what MarshalPEM wrote.
func ParseAuthority(text []byte) (*Authority, error) {
	first, rest := pem.Decode(text)
	second, _ := pem.Decode(rest)
	if first == nil || second == nil || first.Type != "CERTIFICATE" || second.Type != "EC PRIVATE KEY" {
		return nil, errors.New("read authority: no certificate with its key")
	}
	key, err := x509.ParseECPrivateKey(second.Bytes)
	if err != nil {
		return nil, errors.New("read authority: the key does not parse")
	}
	return assemble(first.Bytes, key)
}

func assemble(der []byte, key *ecdsa.PrivateKey) (*Authority, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read authority: %w", err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) || !cert.IsCA {
		return nil, errors.New("read authority: certificate and key are not a pair")
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return &Authority{cert: cert, key: key, leaf: leaf, leaves: map[string]*tls.Certificate{}}, nil
}

// CertPEM is the certificate for the trust stores of the sandbox.
func (a *Authority) CertPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// MarshalPEM is the certificate with its private key, for a file that nobody but
// the user can read, outside of every sandbox.
func (a *Authority) MarshalPEM() ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return nil, fmt.Errorf("write authority: %w", err)
	}
	return append(a.CertPEM(), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})...), nil
}

// mint is the certificate of a host or IP address, made once and kept.
func (a *Authority) mint(host string, now time.Time) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if kept := a.leaves[host]; kept != nil && now.Add(time.Hour).Before(kept.Leaf.NotAfter) {
		return kept, nil
	}
	made, err := a.issue(host, now)
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	if len(a.leaves) >= maxLeaves { // a sandbox that asks for ever new names pays with time, not with our memory
		clear(a.leaves)
	}
	a.leaves[host] = made
	return made, nil
}

func (a *Authority) issue(host string, now time.Time) (*tls.Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		NotBefore:    now.Add(-24 * time.Hour), NotAfter: now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if len(host) <= 64 { // the bound of X.509; the name that counts is below
		template.Subject = pkix.Name{CommonName: host}
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, a.leaf.Public(), a.key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leaf, Leaf: parsed}, nil
}

// newSerial is random, positive and of 16 bytes.
func newSerial() (*big.Int, error) {
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return nil, fmt.Errorf("make serial number: %w", err)
	}
	raw[0] = raw[0]&0x7f | 0x40
	return new(big.Int).SetBytes(raw), nil
}
