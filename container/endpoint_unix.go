//go:build !windows

package container

const defaultHost = "unix:///var/run/docker.sock"
