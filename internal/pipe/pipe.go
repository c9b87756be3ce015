// Package pipe connects HTTP clients and servers in memory, also inside a testing/synctest bubble.
package pipe

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// readHeaderTimeout bounds how long a client may take to send its headers.
const readHeaderTimeout = 5 * time.Second

// Listener is an in-memory listener: Dial returns the other end of what Accept returns. It
// works inside a testing/synctest bubble; a socket does not.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewListener returns a listener that only its own Dial reaches.
func NewListener() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is the address "pipe" of network "pipe".
func (l *Listener) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "pipe" }

// Dial connects, ignoring network and address.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, errors.Join(near.Close(), net.ErrClosed)
	case <-ctx.Done():
		return nil, errors.Join(near.Close(), ctx.Err())
	}
}

// Client returns a client whose connections all go through the listener, whatever the URL's host.
// Close its idle connections with CloseIdleConnections.
func (l *Listener) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.Dial, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Serve serves a handler in memory with net/http's real client and server, and returns the client.
// Any http:// URL reaches the handler. shut ends both and waits for the server.
func Serve(handler http.Handler) (client *http.Client, shut func()) {
	listener := NewListener()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // http.ErrServerClosed, after Close
	}()
	client = listener.Client()
	return client, func() {
		client.CloseIdleConnections()
		_ = server.Close() // the listener in memory has nothing to report
		<-done
	}
}
