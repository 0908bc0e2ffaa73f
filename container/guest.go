package container

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/container/guestbin"
	"github.com/git-ftl/git-ftl/container/internal/guest"
)

// Binary is a program that is unpacked only where it is needed.
type Binary struct {
	Version string // content hash
	Load    func() ([]byte, error)
}

// Guest gives the guest for an architecture as Go names it. It is the one that
// was built in, or, on Linux of the same architecture, the running program, which
// must then begin with GuestMain.
func Guest(arch string) (Binary, error) {
	if version := guestbin.Version(arch); version != "" {
		return Binary{version, func() ([]byte, error) { return guestbin.Guest(arch) }}, nil
	}
	bin, err := self(arch)
	if err != nil {
		return Binary{}, fmt.Errorf("find guest for %s: %w", arch, err)
	}
	return loaded(bin), nil
}

// loaded is one that is in memory already.
func loaded(bin []byte) Binary {
	return Binary{versionOf(bin), func() ([]byte, error) { return bin, nil }}
}

// GuestMain runs the guest where args are those of one, the program's name first,
// and gives its exit code. It is to come before all else in a program that may be
// its own guest.
func GuestMain(args []string) (code int, isGuest bool) {
	if len(args) == 0 || !strings.HasPrefix(args[0], guestPrefix) {
		return 0, false
	}
	return guest.Main(args[1:]), true
}

// versionOf is the content hash that the guest finds of itself too.
func versionOf(bin []byte) string {
	sum := sha256.Sum256(bin)
	return hex.EncodeToString(sum[:])
}

// self reads the running program.
func self(arch string) ([]byte, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != arch {
		return nil, errors.New("none was built in; `make build` does that")
	}
	bin, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	return bin, standsAlone(bin)
}

// standsAlone refuses a program that needs something of an image: a loader and
// libraries.
func standsAlone(bin []byte) error {
	file, err := elf.NewFile(bytes.NewReader(bin))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return errors.New("none was built in, and this program is linked to libraries; " +
			"`make build` builds one in, CGO_ENABLED=0 links without libraries")
	}
	return nil
}
