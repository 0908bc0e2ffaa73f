// Package proc starts the agent's processes inside the sandbox, as the agent's
// user and with nothing of the guest's own, streams what they write, and ends
// every one of them. Nothing else runs as root.
package proc
