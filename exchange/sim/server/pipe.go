package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// PipeListener is an in-memory listener: Dial returns the other end of what Accept returns. It
// works inside a testing/synctest bubble; a socket does not.
type PipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipeListener returns a listener that only its own Dial reaches.
func NewPipeListener() *PipeListener {
	return &PipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next connection.
func (l *PipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (l *PipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is the address "pipe" of network "pipe".
func (l *PipeListener) Addr() net.Addr { return pipeAddress{} }

type pipeAddress struct{}

func (pipeAddress) Network() string { return "pipe" }
func (pipeAddress) String() string  { return "pipe" }

// Dial connects, ignoring network and address.
func (l *PipeListener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
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
func (l *PipeListener) Client() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: l.Dial, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Pipe serves a handler in memory with net/http's real client and server, and returns the client.
// Any http:// URL reaches the handler. shut ends both and waits for the server.
func Pipe(handler http.Handler) (client *http.Client, shut func()) {
	listener := NewPipeListener()
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
