// Package rootfs writes root's files in an image of anybody's making. A path is
// used only where every folder on it is root's alone, links included, so that
// nothing of the agent can have led it elsewhere.
package rootfs
