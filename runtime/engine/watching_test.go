package engine

import (
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

func TestAFundingRateIsSeenByWhoWatchesIt(t *testing.T) {
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

func TestAPairIsSeenAsTheAccountHoldsIt(t *testing.T) {
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

func TestAPairThatNobodyTradesIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	config := w.config
	config.Strategies = []StrategyConfig{w.config.Strategies[0]}
	config.Strategies[0].Strategy = onlooker{nil, strategy.Watching{Pair: coin}}
	config.Epoch, config.Random = 99, "00000"
	if _, err := New(
		config,
		reconcile.NewBook(config.Settle),
	); err == nil ||
		!strings.Contains(err.Error(), "which no strategy of the account trades") {
		t.Errorf("want it refused, have %v", err)
	}
}

func TestOnSpotWhatIsHeldIsNoLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), onSpot)
	w.pass(60_000)
	s := w.engine.Status().Strategies[0]
	if value := s.Symbol.Notional(s.Last, s.Position); s.Position == 0 || !s.Realized.IsZero() || s.Unrealized().Abs().Cmp(value.Div(50)) > 0 {
		t.Errorf("bought for %s: want nothing realised and nearly nothing unrealised, have %s and %s", value, s.Realized, s.Unrealized())
	}
}
