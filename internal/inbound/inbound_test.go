package inbound

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a server on which a request to /operator or /viewer has that rank.
type fixture struct {
	t        *testing.T
	listener *Listener
}

func serve(t *testing.T, limits Limits) *fixture {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t, Limit(inner, limits)}
	server := NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if rank, shown := map[string]Rank{"/viewer": Viewer, "/operator": Operator}[r.URL.Path]; shown {
			Promote(r.Context(), rank)
		}
	}), time.Second)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(f.listener) }()
	t.Cleanup(func() { stop(server); <-ended })
	return f
}

// dial opens a connection and, with a path, sends one request on it.
func (f *fixture) dial(path string) net.Conn {
	f.t.Helper()
	c, err := net.Dial("tcp", f.listener.Addr().String())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	if path != "" && !asks(c, path) {
		f.t.Fatalf("GET %s on a new connection: no answer", path)
	}
	return c
}

// asks reports whether a connection still answers.
func asks(c net.Conn, path string) bool {
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return false
	}
	if _, err := c.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		return false
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil
}

func TestUnknownClientsGiveWayToNewcomersAndToEveryRank(t *testing.T) {
	t.Parallel()
	f := serve(t, Limits{All: 6, Unknown: 3})
	operator, viewer := f.dial("/operator"), f.dial("/viewer")
	first := f.dial("/")
	for range 50 {
		f.dial("")
	}
	if asks(first, "/") {
		t.Error("the oldest unknown client after 50 others: want it closed, have an answer")
	}
	if !asks(operator, "/") || !asks(viewer, "/") {
		t.Error("want the operator's and the viewer's connections open after a flood of unknown clients")
	}
	if !asks(f.dial(""), "/") {
		t.Error("want a newcomer served after the flood")
	}
}

func TestViewersGiveWayToOperators(t *testing.T) {
	t.Parallel()
	f := serve(t, Limits{All: 4, Unknown: 4})
	for range 20 {
		f.dial("/viewer")
	}
	operators := []net.Conn{f.dial("/operator"), f.dial("/operator"), f.dial("/operator"), f.dial("/operator")}
	for range 20 {
		f.dial("")
	}
	for i, c := range operators {
		if !asks(c, "/") {
			t.Errorf("operator %d: want the connection open, have it closed", i)
		}
	}
	f.listener.mu.Lock()
	defer f.listener.mu.Unlock()
	if have := len(f.listener.open); have > 4 {
		t.Errorf("want at most 4 connections, have %d", have)
	}
}

func TestALongHeadIsRefusedEarly(t *testing.T) {
	t.Parallel()
	c := serve(t, Limits{All: 4, Unknown: 4}).dial("")
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 13<<10))); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("want 431 before the head ends, have %v, %v", response, err)
	}
}

func TestEndlessRequestHeaderIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		accepted := make(chan net.Conn, 1)
		accepted <- far
		listener := &once{accepted: accepted, closed: make(chan struct{})}
		server := NewServer(http.NotFoundHandler(), time.Second)
		ended := make(chan struct{})
		go func() { defer close(ended); _ = server.Serve(Limit(listener, Limits{All: 1, Unknown: 1})) }()
		began := time.Now()
		if _, err := near.Write([]byte("GET / HTTP/1.1\r\n")); err != nil {
			t.Fatal(err)
		}
		_, _ = near.Read(make([]byte, 1)) // until the other end closes it
		if after := time.Since(began); after > headerWithin+time.Second {
			t.Errorf("want half a head cut off within %s, have %s", headerWithin, after)
		}
		stop(server)
		<-ended
		_ = near.Close()
	})
}

// once accepts one connection.
type once struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (o *once) Accept() (net.Conn, error) {
	select {
	case c := <-o.accepted:
		return c, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}

func (o *once) Close() error   { close(o.closed); return nil }
func (o *once) Addr() net.Addr { return &net.TCPAddr{} }

func TestSourcesAreHostsAndNetworks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"192.0.2.7:80": "192.0.2.7", "[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::", "@": "@",
		"[::ffff:192.0.2.7]:80": "::ffff:192.0.2.7"} {
		if have := Source(address); have != want {
			t.Errorf("%s: want %s, have %s", address, want, have)
		}
	}
}

func TestOtherConnectionsHaveNoRank(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	Promote(WithConnection(context.Background(), near), Operator) // without anything to note it must not fail
}
