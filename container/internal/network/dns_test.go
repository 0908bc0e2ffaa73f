//go:build linux

package network

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
)

func query(t testing.TB, op dnsmessage.OpCode, kinds ...dnsmessage.Type) []byte {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, OpCode: op, RecursionDesired: true}}
	for _, kind := range kinds {
		m.Questions = append(m.Questions, dnsmessage.Question{Name: dnsmessage.MustNewName("Some.Example."), Type: kind, Class: dnsmessage.ClassINET})
	}
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAnswer(t *testing.T) {
	response := query(t, 0, dnsmessage.TypeA)
	response[2] |= 0x80
	for _, row := range []struct {
		name    string
		query   []byte
		rcode   dnsmessage.RCode
		answers int
		none    bool
	}{
		{"A", query(t, 0, dnsmessage.TypeA), dnsmessage.RCodeSuccess, 1, false},
		{"AAAA", query(t, 0, dnsmessage.TypeAAAA), dnsmessage.RCodeSuccess, 0, false},
		{"TXT", query(t, 0, dnsmessage.TypeTXT), dnsmessage.RCodeNotImplemented, 0, false},
		{"ANY", query(t, 0, dnsmessage.TypeALL), dnsmessage.RCodeNotImplemented, 0, false},
		{"zone transfer", query(t, 0, dnsmessage.TypeAXFR), dnsmessage.RCodeNotImplemented, 0, false},
		{"update", query(t, 5, dnsmessage.TypeA), dnsmessage.RCodeNotImplemented, 0, false},
		{"two questions", query(t, 0, dnsmessage.TypeA, dnsmessage.TypeA), dnsmessage.RCodeFormatError, 0, false},
		{"no question", query(t, 0), dnsmessage.RCodeFormatError, 0, false},
		{"cut", query(t, 0, dnsmessage.TypeA)[:20], dnsmessage.RCodeFormatError, 0, false},
		{"response", response, 0, 0, true},
		{"short", []byte{1, 2, 3}, 0, 0, true},
		{"empty", nil, 0, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			reply := answer(row.query)
			if row.none {
				if reply != nil {
					t.Errorf("%x", reply)
				}
				return
			}
			var m dnsmessage.Message
			if err := m.Unpack(reply); err != nil {
				t.Fatal(err)
			}
			if m.ID != 7 || !m.Response || m.RCode != row.rcode || len(m.Answers) != row.answers {
				t.Errorf("%+v", m)
			}
			for _, a := range m.Answers {
				if d := cmp.Diff(&dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}, a.Body); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(query(f, 0, dnsmessage.TypeA))
	f.Add(query(f, 5, dnsmessage.TypeTXT))
	f.Fuzz(func(t *testing.T, data []byte) {
		reply := answer(data)
		if len(reply) > len(data)+64 {
			t.Errorf("%d bytes for %d", len(reply), len(data))
		}
		if reply != nil && (len(data) < 2 || reply[0] != data[0] || reply[1] != data[1]) {
			t.Errorf("another id: %x for %x", reply, data)
		}
	})
}
