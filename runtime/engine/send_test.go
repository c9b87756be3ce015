package engine

import (
	"errors"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// checkRecalled requires that every opening in flight that must not be sent any more was recalled, whatever the newest
// event concerned. An effect of time alone may wait.
func checkRecalled(t testing.TB, e *Engine) {
	t.Helper()
	for _, o := range e.sender.sent {
		p, under := e.calls[o.call.ID]
		why := e.permission.withdrawn(o.queued)
		if timeAlone := e.nowMS-e.sender.examinedMS < recallAllMS && (e.nowMS > o.call.DeadlineMS || e.readHealth.roundHangs()); timeAlone {
			continue
		}
		if under && p.recalled == "" && why != "" {
			t.Fatalf("opening %s on %s must not go any more (%s), and was not called back", p.clientID, o.symbol.Key(), why)
		}
	}
}

// An answer to a placement triggers an examination of its own symbol's openings, but a lost answer may trip the breaker of
// the whole account.
func TestBreakerRecallsOpeningsOnOtherSymbols(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uncertain int // uncertain placements that trip the breaker; 0 for none
		recalls   int
	}{
		"a lost answer":                           {0, 0},
		"a lost answer that trips the breaker":    {1, 1},
		"a lost answer before there are too many": {2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, &wanting{target: 10}, &wanting{target: 10})
			b.engine.config.Breaker = BreakerConfig{Uncertain: c.uncertain, WithinMS: 600_000, PauseMS: 600_000}
			b.pass(1_000)
			if len(b.placed) != 2 {
				t.Fatalf("want an opening on each symbol, have %+v", b.placed)
			}
			b.give(&EventAnswer{CallID: b.placed[0].ID, Err: &exchange.Uncertain{Reason: "a test"}})
			want := []int64{b.placed[1].ID}[:c.recalls]
			if !slices.Equal(want, b.recalls) {
				t.Errorf("called back: want %v, have %v", want, b.recalls)
			}
		})
	}
}

// The events in between may concern anything. An opening that was recalled or answered is not recalled again.
func TestExpiredOpeningsAreRecalledWithinTenthOfSecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		ago      int64 // time since all were examined
		answered bool
		recalls  int
		left     int // openings that may have to be recalled
	}{{"99 ms ago", 99, false, 0, 1}, {"100 ms ago", 100, false, 1, 0}, {"answered", 100, true, 0, 0}} {
		w := settled(t)
		s := w.engine.sender
		q := &queued{intent: *w.entry(), limitsVersion: w.engine.limitsVersionOf("one")}
		q.call.ID, q.call.DeadlineMS = w.engine.begin(pendingCall{kind: callPlace, clientID: "bt-own"}), w.engine.nowMS-1
		if c.answered {
			delete(w.engine.calls, q.call.ID)
		}
		s.sent, s.examined, s.examinedMS, s.local = []opening{{w.symbol(), q}}, s.emitted+int64(len(s.unwritten)), w.engine.nowMS-c.ago, true
		w.out.Reset()
		s.recall()
		if len(w.out.Recalls) != c.recalls || len(s.sent) != c.left {
			t.Errorf("%s: want %d called back, have %d, %d left", c.name, c.recalls, len(w.out.Recalls), len(s.sent))
		}
	}
}

// A checkpoint follows the event's last record, and may be durable before the next event.
func TestStatesAreJournalledBetweenOpenings(t *testing.T) {
	t.Parallel()
	for every := int64(1); every <= 4; every++ {
		w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
			plan.OrdersSet = true
			plan.Orders = []strategy.DesiredOrder{{Key: "b", Side: exchange.Buy, Price: 40_000e8, Quantity: 100}}
		}, func(w *world) { w.config.Checkpoint = every })
		w.pass(60_000)
		states := 0
		for i := range w.records {
			if w.records[i].Kind() == record.KindCheckpoint {
				states++
			}
		}
		if states < 2 || len(w.sent) != 1 {
			t.Errorf("every %d records: want states journalled and one order sent, have %d and %d", every, states, len(w.sent))
		}
	}
}

// A queued opening is recalled as soon as a read shows that an order of the other side has filled, even if the round no longer awaits that read, or waits for
// others (seed 4398076516177).
func TestFillThatAReadShowsRecallsTheOtherQuote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		late   bool
		answer exchange.Answer
		err    error
		booked exchange.Quantity
		want   bool
	}{
		{"by its id", false, quoteByID(10), nil, 0, true},
		{"by its id, late", true, quoteByID(10), nil, 0, true},
		{"a part, in a late list", true, quoteListed(1), nil, 0, true},
		{"nothing has filled", true, quoteByID(0), nil, 0, false},
		{"no more than is booked", true, quoteByID(4), nil, 4, false},
		{"a read that failed", true, exchange.Answer{}, errors.New("broken"), 0, false},
		{"a position", false, positionListed(exchange.Short, "BTC-USDT"), nil, 0, true},
		{"a position, late", true, positionListed(exchange.Short, "BTC-USDT"), nil, 0, false},
		{"one that has ended", false, exchange.Answer{Operation: exchange.FuturesPositionsHistory,
			Positions: positionListed(exchange.Short, "BTC-USDT").Positions}, nil, 0, false},
		{"one of its own side", false, positionListed(exchange.Long, "BTC-USDT"), nil, 0, false},
		{"one of another symbol", false, positionListed(exchange.Short, "ETH-USDT"), nil, 0, false},
	} {
		filledMeanwhile(t, c.name, c.late, &EventAnswer{Answer: c.answer, Err: c.err}, c.booked, c.want)
	}
}

// quoteID is the order id of a resting sale.
const quoteID = 77

func quoteRow(filled exchange.Quantity) exchange.Order {
	return exchange.Order{Market: exchange.Futures, ID: quoteID, Symbol: "BTC-USDT", Side: exchange.Sell, Filled: filled}
}

func quoteByID(filled exchange.Quantity) exchange.Answer {
	return exchange.Answer{Operation: exchange.FuturesOrder, Order: quoteRow(filled)}
}

func quoteListed(filled exchange.Quantity) exchange.Answer {
	return exchange.Answer{Operation: exchange.FuturesOpenOrders, Orders: exchange.FetchedOf([]exchange.Order{quoteRow(filled)})}
}

func positionListed(side exchange.PositionSide, symbol string) exchange.Answer {
	return exchange.Answer{Operation: exchange.FuturesOpenPositions,
		Positions: exchange.FetchedOf([]exchange.Position{{Symbol: symbol, Side: side, Remaining: 10}})}
}

func filledMeanwhile(t testing.TB, name string, late bool, event *EventAnswer, booked exchange.Quantity, want bool) {
	t.Helper()
	w := settled(t)
	quote := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Quantity: 10, Price: 51_000e8,
		ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
	for _, body := range []record.Body{record.Sending{Order: quote, Purpose: placement.Order, Key: "sell", DeadlineMS: w.now + 5_000},
		record.Acknowledged{OrderID: quoteID}, record.Fill{Filled: booked}} {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: quote.ClientOrderID, Body: body})
	}
	q := &queued{intent: *w.entry(), limitsVersion: w.engine.limitsVersionOf("one")}
	q.call.ID, q.call.DeadlineMS = w.engine.begin(pendingCall{kind: callPlace, clientID: "bt-own"}), w.engine.nowMS+5_000
	w.engine.sender.sent = []opening{{w.symbol(), q}}
	w.engine.reader.phase, w.engine.reader.pending = phasePositions, 2
	event.CallID = w.engine.begin(pendingCall{kind: callRound, late: late})
	w.out.Reset()
	w.engine.Handle(w.engine.nowMS, event, &w.out)
	if recalled := slices.Contains(w.out.Recalls, q.call.ID); recalled != want {
		t.Errorf("%s: want it called back %t, have %t", name, want, recalled)
	}
}
