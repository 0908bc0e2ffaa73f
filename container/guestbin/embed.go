//go:build embedguest

package guestbin

import "embed"

//go:embed guest-linux-*.gz guest-linux-*.sum
var files embed.FS
