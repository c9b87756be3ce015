package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange/sim"
	"botd/internal/pipe"
)

// buildStill builds or restores a still exchange.
func buildStill(state []byte) (*sim.Exchange, error) {
	config := sim.Config{Symbols: sim.DefaultSymbols(), StartMS: manualStartMS, OrderDelayMS: sim.DefaultOrderDelayMS}
	if state == nil {
		return sim.New(config)
	}
	return sim.Restore(config, state)
}

func withState(path string) func(*Config) {
	return func(config *Config) { config.Build, config.StatePath = buildStill, path }
}

// killed returns a server that starts from the disk's contents, as after a SIGKILL: the first one cannot
// write any more.
func killed(t *testing.T, path string) *trader {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := startServer(t, withState(copied))
	return c
}

func TestAcknowledgedChangesSurviveAnAbruptStop(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	_, c := startServer(t, withState(path))
	steps := []struct {
		name string
		do   func(c *trader)
	}{
		{"a placement", func(c *trader) { c.place(buyMarket) }},
		{"a fill by the clock", func(c *trader) { c.advance(5) }},
		{"a resting order", func(c *trader) { c.place(buyBelow) }},
		{"a leverage", func(c *trader) {
			c.call("POST", "/fhapi/v1/leverage", `{"symbol":"ETH-USDT","leverage":7}`).want(t, 200)
		}},
		{"a spot order", func(c *trader) {
			c.call("POST", "/hapi/v1/spot/order", `{"symbol":"BTC-USDT","side":"SELL","type":"MARKET","qt":500}`).want(t, 200)
		}},
		{"its fill", func(c *trader) { c.advance(5) }},
		{"a price", func(c *trader) {
			c.control("POST", "/control/v1/price", `{"market":"futures","symbol":"BTC-USDT","price":"51000"}`)
		}},
		{"a close", func(c *trader) {
			c.place(`{"symbol":"BTC-USDT","side":"SELL","type":"MARKET","qt":"0.01","reduceOnly":true}`)
			c.advance(5)
		}},
		{"a cancel", func(c *trader) { c.call("POST", "/fhapi/v1/order/cancel", `{"id":2}`).want(t, 200) }},
		{"time alone", func(c *trader) { c.advance(60_000) }},
	}
	for _, step := range steps {
		step.do(c)
		restarted := killed(t, path)
		if want, have := c.nowMS(), restarted.nowMS(); want != have {
			t.Errorf("after %s: want the clock at %d, have %d", step.name, want, have)
		}
		for _, call := range []struct{ method, target string }{
			{"GET", "/control/v1/orders"}, {"POST", "/fhapi/v1/positions/open"}, {"GET", "/fhapi/v1/positions/history"},
			{"GET", "/fhapi/v1/margin/account"}, {"GET", "/fhapi/v1/leverage"}, {"GET", "/hapi/v1/spot/wallet"},
			{"GET", "/hapi/v1/spot/order/trades"}, {"GET", "/hapi/v1/spot/order/history"},
		} {
			want, have := c.call(call.method, call.target, ""), restarted.call(call.method, call.target, "")
			if want.body != have.body || want.status != 200 {
				t.Errorf("after %s, %s:\nwant %s\nhave %s", step.name, call.target, want.body, have.body)
			}
		}
	}
}

func TestARestartedExchangeContinuesItsIDs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	_, c := startServer(t, withState(path))
	first := c.place(buyMarket)
	if second := killed(t, path).place(buyBelow); second.ID <= first.ID {
		t.Errorf("want an id above %d, have %d", first.ID, second.ID)
	}
}

func TestAChangeThatCannotBeWrittenIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	s, c := startServer(t, withState(path))
	if err := errors.Join(s.state.file.Close(), os.Mkdir(path+newSuffix, 0o700)); err != nil { // neither can be written
		t.Fatal(err)
	}
	c.call("POST", "/fhapi/v1/order", buyMarket).wantRefusal(t, 500, 500)
	c.call("GET", "/fhapi/v1/margin/account", "").wantRefusal(t, 500, 500)
	c.send("GET", "/fapi/v1/time", "", nil).want(t, 200) // reveals nothing about an account
	if err := os.Remove(path + newSuffix); err != nil {
		t.Fatal(err)
	}
	c.call("GET", "/fhapi/v1/margin/account", "").want(t, 200)
	if orders := killed(t, path).state().Orders; len(orders) != 1 {
		t.Errorf("want the order, have %+v", orders)
	}
}

func TestAnInvalidStateFileIsNotOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	for _, content := range []string{"", "{", `{"Schema":99}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Config{Build: buildStill, StatePath: path}); err == nil {
			t.Errorf("state %q: want an error, have none", content)
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != content {
			t.Errorf("want %q untouched, have %q %v", content, have, err)
		}
	}
}

func TestAPanicOfTheExchangeEndsTheService(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(config *Config) { config.Log = nil })
	if err := s.locked(func() { panic("books do not balance") }); err == nil {
		t.Error("want an error, have none")
	}
	err := s.locked(func() { t.Error("want nothing done any more, have a call") })
	if want := "the exchange stopped: books do not balance"; fmt.Sprint(err) != want {
		t.Errorf("want %q, have %v", want, err)
	}
}

// A broken exchange answers nothing about an account or a market, and takes no control call.
func TestBrokenExchangeReturns500(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(config *Config) { config.Build, config.Log = buildFresh, nil })
	client, shut := pipe.Serve(s.Handler())
	defer shut()
	c := &trader{t, client, "http://pipe", testKey, testSecret, s.clock.nowMS}
	_ = s.locked(func() { panic("books do not balance") })
	for _, call := range []struct{ method, target, body string }{
		{"POST", "/fhapi/v1/order", buyMarket}, {"GET", "/fhapi/v1/leverage", ""}, {"GET", "/fapi/v1/time", ""}, {"GET", "/control/v1/orders", ""},
		{"POST", "/control/v1/clock", `{"advance_ms":5}`}, {"POST", "/control/v1/price", `{"market":"futures","symbol":"BTC-USDT","price":"1"}`},
		{"GET", "/control/v1/state", ""}, {"POST", "/control/v1/reset", ""},
	} {
		if a := c.call(call.method, call.target, call.body); a.status != 500 || !strings.Contains(a.body, "books do not balance") {
			t.Errorf("%s %s: want 500 with the reason, have %d %s", call.method, call.target, a.status, a.body)
		}
	}
}

// Serve ends immediately, although nothing is due and its context is live.
func TestServeEndsWithAPanicOfTheExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, func(config *Config) { config.Log = nil })
		ended := make(chan error, 1)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() { ended <- s.Serve(ctx, pipe.NewListener()) }()
		synctest.Wait()
		_ = s.locked(func() { panic("books do not balance") })
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "books do not balance") || time.Since(began) > time.Second {
			t.Errorf("want it ended at once with what happened, have %v after %s", err, time.Since(began))
		}
	})
}

// A server reopens a state file that is truncated anywhere in its last two records, with every complete
// record before the cut.
func TestAStateTruncatedInItsLastRecordsIsReopened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	_, c := startServer(t, withState(path))
	var sizes []int // of the file, after that many orders
	for range 4 {
		sizes = append(sizes, len(read(t, path)))
		c.place(buyBelow)
	}
	content := read(t, path)
	sizes = append(sizes, len(content))
	step := 61
	if os.Getenv(killsVariable) != "" {
		step = 1
	}
	for cut := sizes[2]; cut <= len(content); cut++ {
		orders, boundary := 2, cut == sizes[3] || cut == sizes[4]
		for orders+1 < len(sizes) && cut >= sizes[orders+1] {
			orders++
		}
		if !boundary && cut%step != 0 && cut+1 != sizes[3] && cut+1 != sizes[4] {
			continue
		}
		torn := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(torn, content[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s := newServer(t, withState(torn))
		if have := len(s.exchange.AllOrders()); have != orders {
			t.Errorf("cut at %d of %v: want %d orders, have %d", cut, sizes, orders, have)
		}
		if err := s.state.close(); err != nil {
			t.Error(err)
		}
	}
}
