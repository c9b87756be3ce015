package chaos

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// recordingProxy is a proxy between daemon and exchange. It records each placement's bytes and
// answer, and passes on every fault: a truncated or missing answer stays truncated or
// missing.
type recordingProxy struct {
	server   *http.Server
	listener net.Listener
	done     chan error
	arrived  chan struct{} // signaled when a placement arrives
	ahead    time.Duration // the exchange's clock minus this machine's

	mu     sync.Mutex // guards sent
	sent   []placement
	unread []string // placements whose body is not an order
}

// placement is a placement that the proxy saw.
type placement struct {
	clientID string
	reduces  bool // reduceOnly or closePosition: a repeat may be refused
	late     bool // it arrived after the exchange's window for its timestamp
	status   int  // 0: truncated or unanswered
	body     string
}

// headerTimestamp is copied from the interface (3.1): the proxy shares no code with the
// client it observes.
const headerTimestamp = "x-timestamp"

// lateAfter is the exchange's window (exchange/sim/server), minus the latency between the
// proxy and the exchange.
const lateAfter = 4500 * time.Millisecond

// late reports whether a request is outside the window of its timestamp, as after a pause
// between signing and sending.
func late(stamp string, now time.Time) bool {
	ms, err := strconv.ParseInt(stamp, 10, 64)
	return err == nil && now.Sub(time.UnixMilli(ms)) > lateAfter
}

// maxSeen bounds how much of an order's body is read.
const maxSeen = 1 << 20

func newRecordingProxy(exchange string, ahead time.Duration) (*recordingProxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &recordingProxy{listener: listener, done: make(chan error, 1), arrived: make(chan struct{}, 1), ahead: ahead}
	// Connections are not reused: the transport would silently retry a read on a broken
	// one, and hide the fault.
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: exchange}) },
		Transport:      &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		FlushInterval:  -1, // a truncated answer is passed on up to its end
		ModifyResponse: w.recordAnswer,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	w.server = &http.Server{Handler: w.watch(proxy), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { w.done <- w.server.Serve(listener) }()
	return w, nil
}

func (w *recordingProxy) address() string { return w.listener.Addr().String() }

func (w *recordingProxy) close() error {
	limited, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if w.server.Shutdown(limited) != nil {
		w.server.Close()
	}
	if err := <-w.done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("proxy: %w", err)
	}
	return nil
}

type numbered struct{}

// watch records a placement before it passes it on.
func (w *recordingProxy) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		switch request.Method + " " + request.URL.Path {
		case futuresPlacement, spotPlacement:
		default:
			next.ServeHTTP(response, request)
			return
		}
		body, err := io.ReadAll(io.LimitReader(request.Body, maxSeen))
		if err != nil {
			panic(http.ErrAbortHandler) // the daemon died while sending: the exchange sees nothing
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		request.ContentLength = int64(len(body))
		next.ServeHTTP(response, request.WithContext(context.WithValue(request.Context(), numbered{},
			w.saw(body, late(request.Header.Get(headerTimestamp), time.Now().Add(w.ahead))))))
	})
}

func (w *recordingProxy) saw(body []byte, late bool) int {
	var order struct {
		ClientOrderID string `json:"client_order_id"`
		SpotID        string `json:"clientOrderId"`
		ReduceOnly    any    `json:"reduceOnly"`
		ClosePosition any    `json:"closePosition"`
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	err := json.Unmarshal(body, &order)
	order.ClientOrderID = cmp.Or(order.ClientOrderID, order.SpotID)
	if err != nil || order.ClientOrderID == "" {
		w.unread = append(w.unread, string(body))
	}
	select {
	case w.arrived <- struct{}{}:
	default:
	}
	w.sent = append(w.sent, placement{clientID: order.ClientOrderID, reduces: yes(order.ReduceOnly) || yes(order.ClosePosition), late: late,
		body: string(body)})
	return len(w.sent) - 1
}

func yes(v any) bool { return strings.EqualFold(fmt.Sprint(v), "true") }

// recordAnswer records the answer to a placement.
func (w *recordingProxy) recordAnswer(response *http.Response) error {
	if i, ok := response.Request.Context().Value(numbered{}).(int); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sent[i].status = response.StatusCode
	}
	return nil
}

// forget drops the signal of an earlier placement.
func (w *recordingProxy) forget() {
	select {
	case <-w.arrived:
	default:
	}
}

// seen returns the placements so far.
func (w *recordingProxy) seen() (sent []placement, unread []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]placement(nil), w.sent...), append([]string(nil), w.unread...)
}
