package credential

import (
	"bytes"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// Bounds of private keys in bytes of their encoded body. The shortest is an
// Ed25519 key in PKCS #8.
const (
	keyLeast = 60
	keyMost  = 64 << 10
)

// headersMost and headerMost bound what stands before a body: Proc-Type and such.
const (
	headersMost = 8
	headerMost  = 200
)

// keyHeader is how far before "PRIVATE KEY" the dashes of a header may stand.
const keyHeader = 40

// pemHit judges a private key whose header says so at an offset. Line ends may be
// escapes, and the lines literals of a program. A header without a body is a
// program's that reads keys.
func pemHit(text []byte, at int) (doc.Hit, bool) {
	start, label, ok := opensKey(text, at)
	rest := bytes.IndexByte(text[at:min(len(text), at+keyHeader)], '-')
	if !ok || rest < 0 {
		return doc.Hit{}, false
	}
	at += rest
	for at < len(text) && text[at] == '-' {
		at++
	}
	n, body := keyBody(text[at:])
	if len(body) < keyLeast || regular(body) || entropy(body) < 4 {
		return doc.Hit{}, false
	}
	what := "private key"
	if bytes.Contains(label, []byte("ENCRYPTED")) || bytes.Contains(text[at:at+n], []byte("ENCRYPTED")) {
		what = "encrypted private key"
	}
	return keyHit("private-key", what, start, at+n), true
}

// opensKey is where the dashes before "BEGIN … PRIVATE KEY" begin, and what stands
// between those words.
func opensKey(text []byte, at int) (start int, label []byte, ok bool) {
	from := max(0, at-keyHeader)
	begin := bytes.LastIndex(text[from:at], []byte("BEGIN "))
	if begin < 0 {
		return 0, nil, false
	}
	label = text[from+begin : at]
	before := bytes.TrimRight(text[from:from+begin], " ")
	start = from + len(bytes.TrimRight(before, "-"))
	return start, label, from+len(before)-start >= 4 && !bytes.ContainsAny(label, "\"'\n\\-")
}

func keyHit(name, what string, start, end int) doc.Hit {
	return doc.Hit{
		Rule: "credential/" + name, Severity: doc.Block, Start: start, End: end, Secret: true, Message: what,
		Remedy: "replace the key wherever it is trusted and keep the new one with git ftl auth set PRIVATE_KEY",
	}
}

// keyBody is how far the body of a key reaches, and a part of it as it is encoded.
// Between its lines may stand what parts literals, and headers such as Proc-Type.
func keyBody(text []byte) (n int, body []byte) {
	text = text[:min(len(text), keyMost)]
	for headers := 0; n < len(text); {
		k := padded.run(text[n:], len(text))
		switch {
		case k > 0 && isHeader(text[n+k:]):
			if headers++; headers > headersMost {
				return n, body
			}
			k = lineLength(text[n:])
		case k > 3 && len(body) < 4*keyLeast:
			body = append(body, text[n:n+k]...)
		case k > 0:
		case bytes.IndexByte([]byte(" \t\r\n\"'`,;.|>#*$<&(["), text[n]) >= 0:
			k = 1
		case text[n] == '\\' && n+1 < len(text):
			k = 2
		default:
			return n, body
		}
		n += k
	}
	return n, body
}

// isHeader reports whether a word that ends here is the name of a header.
func isHeader(rest []byte) bool {
	return len(rest) > 1 && (rest[0] == ':' || rest[0] == '-' && rest[1] != '-')
}

// lineLength is how far a line goes, its end a newline or the escape of one.
func lineLength(text []byte) int {
	text = text[:min(len(text), headerMost)]
	for i, b := range text {
		if b == '\n' || b == '\\' && bytes.HasPrefix(text[i+1:], []byte("n")) {
			return i + 1
		}
	}
	return len(text)
}

// puttyHit judges a key in the format of PuTTY.
//
// https://tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html
func puttyHit(text []byte, at int) (doc.Hit, bool) {
	const mark, lines = "PuTTY-User-Key-File-", "Private-Lines:"
	window := text[at:min(len(text), at+8<<10)]
	private := bytes.Index(window, []byte(lines))
	if private < len(mark) || string(window[:len(mark)]) != mark || bytes.Contains(window[len(mark):private], []byte(mark)) {
		return doc.Hit{}, false
	}
	private += len(lines)
	n, body := keyBody(text[at+private:])
	if len(body) < 40 || regular(body) {
		return doc.Hit{}, false
	}
	return keyHit("putty-key", "PuTTY private key", at, at+private+n), true
}
