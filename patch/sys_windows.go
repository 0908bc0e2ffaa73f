package patch

import (
	"io/fs"
	"os"
	"path/filepath"
)

// permBits is empty, since Windows has no permission bits to keep.
const permBits = fs.FileMode(0)

const noFollow = 0

// renameInto moves a name of one folder into another.
func renameInto(from *os.Root, name string, to *os.Root, target string) error {
	return os.Rename(filepath.Join(from.Name(), name), filepath.Join(to.Name(), target))
}

func setLinkTime(string, int64) error { return nil }

// sameDevice is false: what it is asked about is staged beside the work tree's
// files then, which is always right.
func sameDevice(fs.FileInfo, fs.FileInfo) bool { return false }

func crossDevice(error) bool { return false }

func syncAll([]string) error { return nil }
