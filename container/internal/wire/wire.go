// Package wire is the protocol between the host and the guest: HTTP/1.1 over
// yamux on the standard input and output of one exec, the host being the
// client. Both sides bound what they read.
//
//	GET  /hello            -> Hello
//	POST /reset  Reset     -> ResetReport, or 409 where the guest is not at Reset.From
//	POST /run    see below -> frames, then the exit in the HTTP trailer
//	POST /signal?run=ID&signal=N
//	POST /resize?run=ID&rows=R&cols=C
//	POST /kill             -> ends every agent process, 500 where one stays alive
//	GET  /diff?max=BYTES   -> a git patch with the end line of EndLine, 413 where it is over a bound; 0 for none
//	POST /network Network  -> NetworkReport: the network is up whenever something runs, from then on
//	POST /ports   Ports    -> opens and closes ports of the network, 409 where one is taken
//	PUT  /base  tar        -> adds, replaces and (PAX record GonePAX) removes files of tree/ and objects/,
//	                          for engines without a bind mount; tree and objects
//	                          themselves as removed are emptied
//
// Every connection that is made to the sandbox's network is a stream that the
// guest opens, or a connection to the socket in Sockets, and carries what package
// tunnel says.
//
// A run's request body is a 4-byte big-endian length, a Run as JSON, and then
// standard input until its end. The response body is a sequence of frames: one
// byte of stream, 4 bytes of big-endian length, and the bytes. The trailers
// ExitTrailer and NoteTrailer follow; without ExitTrailer the guest died.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Places inside the sandbox.
const (
	Workspace = "/workspace"    // where the agent works
	Tree      = "/mnt/snapshot" // read-only files of the base, raw blobs
	Objects   = "/mnt/objects"  // read-only git object folder with the base commit
	State     = "/var/lib/ftl"  // root only: manifest, locks
	Home      = "/home/ftl"     // of the agent
	UID       = 1000            // of the agent, also its gid
	User      = "ftl"
	Sockets   = State + "/tunnel" // the host's folder with the tunnel's socket, where one is mounted
)

// Files of root that tell programs whom to trust.
const (
	CAFile     = "/.ftl/ca.pem"     // the sandbox's authority alone
	BundleFile = "/.ftl/bundle.pem" // the image's certificates and the authority
	JavaFile   = "/.ftl/java.jks"   // the same for Java, where the image has one
	TrustFile  = "/.ftl/trust.json" // what is installed of them
)

// HTTP trailers of a run.
const (
	ExitTrailer = "Ftl-Exit" // decimal exit code; 128+N for signal N
	NoteTrailer = "Ftl-Note" // Run's JSON RunNote
)

// ErrorTrailer is the HTTP trailer of a diff that broke off while it streamed;
// the end line is missing then.
const ErrorTrailer = "Ftl-Error"

// DroppedHeader is the HTTP header of a diff that holds a JSON list of Dropped,
// at most MaxDropped of them.
const (
	DroppedHeader = "Ftl-Dropped"
	MaxDropped    = 50
)

// Dropped is one new path that the diff leaves out: a file, or a folder with
// all below it.
type Dropped struct {
	Path  string `json:"path"`  // to be shown: JSON loses what is no UTF-8
	Bytes int64  `json:"bytes"` // of file content, counted up to a bound
	Why   string `json:"why"`   // "ignored", "litter", "repository", "special", "long path" or "submodule"
}

// GonePAX is the PAX record key of a tar entry that names a removed file.
const GonePAX = "FTL.gone"

// Frame streams.
const (
	Stdout = 1
	Stderr = 2
)

// MaxFrame bounds the payload of one frame, in bytes.
const MaxFrame = 1 << 16

// Backlog bounds the streams that either side has opened and the other has not
// taken yet.
const Backlog = 64

// File is one path of the base. Mode is git's (0100644, 0100755, 0120000,
// 0160000); 0 says that the path is gone. Object is its git object name in hex.
type File struct {
	Path   Path   `json:"p"`
	Mode   uint32 `json:"m,omitempty"`
	Object string `json:"o,omitempty"`
}

// Path is a path with slashes, as raw bytes in any encoding. JSON carries it in
// base64, since encoding/json would replace what is no UTF-8.
type Path string

// MarshalJSON implements json.Marshaler.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(p)) }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Path) UnmarshalJSON(data []byte) error {
	var raw []byte
	err := json.Unmarshal(data, &raw)
	*p = Path(raw)
	return err
}

// Hello is what the guest says of itself.
type Hello struct {
	Version string `json:"version"` // content hash of the guest binary
	Base    string `json:"base"`    // ID of the base that the workspace was last reset to, "" if none or damaged
	Dirs    bool   `json:"dirs"`    // whether Tree and Objects are mounts that show the host's folders
}

// Reset makes the workspace equal to the base.
type Reset struct {
	ID      string   `json:"id"`      // names the content of Tree
	From    string   `json:"from"`    // Changed counts from this base; "" with All
	All     bool     `json:"all"`     // Changed lists every file of the base
	Changed []File   `json:"changed"` // sorted by path
	Keep    []string `json:"keep"`    // names of ignored folders that stay ("node_modules")
	Clean   bool     `json:"clean"`   // let nothing stay but the base
	Commit  string   `json:"commit"`  // the one commit of the workspace's .git, in Objects
	Branch  string   `json:"branch"`  // its branch, "" for a detached HEAD
	Ignored []string `json:"ignored"` // lines of the base's info/exclude, none of which is secret
	History []string `json:"history"` // home paths of the agent that persist (".claude/projects")
}

// ResetReport says what a reset did.
type ResetReport struct {
	Files    int      `json:"files"`    // in the base
	Written  int      `json:"written"`  // files written
	Removed  int      `json:"removed"`  // files and folders removed
	Kept     []string `json:"kept"`     // folders that stayed, as paths of the workspace
	Setup    bool     `json:"setup"`    // the workspace was empty before: a fresh sandbox
	Millis   float64  `json:"millis"`   // time taken
	FreeDisk int64    `json:"freeDisk"` // bytes
}

// Run starts one process of the agent's user.
type Run struct {
	ID    string   `json:"id"` // names it in signal and resize
	Argv  []string `json:"argv"`
	Env   []string `json:"env"` // the whole environment
	Dir   string   `json:"dir"` // below Workspace
	Stdin bool     `json:"stdin"`
	TTY   bool     `json:"tty"`
	Rows  uint16   `json:"rows"`
	Cols  uint16   `json:"cols"`
	Disk  int64    `json:"disk"` // bytes that the sandbox may grow by; 0 for no bound
}

// RunNote is what the guest noticed while a process ran.
type RunNote struct {
	OOM  int  `json:"oom"`  // processes killed for memory
	Pids int  `json:"pids"` // forks refused at the process limit
	Disk bool `json:"disk"` // stopped: the disk bound was reached
}

// Network is what a sandbox may reach: the host, through the tunnel.
type Network struct {
	CA     []byte `json:"ca"`     // PEM certificates that programs inside trust
	Socket string `json:"socket"` // name of the host's socket in Sockets, "" for none
	Open   []int  `json:"open"`   // ports besides the fixed ones
}

// NetworkReport says what the guest could do.
type NetworkReport struct {
	Socket  bool     `json:"socket"`  // the socket is the way, not the exec
	Java    bool     `json:"java"`    // JavaFile is there
	Missing []string `json:"missing"` // what the image lacks, in words
}

// Ports changes which ports of the sandbox's loopback lead to the host.
type Ports struct {
	Open  []int `json:"open"`
	Close []int `json:"close"`
}

// EndLine is the last line of a diff: the count of its file sections, and the
// length and SHA-256 of all bytes before the line. A dying guest cannot look
// like a smaller change.
func EndLine(files int, bytes int64, sum []byte) string {
	return fmt.Sprintf("ftl-end files=%d bytes=%d sha256=%x\n", files, bytes, sum)
}

// WriteFrame writes one frame of at most MaxFrame bytes.
func WriteFrame(w io.Writer, stream byte, p []byte) error {
	var head [5]byte
	head[0] = stream
	binary.BigEndian.PutUint32(head[1:], uint32(len(p)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(p)
	return err
}

// ReadFrame reads the next frame into buf, which holds MaxFrame bytes. io.EOF
// at the end of the frames.
func ReadFrame(r io.Reader, buf []byte) (stream byte, n int, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > MaxFrame {
		return 0, 0, fmt.Errorf("frame of %d bytes is over the bound", size)
	}
	n, err = io.ReadFull(r, buf[:size])
	if err == io.EOF && size > 0 {
		err = io.ErrUnexpectedEOF
	}
	return head[0], n, err
}
