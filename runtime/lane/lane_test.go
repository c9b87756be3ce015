package lane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
)

// futures returns a scene whose strategy holds 0.02 BTC, with an opening (order 2), an exit order (3) and a stop (4).
func futures(t *testing.T) *scene {
	t.Helper()
	s, b := newScene(t), symbolOf(bitcoin)
	s.place(placement.Entry, ordered(bitcoin, exchange.Buy, exchange.MarketOrder, 20, 0))
	opening := s.place(placement.Order, ordered(bitcoin, exchange.Buy, exchange.Limit, 10, enginetest.Price(t, b, "49000")))
	target := ordered(bitcoin, exchange.Sell, exchange.Limit, 10, enginetest.Price(t, b, "51000"))
	target.ReduceOnly = true
	stop := exchange.NewOrder{Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Sell, Type: exchange.StopMarket, ClosePosition: true,
		StopPrice: enginetest.Price(t, b, "48000"), WorkingType: exchange.MarkPrice}
	s.show("one", bitcoin, 20, enginetest.Price(t, b, "50000"), opening, s.place(placement.ExitOrder, target), s.place(placement.StopLoss, stop))
	return s
}

// A level cancels or closes only what it names, in its scope. The stop stays until the position is closed.
func TestHaltActsByLevelAndScope(t *testing.T) {
	t.Parallel()
	opening, exit, shut := "futures_cancel BTC-USDT 2", "futures_cancel BTC-USDT 3", "futures_place BTC-USDT SELL MARKET 20 reduce"
	for name, c := range map[string]struct {
		level record.HaltLevel
		scope account.Scope
		does  []string
		left  exchange.Quantity
	}{
		"a pause":                       {record.LevelPause, account.Scope{}, nil, 20},
		"a cancel":                      {record.LevelCancel, account.Scope{}, []string{opening}, 20},
		"a flatten":                     {record.LevelFlatten, account.Scope{}, []string{opening, exit, shut}, 0},
		"a flatten of the strategy":     {record.LevelFlatten, account.Scope{Strategy: "one"}, []string{opening, exit, shut}, 0},
		"a flatten of another strategy": {record.LevelFlatten, account.Scope{Strategy: "two"}, nil, 20},
		"a flatten of the symbol":       {record.LevelFlatten, account.Scope{Symbol: bitcoin}, []string{opening, exit, shut}, 0},
		"a flatten of another symbol":   {record.LevelFlatten, account.Scope{Symbol: spot}, nil, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := futures(t)
				defer s.stop()
				var preview []string
				for _, what := range c.does {
					preview = append(preview, map[string]string{opening: "cancel order 2 (b-946684800010) on futures BTC-USDT",
						exit: "cancel order 3 (b-946684800020) on futures BTC-USDT", shut: "close 0.02 of futures BTC-USDT"}[what])
				}
				want(t, "the preview", s.Preview(c.level, c.scope), preview...)
				began := time.Now()
				if err := s.halt(c.level, c.scope); err != nil || time.Since(began) != patience || !s.Acting() {
					t.Errorf("want the lane to act after %s, have %v after %s", patience, err, time.Since(began))
				}
				pass(10 * time.Second)
				have := s.venue.done()
				slices.Sort(have)
				var does []string
				for _, what := range c.does {
					does = append(does, "1.0s "+what)
				}
				want(t, "requests", have, does...)
				if s.position() != c.left {
					t.Errorf("want a position of %d, have %d", c.left, s.position())
				}
				declared := s.Degraded()
				if len(declared) != 2 || declared[0].State != "halted" || declared[0].Scope != c.scope || declared[0].Cause != c.level.String()+": a test" ||
					declared[0].Remaining != "" || len(declared[0].Blind) != 0 || declared[1].State != "lane" || declared[0].SinceMS != epochMS+1_040 ||
					declared[1].Cause != context.DeadlineExceeded.Error() || declared[1].SinceMS != epochMS+1_040 {
					t.Errorf("want the halt and the lane declared, have %+v", declared)
				}
			})
		})
	}
}

// The engine receives the halt and each order with its outcome, and the lane acts no more.
func TestEngineTakesOverWhenItAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := futures(t)
		defer s.stop()
		if s.LastActivation() != nil || s.First() != nil || len(s.Degraded()) != 0 {
			t.Error("before: want nothing in use")
		}
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		if u := s.LastActivation(); u == nil || u.DoneMS < epochMS+1_040 || u.DoneMS > epochMS+1_500 ||
			*u != (Activation{epochMS + 1_040, "ann unix", record.LevelFlatten, context.DeadlineExceeded.Error(), u.DoneMS, 0, 1}) {
			t.Errorf("want the use shown, have %+v", u)
		}
		if err := s.halt(record.LevelNone, account.Scope{}); !errors.Is(err, errActing) {
			t.Errorf("an end of the halt: want %v, have %v", errActing, err)
		}
		if err := s.halt(record.LevelFlatten, account.Scope{Strategy: "one"}); err != nil { // of another person, meanwhile
			t.Error(err)
		}
		first, is := s.First().(*engine.EventLane)
		if !is || len(first.Orders) != 1 || s.First() != nil {
			t.Errorf("want the order given to the engine once before its next event, have %+v", first)
		}
		file, stored, err := OpenFile(s.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, r := range stored {
			kinds = append(kinds, r.Kind().String())
		}
		slices.Sort(kinds[:min(4, len(kinds))]) // the first order may be written, and answered, before the halt
		want(t, "the lane's file", kinds, "acknowledged", "audit", "halt", "sending", "audit", "halt")
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		s.driver.heard()
		s.answer(nil)
		pass(3 * time.Second) // the lane's requests in progress end first
		heard := s.driver.heard()
		if slices.Sort(heard); !slices.Contains(heard, "audit of ann halt flatten of account: a test") ||
			!slices.Contains(heard, "audit of ann halt flatten of strategy one: a test") || heard[0] != "1 orders" {
			t.Errorf("want both halts and the order handed over, have %q", heard)
		}
		if o := s.driver.orders; len(o) != 1 || o[0].Strategy != "one" || o[0].Order.Quantity != 20 || o[0].Before != 20 || o[0].SentMS != epochMS+1_040 ||
			o[0].DeadlineMS != epochMS+6_040 || o[0].Outcome != (record.Acknowledged{OrderID: 5}) ||
			o[0].Order.ClientOrderID != placement.ClientOrderID("main", s.config.Start, 1) {
			t.Errorf("have %+v", o)
		}
		if s.Acting() || len(s.Degraded()) != 0 || len(s.used) != 1 || s.used[0].EndedMS < epochMS+5_040 || s.used[0].Orders != 1 ||
			*s.LastActivation() != s.used[0] {
			t.Errorf("want it released, have %+v", s.used)
		}
		if last := s.logged[len(s.logged)-1]; last != "lane.released engine    has taken over the kill switch's 1 orders, all in the journal" {
			t.Errorf("have %s", last)
		}
		s.venue.done()
		pass(time.Minute)
		want(t, "requests afterwards", s.venue.done())
		s.driver.heard()
		for _, level := range []record.HaltLevel{record.LevelNone, record.LevelCancel} {
			if err := s.halt(level, account.Scope{}); err != nil || s.Acting() {
				t.Errorf("an engine that answers: want it alone to act, have %v", err)
			}
		}
		if have := s.driver.heard(); len(have) != 2 {
			t.Errorf("want both given to the engine, have %q", have)
		}
	})
}

// The lane waits neither for an engine that refuses nor for a journal that cannot be written, and leaves alone one that is stopped.
func TestLaneEngagesByEngineAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		err    error
		acts   bool
		again  bool // the halt is passed to the engine once more
	}{
		"taken":           {nil, nil, false, false},
		"in force only":   {runtime.ErrNotDurable, nil, true, false},
		"refused":         {errBusy, nil, true, true},
		"already stopped": {runtime.ErrStopped, runtime.ErrStopped, false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := futures(t)
			defer s.stop()
			s.answer(c.answer)
			began := time.Now()
			err := s.halt(record.LevelCancel, account.Scope{})
			if !errors.Is(err, c.err) || err != nil && c.err == nil || s.Acting() != c.acts || time.Since(began) >= patience {
				t.Errorf("%s: want %v and the lane to act %t, have %v, %t after %s", name, c.err, c.acts, err, s.Acting(), time.Since(began))
			}
			s.driver.heard()
			s.answer(nil)
			pass(3 * time.Second)
			if have := s.driver.heard(); slices.Contains(have, "audit of ann halt cancel of account: a test") != c.again || s.Acting() {
				t.Errorf("%s: want the halt passed again %t, have %q", name, c.again, have)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := futures(t)
		defer s.stop()
		s.answer(errBusy)
		if err := s.Send(t.Context(), &engine.EventLane{}); !errors.Is(err, errBusy) || s.Acting() {
			t.Errorf("another event: want the engine's answer, have %v", err)
		}
		if err := s.Query(t.Context(), func() {}); err != nil {
			t.Error(err)
		}
		if scopes := s.Scopes(); len(scopes) != 1 || scopes[0] != (account.Scope{Strategy: "one", Symbol: bitcoin}) {
			t.Errorf("have %v", scopes)
		}
	})
}

// A second, severer halt is carried out as well, and a milder one takes nothing back.
func TestSevererHaltIsAddedWhileActing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := futures(t)
		defer s.stop()
		for i, c := range []struct {
			level record.HaltLevel
			scope account.Scope
			use   record.HaltLevel
			does  string
		}{
			{record.LevelPause, account.Scope{}, record.LevelPause, ""},
			{record.LevelCancel, account.Scope{Strategy: "one"}, record.LevelCancel, "futures_cancel BTC-USDT 2"},
			{record.LevelFlatten, account.Scope{Symbol: bitcoin}, record.LevelFlatten,
				"futures_cancel BTC-USDT 3; futures_place BTC-USDT SELL MARKET 20 reduce"},
			{record.LevelPause, account.Scope{}, record.LevelFlatten, ""},
		} {
			if err := s.halt(c.level, c.scope); err != nil {
				t.Fatal(err)
			}
			pass(4 * time.Second)
			var does []string
			for _, line := range s.venue.done() {
				does = append(does, strings.SplitN(line, " ", 2)[1])
			}
			if have := strings.Join(does, "; "); have != c.does || s.LastActivation().Level != c.use || len(s.Degraded()) != i+2 {
				t.Errorf("halt %d: want %q and %s, have %q and %s, %+v", i, c.does, c.use, have, s.LastActivation().Level, s.Degraded())
			}
		}
		if count := strings.Count(strings.Join(s.logged, "\n"), "lane.engaged"); count != 1 {
			t.Errorf("want it logged once that the lane acts, have %d", count)
		}
	})
}

// A close is sent again 0.5 s after a refusal, and 2 s after an answer without a visible effect; a lost answer counts as sent.
func TestCloseIsRepeatedOnlyWithoutEffect(t *testing.T) {
	t.Parallel()
	refused := &exchange.Refusal{Operation: exchange.FuturesPlace, Code: 7, Message: "no"}
	unsent := &exchange.Unavailable{Operation: exchange.FuturesPlace, Reason: "the budget is spent"}
	lost := &exchange.Uncertain{}
	for name, c := range map[string]struct {
		fails, lost error
		every       time.Duration // between two closes; 0: the first has its effect
		blind       string
		outcome     string
	}{
		"refused": {refused, nil, 500 * time.Millisecond, "the close of futures BTC-USDT is refused: no", "refused"},
		"not sent": {unsent, nil, 500 * time.Millisecond, "the close of futures BTC-USDT did not leave: never sent: the budget is spent",
			"ended"},
		"lost before it arrived":       {lost, nil, 2 * time.Second, "", "unknown"},
		"lost after it arrived":        {nil, lost, 0, "", "unknown"},
		"another error, not performed": {errBusy, nil, 2 * time.Second, "", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := futures(t)
				defer s.stop()
				s.venue.set(exchange.FuturesPlace, c.fails, c.lost)
				if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
					t.Fatal(err)
				}
				pass(6 * time.Second)
				var at []float64
				for _, line := range s.venue.done() {
					var second float64
					if _, err := fmt.Sscanf(line, "%fs futures_place BTC-USDT SELL MARKET 20 reduce", &second); err == nil {
						at = append(at, second)
					}
				}
				if c.every == 0 {
					if len(at) != 1 || s.position() != 0 {
						t.Errorf("want one close, have them at %v", at)
					}
					return
				}
				if most := 1 + int(6*time.Second/c.every); len(at) < most-1 || len(at) > most || s.position() != 20 {
					t.Errorf("want a close every %s, have them at %v", c.every, at)
				}
				d := s.Degraded()[0]
				if d.Remaining != "0.02 of futures BTC-USDT to close" || strings.Join(d.Blind, "; ") != c.blind {
					t.Errorf("want %q declared, have %q, %q", c.blind, d.Remaining, d.Blind)
				}
				if u := s.LastActivation(); u.DoneMS != 0 || u.Orders != len(at) {
					t.Errorf("want the use to go on, have %+v", u)
				}
				if have := s.logged[len(s.logged)-1]; !strings.HasSuffix(have, ": "+c.outcome) {
					t.Errorf("want the outcome %s logged, have %s", c.outcome, have)
				}
				s.venue.set(exchange.FuturesPlace, nil, nil)
				if pass(5 * time.Second); s.position() != 0 || s.LastActivation().DoneMS == 0 || s.Degraded()[0].Remaining != "" {
					t.Errorf("want it closed then, have %d, %+v", s.position(), s.LastActivation())
				}
			})
		})
	}
}

// The list needs no reads: orders are canceled and positions closed while none succeeds.
func TestUnreadableStateIsDeclared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := futures(t)
		defer s.stop()
		e := symbolOf(spot)
		s.show("two", spot, 10_000, enginetest.Price(t, e, "2500"))
		for _, read := range []exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.SpotOpenOrders, exchange.SpotWallet} {
			s.venue.set(read, errBusy, nil)
		}
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		blind := s.Degraded()[0].Blind
		want(t, "what is not seen", blind, "futures orders cannot be read: busy", "futures positions cannot be read: busy", "spot orders cannot be read: busy",
			"the spot wallet cannot be read: busy")
		if s.position() != 0 || len(s.venue.done()) < 3 || s.LastActivation().DoneMS != 0 {
			t.Errorf("want it closed by the list, have %d, %+v", s.position(), s.LastActivation())
		}
		for _, read := range []exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.SpotOpenOrders, exchange.SpotWallet} {
			s.venue.set(read, nil, nil)
		}
		if pass(3 * time.Second); len(s.Degraded()[0].Blind) != 0 || s.LastActivation().DoneMS == 0 {
			t.Errorf("want it seen then, have %+v", s.Degraded()[0])
		}
	})
}

// A position that others hold too is closed only by botd's part, and a position on the other side is not botd's.
func TestOnlyOwnPartOfPositionIsClosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held, closes, others exchange.Quantity // of the account, of botd, of others
		last                 string
		does                 []string
		left                 exchange.Quantity
		why                  string
	}{
		"all of it":                 {20, 20, 0, "50000", []string{"SELL MARKET 20 reduce"}, 0, ""},
		"a part":                    {20, 8, 12, "50000", []string{"SELL MARKET 8 reduce"}, 12, ""},
		"more than is held":         {5, 20, 0, "50000", []string{"SELL MARKET 20 reduce", "SELL MARKET 5 reduce"}, 0, ""},
		"a short":                   {-20, -20, 0, "50000", []string{"BUY MARKET 20 reduce"}, 0, ""},
		"a part of a short":         {-20, -8, -12, "50000", []string{"BUY MARKET 8 reduce"}, -12, ""},
		"nothing of it":             {20, 0, 20, "50000", nil, 20, ""},
		"the other side":            {-20, 0, 0, "50000", nil, -20, ""},
		"a price that is not known": {20, 20, 0, "0", []string{"SELL MARKET 20 reduce"}, 0, ""},
		"more than one order may be worth": {50_000, 50_000, 0, "50000",
			[]string{"SELL MARKET 20000 reduce", "SELL MARKET 20000 reduce", "SELL MARKET 10000 reduce"}, 0, ""},
		"too little for an order": {20, 20, 0, "0.1", nil, 20,
			"0.02 of futures BTC-USDT is too small for an order of its own: it is left to the engine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				defer s.stop()
				for left := c.held; left != 0; {
					part := min(max(left, -20_000), 20_000)
					s.place(placement.Entry, ordered(bitcoin, exchange.SideOf(part), exchange.MarketOrder, max(part, -part), 0))
					left -= part
				}
				s.show("one", bitcoin, c.closes, enginetest.Price(t, symbolOf(bitcoin), c.last)).Others = c.others
				s.Show(s.known)
				if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
					t.Fatal(err)
				}
				pass(4 * time.Second)
				var does []string
				for _, line := range s.venue.done() {
					does = append(does, strings.SplitN(line, " BTC-USDT ", 2)[1])
				}
				want(t, "requests", does, c.does...)
				if s.position() != c.left || strings.Join(s.Degraded()[0].Blind, "; ") != c.why {
					t.Errorf("want %d left and %q, have %d and %q", c.left, c.why, s.position(), s.Degraded()[0].Blind)
				}
			})
		})
	}
}
