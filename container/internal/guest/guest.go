// Package guest is the program inside a sandbox: process 1, and the server that
// the host speaks to over the standard input and output of one exec. It wires
// packages workspace and proc to the protocol of package wire and holds no logic
// of its own. Its Main runs on Linux.
package guest
