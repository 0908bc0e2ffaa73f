package main

import (
	"os"

	"github.com/git-ftl/git-ftl/container"
)

// endSignals are those that ask a command to end.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// restrictUmask has no meaning here: access follows the folder's list.
func restrictUmask() os.FileMode { return 0o022 }

// keepPipes has nothing to do: a closed pipe is an error already.
func keepPipes() {}

// closedPipe reports whether a reader of ours went away.
func closedPipe(error) bool { return false }

// watchSize has nothing to watch: a console tells no one of its size.
func watchSize(*os.File, chan<- container.TTY) (stop func()) { return func() {} }
