package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/wire"
	"botd/internal/startclock"
)

const secret = "S3cret-0f-a-test" // not a word: its beginning is hidden too

// latency is the virtual time from a request to its answer.
const latency = time.Millisecond

// shift is how far the venues' clocks are ahead of this machine's, which is at the start of virtual time.
var shift = startclock.Time().Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))

// nowMS is the time of every venue in these tests.
func nowMS() int64 { return time.Now().Add(shift).UnixMilli() }

// virtual returns a parallel test in virtual time, which passes only while everything waits.
func virtual(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	}
}

// listeners holds the listener of each address of the network in memory.
var listeners sync.Map

// lastPort is the port of the newest listener.
var lastPort atomic.Int64

// listener accepts connections in memory.
type listener struct {
	address net.Addr
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newListener(t *testing.T) *listener {
	t.Helper()
	port := int(lastPort.Add(1))
	l := &listener{address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, conns: make(chan net.Conn), closed: make(chan struct{})}
	listeners.Store(l.address.String(), l)
	t.Cleanup(func() { listeners.Delete(l.address.String()) })
	return l
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Addr() net.Addr { return l.address }

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// dial connects to a listener in memory.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	found, listens := listeners.Load(address)
	if !listens {
		return nil, fmt.Errorf("%s %s: nobody listens", network, address)
	}
	l, near, far := found.(*listener), net.Conn(nil), net.Conn(nil)
	near, far = net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, fmt.Errorf("%s %s: closed", network, address)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// transport returns a transport over the network in memory, for one test.
func transport(t *testing.T) *http.Transport {
	t.Helper()
	made := &http.Transport{DialContext: dial}
	t.Cleanup(made.CloseIdleConnections)
	return made
}

// setup is a simulated exchange.
type setup struct {
	signer  wire.Signer
	delayMS int64
	variant string
	between func(http.Handler) http.Handler // nil for none
}

func serve(t *testing.T, s setup) *httptest.Server {
	t.Helper()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: nowMS(), OrderDelayMS: s.delayMS})
	if err != nil {
		t.Fatal(err)
	}
	made, err := server.New(
		server.Config{Exchange: x, Clock: server.Clock{StartMS: nowMS()}, Signer: s.signer, Control: true, Variants: []string{s.variant},
			Accounts: []server.Account{
				{Key: "key", Secret: secret},
				{Key: "reader", Secret: secret, ReadOnly: true},
				{Key: "other", Secret: secret},
			}},
	)
	if err != nil {
		t.Fatal(err)
	}
	handler := made.Handler()
	if s.between != nil {
		handler = s.between(handler)
	}
	return opened(t, handler)
}

// opened serves a handler at an address of the network in memory. Half of each request's latency passes before
// the handler, half after it.
func opened(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	far := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-time.After(latency / 2)
		handler.ServeHTTP(w, r)
		<-time.After(latency / 2)
	})
	venue := &httptest.Server{Listener: newListener(t), Config: &http.Server{Handler: far}}
	venue.Start()
	t.Cleanup(venue.Close)
	return venue
}

// probed runs a probe over the network in memory.
func probed(t *testing.T, config Config) *Report {
	t.Helper()
	if config.Secret == nil && config.Key != "" {
		config.Secret = []byte(secret)
	}
	config.glance, config.dial = time.Millisecond, dial
	if config.gap == 0 {
		config.gap = time.Millisecond
	}
	report, err := Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// control calls the control interface.
func control(t *testing.T, venue *httptest.Server, method, path, body string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, venue.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport(t)}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s %v", method, path, response.Status, text, err)
	}
	return text
}
