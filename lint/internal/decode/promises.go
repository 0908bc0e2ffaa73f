package decode

// promises tells what a word may be, before it is decoded: of most names in code,
// nothing. It counts, in a lane of 8 bits for each way to read a word, how many
// characters in a row agree with it. For base64 these are the ones that make
// bytes of ASCII, for hex and base32 its digits.
type promises [4][256]uint64

// The lanes. The first four are base64 that begins at each place of its group.
const (
	laneHex      = 4
	laneCapitals = 5
	laneSmalls   = 6

	laneBits = 8
	laneOne  = 0x01010101010101
	laneFull = 16 // characters in a row: 12 bytes of base64
)

func newPromises(base64, hex *radix) *promises {
	var p promises
	for c := range 256 {
		var lanes uint64
		allow := func(lane int) { lanes |= 0xff << (laneBits * lane) }
		if hex.digit[c] != none {
			allow(laneHex)
		}
		if c >= 'A' && c <= 'Z' || c >= '2' && c <= '7' {
			allow(laneCapitals)
		}
		if c >= 'a' && c <= 'z' || c >= '2' && c <= '7' {
			allow(laneSmalls)
		}
		p.group(c, base64.digit[c], lanes)
	}
	return &p
}

// group fills in a character of base64 at each place of its group: the first bit
// of a byte is in the first letter's first, the second's third, the third's fifth.
func (p *promises) group(c int, digit uint8, lanes uint64) {
	for place, high := range [4]uint8{0x20, 0x08, 0x02, 0} {
		for start := range 4 {
			at := (start + place) % 4
			if digit != none && digit&high == 0 {
				p[at][c] |= 0xff << (laneBits * start)
			}
			p[at][c] |= lanes
		}
	}
}

// of is the lanes that were full once.
func (p *promises) of(text []byte, pieces []piece) (found uint64) {
	var streak uint64
	at := 0
	for _, piece := range pieces {
		for _, c := range text[piece.start:piece.end] {
			streak = (streak + laneOne) & p[at%4][c]
			found |= streak & (laneFull * laneOne)
			streak &= (laneFull - 1) * laneOne
			at++
		}
	}
	return found
}
