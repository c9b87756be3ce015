package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// The strategy trades the account alone, at random targets and prices. Once nothing is in flight, its position, entry price, result,
// unrealized profit and equity equal the books.
func TestStrategyStatusEqualsExchangeBooks(t *testing.T) {
	t.Parallel()
	var desired exchange.Quantity
	w := desiring(t, &desired, ownLimits(risk.Limits{MaxLosingStreak: 9, CoolDownMS: 60_000, MaxDrawdown: risk.Loss{Share: exchange.RateOne / 2}}))
	w.pass(10_000)
	began := w.engine.Status().Strategies[0].Own
	random := rand.New(rand.NewPCG(17, 1))
	for step := range 25 {
		w.price(fmt.Sprint(49_000 + random.IntN(2_000)))
		desired = []exchange.Quantity{0, 10, 20, 5, -5, -10}[random.IntN(6)]
		w.pass(70_000)
		s, money := w.engine.Status().Strategies[0], w.venue.Money("one")
		position, held := w.venue.Position("one", "BTC-USDT")
		made := money.Realized.Sub(money.Fees).Sub(money.Funding)
		switch {
		case s.Position != position.Signed() || s.Position != desired || held && (s.EntryPrice != position.EntryPrice || s.LiqPrice != position.LiqPrice):
			t.Errorf("%d: want %d at %s, have %d at %s", step, position.Signed(), position.EntryPrice, s.Position, s.EntryPrice)
		case s.Realized != made || s.Unrealized() != money.Unrealized:
			t.Errorf("%d: want %s made and %s not realized, have %s and %s", step, made, money.Unrealized, s.Realized, s.Unrealized())
		case s.Own != began.Add(made).Add(money.Unrealized):
			t.Errorf("%d: want an equity of its own of %s, have %s", step, began.Add(made).Add(money.Unrealized), s.Own)
		case s.Peak.Less(s.Own) || !s.Settled || s.LastMS == 0 || s.NextMS <= w.now || s.TickMS == 0:
			t.Errorf("%d: want a peak of no less than %s, settled, and times of the price and of both ticks, have %+v", step, s.Own, s)
		}
	}
}

// A failure concerns the account, a market or a symbol; reads of others stay trusted.
func TestFailedReadScope(t *testing.T) {
	t.Parallel()
	coin := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	for _, c := range []struct {
		key            exchange.SymbolKey
		bitcoin, ether bool
		coin           bool
		text           string
	}{
		{exchange.SymbolKey{}, true, true, true, "the account"},
		{exchange.SymbolKey{Market: exchange.Futures}, true, true, false, "orders and positions of futures"},
		{exchange.SymbolKey{Market: exchange.Spot}, false, false, true, "orders and positions of spot"},
		{bitcoin, true, false, false, bitcoin.String()},
	} {
		d := &domain{key: c.key}
		have := fmt.Sprint(d.covers(bitcoin), d.covers(ether), d.covers(coin), d.text())
		if want := fmt.Sprint(c.bitcoin, c.ether, c.coin, c.text); have != want {
			t.Errorf("%+v: want %s, have %s", c.key, want, have)
		}
	}
}

// The text names the intent, the number of refusals, the reason, and the time of the next try.
func TestRefusalText(t *testing.T) {
	t.Parallel()
	b := &backoffs{}
	for _, c := range []struct {
		of      attempt
		refused int
		want    string
	}{
		{attempt{purpose: placement.StopLoss, kind: exchange.StopMarket}, 1, "the exchange refuses the stop, once: 1 no; retried at 00:01:05"},
		{attempt{purpose: placement.StopLoss, kind: exchange.MarketOrder}, 2,
			"the exchange refuses the exit instead of the stop, 2 times in a row: 1 no; retried at 00:01:05"},
		{attempt{purpose: placement.StopLoss, kind: exchange.Limit}, 3,
			"the exchange refuses the exit instead of the stop, 3 times in a row: 1 no; retried at 00:01:05"},
		{attempt{purpose: placement.TakeProfit}, 1, "the exchange refuses the take-profit, once: 1 no; retried at 00:01:05"},
		{attempt{purpose: placement.Cancel, key: "7"}, 1, "the exchange refuses the cancel of 7, once: 1 no; retried at 00:01:05"},
	} {
		if have := b.text(&backoff{attempt: c.of, refused: c.refused, why: "1 no", untilMS: 65_000}); have != c.want {
			t.Errorf("want %q\nhave %q", c.want, have)
		}
	}
}

// The breach is the account's or the strategy's, whichever ends first.
func TestARoundFollowsTheTurnOfADayAndTheEndOfABreach(t *testing.T) {
	t.Parallel()
	const day = int64(exchange.Day1)
	for _, c := range []struct {
		name           string
		account, own   int64 // how long a breach still lasts; 0 for none
		want           int64
		untilTheNewDay bool
	}{
		{"no breach", 0, 0, 0, true}, {"of the account", 5_000, 0, 5_000, false}, {"of the strategy", 0, 7_000, 7_000, false},
		{"the earlier", 9_000, 7_000, 7_000, false}, {"the earlier, of the account", 5_000, 7_000, 5_000, false}, {"after the day", 0, 2 * day, 0, true},
	} {
		var desired exchange.Quantity
		w := desiring(t, &desired)
		w.pass(1_000)
		l := w.engine.limits
		for scope, lasts := range map[string]int64{"": c.account, "one": c.own} {
			if lasts != 0 {
				breach := record.Breach{Rule: "max_losing_streak", Reason: "a test", UntilMS: l.nowMS + lasts}
				w.engine.tracker.Apply(&record.Record{AtMS: l.nowMS, Strategy: scope, Body: breach})
			}
		}
		want := l.nowMS + c.want
		if c.untilTheNewDay {
			want = (l.nowMS/day + 1) * day
		}
		if have := l.nextChangeMS(); have != want {
			t.Errorf("%s: want %d ms from now, have %d", c.name, want-l.nowMS, have-l.nowMS)
		}
	}
}

// An order is shown with eight of twenty filled, then with all. Metrics and messages sum up the notes.
func TestFillNotesAreIncremental(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(20))
	shown := 0
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.FuturesOrder && answer.Order.Filled == 20 {
			if shown++; shown < 3 {
				answer.Order.Filled, answer.Order.Status = 8, exchange.StatusOpen
			}
		}
	}
	w.pass(60_000)
	w.wantHeld(20)
	var fills, settled []exchange.Quantity
	for i := range w.notes {
		switch fact := w.notes[i].Fact.(type) {
		case NoteFill:
			fills = append(fills, fact.Quantity)
		case NoteSettled:
			settled = append(settled, fact.Filled)
		}
	}
	if !slices.Equal(fills, []exchange.Quantity{8, 12}) || !slices.Equal(settled, []exchange.Quantity{20}) {
		t.Errorf("want 8 and 12 noted as filled, and one end with 20, have %v and %v", fills, settled)
	}
}
