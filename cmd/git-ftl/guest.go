package main

import "github.com/git-ftl/git-ftl/container"

// asGuest lets this binary be the guest of a sandbox, where none was built in.
func asGuest(args []string) (code int, ok bool) { return container.GuestMain(args) }
