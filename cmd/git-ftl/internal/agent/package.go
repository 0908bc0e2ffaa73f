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

// Wheel is a program of Python that an index of packages has. The sum pins its wheel,
// whose metadata pins the version of each package that it needs.
type Wheel struct {
	Name     string
	Version  string
	SHA256   string // of the wheel, in hexadecimal
	Python   string // conditions on the version of CPython, as Requires-Python has them
	Into     string // absolute folder of the image; the modules are in its lib
	Command  string // name below it of what starts the program
	Flags    string // of the interpreter
	Launcher string // text of the command, behind the line that names the interpreter
}

// Folder of the image below which every agent has one of its own. All of it
// belongs to root.
const folder = "/opt/git-ftl/"
