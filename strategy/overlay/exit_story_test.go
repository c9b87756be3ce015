package overlay

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func onSpot(v *strategy.View) {
	spot := *v.Symbol
	spot.Market, v.Symbol = exchange.Spot, &spot
}

func fills(key string, quantity exchange.Quantity) func(*strategy.View) {
	return func(v *strategy.View) { v.Fills = []strategy.KeyFill{{Key: key, Quantity: quantity}} }
}

func candle(openMS int64, high, low float64) func(*strategy.View) {
	candles := &exchange.Candles{}
	candles.Append(exchange.Candle{OpenMS: openMS, High: ticks(high), Low: ticks(low)})
	return func(v *strategy.View) { v.SetHistory(candles, 1) }
}

func distance(price float64) strategy.Distance { return strategy.Distance{Price: ticks(price)} }

// ownExit is long1 with the strategy's own exit.
func ownExit(p *strategy.Plan) {
	long1(p)
	p.Exits, p.ExitsSet = append(p.Exits, strategy.DesiredOrder{Key: "own", Side: exchange.Sell, Price: 120e8, Quantity: 1_000}), true
}

const waits = " (closed by its exit rules; waits for another target); "

// The position of 1 BTC was entered at 100 in the second second.
func TestAReturnRestsUntilItIsReached(t *testing.T) {
	t.Parallel()
	rules := TradeSettings{Exit: Exit{Returns: []Return{{Profit: one / 25}, {AgeMS: 3_600_000, Profit: one / 100}}}}
	rested := []moment{
		{last: 100, asks: long1, want: "hold 1 (asked); exits.wanted=1"},
		{after: 1_000, last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 exits return1 SELL 1@104 (asked); " +
			"exits.best=100 exits.due=1 exits.order=1 exits.rests=1 exits.side=1 exits.since=2000 exits.size=1000 exits.wanted=1"},
	}
	const ended = "exits.blocked=1 exits.left=3000 exits.order=1 exits.shut=3000 exits.since=3000 exits.size=1000 exits.wanted=1"
	for _, s := range []story{
		{name: "its price follows the age, its quantity is the whole with what has filled, and one that grows is another order", rules: rules,
			moments: append(rested[:2:2], []moment{
				{after: 3_599_999, last: 101, held: 1, entry: 100, asks: long1, want: "hold 1 exits return1 SELL 1@104 (asked); " +
					"exits.best=101 exits.due=1 exits.order=1 exits.rests=1 exits.side=1 exits.since=2000 exits.size=1000 exits.wanted=1"},
				{after: 1, last: 101, held: 1, entry: 100, asks: long1, want: "hold 1 exits return1 SELL 1@101 (asked); " +
					"exits.best=101 exits.due=2 exits.order=1 exits.rests=1 exits.side=1 exits.since=2000 exits.size=1000 exits.wanted=1"},
				{last: 101, held: 0.6, entry: 100, change: fills("return1", 400), want: "nothing exits return1 SELL 1@101; " +
					"exits.best=101 exits.due=2 exits.order=1 exits.rests=1 exits.side=1 exits.since=2000 exits.size=1000 exits.wanted=1"},
				{last: 101, held: 1.1, entry: 100, change: fills("return1", 400), want: "nothing exits return2 SELL 1.1@101; " +
					"exits.best=101 exits.due=2 exits.order=2 exits.rests=1 exits.side=1 exits.since=2000 exits.size=1100 exits.wanted=1"},
				{last: 101, held: 1.1, entry: 100, asks: flat, change: fills("", 0), want: "hold 0 exits (asked); " +
					"exits.best=101 exits.due=2 exits.order=2 exits.side=1 exits.since=2000 exits.size=1100"},
			}...)},
		{name: "reached, the side waits for a signal given later", rules: rules, moments: append(rested[:2:2], []moment{
			{after: 1_000, last: 104, asks: long1, want: "hold 0 exits" + waits + ended},
			{after: 1_000, last: 104, asks: long1, want: "hold 0" + waits + ended},
			{after: 1_000, last: 104, asks: signals(1, 3_000), want: "hold 0 signal 3000" + waits + ended},
			{after: 1_000, last: 104, asks: signals(1, 3_001), want: "hold {Kind:2 Quantity:0 Share:1 Quote:0} signal 3001 (asked); " +
				"exits.left=3000 exits.order=1 exits.shut=3000 exits.since=3000 exits.size=1000 exits.wanted=1"},
		}...)},
		{name: "a strategy that asks for nothing then is flat at once, and free after that", rules: rules, moments: append(rested[:2:2], []moment{
			{after: 1_000, last: 104, asks: asksNothing, want: "hold 0 exits" + waits + ended},
			{after: 1_000, last: 104, asks: orders(1), want: "nothing orders a BUY 1@90; " + ended},
			{after: 1_000, last: 104, asks: asksNothing,
				want: "nothing; exits.left=3000 exits.order=1 exits.shut=3000 exits.since=3000 exits.size=1000 exits.wanted=1"},
		}...)},
		{name: "one that keeps orders of its own keeps them", rules: rules, moments: append(rested[:2:2], []moment{
			{after: 1_000, last: 104, asks: orders(1), want: "nothing orders a BUY 1@90 exits; " + ended},
		}...)},
		{name: "exits of the strategy's own stay, and decisions check the return", rules: rules, moments: []moment{
			{last: 100, held: 1, entry: 100, asks: ownExit,
				want: "hold 1 exits own SELL 1@120 (asked); exits.best=100 exits.due=1 exits.own=1 exits.side=1 exits.since=1000 exits.wanted=1"},
			{after: 1_000, last: 104, held: 1, entry: 100, asks: long1, want: "hold 0 (a return of 4.00% is enough after 1s); " +
				"exits.best=104 exits.blocked=1 exits.due=1 exits.own=1 exits.shut=2000 exits.side=1 exits.since=1000 exits.wanted=1"},
		}},
		{name: "such a return may be reached at once", rules: rules, moments: []moment{
			{last: 104, held: 1, entry: 100, asks: ownExit, want: "hold 0 exits own SELL 1@120 (a return of 4.00% is enough after 0s); " +
				"exits.best=104 exits.blocked=1 exits.due=1 exits.own=1 exits.shut=1000 exits.side=1 exits.since=1000 exits.wanted=1"},
		}},
		{name: "of a short one, below the entry", rules: rules, moments: []moment{
			{last: 100, held: -1, entry: 100, asks: short1, want: "hold -1 exits return1 BUY 1@96 (asked); " +
				"exits.best=100 exits.due=1 exits.order=1 exits.rests=1 exits.side=-1 exits.since=1000 exits.size=1000 exits.wanted=-1"},
		}},
		{name: "one too small for an order (0.05 at 104 is 5.2 USDT, at 99 it is 4.95) is checked by decisions",
			rules: TradeSettings{Exit: Exit{Returns: []Return{{Profit: -one / 100}}}}, moments: []moment{
				{last: 98, held: 0.05, entry: 100, asks: long1, want: "hold 1 (asked); " +
					"exits.best=100 exits.due=1 exits.side=1 exits.since=1000 exits.wanted=1"},
				{last: 99, held: 0.05, entry: 100, asks: long1, want: "hold 0 (a return of -1.00% is enough after 0s); " +
					"exits.best=100 exits.blocked=1 exits.due=1 exits.shut=1000 exits.side=1 exits.since=1000 exits.wanted=1"},
			}},
	} {
		s.run(t)
	}
}

// The side stays closed as long as the re-entry policy requires.
func TestTimeLimitBlocksSide(t *testing.T) {
	t.Parallel()
	closed := []moment{
		{last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 (asked); exits.best=100 exits.side=1 exits.since=1000 exits.wanted=1"},
		{after: 999, last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 (asked); exits.best=100 exits.side=1 exits.since=1000 exits.wanted=1"},
		{after: 1, last: 100, held: 1, entry: 100, asks: long1, want: "hold 0 (held for 1s, the time limit); " +
			"exits.best=100 exits.blocked=1 exits.shut=2000 exits.side=1 exits.since=1000 exits.wanted=1"},
	}
	const free = "exits.left=2001 exits.shut=2000 exits.since=2001 exits.wanted="
	const blocked = "exits.blocked=1 " + free
	for _, c := range []struct {
		reentry strategy.Reentry
		asks    func(*strategy.Plan)
		want    string
	}{
		{strategy.ReentryImmediate, long1, "hold 1 (asked); " + free + "1"},
		{strategy.ReentryNever, long1, "hold 0" + waits + blocked + "1"},
		{strategy.ReentryNever, asksNothing, "nothing; " + blocked + "1"},
		{strategy.ReentryNever, short1, "hold -1 (asked); " + free + "-1"},
		{strategy.ReentryNever, flat, "hold 0 (asked); " + free[:len(free)-len(" exits.wanted=")]},
		{strategy.ReentrySignal, long1, "hold 0" + waits + blocked + "1"},
		{strategy.ReentrySignal, asksNothing, "nothing; " + free + "1"},
		{strategy.ReentrySignal, orders(1), "nothing orders a BUY 1@90; " + blocked + "1"},
	} {
		s := story{name: string(c.reentry), rules: TradeSettings{Exit: Exit{TimeLimitMS: 1_000, Reentry: c.reentry}},
			moments: append(closed[:3:3], moment{after: 1, last: 100, asks: c.asks, want: c.want})}
		s.run(t)
	}
	cooling := story{name: "after a cooldown too", rules: TradeSettings{Exit: Exit{CooldownMS: 60_000}}, moments: []moment{
		{last: 100, held: -1, entry: 100, asks: short1, want: "hold -1 (asked); exits.best=100 exits.side=-1 exits.since=1000 exits.wanted=-1"},
		{after: 1_000, last: 100, asks: short1, want: "hold 0 (cooldown: 1m left); " +
			"exits.blocked=-1 exits.left=2000 exits.shut=2000 exits.since=2000 exits.wanted=-1"},
		{after: 59_999, last: 100, asks: orders(2), want: "nothing orders (cooldown: 0s left); " +
			"exits.blocked=-1 exits.left=2000 exits.shut=2000 exits.since=2000 exits.wanted=-1"},
		{last: 100, asks: orders(0), want: "nothing orders; exits.blocked=-1 exits.left=2000 exits.shut=2000 exits.since=2000 exits.wanted=-1"},
		{after: 1, last: 100, asks: orders(1), want: "nothing orders a BUY 1@90; " +
			"exits.blocked=-1 exits.left=2000 exits.shut=2000 exits.since=2000 exits.wanted=-1"},
		{last: 100, asks: short1, want: "hold 0" + waits + "exits.blocked=-1 exits.left=2000 exits.shut=2000 exits.since=2000 exits.wanted=-1"},
		{last: 100, asks: long1, want: "hold 1 (asked); exits.left=2000 exits.shut=2000 exits.since=2000 exits.wanted=1"},
		{last: 100, held: 1, entry: 100, asks: long1,
			want: "hold 1 (asked); exits.best=100 exits.left=2000 exits.shut=2000 exits.side=1 exits.since=62000 exits.wanted=1"},
		{last: 100, held: -1, entry: 100, asks: short1, // as one change: no cool-down while there is a position
			want: "hold -1 (asked); exits.best=100 exits.left=62000 exits.shut=2000 exits.side=-1 exits.since=62000 exits.wanted=-1"},
	}}
	cooling.run(t)
}

// The stop trails by 5 % from a profit of 10 % on. The best price is stored in steps of a twentieth of that.
func TestAStopTrailsTheBestPrice(t *testing.T) {
	t.Parallel()
	rules := TradeSettings{Exit: Exit{Base: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: one / 50}},
		Trailing: Trailing{Distance: one / 20, After: one / 10}}}
	for _, s := range []story{
		{name: "long", rules: rules, moments: []moment{
			{last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 (asked); exits.best=100 exits.side=1 exits.since=1000 exits.wanted=1"},
			{last: 100.24, held: 1, entry: 100, want: "nothing; exits.best=100 exits.side=1 exits.since=1000 exits.wanted=1"},
			{last: 100.25, held: 1, entry: 100, want: "nothing; exits.best=100.25 exits.side=1 exits.since=1000 exits.wanted=1"},
			{last: 109.99, held: 1, entry: 100, want: "nothing; exits.best=109.99 exits.side=1 exits.since=1000 exits.wanted=1"},
			{last: 110, held: 1, entry: 100, want: "nothing stop 104.5 profit none; exits.best=110 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
			{last: 110.2, held: 1, entry: 100, // the next step is 110.275
				want: "nothing stop 104.5 profit none; exits.best=110 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
			{last: 90, held: 1, entry: 100, asks: long1,
				want: "hold 1 stop 104.5 profit none (asked); exits.best=110 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
			{last: 90, held: 1, entry: 100, change: candle(999, 120, 80), // it started before the position
				want: "nothing stop 104.5 profit none; exits.best=110 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
			{last: 90, held: 1, entry: 100, change: candle(1_000, 120, 80),
				want: "nothing stop 114 profit none; exits.best=120 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
			{after: 1, last: 90, change: candle(0, 0, 0), asks: flat,
				want: "hold 0 stop 2% profit none (asked); exits.left=1001 exits.moved=2 exits.since=1001"},
			{after: 1, last: 90, asks: flat, want: "hold 0 stop 2% profit none (asked); exits.left=1001 exits.moved=2 exits.since=1001"},
		}},
		{name: "short", rules: rules, moments: []moment{
			{last: 100, held: -1, entry: 100, asks: short1, want: "hold -1 (asked); exits.best=100 exits.side=-1 exits.since=1000 exits.wanted=-1"},
			{last: 99.76, held: -1, entry: 100, want: "nothing; exits.best=100 exits.side=-1 exits.since=1000 exits.wanted=-1"},
			{last: 99.75, held: -1, entry: 100, want: "nothing; exits.best=99.75 exits.side=-1 exits.since=1000 exits.wanted=-1"},
			{last: 90.01, held: -1, entry: 100, want: "nothing; exits.best=90.01 exits.side=-1 exits.since=1000 exits.wanted=-1"},
			{last: 90, held: -1, entry: 100, want: "nothing stop 94.5 profit none; exits.best=90 exits.moved=1 exits.side=-1 exits.since=1000 exits.wanted=-1"},
			{last: 110, held: -1, entry: 100, change: candle(1_000, 120, 80),
				want: "nothing stop 84 profit none; exits.best=80 exits.moved=1 exits.side=-1 exits.since=1000 exits.wanted=-1"},
		}},
		{name: "from the beginning, at least a tick at a time",
			rules: TradeSettings{Exit: Exit{Trailing: Trailing{Distance: one / 100_000}}}, moments: []moment{
				{last: 100, held: 1, entry: 100, asks: long1,
					want: "hold 1 stop 99.9 profit none (asked); exits.best=100 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
				{last: 100.09, held: 1, entry: 100,
					want: "nothing stop 99.9 profit none; exits.best=100 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
				{last: 100.1, held: 1, entry: 100,
					want: "nothing stop 100 profit none; exits.best=100.1 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
			}},
		{name: "spot shows no entry price at first: the best is the last",
			rules: TradeSettings{Exit: Exit{Trailing: Trailing{Distance: one / 20}}}, begin: onSpot,
			moments: []moment{
				{last: 100, held: 1, asks: long1,
					want: "hold 1 stop 95 profit none (asked); exits.best=100 exits.moved=1 exits.side=1 exits.since=1000 exits.wanted=1"},
			}},
	} {
		s.run(t)
	}
}

// The strategy's own take-profit counts if it is nearer.
func TestReturnWithTrailingStopIsTakeProfit(t *testing.T) {
	t.Parallel()
	rules := TradeSettings{Exit: Exit{Returns: []Return{{Profit: one / 25}}, Trailing: Trailing{Distance: one / 20, After: one / 10}}}
	const long, short = "exits.side=1 exits.since=1000", "exits.side=-1 exits.since=1000"
	none := strategy.Distance{}
	shorts := func(profit strategy.Distance) func(*strategy.Plan) {
		return func(p *strategy.Plan) {
			protects(none, profit)(p)
			short1(p)
		}
	}
	for _, s := range []story{
		{name: "long", rules: rules, moments: []moment{
			{last: 100, held: 1, entry: 100, asks: long1,
				want: "hold 1 stop none profit 104 (asked); exits.best=100 exits.due=1 exits.moved=1 " + long + " exits.wanted=1"},
			{last: 100, held: 1, entry: 100, asks: protects(none, distance(103)),
				want: "hold 1 stop none profit 103 (asked); exits.best=100 exits.due=1 exits.moved=2 exits.profit=103 " + long + " exits.wanted=1"},
			{last: 100, held: 1, entry: 100, asks: protects(none, distance(104)),
				want: "hold 1 stop none profit 104 (asked); exits.best=100 exits.due=1 exits.moved=2 exits.profit=104 " + long + " exits.wanted=1"},
			{last: 100, held: 1, entry: 100, asks: protects(none, distance(105)),
				want: "hold 1 stop none profit 104 (asked); exits.best=100 exits.due=1 exits.moved=1 exits.profit=105 " + long + " exits.wanted=1"},
			{last: 100, held: 1, entry: 100, asks: protects(none, strategy.Distance{Share: one * 3 / 100}),
				want: "hold 1 stop none profit 3% (asked); exits.best=100 exits.due=1 exits.moved=2 exits.profit=-0.03 " + long + " exits.wanted=1"},
			{last: 100, held: 1, entry: 100, asks: protects(none, strategy.Distance{Share: one / 20}),
				want: "hold 1 stop none profit 104 (asked); exits.best=100 exits.due=1 exits.moved=1 exits.profit=-0.05 " + long + " exits.wanted=1"},
		}},
		{name: "short", rules: rules, moments: []moment{
			{last: 100, held: -1, entry: 100, asks: short1,
				want: "hold -1 stop none profit 96 (asked); exits.best=100 exits.due=1 exits.moved=1 " + short + " exits.wanted=-1"},
			{last: 100, held: -1, entry: 100, asks: shorts(distance(97)),
				want: "hold -1 stop none profit 97 (asked); exits.best=100 exits.due=1 exits.moved=2 exits.profit=97 " + short + " exits.wanted=-1"},
			{last: 100, held: -1, entry: 100, asks: shorts(distance(95)),
				want: "hold -1 stop none profit 96 (asked); exits.best=100 exits.due=1 exits.moved=1 exits.profit=95 " + short + " exits.wanted=-1"},
			{last: 100, held: -1, entry: 100, asks: shorts(strategy.Distance{Share: one / 20}),
				want: "hold -1 stop none profit 96 (asked); exits.best=100 exits.due=1 exits.moved=1 exits.profit=-0.05 " + short + " exits.wanted=-1"},
			{last: 100, held: -1, entry: 100, asks: shorts(strategy.Distance{Share: one * 3 / 100}),
				want: "hold -1 stop none profit 3% (asked); exits.best=100 exits.due=1 exits.moved=2 exits.profit=-0.03 " + short + " exits.wanted=-1"},
		}},
	} {
		s.run(t)
	}
}

// The sale rests if no stop holds the asset; otherwise it is sent at a decision.
func TestATakeProfitOnSpotIsASale(t *testing.T) {
	t.Parallel()
	profit, stop := strategy.Distance{Share: one * 3 / 100}, strategy.Distance{Share: one / 50}
	const held = "exits.best=100 exits.order=1 exits.rests=1 exits.side=1 exits.since=1000 exits.size=1000 exits.wanted=1"
	const due = "exits.best=100 exits.due=1 exits.order=1 exits.rests=1 exits.side=1 exits.since=1000 exits.size=1000 exits.wanted=1"
	for _, s := range []story{
		{name: "without a stop", begin: onSpot, rules: TradeSettings{Exit: Exit{SellsProfit: true, Base: strategy.Protection{Set: true, TakeProfit: profit}}},
			moments: []moment{{last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 exits return1 SELL 1@103 (asked); " + held},
				{last: 100, held: 1, entry: 100, want: "nothing exits return1 SELL 1@103; " + held}}},
		{name: "no entry price yet", begin: onSpot,
			rules:   TradeSettings{Exit: Exit{SellsProfit: true, Base: strategy.Protection{Set: true, TakeProfit: profit}}},
			moments: []moment{{last: 104, held: 1, asks: long1, want: "hold 1 (asked); exits.best=104 exits.side=1 exits.since=1000 exits.wanted=1"}}},
		{name: "of the strategy's own", begin: onSpot, rules: TradeSettings{Exit: Exit{SellsProfit: true}},
			moments: []moment{{last: 100, asks: long1, want: "hold 1 (asked); "},
				{last: 100, held: 1, entry: 100, asks: protects(strategy.Distance{}, distance(102.5)),
					want: "hold 1 stop none profit 102.5 exits return1 SELL 1@102.5 (asked); " +
						"exits.best=100 exits.order=1 exits.profit=102.5 exits.rests=1 exits.side=1 exits.since=1000 exits.size=1000 exits.wanted=1"}}},
		{name: "the nearer of both: the return", begin: onSpot, rules: TradeSettings{Exit: Exit{SellsProfit: true, Returns: []Return{{Profit: one / 50}},
			Base: strategy.Protection{Set: true, TakeProfit: profit}}},
			moments: []moment{{last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 exits return1 SELL 1@102 (asked); " + due}}},
		{name: "the nearer of both: the take-profit", begin: onSpot, rules: TradeSettings{Exit: Exit{SellsProfit: true, Returns: []Return{{Profit: one / 25}},
			Base: strategy.Protection{Set: true, TakeProfit: profit}}},
			moments: []moment{{last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 exits return1 SELL 1@103 (asked); " + due}}},
		{name: "with a stop", begin: onSpot, rules: TradeSettings{Exit: Exit{SellsProfit: true, Base: strategy.Protection{Set: true, StopLoss: stop,
			TakeProfit: profit}}},
			moments: []moment{
				{last: 102.9, held: 1, entry: 100, asks: long1, want: "hold 1 (asked); exits.best=102.9 exits.side=1 exits.since=1000 exits.wanted=1"},
				{last: 103, held: 1, entry: 100, asks: long1, want: "hold 0 (the take-profit of 103 is reached); " +
					"exits.best=103 exits.blocked=1 exits.shut=1000 exits.side=1 exits.since=1000 exits.wanted=1"},
			}},
	} {
		s.run(t)
	}
}

// The targets are halves of 1 BTC, immediately and at twice the stop's distance of 2.
func TestTargetMemory(t *testing.T) {
	t.Parallel()
	base := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: one / 50}}
	targets := []Step{{R: one, Share: one / 2}, {R: 2 * one, Share: one / 4}}
	const side = "exits.side=1 exits.since=1000 "
	for _, s := range []story{
		{name: "they rest", rules: TradeSettings{Exit: Exit{Base: base, ProfitTargets: targets}}, moments: []moment{
			{last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 exits target1.1 SELL 0.5@102 target1.2 SELL 0.25@104 (asked); " +
				"exits.best=100 exits.rests=1 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.whole=1000"},
			{last: 105, held: 1, entry: 100, asks: long1, want: "hold 1 exits target1.1 SELL 0.5@102 target1.2 SELL 0.25@104 (asked); " + // they fill
				"exits.best=105 exits.rests=1 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.whole=1000"},
			{last: 100, held: 0.9, entry: 100, change: fills("target1.1", 100), want: "nothing exits target1.1 SELL 0.5@102 target1.2 SELL 0.25@104; " +
				"exits.best=105 exits.rests=1 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.whole=1000"},
			{last: 100, held: 1.5, entry: 100, change: fills("target1.1", 100), want: "nothing exits target2.1 SELL 0.8@102 target2.2 SELL 0.4@104; " +
				"exits.best=105 exits.rests=1 " + side + "exits.wanted=1 targets.order=2 targets.risk=2 targets.whole=1600"},
			{last: 102, held: 0.8, entry: 100, change: fills("target2.1", 800), want: "nothing exits target2.2 SELL 0.4@104; " +
				"exits.best=105 exits.rests=1 " + side + "exits.wanted=1 targets.order=2 targets.risk=2 targets.taken=1 targets.whole=1600"},
			{last: 102, held: 2, entry: 100, change: fills("", 0), want: "nothing exits target2.2 SELL 0.4@104; " + // it stops growing
				"exits.best=105 exits.rests=1 " + side + "exits.wanted=1 targets.order=2 targets.risk=2 targets.taken=1 targets.whole=1600"},
			{last: 102, held: 0.8, entry: 100, asks: flat, want: "hold 0 exits (asked); " +
				"exits.best=105 " + side + "targets.order=2 targets.risk=2 targets.taken=1 targets.whole=1600"},
			{after: 1, last: 102, asks: flat, want: "hold 0 (asked); exits.left=1001 exits.since=1001 targets.order=2"},
		}},
		{name: "one too small for an order does not", rules: TradeSettings{Exit: Exit{Base: base, ProfitTargets: targets}}, moments: []moment{
			{last: 100, held: 0.1, entry: 100, asks: long1, want: "hold 1 exits target1.1 SELL 0.05@102 (asked); " +
				"exits.best=100 exits.rests=1 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.whole=100"},
		}},
		{name: "beside exits of the strategy's own decisions close", rules: TradeSettings{Exit: Exit{Base: base, ProfitTargets: targets}}, moments: []moment{
			{last: 102, held: 1, entry: 100, asks: ownExit, want: "hold 0.5 exits own SELL 1@120 (the target at 102 is reached); " +
				"exits.best=102 exits.own=1 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.taken=1 targets.whole=1000"},
		}},
		{name: "without a stop there is no distance", rules: TradeSettings{Exit: Exit{ProfitTargets: targets}}, moments: []moment{
			{last: 100, held: 1, entry: 100, asks: long1, want: "hold 1 exits (asked); " +
				"exits.best=100 exits.rests=1 " + side + "exits.wanted=1 targets.order=1 targets.whole=1000"},
		}},
		{name: "on spot a stop holds the asset: decisions close", begin: onSpot,
			rules: TradeSettings{Exit: Exit{Base: base, ProfitTargets: targets}}, moments: []moment{
				{last: 101.9, held: 1, entry: 100, asks: long1, want: "hold 1 (asked); " +
					"exits.best=101.9 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.whole=1000"},
				{last: 102, held: 1, entry: 100, asks: asksNothing, want: "hold 0.5 (the target at 102 is reached); " +
					"exits.best=102 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.taken=1 targets.whole=1000"},
				{last: 101, held: 0.5, entry: 100, asks: asksNothing, want: "nothing; " +
					"exits.best=102 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.taken=1 targets.whole=1000"},
				{last: 101, held: 0.5, entry: 100, asks: long1, want: "hold 0.5 (asked); " +
					"exits.best=102 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.taken=1 targets.whole=1000"},
				{last: 104, held: 0.5, entry: 100, asks: long1, want: "hold 0.25 (the target at 104 is reached); " +
					"exits.best=104 " + side + "exits.wanted=1 targets.order=1 targets.risk=2 targets.taken=3 targets.whole=1000"},
				{last: 104, held: 0.25, entry: 100, asks: short1, want: "hold -1 (asked); " +
					"exits.best=104 " + side + "exits.wanted=-1 targets.order=1 targets.risk=2 targets.taken=3 targets.whole=1000"},
			}},
		{name: "on spot without an entry price nothing is known", begin: onSpot,
			rules: TradeSettings{Exit: Exit{Base: base, ProfitTargets: targets}}, moments: []moment{
				{last: 150, held: 1, asks: long1, want: "hold 1 (asked); exits.best=150 " + side + "exits.wanted=1 targets.order=1 targets.whole=1000"},
			}},
	} {
		s.run(t)
	}
}
