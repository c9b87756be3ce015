package library

import (
	"errors"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func quotes(t *testing.T, name string, market exchange.Market, more strategy.Values) *book {
	values := strategy.Values{"quantity": "1", "max_position": "4", "level_step": "1%", "refresh": "30s", "tolerance": "1%", "filled_delay": "10s"}
	for name, value := range more {
		values[name] = value
	}
	return newBook(t, newStrategy(t, name, market, values), market)
}

func (b *book) after(seconds int64) *book {
	b.view.NowMS += seconds * 1000
	return b
}

func TestMarketMakingQuotesBothSidesAndStays(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%", "levels": "2"})
	b.expect(100, "buy 1@99, buy 1@98") // flat: the sides take turns
	b.view.Position.Quantity = 1000
	b.after(30).expect(102, "buy 0.875@100.9, buy 0.875@99.9, sell 1@103.1")
	b.view.Position.Quantity = 2000
	b.after(30).expect(100, "buy 0.75@99, buy 0.75@98, sell 1@101, sell 1@102.1")
	b.after(3600).expect(100.9, "buy 0.75@99, buy 0.75@98, sell 1@101, sell 1@102.1") // within the tolerance
	b.view.Position.Quantity = 0
	b.after(1).expect(102, "sell 1@103.1, sell 1@104.1")
	b.after(29).expect(110, "sell 1@103.1, sell 1@104.1") // too early
	b.after(1).expect(110, "buy 1@108.9, buy 1@107.8")
}

func TestMarketMakingWaitsAfterAFillAndLeansAgainstItsPosition(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%", "skew": "1"})
	b.expect(100, "buy 1@99")
	b.fill("1buy0", 1000, 1000)
	b.after(1).expect(100, "buy 1@99") // the same order: it is already filled
	b.after(9).expect(100, "buy 1@99")
	b.after(1).expect(100, "buy 0.75@99, sell 1@101") // long a quarter of the maximum
	if b.plan.Orders[0].Side != exchange.Buy || b.plan.Exits[0].Side != exchange.Sell || !b.plan.Exits[0].PostOnly {
		t.Errorf("want the sell an exit, have %+v", b.plan)
	}
	b.fill("2sell0", 1000, -4000) // more than its own: the maximum short position
	b.after(1).decide(100)
	b.after(10).expect(100, "buy 1@99")
	if len(b.plan.Orders) != 0 || len(b.plan.Exits) != 1 {
		t.Errorf("want only an exit at the most, have %+v", b.plan)
	}
}

func TestMarketMakingSellsOnSpotWhatItHasWithinItsBand(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Spot, strategy.Values{"spread": "2%", "ceiling": "120", "floor": "90"})
	b.expect(100, "buy 1@99")
	b.view.Position.Quantity = 1000
	b.after(60).expect(121, "sell 1@122.3")
	b.after(60).expect(80, "buy 0.875@79.2")
}

func TestAvellanedaIsWiderInVolatileMarketsAndLeans(t *testing.T) {
	t.Parallel()
	values := strategy.Values{"gamma": "2", "kappa": "100", "period": "2", "horizon": "2"}
	feed := func(b *book, closes ...float64) {
		for _, c := range flatCandles(closes...) {
			b.view.Candle = c
			b.strategy.Candle(&b.view)
		}
	}
	calm := quotes(t, "avellaneda", exchange.Futures, values)
	feed(calm, 100, 100, 100)
	calm.expect(100, "buy 1@99") // 2/gamma ln(1 + gamma/kappa) = 1.98 %, half on each side: 99.0097
	wild := quotes(t, "avellaneda", exchange.Futures, values)
	feed(wild, 100, 110, 99)           // changes of +10 % and -10 %: sigma 0.1, gamma sigma^2 horizon = 4 %
	wild.expect(100, "buy 1@97")       // half of 4 % + 1.98 %
	wild.view.Position.Quantity = 2000 // half of the maximum: leans by 2 %
	wild.after(60).expect(102, "buy 0.75@96.9, sell 1@103.1")
	if !strings.Contains(wild.text(), "sell") {
		t.Error("want to sell what is held")
	}
}

func TestAQuoterRefusesImpossibleParameters(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]strategy.Values{
		"quantity": {"quantity": "0.00000001", "max_position": "1"}, "max_position": {"quantity": "1", "max_position": "0.5"},
		"ceiling": {"quantity": "1", "max_position": "1", "floor": "10", "ceiling": "9"},
	} {
		var wrong *strategy.ValueError
		if _, err := marketMaking().New(setting(t, exchange.Futures), values); !errors.As(err, &wrong) || wrong.Parameter != name {
			t.Errorf("%v: want an error of %s, have %v", values, name, err)
		}
	}
}

func TestRebalancingTradesOnlyWhatDrifted(t *testing.T) {
	t.Parallel()
	b := newBook(t, newStrategy(t, "rebalance", exchange.Spot, strategy.Values{"weight": "40%", "band": "5%"}), exchange.Spot)
	target := func(price float64, equity int64, position exchange.Quantity) exchange.Quantity {
		b.view.Equity, b.view.Position.Quantity = exchange.AmountOf(equity), position
		b.decide(price)
		return b.plan.Target.Quantity
	}
	for i, c := range []struct {
		price    float64
		equity   int64
		position exchange.Quantity
		want     exchange.Quantity
	}{
		{100, 1000, 0, 4000},
		{130, 1000, 0, 4000},    // in flight: not priced again
		{100, 1000, 3996, 4000}, // reached except for the fee
		{110, 1040, 3996, 4000}, // 42.3 %
		{150, 1200, 3996, 3200}, // 50 %
	} {
		if have := target(c.price, c.equity, c.position); have != c.want {
			t.Errorf("step %d: want %d, have %d", i, c.want, have)
		}
	}
}
