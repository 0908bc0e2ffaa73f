package network

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Bounds of the resolver.
const (
	maxQuery   = 1232 // bytes; what resolvers send at most without fragments
	maxDialogs = 64   // connections over TCP at once
	dialogTime = 10 * time.Second
	ttl        = 60 // seconds
)

// resolver answers on both protocols. It keeps nothing and asks nobody.
type resolver struct {
	packets net.PacketConn
	streams net.Listener
	slots   chan struct{}

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func listenDNS() (*resolver, error) {
	r := &resolver{slots: make(chan struct{}, maxDialogs), conns: map[net.Conn]struct{}{}}
	var err error
	if r.packets, err = net.ListenPacket("udp4", "127.0.0.1:53"); err != nil {
		return nil, err
	}
	if r.streams, err = net.Listen("tcp4", "127.0.0.1:53"); err != nil {
		return nil, errors.Join(err, r.packets.Close())
	}
	go r.servePackets()
	go r.serveStreams()
	return r, nil
}

func (r *resolver) close() {
	_ = r.packets.Close()
	_ = r.streams.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
}

func (r *resolver) servePackets() {
	buf := make([]byte, maxQuery)
	for {
		n, from, err := r.packets.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		if reply := answer(buf[:n]); reply != nil {
			_, _ = r.packets.WriteTo(reply, from)
		}
	}
}

func (r *resolver) serveStreams() {
	for {
		c, err := r.streams.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		r.slots <- struct{}{}
		r.mu.Lock()
		r.conns[c] = struct{}{}
		r.mu.Unlock()
		go func() {
			dialog(c)
			_ = c.Close()
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.conns, c)
			<-r.slots
		}()
	}
}

// dialog answers the queries of one connection, each with its length before it.
func dialog(c net.Conn) {
	buf := make([]byte, maxQuery)
	for {
		_ = c.SetDeadline(time.Now().Add(dialogTime))
		if _, err := io.ReadFull(c, buf[:2]); err != nil {
			return
		}
		size := int(binary.BigEndian.Uint16(buf))
		if size > len(buf) {
			return
		}
		if _, err := io.ReadFull(c, buf[:size]); err != nil {
			return
		}
		reply := answer(buf[:size])
		if reply == nil {
			return
		}
		framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)
		if _, err := c.Write(framed); err != nil {
			return
		}
	}
}

// answer gives the reply to a query: 127.0.0.1 for every name's A, nothing for its
// AAAA, and that it is not implemented for all else. nil where no reply is due.
func answer(query []byte) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil || head.Response {
		return nil
	}
	reply := dnsmessage.Header{
		ID: head.ID, Response: true, OpCode: head.OpCode, RecursionDesired: head.RecursionDesired, RecursionAvailable: true,
	}
	questions, err := p.AllQuestions()
	switch {
	case head.OpCode != 0:
		reply.RCode = dnsmessage.RCodeNotImplemented
		return pack(reply, nil)
	case err != nil || len(questions) != 1:
		reply.RCode = dnsmessage.RCodeFormatError
		return pack(reply, nil)
	}
	q := questions[0]
	if q.Class != dnsmessage.ClassINET || q.Type != dnsmessage.TypeA && q.Type != dnsmessage.TypeAAAA {
		reply.RCode = dnsmessage.RCodeNotImplemented
	}
	return pack(reply, &q)
}

// pack encodes a reply to q, which may be nil; nil where it cannot be encoded.
func pack(head dnsmessage.Header, q *dnsmessage.Question) []byte {
	m := dnsmessage.Message{Header: head}
	if q != nil {
		m.Questions = []dnsmessage.Question{*q}
		if head.RCode == dnsmessage.RCodeSuccess && q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: ttl},
				Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
			}}
		}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}
