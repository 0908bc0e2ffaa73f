//go:build !embedguest

package guestbin

import "embed"

var files embed.FS
