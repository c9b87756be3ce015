package overlay

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// Quantities and prices are computed manually, for an equity of 10,000 USDT.
func TestSizeFromEntryToExit(t *testing.T) {
	t.Parallel()
	stop := strategy.Distance{Share: one / 50}
	quarters := []Step{{Share: one / 2}, {R: -one / 2, Share: one / 4}, {R: one, Share: one / 4}}
	halves := []Step{{Share: one / 2}, {Away: one / 100, Share: one / 2}}
	power := func(usdt int64) func(*strategy.View) {
		return func(v *strategy.View) { v.BuyingPower = exchange.AmountOf(usdt) }
	}
	for _, s := range []story{
		{name: "parts by the stop's distance, which is 1,000 at 50,000: 100 USDT at risk are 0.1 BTC", rules: TradeSettings{Sizing: Sizing{Risk: one / 100,
			Max:  10 * one,
			Stop: stop, Steps: quarters}}, moments: []moment{
			{last: 50_000, asks: holds(1), want: "hold 0.05 (asked); size.quantity=100 size.share=1 size.side=1 size.steps=1"},
			{last: 49_600, held: 0.05, entry: 50_000, asks: holds(1),
				want: "hold 0.05 (asked); size.distance=1000 size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.side=1 size.steps=1"},
			{last: 49_500.1, held: 0.05, entry: 50_000, asks: asksNothing,
				want: "nothing; size.distance=1000 size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.side=1 size.steps=1"},
			{last: 49_500, held: 0.05, entry: 50_000, asks: asksNothing, want: "hold 0.075 (the price has reached the next part of the entry); " +
				"size.distance=1000 size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.side=1 size.steps=2"},
			{last: 50_999.9, held: 0.075, entry: 49_833.3, asks: holds(1),
				want: "hold 0.075 (asked); size.distance=1000 size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.side=1 size.steps=2"},
			{last: 51_000, held: 0.075, entry: 49_833.3, asks: holds(1),
				want: "hold 0.1 (asked); size.distance=1000 size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.side=1 size.steps=3"},
			{last: 60_000, held: 0.1, entry: 50_125, asks: asksNothing,
				want: "nothing; size.distance=1000 size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.side=1 size.steps=3"},
			{last: 60_000, held: 0.1, entry: 50_125, asks: flat,
				want: "hold 0 (asked); size.distance=1000 size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.steps=3"},
			{last: 60_000, asks: flat, want: "hold 0 (asked); size.entry=50000 size.quantity=100 size.share=1 size.steps=3"},
			{last: 50_000, asks: holds(-0.5), want: "hold -0.025 (asked); size.entry=50000 size.quantity=50 size.share=0.5 size.side=-1 size.steps=1"},
			{last: 50_500, held: -0.025, entry: 50_000, asks: holds(-0.5),
				want: "hold -0.037 (asked); size.distance=1000 size.entry=50000 size.quantity=50 size.seen=-1 size.share=0.5 size.side=-1 size.steps=2"},
			{last: 51_000, asks: asksNothing,
				want: "nothing; size.entry=50000 size.quantity=50 size.share=0.5 size.steps=2"}, // a stop
			{last: 40_000, asks: holds(-0.5), want: "hold -0.031 (asked); size.entry=50000 size.quantity=62 size.share=0.5 size.side=-1 size.steps=1"}, // 125
		}},
		{name: "the other side in one go", rules: TradeSettings{Sizing: Sizing{Risk: one / 100, Max: 10 * one, Stop: stop}}, moments: []moment{
			{last: 50_000, asks: holds(1), want: "hold 0.1 (asked); size.quantity=100 size.share=1 size.side=1 size.steps=1"},
			{last: 50_000, held: 0.1, entry: 50_000, asks: holds(-1),
				want: "hold -0.1 (asked); size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.side=-1 size.steps=1"},
			{last: 40_000, held: -0.1, entry: 45_000, asks: holds(-1),
				want: "hold -0.1 (asked); size.entry=45000 size.quantity=100 size.seen=-1 size.share=1 size.side=-1 size.steps=1"},
		}},
		{name: "spot shows no entry price: the last price is taken", rules: TradeSettings{Sizing: Sizing{Steps: halves}}, moments: []moment{
			{last: 50_000, asks: holds(1), want: "hold 0.1 (asked); size.quantity=200 size.share=1 size.side=1 size.steps=1"},
			{last: 50_010, held: 0.1, asks: holds(1),
				want: "hold 0.1 (asked); size.entry=50010 size.quantity=200 size.seen=1 size.share=1 size.side=1 size.steps=1"},
		}},
		{name: "parts of a quantity and of an amount; another unit is another size", rules: TradeSettings{Sizing: Sizing{Steps: halves}}, moments: []moment{
			{last: 50_000, asks: holdsQuantity(100), want: "hold 0.05 (asked); size.kind=-1 size.quantity=100 size.share=0.000001 size.side=1 size.steps=1"},
			{last: 50_000, asks: holdsQuote(5_000), want: "hold 0.05 (asked); size.kind=1 size.quantity=100 size.share=50 size.side=1 size.steps=1"},
			{last: 50_000, held: 0.05, entry: 50_000, asks: holds(50),
				want: "hold 5 (asked); size.entry=50000 size.quantity=10000 size.seen=1 size.share=50 size.side=1 size.steps=1"},
			{last: 50_000, held: 0.05, entry: 50_000, asks: holdsQuote(5_000),
				want: "hold 0.05 (asked); size.entry=50000 size.kind=1 size.quantity=100 size.seen=1 size.share=50 size.side=1 size.steps=1"},
			{last: 50_500, held: 0.05, entry: 50_000, asks: holdsQuote(5_000),
				want: "hold 0.1 (asked); size.entry=50000 size.kind=1 size.quantity=100 size.seen=1 size.share=50 size.side=1 size.steps=2"},
		}},
		{name: "a signal is remembered with its size, and one without a size is none", rules: TradeSettings{Sizing: Sizing{Risk: one / 100, Max: one,
			Stop: strategy.Distance{Price: 49_000e8}}}, moments: []moment{
			{last: 50_000, asks: signals(1, 900), want: "hold 0.1 signal 900 (asked); size.quantity=100 size.share=1 size.side=1 size.signal=900 size.steps=1"},
			{last: 50_000, asks: signals(-1, 950), want: "hold 0 (size.risk needs a stop-loss on the losing side of the price); " +
				"size.quantity=100 size.share=1 size.signal=900 size.steps=1"},
		}},
		{name: "a later part is bound by the money that is free then: 2,010 less a two-hundredth pays for 0.039",
			rules: TradeSettings{Sizing: Sizing{Reduce: true,
				Steps: halves}}, begin: power(10_050), moments: []moment{
				{last: 50_000, asks: holds(1), want: "hold 0.1 (asked); size.quantity=200 size.share=1 size.side=1 size.steps=1"},
				{last: 50_500, held: 0.1, entry: 50_000, asks: holds(1), change: power(2_010),
					want: "hold 0.139 (asked); size.entry=50000 size.quantity=139 size.seen=1 size.share=1 size.side=1 size.steps=2"},
			}},
		{name: "half of 0.101 is paid for to the tick: it stays whole", rules: TradeSettings{Sizing: Sizing{Reduce: true, Steps: halves}}, begin: power(2_513),
			moments: []moment{
				{last: 50_000, asks: holdsQuantity(101),
					want: "hold 0.05 (asked); size.kind=-1 size.quantity=101 size.share=0.00000101 size.side=1 size.steps=1"},
				{last: 50_000, change: power(2_500), asks: holdsQuantity(101),
					want: "hold 0.049 (asked); size.kind=-1 size.quantity=98 size.share=0.00000101 size.side=1 size.steps=1"},
			}},
		{name: "what is free is less than the smallest order, 5 USDT", rules: TradeSettings{Sizing: Sizing{Reduce: true}}, begin: power(6), moments: []moment{
			{last: 5_000, asks: holds(1), want: "hold 0.001 (asked); size.quantity=1 size.share=1 size.side=1 size.steps=1"},
			{last: 4_999.9, asks: holds(1), want: "hold 0 (the free balance is too small for the smallest order); size.quantity=1 size.share=1 size.steps=1"},
		}},
		{name: "without a price nothing bounds a quantity", rules: TradeSettings{Sizing: Sizing{Reduce: true}}, moments: []moment{
			{asks: holdsQuantity(7), want: "hold 0.007 (asked); size.kind=-1 size.quantity=7 size.share=0.00000007 size.side=1 size.steps=1"},
		}},
		{name: "what grew by parts that are configured no more stays; a side that is not held grows not", rules: TradeSettings{Sizing: Sizing{Steps: halves}},
			begin: remembers(map[string]int64{sizeSide: 1, sizeQuantity: 100, sizeSteps: 3, sizeSeen: 1, sizeEntry: 50_000e8, sizeShare: 1e8}),
			moments: []moment{
				{last: 50_000, held: 0.1, entry: 50_000, asks: holds(1),
					want: "hold 0.1 (asked); size.entry=50000 size.quantity=100 size.seen=1 size.share=1 size.side=1 size.steps=3"},
				{last: 50_000, asks: asksNothing, want: "nothing; size.entry=50000 size.quantity=100 size.share=1 size.steps=3"},
				{last: 50_000, asks: holds(1), want: "hold 0.1 (asked); size.entry=50000 size.quantity=200 size.share=1 size.side=1 size.steps=1"},
				{last: 60_000, asks: asksNothing, want: "nothing; size.entry=50000 size.quantity=200 size.share=1 size.side=1 size.steps=1"},
			}},
	} {
		s.run(t)
	}
}

func remembers(values map[string]int64) func(*strategy.View) {
	return func(v *strategy.View) {
		for key, value := range values {
			v.Memory, _ = v.Memory.With(strategy.MemoryOf(strategy.MemoryVariable{Key: key, Value: value}))
		}
	}
}
