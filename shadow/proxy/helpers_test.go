package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptrace"
	"net/textproto"
)

// tlsOver is TLS for a name over a connection that is open.
func tlsOver(w *world, c net.Conn, name string) *tls.Conn {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.inside.CertPEM())
	return tls.Client(c, &tls.Config{RootCAs: roots, ServerName: name})
}

// withHints calls f for each answer of 1xx.
func withHints(ctx context.Context, f func(int, textproto.MIMEHeader)) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		f(code, h)
		return nil
	}})
}
