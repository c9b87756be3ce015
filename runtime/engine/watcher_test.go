package engine

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/strategy"
)

// onlooker is a strategy that watches.
type onlooker struct {
	scripted
	watching strategy.Watching
}

func (o onlooker) Watches() strategy.Watching { return o.watching }

func TestWatcherSeesFundingRate(t *testing.T) {
	t.Parallel()
	var seen strategy.Funding
	w := newWorld(t, hold(0), func(w *world) {
		w.config.Strategies[0].Strategy = onlooker{
			func(view *strategy.View, _ *strategy.Plan) { seen = view.Funding },
			strategy.Watching{Funding: true},
		}
	})
	asked := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesFundingRate {
			asked++
		}
		return fate{}
	}
	w.pass(10 * 60_000)
	if !seen.Known || seen.NextMS <= w.now {
		t.Errorf("want a rate and the time of the next payment, have %+v", seen)
	}
	if asked < 9 || asked > 11 {
		t.Errorf("want it asked for once a minute, have %d in 10 minutes", asked)
	}
}

func TestWatcherSeesPairPosition(t *testing.T) {
	t.Parallel()
	var seen strategy.Pair
	w := newWorld(t, hold(10), func(w *world) {
		other := w.config.Strategies[0]
		other.Name, other.Symbol, other.Leverage = "two", w.venue.Symbol(coin), 0
		other.Strategy = onlooker{func(view *strategy.View, _ *strategy.Plan) { seen = view.Pair }, strategy.Watching{Pair: bitcoin}}
		w.config.Strategies = append(w.config.Strategies, other)
	})
	w.pass(60_000)
	if !seen.Known || seen.Position != 10 || seen.Last <= 0 || seen.Symbol.Key() != bitcoin {
		t.Errorf("want the pair's position of 10 and its price, have %+v", seen)
	}
}

func TestPairNeedsRulesPriceAndPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules, settled bool
		last           exchange.Price
		want           bool
	}{{true, true, 1, true}, {true, true, 0, false}, {true, false, 1, false}, {false, true, 1, false}} {
		w := settled(t)
		one := w.engine.legs[0]
		one.watched.pair = w.symbol()
		if see(w.symbol(), func(o *seen) { o.Settled, o.Last = c.settled, c.last }); !c.rules {
			see(w.symbol(), func(o *seen) { o.Rules = nil })
		}
		if one.showPair(); one.view.Pair.Known != c.want || one.view.Pair.Last != c.last {
			t.Errorf("%+v: have %+v", c, one.view.Pair)
		}
	}
}

// The buying power is ten times the account's 10,000 USDT, less the fee of 0.1 %.
func TestWatcherSeesBuyingPower(t *testing.T) {
	t.Parallel()
	for watches, want := range map[bool]string{true: "99009.9", false: "0"} {
		var seen exchange.Amount
		w := newWorld(t, hold(0), func(w *world) {
			w.config.Strategies[0].Strategy = onlooker{func(view *strategy.View, _ *strategy.Plan) { seen = view.BuyingPower },
				strategy.Watching{Funds: watches}}
		})
		w.pass(20_000)
		if have := seen.String(); !strings.HasPrefix(have, want) {
			t.Errorf("watched %t: want %s, have %s", watches, want, have)
		}
	}
}

// A strategy need not compare views.
func TestViewVersionChangesWithPosition(t *testing.T) {
	t.Parallel()
	held, last := map[uint64]exchange.Quantity{}, uint64(0)
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
		if before, seen := held[view.Version]; seen && before != view.Position.Quantity {
			t.Errorf("version %d: want one position, have %d and %d", view.Version, before, view.Position.Quantity)
		}
		held[view.Version], last = view.Position.Quantity, view.Version
		hold(10)(view, plan)
	})
	w.pass(10_000)
	if before := last; before == 0 || held[before] != 10 {
		t.Errorf("want a version with a position of 10, have %v", held)
	}
	before := last
	if w.pass(5_000); last != before {
		t.Errorf("want the version to stay while nothing changes, have %d and %d", before, last)
	}
}

func TestUntradedPairIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	config := w.config
	config.Strategies = []StrategyConfig{w.config.Strategies[0]}
	config.Strategies[0].Strategy = onlooker{nil, strategy.Watching{Pair: coin}}
	config.Epoch, config.Random = 99, "00000"
	if _, err := New(
		config,
		reconcile.NewTracker(config.Bounds),
	); err == nil ||
		!strings.Contains(err.Error(), "which no strategy of the account trades") {
		t.Errorf("want it refused, have %v", err)
	}
}

// 0.04 of the asset were bought at 50,000 and are at 51,000. The status also shows the ledger's accounts.
func TestStatusShowsUnrealizedSpotProfit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(4_000), onSpot, withLedger)
	w.pass(20_000)
	w.price("51000")
	w.pass(40_000)
	status := w.engine.Status()
	one := status.Strategies[0]
	want := one.Symbol.Notional(51_000e8, one.Position).Sub(one.Symbol.Notional(50_000e8, one.Position))
	fees := one.Symbol.Notional(51_000e8, one.Position).Div(400) // 0.1 % of the purchase, and slippage
	if have := one.Unrealized(); one.Position == 0 || !one.Realized.IsZero() || have.Sub(want).Abs().Cmp(fees) > 0 {
		t.Errorf("want about %s not realized of %d, have %s, realized %s", want, one.Position, have, one.Realized)
	}
	if len(status.Ledger) == 0 || len(status.Ledger) != len(slices.Collect(w.engine.Tracker().Ledger().Balances())) {
		t.Errorf("want the accounts of the ledger, have %+v", status.Ledger)
	}
}

func TestOpenSpotPositionIsNoLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), onSpot)
	w.pass(60_000)
	s := w.engine.Status().Strategies[0]
	if value := s.Symbol.Notional(s.Last, s.Position); s.Position == 0 || !s.Realized.IsZero() || s.Unrealized().Abs().Cmp(value.Div(50)) > 0 {
		t.Errorf("bought for %s: want nothing realized and nearly nothing unrealized, have %s and %s", value, s.Realized, s.Unrealized())
	}
}
