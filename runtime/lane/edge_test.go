package lane

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// answering is a venue that gives one answer, and stores the limits of placements.
type answering struct {
	answer exchange.Answer
	err    error
	limits []exchange.SendLimit
}

func (a *answering) Do(context.Context, exchange.Request) (exchange.Answer, error) {
	return a.answer, a.err
}

// budgeted is one that knows limits.
type budgeted struct{ *answering }

func (p budgeted) DoBefore(ctx context.Context, request exchange.Request, limit exchange.SendLimit) (exchange.Answer, error) {
	p.limits = append(p.limits, limit)
	return p.Do(ctx, request)
}

// An answer that is not certainly this order's leaves its outcome uncertain.
func TestAnswerOutcome(t *testing.T) {
	t.Parallel()
	of := func(id int64, client string) exchange.Answer {
		return exchange.Answer{Order: exchange.Order{ID: id, ClientOrderID: client}}
	}
	for name, c := range map[string]struct {
		answer exchange.Answer
		err    error
		want   record.Body
	}{
		"accepted":               {of(7, "l-1"), nil, record.Acknowledged{OrderID: 7}},
		"accepted without an id": {of(7, ""), nil, record.Acknowledged{OrderID: 7}},
		"another order's":        {of(7, "l-2"), nil, record.Uncertain{Reason: "the answer belongs to another order"}},
		"no order's":             {of(0, "l-1"), nil, record.Uncertain{Reason: "the answer belongs to another order"}},
		"refused":                {of(0, ""), &exchange.Refusal{Code: 7, Message: "no"}, record.Refused{Code: 7, Reason: "no"}},
		"not sent":               {of(0, ""), &exchange.Unavailable{Reason: "late"}, record.Ended{State: placement.Expired, Evidence: "never sent: late"}},
		"not sent, no reason":    {of(0, ""), &exchange.Unavailable{}, record.Ended{State: placement.Expired, Evidence: "never sent: unavailable"}},
		"another error":          {of(0, ""), errBusy, record.Uncertain{Reason: "busy"}},
		"uncertain": {of(0, ""), errors.Join(&exchange.Uncertain{}, &exchange.Refusal{Message: "no"}),
			record.Uncertain{Reason: "no"}},
	} {
		venue := &answering{answer: c.answer, err: c.err}
		o := &engine.LaneOrder{Order: exchange.NewOrder{Market: exchange.Futures, ClientOrderID: "l-1"}, DeadlineMS: 9}
		if have := New(Config{Venue: venue}).send(t.Context(), o); have != c.want {
			t.Errorf("%s: want %+v, have %+v", name, c.want, have)
		}
		if have := New(Config{Venue: budgeted{venue}}).send(t.Context(), o); have != c.want || len(venue.limits) != 1 || venue.limits[0].NotAfterMS != 9 {
			t.Errorf("%s, with a limit: want %+v, have %+v, %+v", name, c.want, have, venue.limits)
		}
	}
}

// An order that waits for the budget is withdrawn when the lane begins to act.
func TestWaitingPlacementIsWithdrawn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		defer s.stop()
		venue := &answering{answer: exchange.Answer{Order: exchange.Order{ID: 7}}}
		s.config.Venue = budgeted{venue}
		s.show("one", bitcoin, 0, 0)
		opening := ordered(bitcoin, exchange.Buy, exchange.MarketOrder, 1, 0)
		gate, is := s.Gate().(interface {
			DoBefore(context.Context, exchange.Request, exchange.SendLimit) (exchange.Answer, error)
		})
		if !is {
			t.Fatal("want a gate that knows limits")
		}
		request := exchange.Request{Operation: exchange.FuturesPlace, Order: opening}
		if _, err := gate.DoBefore(t.Context(), request, exchange.SendLimit{NotAfterMS: 5}); err != nil {
			t.Fatal(err)
		}
		limit := venue.limits[0]
		if limit.NotAfterMS != 5 || limit.Withdrawn() || s.isPlacing(bitcoin) {
			t.Errorf("want it sent within its limit, have %+v", limit)
		}
		if err := s.halt(record.LevelPause, account.Scope{}); err != nil || !limit.Withdrawn() {
			t.Errorf("want it withdrawn while the lane acts, have %v", err)
		}
	})
}

// A call takes less than a minute, so a placement that passed the gate earlier is in the engine's list.
func TestGateForgetsAfterAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		defer s.stop()
		for _, id := range []string{"b-1", "b-2"} {
			opening := ordered(bitcoin, exchange.Buy, exchange.MarketOrder, 1, 0)
			opening.ClientOrderID = id
			if _, err := s.Gate().Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: opening}); err != nil {
				t.Fatal(err)
			}
			pass(30 * time.Second)
		}
		if s.Show(nil); len(s.passed) != 2 {
			t.Errorf("want both remembered, have %v", s.passed)
		}
		pass(time.Nanosecond)
		if s.Show(nil); len(s.passed) != 1 || s.passed["b-2"] == nil {
			t.Errorf("want the newer one remembered, have %v", s.passed)
		}
	})
}

// A part is bounded by what botd holds and may have opened since, less what the lane has sent.
func TestClosedPartOfPosition(t *testing.T) {
	t.Parallel()
	resting := func(side exchange.Side, purpose placement.Purpose) account.Placement {
		return enginetest.Placement(record.Record{ClientOrderID: "b", Body: record.Sending{Purpose: purpose,
			Order: ordered(bitcoin, side, exchange.Limit, 10, 1)}}, placement.Working, 1)
	}
	buy, sell, exit := resting(exchange.Buy, placement.Order), resting(exchange.Sell, placement.Order), resting(exchange.Buy, placement.ExitOrder)
	for name, c := range map[string]struct {
		close, others, sent, remaining exchange.Quantity
		orders                         []account.Placement
		want                           exchange.Quantity
	}{
		"nothing of botd's":                   {0, 0, 0, 20, nil, 0},
		"botd's alone":                        {8, 0, 0, 20, nil, 20},
		"a short of botd's alone":             {-8, 0, 0, -20, nil, -20},
		"the other side of botd's":            {8, 0, 0, -20, nil, 0},
		"beside others":                       {8, 5, 0, 20, nil, 8},
		"a short beside others":               {-8, -5, 0, -20, nil, -8},
		"less than botd's beside others":      {8, 5, 0, 3, nil, 3},
		"with an opening":                     {8, 5, 0, 30, []account.Placement{buy}, 18},
		"an opening alone":                    {0, 0, 0, 1, []account.Placement{buy}, 1},
		"an opening of the other side":        {0, 0, 0, 20, []account.Placement{sell}, 0},
		"a short that opened":                 {0, -5, 0, -30, []account.Placement{sell}, -10},
		"an exit order opens nothing":         {0, 0, 0, 20, []account.Placement{exit}, 0},
		"after a part was sent":               {8, 5, 6, 20, nil, 2},
		"after all was sent":                  {8, 5, 8, 20, nil, 0},
		"after more than all was sent":        {8, 5, 9, 20, nil, 0},
		"nothing is left":                     {8, 5, 0, 0, nil, 0},
		"nothing is left of botd's alone":     {8, 0, 0, 0, nil, 0},
		"two openings of botd's, with others": {8, 5, 0, 30, []account.Placement{buy, buy, sell}, 28},
	} {
		one := &exposure{Exposure: engine.Exposure{Close: c.close, Others: c.others, Orders: c.orders}, sent: c.sent}
		if have := one.toClose(c.remaining); have != c.want {
			t.Errorf("%s: want %d, have %d", name, c.want, have)
		}
	}
}

// Another close follows the newest one after a read that shows its effect, or after its time.
func TestTimeOfTheNextClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Now()
		for name, c := range map[string]struct {
			closed    closing
			remaining exchange.Quantity
			began     time.Duration // of the read, after the answer
			passed    time.Duration
			want      bool
		}{
			"the first":                      {closing{}, 20, 0, 0, true},
			"a read from before the answer":  {closing{at: at, from: 20, by: 15}, 5, -1, time.Minute, false},
			"a read that shows its effect":   {closing{at: at, from: 20, by: 15}, 5, 0, 0, true},
			"a read that shows a part of it": {closing{at: at, from: 20, by: 15}, 12, 0, 2*time.Second - 1, false},
			"that part for two seconds":      {closing{at: at, from: 20, by: 15}, 12, 0, 2 * time.Second, true},
			"a refusal":                      {closing{at: at, refused: true}, 20, 0, 500*time.Millisecond - 1, false},
			"a refusal a moment later":       {closing{at: at, refused: true}, 20, 0, 500 * time.Millisecond, true},
		} {
			closed := c.closed
			if !closed.at.IsZero() {
				closed.at = time.Now().Add(-c.passed)
			}
			if have := (&exposure{closed: closed}).mayClose(c.remaining, closed.at.Add(c.began)); have != c.want {
				t.Errorf("%s: want %t, have %t", name, c.want, have)
			}
		}
	})
}

// A cancel is repeated after two seconds, until its answer is final.
func TestCancelIsRepeatedUntilFinal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := futures(t)
		defer s.stop()
		s.venue.set(exchange.FuturesCancel, errBusy, nil)
		if err := s.halt(record.LevelCancel, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		want(t, "cancels", s.venue.done(), "1.0s futures_cancel BTC-USDT 2", "3.0s futures_cancel BTC-USDT 2", "5.0s futures_cancel BTC-USDT 2")
		if d := s.Degraded()[0]; d.Remaining != "order 2 on futures BTC-USDT to cancel" {
			t.Errorf("want it declared, have %q", d.Remaining)
		}
		s.venue.set(exchange.FuturesCancel, nil, nil)
		if pass(10 * time.Second); len(s.venue.done()) != 1 || s.Degraded()[0].Remaining != "" {
			t.Errorf("want it canceled once more, have %q", s.Degraded()[0].Remaining)
		}
	})
}

// The ids of the lane are those in the record of the start, and no others.
func TestOrdersAreBoundedByIDs(t *testing.T) {
	t.Parallel()
	for used, position := range map[int64]exchange.Quantity{placement.LaneIDs - 1: 0, placement.LaneIDs: 20} {
		synctest.Test(t, func(t *testing.T) {
			s := futures(t)
			defer s.stop()
			s.mu.Lock()
			s.sequence = used
			s.mu.Unlock()
			if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
				t.Fatal(err)
			}
			pass(3 * time.Second)
			blind := strings.Join(s.Degraded()[0].Blind, "; ")
			if s.position() != position || (blind == "the close of futures BTC-USDT did not leave: never sent: the lane's ids are used up") != (position != 0) {
				t.Errorf("%d ids used: want a position of %d, have %d, %q", used, position, s.position(), blind)
			}
		})
	}
}

// The engine's close was refused while the lane waited for it.
func TestLaneClosesAfterEngineCloseFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		defer s.stop()
		s.place(placement.Entry, ordered(bitcoin, exchange.Buy, exchange.MarketOrder, 20, 0))
		s.show("one", bitcoin, 20, enginetest.Price(t, symbolOf(bitcoin), "50000"))
		s.venue.set(exchange.FuturesPlace, &exchange.Refusal{Operation: exchange.FuturesPlace}, nil)
		v := slow{s.venue, make(chan struct{})}
		s.config.Venue = v
		refused := ordered(bitcoin, exchange.Sell, exchange.MarketOrder, 20, 0)
		refused.ReduceOnly, refused.ClientOrderID = true, "engine"
		ended := make(chan error, 1)
		go func() {
			_, err := s.Gate().Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: refused})
			ended <- err
		}()
		synctest.Wait()
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		close(v.wait)
		if err := <-ended; err == nil {
			t.Error("want the engine's close refused")
		}
		s.venue.set(exchange.FuturesPlace, nil, nil)
		if pass(5 * time.Second); s.position() != 0 || s.isPlacing(bitcoin) {
			t.Errorf("want it closed by the lane, have %d", s.position())
		}
	})
}

// A position that is botd's alone is closed although a close of the engine is in progress: reduceOnly cannot flip it.
func TestOwnPositionIsClosedDuringPlacements(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		defer s.stop()
		s.place(placement.Entry, ordered(bitcoin, exchange.Buy, exchange.MarketOrder, 20, 0))
		s.show("one", bitcoin, 20, enginetest.Price(t, symbolOf(bitcoin), "50000"))
		v := slow{s.venue, make(chan struct{})}
		s.config.Venue = v
		queued := ordered(bitcoin, exchange.Sell, exchange.MarketOrder, 20, 0)
		queued.ReduceOnly, queued.ClientOrderID = true, "engine"
		ended := make(chan error, 1)
		go func() {
			_, err := s.Gate().Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: queued})
			ended <- err
		}()
		synctest.Wait()
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		if pass(3 * time.Second); s.position() != 0 {
			t.Errorf("want it closed, have %d", s.position())
		}
		close(v.wait)
		<-ended
		if pass(time.Second); s.position() != 0 {
			t.Errorf("want it flat, have %d", s.position())
		}
	})
}

// botd's own order whose fill is uncertain keeps the sale, because the asset could be sold twice.
func TestSaleWaitsForOwnOrdersToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, ether := holding(t)
		defer s.stop()
		lost := ordered(spot, exchange.Sell, exchange.Limit, 1_000, ether("2800"))
		lost.ClientOrderID = "b-lost"
		s.venue.set(exchange.SpotPlace, nil, &exchange.Uncertain{})
		if _, err := s.Gate().Do(t.Context(), exchange.Request{Operation: exchange.SpotPlace, Order: lost}); err == nil {
			t.Fatal("want its answer lost")
		}
		s.venue.set(exchange.SpotPlace, nil, nil)
		s.venue.done()
		s.known[0].Orders = append(s.known[0].Orders, enginetest.Placement(record.Record{AtMS: time.Now().UnixMilli(), Strategy: "two", Symbol: spot,
			ClientOrderID: "b-lost", Body: record.Sending{Purpose: placement.Exit, Order: lost}}, placement.Sending, 0))
		s.Show(s.known)
		s.venue.set(exchange.SpotCancel, nil, errBusy) // performed, and not answered
		s.venue.set(exchange.SpotOrderHistory, errBusy, nil)
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		pass(4 * time.Second)
		want(t, "requests", s.sales(), "cancel ETH-USDT 2", "cancel ETH-USDT 3")
		if d := s.Degraded()[0]; d.Remaining != "the sold quantity of spot ETH-USDT is unknown: busy" {
			t.Errorf("want it declared, have %q", d.Remaining)
		}
		s.venue.set(exchange.SpotOrderHistory, nil, nil)
		pass(4 * time.Second)
		want(t, "requests then", s.sales(), "place ETH-USDT SELL LIMIT 10000 at 247500000000")
		if s.free() != "0" || s.Degraded()[0].Remaining != "" {
			t.Errorf("want all of it sold, have %s, %+v", s.free(), s.Degraded()[0])
		}
	})
}

// The fills since the list was made change what is left.
func TestRemainderToSell(t *testing.T) {
	t.Parallel()
	own := func(side exchange.Side, id int64) account.Placement {
		return enginetest.Placement(record.Record{AtMS: 5, Symbol: spot, ClientOrderID: "b", Body: record.Sending{Purpose: placement.ExitOrder,
			Order: ordered(spot, side, exchange.Limit, 100, 1)}}, placement.Working, id)
	}
	for name, c := range map[string]struct {
		orders []account.Placement
		final  map[int64]exchange.Quantity
		sold   exchange.Quantity
		known  bool
		want   exchange.Quantity
	}{
		"nothing since":               {nil, nil, 0, true, 1_000},
		"the lane's sales":            {nil, nil, 400, true, 600},
		"a sale that filled":          {[]account.Placement{own(exchange.Sell, 7)}, map[int64]exchange.Quantity{7: 60}, 0, true, 940},
		"a purchase that filled":      {[]account.Placement{own(exchange.Buy, 7)}, map[int64]exchange.Quantity{7: 60}, 0, true, 1_060},
		"a sale that has not ended":   {[]account.Placement{own(exchange.Sell, 7)}, nil, 0, false, 1_000},
		"a sale without an id":        {[]account.Placement{own(exchange.Sell, 0)}, nil, 0, false, 1_000},
		"a sale without an id, ended": {[]account.Placement{own(exchange.Sell, 0)}, map[int64]exchange.Quantity{-5: 10}, 0, true, 990},
	} {
		one := &exposure{Exposure: engine.Exposure{Close: 1_000, Orders: c.orders}, final: c.final, sold: c.sold}
		if have := one.leftToSell(); have != c.want || one.known() != c.known {
			t.Errorf("%s: want %d, known %t, have %d, %t", name, c.want, c.known, have, one.known())
		}
	}
}
