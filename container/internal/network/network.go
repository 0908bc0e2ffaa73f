// Package network is what the agent takes for a network: on the sandbox's
// loopback, a resolver that answers every name with 127.0.0.1, and listeners whose
// connections all go to the host. There is nothing else to reach, and when the
// guest ends nothing is left to answer.
package network
