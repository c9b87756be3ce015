// Package inbound limits the resources that clients may occupy: connections, header bytes and time.
//
// A cap that makes new clients wait, as netutil.LimitListener does, lets whoever holds all
// connections lock the operator out. This package always accepts a new connection and
// closes the least important one to make room: the oldest without a credential, then the
// oldest of a viewer. It never closes an operator's connection for another client.
package inbound

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// These bound a request's header. The server of net/http reads 4 KiB more than its limit.
const (
	maxHeader    = 8 << 10 // bytes
	headerWithin = 5 * time.Second
	bodyWithin   = 10 * time.Second
	idleWithin   = time.Minute
)

// Rank classifies a connection by the best credential that a request on it presented.
type Rank int

// The ranks are in the order in which connections are closed for others.
const (
	Unknown Rank = iota
	Viewer
	Operator
)

// Limits of a listener.
type Limits struct {
	All     int // connections at once
	Unknown int // connections without a credential from one address
}

// Listener caps the connections of another listener.
type Listener struct {
	net.Listener
	limits Limits

	mu     sync.Mutex // guards all below, and rank of each connection
	opened int64      // connections so far
	open   map[*connection]bool
}

// connection is a connection that counts towards the limits.
type connection struct {
	net.Conn
	listener *Listener
	source   string
	number   int64
	rank     Rank
}

// Limit caps the connections of a listener. TLS wraps it.
func Limit(listener net.Listener, limits Limits) *Listener {
	return &Listener{Listener: listener, limits: limits, open: map[*connection]bool{}}
}

// Accept returns the next connection, and closes those that must give way to it.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: inner, listener: l, source: Source(inner.RemoteAddr().String())}
		for _, out := range l.admit(c) {
			_ = out.Conn.Close() // its handler sees the connection end
		}
		if l.has(c) {
			return c, nil
		}
	}
}

// admit counts a connection, and returns those that are over the limits.
func (l *Listener) admit(c *connection) (out []*connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened++
	c.number = l.opened
	l.open[c] = true
	from, oldest := 0, c
	for each := range l.open {
		if each.rank == Unknown && each.source == c.source {
			from++
			if each.number < oldest.number {
				oldest = each
			}
		}
	}
	if from > l.limits.Unknown {
		out = append(out, oldest)
		delete(l.open, oldest)
	}
	if len(l.open) > l.limits.All {
		least := l.least(c)
		out = append(out, least)
		delete(l.open, least)
	}
	return out
}

// least returns the least important connection: the oldest of the lowest rank, or the newest only if all others are operators'.
func (l *Listener) least(newest *connection) *connection {
	var least *connection
	for each := range l.open {
		if each == newest {
			continue
		}
		if least == nil || cmp.Or(cmp.Compare(each.rank, least.rank), cmp.Compare(each.number, least.number)) < 0 {
			least = each
		}
	}
	if least == nil || least.rank == Operator {
		return newest
	}
	return least
}

func (l *Listener) has(c *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[c]
}

// Close ends the connection, which no longer counts.
func (c *connection) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// Source returns the part of an address that counts as one source: the host, or for IPv6 the network of one subscriber.
func Source(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return host
}

type contextKey struct{}

// WithConnection returns a context for the requests of a connection.
func WithConnection(ctx context.Context, inner net.Conn) context.Context {
	if encrypted, over := inner.(interface{ NetConn() net.Conn }); over {
		inner = encrypted.NetConn()
	}
	if c, counted := inner.(*connection); counted {
		return context.WithValue(ctx, contextKey{}, c)
	}
	return ctx
}

// Promote records the rank that a request on a connection presented. A rank never decreases.
func Promote(ctx context.Context, rank Rank) {
	if c, counted := ctx.Value(contextKey{}).(*connection); counted {
		c.listener.mu.Lock()
		c.rank = max(c.rank, rank)
		c.listener.mu.Unlock()
	}
}

// NewServer returns a server with the bounds of this package; answerWithin bounds a response. Client errors do not appear in botd's log.
func NewServer(handler http.Handler, answerWithin time.Duration) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: headerWithin, ReadTimeout: bodyWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0), ConnContext: WithConnection}
}

// stopWithin bounds the requests in flight when a server stops.
const stopWithin = 2 * time.Second

// Serve answers on every listener until the context ends or one of them fails; then it calls stopping and stops the server.
func Serve(ctx context.Context, server *http.Server, stopping func(), listeners ...net.Listener) error {
	ended := make(chan error, len(listeners))
	for _, listener := range listeners {
		go func() { ended <- server.Serve(listener) }()
	}
	var first error
	left := len(listeners)
	select {
	case <-ctx.Done():
	case first = <-ended: // if one fails, all end
		left--
	}
	stopping()
	stop(server)
	for range left {
		if err := <-ended; first == nil {
			first = err
		}
	}
	if errors.Is(first, http.ErrServerClosed) {
		return nil
	}
	return first
}

// stop stops a server, if necessary without completing its responses.
func stop(server *http.Server) {
	limited, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if server.Shutdown(limited) != nil {
		_ = server.Close()
	}
}
