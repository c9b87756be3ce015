package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/risk"
)

// wantResult expects the strategy's result to equal that of the exchange's own books for the account, which it trades
// alone.
func (w *world) wantResult() {
	w.t.Helper()
	money := w.venue.Money("one")
	want, have := money.Realized.Sub(money.Fees).Sub(money.Funding), w.engine.tracker.Watch("one").Result().Result
	if want != have || want.IsZero() {
		w.t.Errorf("want it to have made %s, have %s", want, have)
	}
}

// wantLosses expects that many consecutive losing positions.
func (w *world) wantLosses(want int) {
	w.t.Helper()
	if have := w.engine.tracker.Watch("one").Losses(); have != want {
		w.t.Errorf("want %d positions in a row that lost, have %d", want, have)
	}
}

// The account, or the list of orders, comes from a lagging replica, so the wallet shows a fill before its order does,
// or after it.
func TestMoneyAndFillsOfTwoReadsAreMatched(t *testing.T) {
	t.Parallel()
	for _, lags := range []string{"account", "orders", "nothing"} {
		t.Run(lags, func(t *testing.T) {
			t.Parallel()
			var desired exchange.Quantity
			w := desiring(t, &desired, ownLimits(risk.Limits{MaxLosingStreak: 9, CoolDownMS: 60_000}))
			w.pass(5_000)
			w.engine.config.Bounds.StalenessMS = 3_000
			shown, shownMS := map[exchange.Operation]exchange.Answer{}, map[exchange.Operation]int64{}
			w.mirror = func(answer *exchange.Answer) {
				account := answer.Operation == exchange.FuturesAccount
				order := answer.Operation == exchange.FuturesOpenOrders || answer.Operation == exchange.FuturesOrder
				if !(account && lags == "account" || order && lags == "orders") {
					return
				}
				now := *answer
				if last, found := shown[answer.Operation]; found && w.now-shownMS[answer.Operation] < 2_500 {
					*answer = last
					return
				}
				shown[answer.Operation], shownMS[answer.Operation] = now, w.now
			}
			for losses, exit := range []string{"49900", "49950", "49990"} {
				w.price("50000")
				desired = 10
				w.pass(20_000)
				w.price(exit)
				desired = 0
				w.pass(30_000)
				w.wantResult()
				w.wantLosses(losses + 1)
			}
		})
	}
}

// TestCrashBetweenFillAndResultKeepsResult ends the process when the fill is durable and the result is still
// outstanding.
func TestCrashBetweenFillAndResultKeepsResult(t *testing.T) {
	t.Parallel()
	for _, market := range []option{func(*world) {}, onSpot} {
		var desired exchange.Quantity
		w := desiring(t, &desired, ownLimits(risk.Limits{MaxLosingStreak: 9, CoolDownMS: 60_000}), market)
		tick := exchange.Quantity(1)
		if w.config.Strategies[0].Symbol.Market == exchange.Spot {
			tick = 400 * w.venue.Symbol(coin).QuantityTick
		}
		w.pass(5_000)
		w.engine.config.Bounds.StalenessMS = 3_000
		fills := func() (n int) {
			for i := range w.records {
				if _, _, filled := w.records[i].Filled(); filled {
					n++
				}
			}
			return n
		}
		for _, step := range []exchange.Quantity{10 * tick, 0} {
			before := fills()
			desired = step
			for range 200 {
				if fills() > before {
					break
				}
				w.pass(100)
			}
			w.start()
			w.price([]string{"51000", "50500"}[min(1, fills()-1)])
		}
		w.pass(30_000)
		if w.config.Strategies[0].Symbol.Market == exchange.Futures {
			w.wantResult()
			continue
		}
		var want exchange.Amount
		for _, fill := range w.venue.Fills() {
			want = want.Sub(w.venue.Symbol(coin).Notional(fill.Price, fill.Quantity).Mul(int64(fill.Side.Sign())))
			if fill.Side == exchange.Sell {
				want = want.Sub(fill.Fee)
			}
		}
		if have := w.engine.tracker.Watch("one").Result().Result; have != want || want.IsZero() {
			t.Errorf("spot: want it to have made %s, have %s", want, have)
		}
	}
}

// An order shows the average price of all its fills, but each part has its own.
func TestAnOrderFilledInPartsIsPaidAsItsParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0), onSpot, ownLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(1_000)}}))
	w.pass(5_000)
	rules := w.venue.Symbol(coin)
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Buy, Type: exchange.Limit, Quantity: 1_000 * rules.QuantityTick,
		ClientOrderID: "bt-parts"}
	apply := func(body record.Body) {
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: coin, ClientOrderID: "bt-parts", AtMS: w.now, Body: body})
	}
	apply(record.Sending{Order: order})
	apply(record.Fill{Filled: 100 * rules.QuantityTick, Price: exchange.AmountOf(50_000)})
	apply(record.Fill{Filled: 300 * rules.QuantityTick, Price: exchange.AmountOf(51_000)}) // 200 of them at 51500
	want := rules.QuantityAmount(100 * rules.QuantityTick).Mul(50_000).Add(rules.QuantityAmount(200 * rules.QuantityTick).Mul(51_500)).Neg()
	if have := w.engine.results.cashFlow(w.engine.legs[0]); have != want {
		t.Errorf("want %s, have %s", want, have)
	}
}

// Limits are set while there is a position. Its value is part of the account's equity, and does not count for the strategy a
// second time.
func TestAPositionThatWasThereFirstIsEquityOnce(t *testing.T) {
	t.Parallel()
	for _, market := range []option{func(*world) {}, onSpot} {
		desired := exchange.Quantity(10)
		w := desiring(t, &desired, market)
		if w.config.Strategies[0].Symbol.Market == exchange.Spot {
			desired = 4_000 * w.venue.Symbol(coin).QuantityTick
		}
		w.pass(30_000)
		w.price("52000")
		w.pass(20_000)
		ownLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(1_000)}})(w)
		w.start()
		w.pass(30_000)
		status := w.engine.Status()
		if own := status.Strategies[0].Own; own != status.Total || own.IsZero() || status.Strategies[0].Position == 0 {
			t.Errorf("want its equity to be the account's %s, have %s", status.Total, own)
		}
	}
}

// After a start the records show the position, and its value is unknown.
func TestAStartWithoutAPriceEndsNoPosition(t *testing.T) {
	t.Parallel()
	var desired exchange.Quantity
	w := desiring(t, &desired, onSpot, ownLimits(risk.Limits{MaxLosingStreak: 9, CoolDownMS: 60_000}))
	w.pass(5_000)
	desired = 4_000 * w.venue.Symbol(coin).QuantityTick
	w.pass(20_000)
	w.network = func(call *Call) fate {
		return fate{lost: call.Request.Operation == exchange.SpotTicker || call.Request.Operation == exchange.SpotTickers}
	}
	before := len(w.records)
	w.start()
	w.pass(30_000)
	for i := before; i < len(w.records); i++ {
		if body, is := w.records[i].Body.(record.Result); is && body.Position == 0 {
			t.Errorf("want it to hold on, have %+v", body)
		}
	}
	w.wantLosses(0)
}

// A position of 10, bought at 50000, is closed at 51000, and its money is not known yet. The strategy's equity must not fall by
// the profit, nor rise in the case of a loss.
func TestUnsettledResultCountsAsPosition(t *testing.T) {
	t.Parallel()
	for price, made := range map[string]string{"51000": "10", "49000": "-10"} {
		var desired exchange.Quantity
		w := desiring(t, &desired, ownLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(1_000)}}))
		w.pass(5_000)
		desired = 10
		w.pass(20_000)
		w.price(price)
		w.pass(20_000)
		leg := w.engine.legs[0]
		before := w.engine.results.strategyEquity(leg)
		w.engine.config.Bounds.StalenessMS = 60_000
		desired = 0
		w.pass(10_000)
		if have := w.engine.results.strategyEquity(leg); !leg.money.awaited || leg.symbol.Position() != 0 ||
			have.Sub(before).Abs().Cmp(exchange.AmountOf(1)) > 0 {
			t.Errorf("%s: want %s to stand while it waits, have %s (waits %t)", price, before, have, leg.money.awaited)
		}
		w.engine.config.Bounds.StalenessMS = 1_000
		w.pass(30_000)
		made := exchange.MustAmount(made)
		if have := w.engine.tracker.Watch("one").Result().Result; have.Sub(made).Abs().Cmp(exchange.AmountOf(2)) > 0 || leg.money.awaited {
			t.Errorf("%s: want about %s in the end, have %s", price, made, have)
		}
	}
}
