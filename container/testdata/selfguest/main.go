// Command selfguest is a program that can be its own guest.
package main

import (
	"os"

	"github.com/git-ftl/git-ftl/container"
)

func main() {
	if code, guest := container.GuestMain(os.Args); guest {
		os.Exit(code)
	}
	guest, err := container.Guest(os.Args[1])
	var bin []byte
	if err == nil {
		bin, err = guest.Load()
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	_, _ = os.Stdout.Write(bin)
}
