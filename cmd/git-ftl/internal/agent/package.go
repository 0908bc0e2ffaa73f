package agent

// Package is an archive of npm's registry with a part of an agent. The sum pins
// what is in it, wherever it comes from.
type Package struct {
	Name    string
	Version string
	Arch    string   // as Go names it; "" is any
	SHA512  string   // of the archive, in base64, as the registry's dist.integrity has it
	Take    []string // paths of the package, or of folders in it
	Below   string   // prefix that they lose
	Into    string   // absolute folder of the image
}

// Folder of the image below which every agent has one of its own. All of it
// belongs to root.
const folder = "/opt/git-ftl/"
