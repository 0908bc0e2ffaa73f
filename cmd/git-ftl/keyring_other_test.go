//go:build !linux

package main

// keyringBus is a variable of Linux alone.
func keyringBus() string { return "" }
