package hooks

import (
	"bytes"
	_ "embed"
	"path/filepath"
	"strings"
)

// shimText is the hook that is installed, the same for all names.
//
//go:embed shim.sh
var shimText string

// mark is in every shim of any version, edited or not.
const mark = "# Put here by git-ftl."

const slot = "@PROGRAM@"

// shim is the hook with the path of git-ftl for where PATH has none.
func shim(program string) []byte {
	quoted := strings.ReplaceAll(filepath.ToSlash(program), "'", `'\''`)
	return []byte(strings.Replace(shimText, slot, quoted, 1))
}

// isShim reports whether data is this version's shim, whatever path it names.
func isShim(data []byte) bool {
	before, after, _ := strings.Cut(shimText, slot)
	return len(data) >= len(before)+len(after) && bytes.HasPrefix(data, []byte(before)) && bytes.HasSuffix(data, []byte(after))
}

// marked reports whether a hook was git-ftl's once.
func marked(data []byte) bool { return bytes.Contains(data, []byte(mark)) }
