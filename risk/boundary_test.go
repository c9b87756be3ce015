package risk

import (
	"fmt"
	"math"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// least is the smallest amount there is.
var least = exchange.MustAmount("0.000000000000000001")

// boundary is a rule with a state just at its bound, which passes, and the smallest
// step beyond it, which is refused.
type boundary struct {
	rule   string
	limits Limits // the account's, then the strategy's
	state  func(b *table, strategy string, beyond bool)
	intent reconcile.Intent
	step   func(intent *reconcile.Intent) // beyond, where the intent makes the step
}

// venueBoundaries are those of the exchange's rules, floors among them.
func venueBoundaries() []boundary {
	return []boundary{
		{"notional", Limits{}, func(b *table, _ string, beyond bool) { b.state.Last = 5_000e8 - exchange.Price(one01(beyond)) }, entry(1), nil},
		{"notional", Limits{}, nil, exit(20_000, exchange.Sell), func(i *reconcile.Intent) { i.Order.Quantity++ }},
		{"leverage", Limits{}, nil, reconcile.Intent{Purpose: placement.Leverage, Leverage: 50}, func(i *reconcile.Intent) { i.Leverage++ }},
		{"leverage", Limits{}, nil, reconcile.Intent{Purpose: placement.Leverage, Leverage: 1}, func(i *reconcile.Intent) { i.Leverage-- }},
		{"leverage", Limits{}, func(b *table, _ string, _ bool) { b.state.Leverage = 50 }, entry(5_000), func(i *reconcile.Intent) { i.Order.Quantity++ }},
		{"margin", Limits{}, func(b *table, _ string, beyond bool) {
			if b.book.Account.AvailableBalance = exchange.AmountOf(500); beyond {
				b.book.Account.AvailableBalance = b.book.Account.AvailableBalance.Sub(least)
			}
		}, entry(100), nil},
		{"reduce_only", Limits{}, func(b *table, _ string, _ bool) { b.state.Position = 100 }, exit(100, exchange.Sell),
			func(i *reconcile.Intent) { i.Order.Quantity++ }},
		{"stop_price", Limits{}, func(b *table, _ string, _ bool) { b.state.Position = 100 }, protection(49_999.9e8),
			func(i *reconcile.Intent) { i.Order.StopPrice += 0.1e8 }},
		{"close_position", Limits{}, func(b *table, _ string, _ bool) { b.state.Position = 100 }, stop(49_999.9e8),
			func(i *reconcile.Intent) { i.Order.StopPrice += 0.1e8 }},
	}
}

func one01(beyond bool) int {
	if beyond {
		return 1
	}
	return 0
}

func sellLimit(price exchange.Price, quantity exchange.Quantity) reconcile.Intent {
	intent := limit(price, quantity)
	intent.Order.Side = exchange.Sell
	return intent
}

func protection(price exchange.Price) reconcile.Intent {
	return reconcile.Intent{Purpose: placement.StopLoss, Order: exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: price,
		Quantity:   100,
		ReduceOnly: true, WorkingType: exchange.ContractPrice}}
}

func TestWhatIsAtABoundPassesAndOneStepBeyondIsRefused(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{MaxLosingStreak: true} // TestAStreakLatchesAtItsLimit
	for i, c := range append(limitBoundaries(), venueBoundaries()...) {
		tested[c.rule] = true
		for _, strategy := range []string{"", "one"} {
			if strategy != "" && LimitNamed(c.rule) == nil {
				continue
			}
			for _, beyond := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d %s of %q, beyond %t", i, c.rule, strategy, beyond), func(t *testing.T) {
					t.Parallel()
					b := newTable(t, Limits{})
					if b.facts.Strategy = c.limits; strategy == "" {
						b.facts.Strategy, b.gate = Limits{}, NewGate(c.limits)
					}
					b.state.Position = 0
					if c.intent.Order.Reduces() {
						b.state.Position = 20_001
					}
					if c.state != nil {
						c.state(b, strategy, beyond)
					}
					intent := c.intent
					if beyond && c.step != nil {
						c.step(&intent)
					}
					refusal := b.check(intent)
					if !beyond && refusal != nil {
						t.Errorf("want it passed at its bound, have %v", refusal)
					}
					if beyond && (refusal == nil || refusal.Rule != c.rule || refusal.Value == refusal.Limit) {
						t.Errorf("want it refused by %s with figures that differ, have %+v", c.rule, refusal)
					}
				})
			}
		}
	}
	for i := range limitTable {
		if l := &limitTable[i]; l.measure != nil && !tested[l.Name] {
			t.Errorf("%s has no boundary", l.Name)
		}
	}
}

// TestAStreakLatchesAtItsLimit: as many losing positions as the limit hold entries back.
func TestAStreakLatchesAtItsLimit(t *testing.T) {
	t.Parallel()
	limits := Limits{MaxLosingStreak: 3, CoolDownMS: 60_000}
	for losses, want := range map[int]bool{2: false, 3: true, 4: true} {
		b := newTable(t, limits)
		b.book.Apply(&record.Record{Body: record.Accounted{Losses: losses}})
		crossed := limits.Crossed(ByResults, 5_000, b.book, "", exchange.Amount{})
		if (len(crossed) == 1) != want || want && (crossed[0].UntilMS != 65_000 || crossed[0].Why != fmt.Sprint(losses, " positions in a row lost")) {
			t.Errorf("%d losses of at most 3: want crossed %t, have %+v", losses, want, crossed)
		}
	}
}

// TestWhatCannotBeCountedIsRefused: no figure wraps around, and none that is missing
// lets an opening pass.
func TestWhatCannotBeCountedIsRefused(t *testing.T) {
	t.Parallel()
	huge := exchange.Quantity(math.MaxInt64)
	for _, c := range []struct {
		name   string
		limits Limits
		state  func(*table)
		rule   string
	}{
		{"a position that fills the number", Limits{MaxPosition: exchange.AmountOf(1)}, func(b *table) { b.state.Position = huge }, MaxPosition},
		{"orders whose sum wraps around", Limits{MaxPosition: exchange.AmountOf(1)}, func(b *table) {
			b.live("a", limit(40_000e8, huge).Order, placement.Order)
			b.live("b", limit(40_000e8, huge).Order, placement.Order)
		}, MaxPosition},
		{"foreign orders whose sum wraps around", Limits{MaxSymbolExposure: 1000 * exchange.RateOne}, func(b *table) {
			o := exchange.Order{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 40_000e8, Quantity: huge}
			b.state.Foreign = []exchange.Order{o, o}
		}, MaxSymbolExposure},
		{"an equity beyond all bounds", Limits{MaxGrossExposure: 1000 * exchange.RateOne},
			func(b *table) { b.facts.Market = exchange.AmountOf(80_000_000_000_000_000).Mul(1000) }, MaxGrossExposure},
		{"no equity of the market", Limits{MaxGrossExposure: exchange.RateOne}, func(b *table) { b.facts.Market = exchange.Amount{} }, MaxGrossExposure},
		{"a debt for equity", Limits{MaxSymbolExposure: exchange.RateOne}, func(b *table) { b.facts.Market = exchange.AmountOf(-5) }, MaxSymbolExposure},
		{"no equity read for the daily loss", Limits{MaxDailyLoss: Loss{Share: exchange.RateOne / 2}}, func(b *table) {}, MaxDailyLoss},
		{"no equity read for the drawdown", Limits{MaxDrawdown: Loss{Share: exchange.RateOne / 2}}, func(b *table) {}, MaxDrawdown},
		{"equity not known now", Limits{MaxDailyLoss: Loss{Share: exchange.RateOne / 2}}, func(b *table) { b.day(10_000, 10_000); b.facts.Unread = true },
			MaxDailyLoss},
		{"no time of the last price", Limits{MaxDataAgeMS: 1_000}, func(b *table) { b.state.LastMS = 0 }, MaxDataAge},
		{"another symbol without a price", Limits{MaxGrossExposure: 100 * exchange.RateOne}, func(b *table) {
			b.book.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}).Position = 5
		}, MaxGrossExposure},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newTable(t, c.limits)
			c.state(b)
			intent := entry(100)
			if refusal := b.check(intent); refusal == nil || refusal.Value == "" || refusal.Limit == "" {
				t.Errorf("want it refused with its figures, have %+v", refusal)
			}
			var found finding // by the limit itself, whatever else refuses it
			s := subject{nowMS: b.facts.NowMS, book: b.book, watch: b.book.Watch(""), limits: &c.limits, intent: &intent, market: exchange.Futures,
				state:  b.state,
				equity: b.facts.Market, funds: b.facts.Equity, unread: b.facts.Unread}
			if LimitNamed(c.rule).judge(&s, &found); !found.refused {
				t.Errorf("want %s to refuse it, have %+v", c.rule, found)
			}
		})
	}
}
