package decode

// radix is an encoding in which each character stands for some bits.
type radix struct {
	how   string
	bits  int
	phase int        // how many ways there are to begin amid a group
	digit [256]uint8 // or none
}

const none = 0xff

func newRadix(how string, bits, phase int, alphabets ...string) *radix {
	r := &radix{how: how, bits: bits, phase: phase}
	for i := range r.digit {
		r.digit[i] = none
	}
	for _, letters := range alphabets {
		for i := range len(letters) {
			r.digit[letters[i]] = uint8(i)
		}
	}
	return r
}

const (
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	smalls   = "abcdefghijklmnopqrstuvwxyz"
	figures  = "0123456789"
)

// inDigits undoes base64, hex and base32. Base64's letters are the others', too:
// all are tried on each of its words that promises something.
func inDigits(text []byte) []Layer {
	base64 := newRadix("base64", 6, 4, capitals+smalls+figures+"+/", capitals+smalls+figures+"-_")
	hex := newRadix("hex", 4, 2, figures+"abcdef", figures+"ABCDEF")
	base32 := newRadix("base32", 5, 1, capitals+"234567", smalls+"234567")
	layers := []Layer{{How: base64.how, step: 2}, {How: hex.how, step: 2}, {How: base32.how, step: 3}}
	tell := newPromises(base64, hex)
	var buf run
	for w := (words{text: text, letter: &base64.digit}); w.next(); {
		found := tell.of(text, w.pieces)
		for skip := range base64.phase {
			if found&(laneFull<<(laneBits*skip)) != 0 {
				base64.decode(text, w.pieces, skip, &buf, &layers[0])
			}
		}
		for skip := range hex.phase {
			if found&(laneFull<<(laneBits*laneHex)) != 0 {
				hex.decode(text, w.pieces, skip, &buf, &layers[1])
			}
		}
		if found&(laneFull<<(laneBits*laneCapitals)|laneFull<<(laneBits*laneSmalls)) != 0 {
			base32.decode(text, w.pieces, 0, &buf, &layers[2])
		}
	}
	return filled(layers)
}

// filled are the layers that hold something.
func filled(all []Layer) []Layer {
	var some []Layer
	for _, l := range all {
		if len(l.Text) > 0 {
			some = append(some, l)
		}
	}
	return some
}

// decode reads rows of digits, each without its first ones.
func (r *radix) decode(text []byte, pieces []piece, skip int, buf *run, into *Layer) {
	var bits uint32
	have, first, left := 0, -1, skip
	buf.reset()
	for _, p := range pieces {
		for i := p.start; i < p.end; i++ {
			d := r.digit[text[i]]
			if d == none {
				into.keep(buf)
				buf.reset()
				have, first, left = 0, -1, skip
				continue
			}
			if left > 0 {
				left--
				continue
			}
			if first < 0 {
				first = i
			}
			bits = bits<<r.bits | uint32(d)
			if have += r.bits; have < 8 {
				continue
			}
			have -= 8
			buf.add(byte(bits>>have), first)
			if first = -1; have > 0 {
				first = i
			}
		}
	}
	into.keep(buf)
}
