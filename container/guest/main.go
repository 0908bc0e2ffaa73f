// Command guest is the program inside a sandbox.
package main

import (
	"os"

	"github.com/git-ftl/git-ftl/container/internal/guest"
)

func main() { os.Exit(guest.Main(os.Args[1:])) }
