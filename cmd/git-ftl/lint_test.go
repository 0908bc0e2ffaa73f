package main

import (
	"crypto/rand"
	"hash/crc32"
	"os"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdToken writes a token that its provider would take for one of its own, made
// anew each time: token github FILE.
func cmdToken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || args[0] != "github" {
		ts.Fatalf("usage: token github FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(githubToken()), 0o600))
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// githubToken ends in the CRC32 of what comes before, as GitHub's do.
func githubToken() string {
	body := make([]byte, 30)
	_, _ = rand.Read(body)
	for i, b := range body {
		body[i] = base62[int(b)%len(base62)]
	}
	sum := crc32.ChecksumIEEE(body)
	check := make([]byte, 6)
	for i := range check {
		check[i] = base62[sum%62]
		sum /= 62
	}
	slices.Reverse(check)
	return "ghp" + "_" + string(body) + string(check)
}
