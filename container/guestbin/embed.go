//go:build embedguest

package guestbin

import "embed"

//go:embed guest-linux-*.gz
var files embed.FS
