package signals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"botd/exchange"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/strategy"
)

const token = "a-token-of-a-test-0123456789"

// desk is a driver whose engine gives the test's answer, and knows ids.
type desk struct {
	mu      sync.Mutex // guards all below
	got     []*engine.EventAudited
	known   map[string]bool
	verdict error // result of the strategy
	fails   error // result of the driver
	moved   int   // how often the strategy changes its memory meanwhile
	asked   int   // number of receptions
}

// hear has the strategy asked off the engine.
func (d *desk) hear(s *engine.Signal) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails == nil {
		s.Reception = &engine.Reception{}
	}
	return d.fails
}

func (d *desk) receive(*engine.Reception) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
}

func (d *desk) Send(_ context.Context, event engine.Event) error {
	if hear, is := event.(*engine.EventPrepareSignal); is {
		return d.hear(hear.Signal)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := event.(*engine.EventAudited)
	signal := e.Event.(*engine.EventSignal).Signal
	d.got = append(d.got, e)
	switch {
	case d.fails != nil:
		return d.fails
	case d.verdict != nil:
		signal.Err = d.verdict
	case d.moved > 0:
		d.moved--
		signal.Err = engine.ErrMemoryChanged
		return nil
	case d.known[signal.ID]:
		signal.Err = strategy.ErrRepeated
	}
	d.known[signal.ID] = true
	return nil
}

func (d *desk) events() []*engine.EventAudited {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.got)
}

// serving is a server on a real socket.
type serving struct {
	*desk
	address string
	counts  map[string]int
	mu      *sync.Mutex
}

func serve(t *testing.T) *serving {
	t.Helper()
	s := &serving{desk: &desk{known: map[string]bool{}}, counts: map[string]int{}, mu: &sync.Mutex{}}
	server, err := New(Config{Token: token, Driver: s.desk, Receive: s.desk.receive,
		Symbol: func(name string) string {
			if name == "follow" {
				return "BTC-USDT"
			}
			return ""
		},
		Record: func(string, *strategy.Signal) { s.mu.Lock(); s.counts["recorded"]++; s.mu.Unlock() },
		Count:  func(result string) { s.mu.Lock(); s.counts[result]++; s.mu.Unlock() }})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// post sends a body and returns the status and the answer.
func (s *serving) post(t *testing.T, body string, headers ...string) (int, Answer) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+Path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), token) {
		t.Errorf("want no token in an answer, have %s", text)
	}
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatalf("%d %s: %v", response.StatusCode, text, err)
	}
	return response.StatusCode, a
}

const tradingView = `{"token": "` + token + `", "id": "17 2026-01-31T12:00:00Z", "strategy": "follow", "position": "long", "size": "50%",
	"time": "2026-01-31T12:00:00Z", "expires": "4h", "symbol": "BINANCE:BTCUSDT.P", "comment": "crossed"}`

func TestASignalOfTradingViewReachesTheStrategyOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	status, a := s.post(t, tradingView, "Content-Type", "text/plain")
	if status != http.StatusOK || a.Result != Taken {
		t.Fatalf("want it taken, have %d %+v", status, a)
	}
	e := s.events()[0]
	want := strategy.Signal{
		ID:        "17 2026-01-31T12:00:00Z",
		Side:      1,
		Share:     exchange.RateOne / 2,
		AtMS:      1_769_860_800_000,
		ExpiresMS: 1_769_875_200_000,
	}
	if given := e.Event.(*engine.EventSignal); given.Strategy != "follow" || given.Signal.Signal != want {
		t.Errorf("want %+v for follow, have %+v for %s", want, given.Signal.Signal, given.Strategy)
	}
	if e.Audit == nil || e.Audit.Actor != "signal" || e.Audit.From != "127.0.0.1" || strings.Contains(fmt.Sprint(*e.Audit), token) {
		t.Errorf("want who asked journalled, without the token, have %+v", e.Audit)
	}
	if status, a := s.post(t, tradingView); status != http.StatusOK || a.Result != Repeated {
		t.Errorf("sent again: want it known, have %d %+v", status, a)
	}
	if s.counts[Taken] != 1 || s.counts[Repeated] != 1 || s.counts["recorded"] != 1 {
		t.Errorf("want both counted, have %v", s.counts)
	}
}

func TestAWrongTokenIsAnsweredWithoutDetails(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for i, c := range []struct {
		body    string
		headers []string
	}{
		{strings.Replace(tradingView, token, "another-token-0123456789", 1), nil},
		{strings.Replace(tradingView, token, "", 1), nil},
		{`{"strategy": "nobody"}`, nil},
		{"no JSON", nil},
		{tradingView, []string{"Authorization", "Bearer wrong"}}, // the header takes precedence
		{tradingView + "x", nil},
		{"{}", nil},
	} {
		status, a := s.post(t, c.body, c.headers...)
		if want := http.StatusUnauthorized; i < wrongBurst && status != want || a.Result != Wrong || a.Strategy != "" {
			t.Errorf("%d: want %d and nothing else, have %d %+v", i, want, status, a)
		}
		if i >= wrongBurst+1 && status != http.StatusTooManyRequests {
			t.Errorf("%d: want wrong tokens slowed down, have %d", i, status)
		}
	}
	if have := s.events(); len(have) != 0 {
		t.Errorf("want nothing given to the engine, have %+v", have)
	}
	if status, a := s.post(t, tradingView); status != http.StatusOK { // wrong ones must not lock anyone out
		t.Errorf("a right token after wrong ones: want it to pass, have %d %+v", status, a)
	}
	withoutToken := strings.Replace(tradingView, `"token": "`+token+`", `, "", 1)
	if status, a := s.post(t, withoutToken, "Authorization", "Bearer "+token); status != http.StatusOK {
		t.Errorf("the token in the header: want it to pass, have %d %+v", status, a)
	}
}

func TestInvalidSignalIsRefusedWithReason(t *testing.T) {
	t.Parallel()
	s := serve(t)
	head := `{"token": "` + token + `", `
	for _, c := range []struct{ body, want string }{
		{head + `"strategy": "follow", "position": "long", "time": "2026-01-31T12:00:00Z"}`, `"id" is missing`},
		{head + `"id": "1", "position": "long", "time": "2026-01-31T12:00:00Z"}`, `"strategy" is missing`},
		{head + `"id": "1", "strategy": "follow", "time": "2026-01-31T12:00:00Z"}`, `"position"`},
		{head + `"id": "1", "strategy": "follow", "position": "up", "time": "2026-01-31T12:00:00Z"}`, `"position" must be`},
		{head + `"id": "1", "strategy": "follow", "action": "hold", "time": "2026-01-31T12:00:00Z"}`, `"action" must be`},
		{head + `"id": "1", "strategy": "follow", "position": "long"}`, `"time"`},
		{head + `"id": "1", "strategy": "follow", "position": "long", "time": "yesterday"}`, `"time"`},
		{head + `"id": "1", "strategy": "follow", "position": "long", "time": "{{timenow}}"}`, `"time"`},
		{head + `"id": "1", "strategy": "follow", "position": "long", "size": "150%", "time": "2026-01-31T12:00:00Z"}`, `"size"`},
		{head + `"id": "1", "strategy": "follow", "position": "long", "size": 1e999999999, "time": "2026-01-31T12:00:00Z"}`, `"size"`},
		{head + `"id": "1", "strategy": "follow", "position": "long", "size": -1, "time": "2026-01-31T12:00:00Z"}`, `"size"`},
		{head + `"id": "1", "strategy": "follow", "position": "long", "expires": "2020-01-01T00:00:00Z", "time": "2026-01-31T12:00:00Z"}`, `"expires"`},
		{head + `"id": "1", "strategy": "follow", "position": "long", "symbol": "ETHUSDT", "time": "2026-01-31T12:00:00Z"}`, `BTC-USDT`},
		{head + `"id": "1", "strategy": "follow", "position": "long", "leverage": 5, "time": "2026-01-31T12:00:00Z"}`, `unknown key`},
		{head + `"id": ["1"]}`, `id, size`},
		{head + `"id": "1", "strategy": "follow", "position": "flat", "position": "long", "time": "2026-01-31T12:00:00Z"}`, `given twice`},
		{head + `"id": "1", "strategy": "follow", "position": "flat", "Position": "long", "time": "2026-01-31T12:00:00Z"}`, `given twice`},
		{head + `"id": "1", "strategy": "follow", "position": "flat", "po\u017fition": "long", "time": "2026-01-31T12:00:00Z"}`, `given twice`},
		{head + `"id": "1", "\u017ftrategy": "follow", "position": "flat", "time": "2026-01-31T12:00:00Z"}`, `unknown key`},
		{head + `"token": "` + token + `", "id": "1", "strategy": "follow", "position": "flat", "time": "2026-01-31T12:00:00Z"}`, `given twice`},
	} {
		status, a := s.post(t, c.body)
		if status != http.StatusBadRequest || a.Result != Malformed || !strings.Contains(a.Detail, c.want) {
			t.Errorf("%s\nwant 400 with %q, have %d %+v", c.body, c.want, status, a)
		}
	}
	if have := s.events(); len(have) != 0 {
		t.Errorf("want nothing given to the engine, have %+v", have)
	}
}

func TestEveryVerdictHasItsStatus(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, c := range []struct {
		verdict, fails error
		status         int
		result         string
	}{
		{strategy.ErrLate, nil, http.StatusGone, Late},
		{strategy.ErrEarly, nil, http.StatusGone, Late},
		{strategy.ErrSuperseded, nil, http.StatusConflict, Late},
		{fmt.Errorf("%w: long only", strategy.ErrUnable), nil, http.StatusUnprocessableEntity, Refused},
		{engine.ErrNoStrategy, nil, http.StatusNotFound, Refused},
		{engine.ErrNoSignals, nil, http.StatusUnprocessableEntity, Refused},
		{engine.ErrFailed, nil, http.StatusServiceUnavailable, Unavailable},
		{engine.ErrNotReady, nil, http.StatusServiceUnavailable, Unavailable},
		{engine.ErrStopping, nil, http.StatusServiceUnavailable, Unavailable},
		{nil, runtime.ErrStopped, http.StatusServiceUnavailable, Unavailable},
		{nil, runtime.ErrNotDurable, http.StatusServiceUnavailable, Unavailable},
		{nil, errors.New("anything"), http.StatusServiceUnavailable, Unavailable},
	} {
		s.desk.mu.Lock()
		s.verdict, s.fails = c.verdict, c.fails
		s.desk.mu.Unlock()
		if status, a := s.post(t, tradingView); status != c.status || a.Result != c.result {
			t.Errorf("%v %v: want %d %s, have %d %+v", c.verdict, c.fails, c.status, c.result, status, a)
		}
	}
}

func TestBodiesAndRatesAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t)
	if status, _ := s.post(t, strings.Repeat(" ", maxBody)+tradingView); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body too long: want 413, have %d", status)
	}
	limited := 0
	for range burst + 10 {
		if status, a := s.post(t, tradingView); status == http.StatusTooManyRequests {
			limited++
			if a.Result != Limited {
				t.Errorf("want %s, have %+v", Limited, a)
			}
		}
	}
	if limited < 5 || limited > 10 {
		t.Errorf("want about 10 of %d refused, have %d", burst+10, limited)
	}
	for method, path := range map[string]string{http.MethodGet: Path, http.MethodPut: Path} {
		request, _ := http.NewRequestWithContext(t.Context(), method, s.address+path, nil)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: want 405, have %d", method, response.StatusCode)
		}
	}
	response, err := http.Post(s.address+"/api/v1/status", "application/json", strings.NewReader(tradingView))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("any other path: want 404, have %d", response.StatusCode)
	}
}

func TestATokenThatCouldBeGuessedIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Token: "short"}); err == nil {
		t.Error("want an error, have none")
	}
}

func FuzzABodyIsReadOrRefused(f *testing.F) {
	f.Add(tradingView)
	f.Add(`{"size": 1e9, "time": 1769860800000, "expires": "-1h"}`)
	f.Fuzz(func(t *testing.T, body string) {
		m, err := read([]byte(body))
		if m == nil {
			if err == nil {
				t.Fatal("want a message or an error")
			}
			return
		}
		if s, err := m.signal(); err == nil &&
			(s.ID == "" || s.Side < -1 || s.Side > 1 || s.Share <= 0 || s.Share > exchange.RateOne || s.AtMS <= 0 || s.ExpiresMS != 0 &&
				s.ExpiresMS <= s.AtMS) {
			t.Errorf("want a sound signal of %q, have %+v", body, s)
		}
	})
}

func TestSignalIsRetriedWhenMemoryChanged(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.moved = 2
	if status, a := s.post(t, tradingView); status != http.StatusOK || a.Result != Taken || s.asked != 3 {
		t.Errorf("want it taken when it was asked three times, have %d %+v after %d", status, a, s.asked)
	}
	s.moved = 3
	next := strings.Replace(tradingView, "17 ", "18 ", 1)
	if status, a := s.post(t, next); status != http.StatusServiceUnavailable || a.Result != Unavailable || s.asked != 6 {
		t.Errorf("want it refused for now after as many, have %d %+v after %d", status, a, s.asked)
	}
}
