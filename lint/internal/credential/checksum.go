package credential

import (
	"fmt"
	"hash/crc32"
	"math/bits"
	"strings"
)

// seal62 gives a token its last six characters: the CRC32 of what stands between
// the prefix and them, in base 62.
//
// https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
func seal62(token string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	body := token[:len(token)-6]
	v := crc32.ChecksumIEEE([]byte(body[strings.IndexByte(body, '_')+1:]))
	var sum [6]byte
	for i := len(sum) - 1; i >= 0; i-- {
		sum[i] = digits[v%62]
		v /= 62
	}
	return body + string(sum[:])
}

// seal16 gives a token its last eight characters: the CRC32 of all before the
// underscore, its bytes from the lowest up, in hexadecimal.
//
// https://github.com/grafana/grafana/blob/main/pkg/components/satokengen/tokengen.go
func seal16(token string) string {
	body := token[:len(token)-9]
	return fmt.Sprintf("%s_%08x", body, bits.ReverseBytes32(crc32.ChecksumIEEE([]byte(body))))
}

// sealBech32 gives a key of age its alphabet and its last six characters.
//
// https://github.com/bitcoin/bips/blob/master/bip-0173.mediawiki
func sealBech32(token string) string {
	const digits = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
	at := strings.IndexByte(token, '1') // the end of the prefix, which has no other
	human, data := strings.ToLower(token[:at]), token[at+1:len(token)-6]
	data = strings.Map(func(c rune) rune {
		if strings.ContainsRune(digits, c) {
			return c
		}
		return rune(digits[0])
	}, data)
	sum := uint32(1)
	for i := range len(human) {
		sum = bech32(sum, human[i]>>5)
	}
	sum = bech32(sum, 0)
	for i := range len(human) {
		sum = bech32(sum, human[i]&31)
	}
	for i := range len(data) {
		sum = bech32(sum, byte(strings.IndexByte(digits, data[i])))
	}
	for range 6 {
		sum = bech32(sum, 0)
	}
	sum ^= 1
	out := []byte(token[:at+1] + data)
	for i := range 6 {
		out = append(out, digits[sum>>(5*(5-i))&31])
	}
	return string(out)
}

func bech32(sum uint32, v byte) uint32 {
	top := sum >> 25
	sum = sum&0x1ffffff<<5 ^ uint32(v)
	for i, g := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
		if top>>i&1 == 1 {
			sum ^= g
		}
	}
	return sum
}
