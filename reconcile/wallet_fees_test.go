package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// filled returns a purchase as the order history shows it.
func (w *wallet) filled(order exchange.Order) exchange.Order {
	order.Filled, order.Status, order.AveragePrice = order.Quantity, exchange.StatusFilled, exchange.AmountOf(50_000)
	return order
}

// historyOf fetches the wallet with an order in the history and its executions.
func (w *wallet) historyOf(held string, order exchange.Order, trades ...Traded) {
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		History: exchange.FetchedOf([]exchange.Order{order}), Trades: trades,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)}})})...)
}

func TestTheFeeOfASpotPurchaseIsDeductedAtTheFill(t *testing.T) {
	t.Parallel()
	paid := func(fee string) Traded {
		return Traded{OrderID: 5, Filled: 1_000, Price: exchange.AmountOf(50_000), Fee: exchange.MustAmount(fee)}
	}
	for _, c := range []struct {
		name       string
		configured exchange.Rate
		trades     []Traded
		first      exchange.Quantity // assumed before the wallet can prove anything
		wallet     string            // what the wallet shows later
		squared    exchange.Quantity
	}{
		{"by the configured rate, rounded up", 100_001, nil, 998, "0.99899999", 998},
		{"by its executions", 100_000, []Traded{paid("0.0035")}, 996, "0.9965", 996},
		{"they show none: it was paid in another asset", 100_000, []Traded{paid("0")}, 1_000, "1", 1_000},
		{"more than expected is given back by the wallet", 400_000, nil, 996, "0.999", 999},
		{"less than expected is squared by the wallet", 0, nil, 1_000, "0.999", 999},
		{"what a person has brought is not given back", 100_000, nil, 999, "1.499", 999},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWallet(t)
			w.tracker.spotFee = c.configured
			w.observe("0")
			w.now += 60_000
			order := w.order(5, exchange.Buy, 1_000)
			w.now += 500
			w.historyOf("0", w.filled(order), c.trades...) // the wallet is older than the fill
			symbol := w.tracker.Symbol(coin)
			if symbol.position != c.first {
				t.Errorf("at the fill: want %d trusted, have %d", c.first, symbol.position)
			}
			for range testSettle.StalenessMS/1_000 + 3 {
				w.now += 1_000
				w.observe(c.wallet)
			}
			if symbol.position != c.squared || !symbol.settled || symbol.Quarantine() != "" {
				t.Errorf(
					"with the wallet: want %d and settled, have %d, settled %t, quarantine %q",
					c.squared,
					symbol.position,
					symbol.settled,
					symbol.Quarantine(),
				)
			}
			known, fees := symbol.Known(), symbol.Fees()
			w.start()
			if again := w.tracker.Symbol(coin); again.Known() != known || again.Fees() != fees {
				t.Errorf("after a restart: want known %d and fees %d, have %d and %d", known, fees, again.Known(), again.Fees())
			}
		})
	}
}

func TestSpotStopCoversExplainedHolding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		wallet string
		unseen exchange.Quantity // of a sale that no read has shown yet; -1: no sale, and the wallet may be older than the fill
		want   exchange.Quantity // of 10; 0 for no intent
	}{
		{"all of it is there", "0.01", 0, 10},
		{"more is there, of a person", "1", 0, 10},
		{"a part is there, and nobody sold the rest", "0.0075", 0, 10},
		{"a part is there, as old as the fill: it does not keep the stop away", "0.0075", -1, 10},
		{"a sale under way takes a part of it", "0.01", 4, 6},
		{"nothing is there, and nobody sold it", "0", 0, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWallet(t)
			w.observe("0")
			w.now += 60_000
			w.buys(10)
			symbol := w.tracker.Symbol(coin)
			symbol.last, symbol.entryPrice = 50_000e8, exchange.AmountOf(50_000)
			if c.unseen == 0 { // the wallet was read after the fill
				w.now += testSettle.StalenessMS
			}
			if c.unseen > 0 {
				w.order(9, exchange.Sell, c.unseen)
			}
			w.now += 100
			w.observe(c.wallet)
			w.apply(
				record.Record{
					Strategy: "one",
					Symbol:   coin,
					Body:     record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}}},
				},
			)
			intents, _ := w.tracker.Derive(
				&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1, Collar: exchange.RateOne / 20,
					Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}},
				w.now,
			)
			stops := slices.DeleteFunc(intents, func(i Intent) bool { return i.Purpose != placement.StopLoss })
			var have exchange.Quantity
			for _, stop := range stops {
				have += stop.Order.Quantity
			}
			if have != c.want {
				t.Errorf("want a stop of %d, have %d: %+v", c.want, have, intents)
			}
		})
	}
}

// Fees are counted in whole steps, rounded up over all purchases. So the account's holding may exceed max_position by a part of a
// step, which no order could buy or sell.
func TestSpotLimitsCountHoldingToWithinAStep(t *testing.T) {
	t.Parallel()
	const perStep = 1_000 // a step is a thousandth, as is the fee of a purchase of that many steps
	w := newWallet(t)
	w.observe("0")
	symbol, micros, counted := w.tracker.Symbol(coin), int64(0), exchange.Quantity(0)
	for i, quantity := range []exchange.Quantity{6_000, -1_034, 1_000, 20, 22} {
		w.now += 60_000
		side, size, fee := exchange.Buy, quantity, exchange.AmountOf(int64(quantity)).Div(perStep*perStep)
		if quantity < 0 {
			side, size, fee = exchange.Sell, -quantity, exchange.Amount{}
		}
		micros += int64(quantity) * perStep
		if side == exchange.Buy {
			micros -= int64(quantity)
		}
		order := w.order(int64(5+i), side, size)
		traded := Traded{OrderID: order.ID, Filled: size, Price: exchange.AmountOf(50_000), Fee: fee}
		for range testSettle.StalenessMS/1_000 + 3 {
			w.now += 1_000
			w.historyOf(exchange.AmountOf(micros).Div(perStep*perStep).String(), w.filled(order), traded)
		}
		counted = symbol.Traded(exchange.Buy)
		if more := micros - int64(counted)*perStep; more < 0 || more >= perStep {
			t.Errorf("%+d: want less than a step held beyond the %d that count, have %d millionths", quantity, counted, micros)
		}
	}
	if counted != 6_000 || micros <= 6_000*perStep {
		t.Errorf("want a limit of 6000 reached, and passed by a part of a step, have %d counted and %d millionths held", counted, micros)
	}
}
