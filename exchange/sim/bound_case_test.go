package sim

import (
	"testing"

	"botd/exchange"
)

// boundCase is one order on recorded minutes that are played as in a backtest. The first minute goes from 50000 to 49000 to
// 51000 to 50500, or to 51000 first. By the square root of the time (bound.go), half of either move counts after a quarter of
// it.
type boundCase struct {
	name    string
	order   PathOrder
	costs   Costs
	delayMS int64
	placed  int64 // ms after the first open
	kind    exchange.OrderType
	side    string
	price   string
	stop    string
	next    [4]string // the second minute; flat at 50500 when empty
	want    string    // price of the fill; empty for none
	atMS    int64     // of the fill, after the first open
	maker   bool
}

func (c *boundCase) run(t *testing.T) {
	t.Helper()
	d := newDesk(t, Config{OrderDelayMS: c.delayMS})
	if c.next == ([4]string{}) {
		c.next = [4]string{"50500", "50500", "50500", "50500"}
	}
	candles := d.tapeOf([4]string{"50000", "51000", "49000", "50500"}, c.next)
	c.costs.Bounded = true
	d.SetMarket(d.key(), Tape(candles, TapeConfig{Order: c.order, Costs: c.costs}))
	d.Advance(startMS + c.placed)
	var more []func(*exchange.NewOrder)
	if c.stop != "" {
		more = append(more, d.stopAt(c.stop, exchange.ContractPrice))
	}
	placed := d.place(d.order(c.side, c.kind, "0.01", c.price, more...))
	if placed.Type != c.kind {
		t.Fatalf("want a %s, have %s", c.kind, placed.Type)
	}
	d.Advance(startMS + 119_999)
	fills := d.Fills()
	switch {
	case c.want == "" && len(fills) == 0:
	case c.want == "" || len(fills) != 1:
		t.Errorf("want one fill at %q, have %+v", c.want, fills)
	case fills[0].Price != d.p(c.want) || fills[0].TimeMS != startMS+c.atMS || fills[0].Maker != c.maker:
		t.Errorf("want %s at %d ms, maker %t, have %s at %d ms, maker %t", c.want, c.atMS, c.maker, d.Symbol(d.key()).PriceDecimal(fills[0].Price),
			fills[0].TimeMS-startMS, fills[0].Maker)
	}
}

func runBoundCases(t *testing.T, cases []boundCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func TestALimitTakesAtItsLimitAtWorstOrRests(t *testing.T) {
	t.Parallel()
	limit, deep := exchange.Limit, [4]string{"50500", "50600", "49000", "50000"}
	runBoundCases(t, []boundCase{
		{name: "the worst of its way is within the limit", delayMS: 15_000, kind: limit, side: "buy", price: "50600", want: "50500", atMS: 15_000},
		{name: "the worst is beyond the limit", delayMS: 15_000, kind: limit, side: "buy", price: "50400", want: "50400", atMS: 15_000},
		{name: "a sale within its limit", delayMS: 15_000, kind: limit, side: "sell", price: "49400", want: "49500", atMS: 15_000},
		{name: "a sale at its limit", delayMS: 15_000, kind: limit, side: "sell", price: "49600", want: "49600", atMS: 15_000},
		{name: "at the known price it takes", kind: limit, side: "buy", price: "50000", want: "50000"},
		{name: "a tick below the known price it rests", kind: limit, side: "buy", price: "49999.9", want: "49999.9", atMS: 2, maker: true, order: LowFirst},
		{name: "one that arrives late in a bar rests from its close on", delayMS: 15_000, kind: limit, side: "buy", price: "49500", next: deep,
			want: "49500", atMS: 60_000 + 10_001, maker: true, order: LowFirst},
		{name: "one that arrives a millisecond before that rests at once", delayMS: 14_999, kind: limit, side: "buy", price: "49000",
			want: "49000", atMS: 15_000, maker: true, order: LowFirst},
		{name: "one that the rest of the bar does not reach waits for the next", delayMS: 14_999, kind: limit, side: "buy", price: "48999.9",
			next: [4]string{"50500", "50500", "48999.9", "50000"}, want: "48999.9", atMS: 75_000, maker: true, order: LowFirst},
		{name: "with Through it fills a tick beyond", costs: Costs{Through: true}, kind: limit, side: "buy", price: "49000",
			next: [4]string{"50500", "50500", "48999.9", "50000"}, want: "49000", atMS: 75_000, maker: true, order: LowFirst},
		{name: "slippage is the taker's", costs: Costs{Slippage: 20_000}, kind: limit, side: "buy", price: "50100", want: "50010"},
		{name: "slippage does not pass the limit", costs: Costs{Slippage: 20_000}, kind: limit, side: "buy", price: "50005", want: "50005"},
		{name: "the maker has none", costs: Costs{Slippage: 20_000}, kind: limit, side: "sell", price: "50500", want: "50500", atMS: 26_251,
			maker: true, order: LowFirst},
		{name: "what passes in LaterMS does not count", costs: Costs{LaterMS: 15_000}, delayMS: 15_000, kind: limit, side: "buy", price: "50600",
			want: "50500", atMS: 15_000},
	})
}

func TestStopPaysWorstPriceOfPath(t *testing.T) {
	t.Parallel()
	stop := exchange.StopMarket
	runBoundCases(t, []boundCase{
		{name: "at once in the book it pays its stop price", kind: stop, side: "sell", stop: "49500", want: "49500", atMS: 7_501, order: LowFirst},
		{name: "above the price, on the path to the high", kind: stop, side: "buy", stop: "50500", want: "50500", atMS: 7_501, order: HighFirst},
		{name: "passed on its way, it pays the worst of it", delayMS: 15_000, kind: stop, side: "sell", stop: "49600", want: "49500", atMS: 15_000,
			order: LowFirst},
		{name: "passed on its way within its stop price, it pays that", delayMS: 15_000, kind: stop, side: "sell", stop: "49400", want: "49400",
			atMS: 15_000, order: LowFirst},
		{name: "met after its way, it pays the worst of that too", delayMS: 15_000, kind: stop, side: "sell", stop: "49600", want: "49500",
			atMS: 25_501, order: HighFirst},
		{name: "met after its way, beyond the worst of that", delayMS: 15_000, kind: stop, side: "sell", stop: "49400", want: "49400",
			atMS: 27_001, order: HighFirst},
		{name: "of its delay what passes in LaterMS does not count", costs: Costs{LaterMS: 15_000}, delayMS: 15_000, kind: stop, side: "sell",
			stop: "49600", want: "49600", atMS: 25_501, order: HighFirst},
		{name: "a gap beyond it pays the open", kind: stop, side: "sell", stop: "48000", next: [4]string{"47000", "47000", "47000", "47000"},
			want: "47000", atMS: 60_000},
		{name: "the best path goes the other way first", kind: stop, side: "sell", stop: "49500", want: "49500", atMS: 26_251, order: Best},
		{name: "the worst path goes its way first", kind: stop, side: "sell", stop: "49500", want: "49500", atMS: 7_501, order: Worst},
		{name: "slippage comes on top", costs: Costs{Slippage: 100_000}, kind: stop, side: "sell", stop: "49500", want: "49450.5", atMS: 7_501,
			order: LowFirst},
	})
}

func TestATakeProfitPaysItsStopPriceAsALimitWould(t *testing.T) {
	t.Parallel()
	profit := exchange.TakeProfitMarket
	runBoundCases(t, []boundCase{
		{name: "where the path reaches it", kind: profit, side: "sell", stop: "50500", want: "50500", atMS: 7_501, order: HighFirst},
		{name: "a purchase at the low", kind: profit, side: "buy", stop: "49500", want: "49500", atMS: 7_501, order: LowFirst},
		{name: "a gap beyond it pays it the open", kind: profit, side: "buy", stop: "48000", next: [4]string{"47000", "47000", "47000", "47000"},
			want: "47000", atMS: 60_000},
		{name: "no gap pays it more when it was delayed", delayMS: 1, kind: profit, side: "buy", stop: "48000",
			next: [4]string{"47000", "47000", "47000", "47000"}, want: "48000", atMS: 60_000},
		{name: "nor with Through", costs: Costs{Through: true}, kind: profit, side: "buy", stop: "48000",
			next: [4]string{"47000", "47000", "47000", "47000"}, want: "48000", atMS: 60_000},
		{name: "one that arrives late in a bar waits from its close on", delayMS: 15_000, kind: profit, side: "sell", stop: "50900",
			next: [4]string{"50500", "51000", "50500", "50600"}, want: "50900", atMS: 60_000 + 27_001, order: LowFirst},
		{name: "at the close it is met there", delayMS: 15_000, kind: profit, side: "sell", stop: "50400", want: "50400", atMS: 59_999, order: LowFirst},
	})
}

func TestAConditionalLimitIsJudgedWhereItWasTriggered(t *testing.T) {
	t.Parallel()
	stop, profit := exchange.StopLimit, exchange.TakeProfitLimit
	runBoundCases(t, []boundCase{
		{name: "a stop with room takes at its stop price", kind: stop, side: "sell", stop: "49500", price: "49400", want: "49500", atMS: 7_501,
			order: LowFirst},
		{name: "a stop at its limit", kind: stop, side: "sell", stop: "49500", price: "49500", want: "49500", atMS: 7_501, order: LowFirst},
		{name: "a stop whose limit is better rests from the close on", kind: stop, side: "sell", stop: "49500", price: "49600", want: "49600",
			atMS: 59_999, maker: true, order: LowFirst},
		{name: "one of the best path rests too", kind: stop, side: "buy", stop: "50500", price: "50400",
			next: [4]string{"50500", "50500", "50300", "50400"}, want: "50400", atMS: 60_000 + 7_501, maker: true, order: Best},
		{name: "a take-profit with room", kind: profit, side: "sell", stop: "50500", price: "50400", want: "50500", atMS: 7_501, order: HighFirst},
		{name: "a take-profit whose limit is better rests", kind: profit, side: "sell", stop: "50500", price: "50800", order: HighFirst,
			next: [4]string{"50500", "50900", "50500", "50600"}, want: "50800", atMS: 60_000 + 11_251, maker: true},
	})
}
