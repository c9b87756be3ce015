package risk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// TestPassSumsEqualFreshSums sends and ends orders in passes over strategies with different collars, and
// compares the gate's sums of a pass with the sums over all symbols.
func TestPassSumsEqualFreshSums(t *testing.T) {
	t.Parallel()
	draw, unchanged := rand.New(rand.NewPCG(20, 1)), 0
	b := newTable(t, Limits{})
	b.facts.TakerFee = exchange.RateOne / 1_000
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	second := *b.state.Rules()
	second.Name = ether.Name
	see(b.tracker.Track(ether), func(o *seen) { o.Rules, o.Last, o.Leverage = &second, 2_000e8, 5 })
	spot := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	for range 60 {
		see(b.state, func(o *seen) {
			o.Position, o.MarkedAt = exchange.Quantity(draw.Int64N(200)-100), 50_000e8+exchange.Price(draw.Int64N(2e8)-1e8)
		})
		b.tracker.BeginPass()
		for at := range 12 {
			b.facts.Strategy.PriceCollar = exchange.RateOne / 100 * exchange.Rate(draw.IntN(3))
			before, _ := b.tracker.Pass()
			if collar := b.gate.collar(&b.facts); draw.IntN(3) > 0 {
				in, want, orders := b.gate.pass(&b.facts, collar), sumFree(&b.facts, collar), countOrders(b.tracker)
				if in.free != want || in.orders != orders {
					t.Fatalf("want %s free and %v orders, have %s and %v", want, orders, in.free, in.orders)
				}
			}
			id := fmt.Sprintf("p%d-%d", before, at)
			order := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1 + exchange.Quantity(draw.Int64N(50)),
				ClosePosition: draw.IntN(9) == 0}
			b.fly(id, []exchange.SymbolKey{bitcoin, ether, spot}[draw.IntN(3)], flight{intent: as(placement.Entry, order)})
			if live := slices.Collect(b.tracker.Live()); draw.IntN(4) == 0 {
				p := live[draw.IntN(len(live))]
				b.tracker.Apply(&record.Record{Symbol: p.Symbol(), ClientOrderID: p.ClientOrderID(), Body: record.Ended{State: placement.Expired}})
			}
			if now, _ := b.tracker.Pass(); now == before {
				unchanged++
			}
		}
		b.tracker.EndPass()
		if b.gate.pass(&b.facts, b.gate.collar(&b.facts)) != nil {
			t.Fatal("sums outlive the pass")
		}
	}
	if unchanged < 300 {
		t.Errorf("want most orders to leave the pass as it is, have %d of 720", unchanged)
	}
}
