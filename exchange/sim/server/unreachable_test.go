package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange/wire"
	"botd/internal/pipe"
)

// TestAServerThatStopsCutsOffAClientThatDoesNotRead waits five seconds for a client that does not read its
// answer.
func TestAServerThatStopsCutsOffAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, listener := newServer(t, nil), pipe.NewListener()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx, listener) }()
		slow, err := listener.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(slow, "GET /openapi.json HTTP/1.1\r\nHost: botd\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the answer is being written
		began := time.Now()
		cancel()
		if err := <-ended; err != nil || time.Since(began) != stopTimeout {
			t.Errorf("want its end after %s, have it after %s, %v", stopTimeout, time.Since(began), err)
		}
		if text, err := io.ReadAll(slow); err == nil && strings.HasSuffix(string(text), "}") {
			t.Errorf("want the answer cut off, have %d bytes", len(text))
		}
	})
}

// unreadableBody breaks off.
type unreadableBody struct{}

func (unreadableBody) Read([]byte) (int, error) { return 0, errors.New("the connection broke off") }

func TestABodyThatBreaksOffIsRefused(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	s := newServer(t, nil)
	answer, request := httptest.NewRecorder(), httptest.NewRequest("POST", "/fhapi/v1/order", unreadableBody{})
	request.Header = c.sign("POST", "/fhapi/v1/order", buyMarket, s.clock.nowMS())
	s.Handler().ServeHTTP(answer, request)
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "body could not be read") {
		t.Errorf("have %d %s", answer.Code, answer.Body)
	}
}

// TestARequestThroughAProxyIsSignedByItsPath sends a request line that contains the host, as to a proxy.
func TestARequestThroughAProxyIsSignedByItsPath(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	_, c := startServer(t, nil)
	const target = "/fhapi/v1/order?order_id=7"
	for line, want := range map[string]int{"http://venue.example" + target: http.StatusBadRequest, target: http.StatusBadRequest,
		"http://venue.example/fhapi/v1/order?order_id=8": http.StatusUnauthorized} {
		answer, request := httptest.NewRecorder(), httptest.NewRequest("GET", line, nil)
		request.RequestURI = line
		request.Header = c.sign("GET", target, "", s.clock.nowMS())
		if s.Handler().ServeHTTP(answer, request); answer.Code != want {
			t.Errorf("%s: want %d, have %d %s", line, want, answer.Code, answer.Body)
		}
	}
}

// TestAPriceThatIsTooFineIsNamed covers the price and the mark.
func TestAPriceThatIsTooFineIsNamed(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for body, want := range map[string]string{`"price":"50000.0000000000001"`: "price: ", `"price":50000,"mark":"50000.0000000000001"`: "mark: "} {
		a := c.send("POST", "/control/v1/price", `{"market":"futures","symbol":"BTC-USDT",`+body+`}`, nil)
		if a.wantRefusal(t, 400, wire.CodeMalformed); !strings.Contains(a.body, want) {
			t.Errorf("%s: want %q, have %s", body, want, a.body)
		}
	}
	c.control("POST", "/control/v1/price", `{"market":"futures","symbol":"BTC-USDT","price":50000,"mark":0.1}`)
}

// TestAFillIsThatOfAMakerOrATaker expects maker for an order that rested, and taker otherwise.
func TestAFillIsThatOfAMakerOrATaker(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.place(buyMarket)
	c.advance(5)
	c.place(buyBelow)
	c.advance(5)
	c.control("POST", "/control/v1/price", `{"market":"futures","symbol":"BTC-USDT","price":30000}`)
	c.advance(5)
	fills := c.state().Fills
	if len(fills) != 2 || fills[0]["role"] != "taker" || fills[1]["role"] != "maker" {
		t.Errorf("want a taker and then a maker, have %v", fills)
	}
}

// TestAStateIsNotStoredAfterTheExchangeBroke checks that the file keeps the last acknowledged state.
func TestAStateIsNotStoredAfterTheExchangeBroke(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	s := newServer(t, withState(path))
	defer s.state.close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.locked(func() { panic("a fault") }); err == nil {
		t.Fatal("want the fault reported")
	}
	s.mu.Lock()
	s.controlChanges++
	s.mu.Unlock()
	if err := s.save(); err == nil || !strings.Contains(err.Error(), "the exchange stopped: a fault") {
		t.Errorf("want the fault, have %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("want the file as it was, have %d bytes instead of %d, %v", len(after), len(before), err)
	}
}

// TestAnIncompleteWriteIsNamed expects its length in the message, and all complete records before it.
func TestAnIncompleteWriteIsNamed(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	c.add(t, f)
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path, append(read(t, f.path), '1'), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	again := &stateFile{path: f.path, source: c.changes, log: func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }}
	content, err := again.open()
	want := "state " + f.path + ": the last 1 bytes are an incomplete write; they are left out"
	if err != nil || string(content.snapshot) != "1" || !slices.Equal(lines, []string{want}) {
		t.Errorf("have %+v, %q, %v", content, lines, err)
	}
	if err := again.close(); err != nil {
		t.Error(err)
	}
}

// TestAFileThatWasReplacedIsClosed checks the old file after the state moved to a new one.
func TestAFileThatWasReplacedIsClosed(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	c.add(t, f)
	old := f.file
	for range 100 { // it is rewritten meanwhile
		c.add(t, f)
		f.group.Wait()
	}
	if f.file == old {
		t.Fatal("want the file rewritten")
	}
	if err := old.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("want the old file closed, have %v", err)
	}
}

// TestAnExchangeWithoutAnAddressListensOnThisMachine expects the documented port, unless it is in use.
func TestAnExchangeWithoutAnAddressListensOnThisMachine(t *testing.T) {
	t.Parallel()
	s, listener, err := Open(Options{}, Loaders{})
	if err != nil {
		if !strings.Contains(err.Error(), DefaultListen) {
			t.Errorf("want the port taken, have %v", err)
		}
		return
	}
	defer listener.Close()
	defer s.state.close()
	if have := listener.Addr().String(); have != DefaultListen {
		t.Errorf("want %s, have %s", DefaultListen, have)
	}
}
