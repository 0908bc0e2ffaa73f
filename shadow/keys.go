package shadow

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"math/rand/v2"
	"strings"
)

// rsaBits is the size of RSA shadows. A larger key than this takes seconds to
// make, and it is made anew in each run.
const rsaBits = 2048

// pem makes a private key of the same kind and encoding as the real one, with
// the marker on a line behind it, where every reader of PEM stops. What cannot
// be parsed (encrypted keys, OpenSSH's format, certificates) becomes a token.
func (m *Mint) pem(name, value string) string {
	block, _ := pem.Decode([]byte(value))
	if block == nil {
		return m.token(name)
	}
	real, encode := parsePrivate(block)
	if real == nil {
		return m.token(name)
	}
	der, err := encode(m.privateLike(name, real))
	if err != nil {
		return m.token(name)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: der}))
	return text + m.token(name) + strings.Repeat("\n", strings.Count(value[len(strings.TrimRight(value, "\n")):], "\n"))
}

// parsePrivate gives a private key and the way to encode another one like it.
func parsePrivate(block *pem.Block) (key any, encode func(any) ([]byte, error)) {
	if len(block.Headers) > 0 {
		return nil, nil
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return key, x509.MarshalPKCS8PrivateKey
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, func(k any) ([]byte, error) { return x509.MarshalPKCS1PrivateKey(k.(*rsa.PrivateKey)), nil }
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, func(k any) ([]byte, error) { return x509.MarshalECPrivateKey(k.(*ecdsa.PrivateKey)) }
	}
	return nil, nil
}

// privateLike makes a key of the same kind out of what stands for the name.
func (m *Mint) privateLike(name string, real any) any {
	switch real := real.(type) {
	case *rsa.PrivateKey:
		return m.rsaKey(name)
	case *ecdsa.PrivateKey:
		return m.ecdsaKey(name, real.Curve)
	case ed25519.PrivateKey:
		return ed25519.NewKeyFromSeed(m.stream("ed25519", name, ed25519.SeedSize))
	case *ecdh.PrivateKey:
		key, err := real.Curve().NewPrivateKey(m.stream("ecdh", name, len(real.Bytes())))
		if err == nil {
			return key
		}
	}
	return nil
}

// ecdsaKey takes the number of the stream modulo the order of the curve.
func (m *Mint) ecdsaKey(name string, curve elliptic.Curve) any {
	n := new(big.Int).Sub(curve.Params().N, big.NewInt(1))
	d := new(big.Int).SetBytes(m.stream("ecdsa", name, len(n.Bytes())+16))
	d.Mod(d, n).Add(d, big.NewInt(1))
	key, err := ecdsa.ParseRawPrivateKey(curve, d.FillBytes(make([]byte, (curve.Params().BitSize+7)/8)))
	if err != nil {
		return nil
	}
	return key
}

// rsaKey finds two primes from the stream on. The standard library's generator
// gives another key each time, whatever it reads from.
func (m *Mint) rsaKey(name string) any {
	var seed [32]byte
	copy(seed[:], m.stream("rsa", name, len(seed)))
	source := rand.NewChaCha8(seed)
	e := big.NewInt(65537)
	p, q := primeFrom(source, e), primeFrom(source, e)
	one := big.NewInt(1)
	phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	key := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: int(e.Int64())},
		D:         new(big.Int).ModInverse(e, phi),
		Primes:    []*big.Int{p, q},
	}
	key.Precompute()
	if key.Validate() != nil {
		return nil
	}
	return key
}

// primeFrom gives the next prime of half the size whose two top bits are set,
// and that e does not divide one less of.
func primeFrom(source *rand.ChaCha8, e *big.Int) *big.Int {
	raw := make([]byte, rsaBits/16)
	_, _ = source.Read(raw)
	raw[0] |= 0xc0
	raw[len(raw)-1] |= 1
	p := new(big.Int).SetBytes(raw)
	for two := big.NewInt(2); ; p.Add(p, two) {
		less := new(big.Int).Sub(p, big.NewInt(1))
		if p.ProbablyPrime(8) && new(big.Int).Mod(less, e).Sign() != 0 {
			return p
		}
	}
}
