package surface

import (
	"bytes"
	"encoding/binary"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// excuses are the comments that excuse a line to other scanners. Source: the
// documentation of each. None is shorter than sampled+stride-1.
func excuses() []string {
	return []string{
		"gitleaks:allow", "betterleaks:allow", "trufflehog:ignore", "pragma: allowlist secret", "pragma: whitelist secret",
		"nosemgrep", "secretlint-disable", "ggignore", "checkov:skip",
	}
}

// A text is looked at in steps: whatever has eight bytes holds the four at one of
// them.
const (
	sampled = 4
	stride  = 5
)

// suppressions tells comments that excuse a line to other scanners. This one never
// reads them.
func (s *scan) suppressions() {
	all := excuses()
	var seen [1 << 6]uint64
	for _, e := range all {
		for i := range stride {
			h := sampleOf([]byte(e[i:]))
			seen[h>>6] |= 1 << (h & 63)
		}
	}
	done := 0
	for i := 0; i+sampled <= len(s.Text); i += stride {
		if h := sampleOf(s.Text[i:]); i < done || seen[h>>6]>>(h&63)&1 == 0 {
			continue
		}
		from := max(done, i-stride+1)
		for _, e := range all {
			n := bytes.Index(s.Text[from:min(len(s.Text), i+len(e))], []byte(e))
			if n < 0 {
				continue
			}
			done = from + n + len(e)
			s.list.Add(doc.Hit{
				Rule: "surface/suppression", Severity: doc.Info, Start: from + n, End: done,
				Message: "it tells another scanner to pass over the line; git-ftl does not heed it",
			})
			break
		}
	}
}

func sampleOf(text []byte) uint32 { return binary.LittleEndian.Uint32(text) * 0x9e3779b1 >> 20 }
