// Command netprobe is a program inside a sandbox that uses its network, for tests.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Println("error:", err)
		if errors.Is(err, syscall.ECONNRESET) {
			fmt.Println("reset")
		}
	}
}

func run(verb string, args []string) error {
	switch verb {
	case "get": // URL
		return get(args[0])
	case "say": // ADDRESS LINE: sends the line, ends, and prints what comes
		return say(args[0], args[1]+"\n")
	case "send": // ADDRESS BYTES: sends them after "sink", and prints the answer
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return err
		}
		return send(args[0], n)
	case "count": // ADDRESS LINE: prints how many bytes come
		return count(args[0], args[1]+"\n")
	case "many": // ADDRESS N: connections that are open at once
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		return many(args[0], n)
	case "bind": // NETWORK ADDRESS: takes a port as an agent would that shares it
		return bind(args[0], args[1])
	case "abort": // ADDRESS: sends "tell" and resets
		return abort(args[0])
	}
	return errors.New("unknown verb")
}

func get(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}

func dial(address string) (*net.TCPConn, error) {
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

func say(address, line string) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, line); err != nil {
		return err
	}
	if err := c.CloseWrite(); err != nil {
		return err
	}
	_, err = io.Copy(os.Stdout, c)
	return err
}

func send(address string, n int64) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer c.Close()
	buf := make([]byte, 64<<10)
	_, err = io.WriteString(c, "sink\n")
	for n > 0 && err == nil {
		var wrote int
		wrote, err = c.Write(buf[:min(n, int64(len(buf)))])
		n -= int64(wrote)
	}
	if err == nil {
		err = c.CloseWrite()
	}
	if err == nil {
		_, err = io.Copy(os.Stdout, c)
	}
	return err
}

func count(address, line string) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, line); err != nil {
		return err
	}
	n, err := io.CopyBuffer(writer{}, c, make([]byte, 64<<10))
	fmt.Println(n)
	return err
}

type writer struct{}

func (writer) Write(p []byte) (int, error) { return len(p), nil }

func many(address string, n int) error {
	var open, done sync.WaitGroup
	var failed sync.Map
	open.Add(n)
	for i := range n {
		done.Go(func() {
			c, err := dial(address)
			if err == nil {
				defer c.Close()
				_, err = fmt.Fprintf(c, "echo\n%d\n", i)
			}
			var got string
			if err == nil {
				got, err = bufio.NewReader(c).ReadString('\n')
			}
			open.Done()
			if open.Wait(); err != nil || got != fmt.Sprintf("%d\n", i) {
				failed.Store(i, fmt.Sprint(got, err))
			}
		})
	}
	done.Wait()
	bad := 0
	failed.Range(func(k, v any) bool {
		bad++
		fmt.Println(k, v)
		return true
	})
	fmt.Println(n-bad, "good")
	return nil
}

func bind(network, address string) error {
	share := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = errors.Join(
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, 15, 1), // SO_REUSEPORT
			)
		})
		return errors.Join(err, failed)
	}}
	if network == "udp" {
		_, err := share.ListenPacket(context.Background(), network, address)
		return err
	}
	_, err := share.Listen(context.Background(), network, address)
	return err
}

func abort(address string) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c, "tell\n"); err != nil {
		return err
	}
	if _, err := c.Read(make([]byte, 1)); err != nil {
		return err
	}
	if err := c.SetLinger(0); err != nil {
		return err
	}
	return c.Close()
}
