// Command serve runs the scripted model on an address, for recording what agents
// print:
//
//	go run ./testdata/modelserver/serve -addr 127.0.0.1:8080 -key KEY
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	key := flag.String("key", "scripted-key", "the `key` that requests must bring")
	flag.Parse()
	s := &http.Server{Addr: *addr, Handler: &modelserver.Server{Key: *key}, ReadHeaderTimeout: 10 * time.Second}
	if err := s.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}
