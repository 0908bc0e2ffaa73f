package trust

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/git-ftl/git-ftl/container/internal/rootfs"
	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// installed is what a sandbox remembers of an Install. The files are root's, so that
// what an agent leaves behind cannot look like it.
type installed struct {
	CA      []byte            `json:"ca"`
	Java    bool              `json:"java"`
	Missing []string          `json:"missing"`
	Stamps  map[string]string `json:"stamps"`
}

// Ensure is Install where that is not done already, for this authority and with
// every file as it left it: a sandbox that goes from task to task need not write
// its bundles anew.
func Ensure(root rootfs.Root, ca []byte) (java bool, missing []string, err error) {
	var last installed
	data, err := root.Read(wire.TrustFile)
	if err == nil && json.Unmarshal(data, &last) == nil && bytes.Equal(last.CA, ca) && last.Java == hasJava(root) {
		if now, err := stamps(root); err == nil && maps.Equal(now, last.Stamps) {
			return last.Java, last.Missing, nil
		}
	}
	if java, missing, err = Install(root, ca); err != nil {
		return java, missing, err
	}
	last = installed{CA: ca, Java: java, Missing: missing}
	if last.Stamps, err = stamps(root); err != nil {
		return java, missing, err
	}
	if data, err = json.Marshal(last); err == nil {
		err = root.Replace(wire.TrustFile, data)
	}
	if err != nil {
		err = fmt.Errorf("remember authority: %w", err)
	}
	return java, missing, err
}

// stamps are the states of all that Install reads and writes.
func stamps(root rootfs.Root) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range slices.Concat(bundles(), []string{hashDir, hashDir + "/" + ownName, wire.CAFile, wire.BundleFile, wire.JavaFile}) {
		stamp, err := root.Stamp(name)
		if err != nil {
			return nil, err
		}
		all[name] = stamp
	}
	return all, nil
}
