package sim

import (
	"testing"

	"botd/exchange"
)

// Slippage, impact and the volume cap over a candle of 4 SOL at 100, manually: 0.1 % is 0.1, an impact of 1 % is 0.25 for each SOL of the
// four, and never more than 1. The taker pays 0.05 %, the maker 0.02 %.
func TestCostOfFill(t *testing.T) {
	t.Parallel()
	const tenth, percent, half = 100_000, 1_000_000, exchange.RateOne / 2
	for _, c := range []struct {
		name                  string
		slippage, impact, cap exchange.Rate
		side                  string
		kind                  exchange.OrderType
		quantity, limit       string
		bounded               bool
		price, filled         string // of the first fill
		fee, slipped          string
		maker                 bool
	}{
		{name: "nothing", side: "buy", kind: exchange.MarketOrder, quantity: "1", price: "100", filled: "1", fee: "0.05", slipped: "0"},
		{name: "slippage of a purchase", slippage: tenth, side: "buy", kind: exchange.MarketOrder, quantity: "1", price: "100.1", filled: "1", fee: "0.05005",
			slipped: "0.1"},
		{name: "slippage of a sale", slippage: tenth, side: "sell", kind: exchange.MarketOrder, quantity: "2", price: "99.9", filled: "2", fee: "0.0999",
			slipped: "0.2"},
		{name: "impact of a purchase", impact: percent, side: "buy", kind: exchange.MarketOrder, quantity: "1", price: "100.25", filled: "1", fee: "0.050125",
			slipped: "0.25"},
		{name: "impact of a sale", impact: percent, side: "sell", kind: exchange.MarketOrder, quantity: "3", price: "99.25", filled: "3", fee: "0.148875",
			slipped: "2.25"},
		{name: "impact of all the volume", impact: percent, side: "buy", kind: exchange.MarketOrder, quantity: "4", price: "101", filled: "4", fee: "0.202",
			slipped: "4"},
		{name: "impact of more than the volume", impact: percent, side: "buy", kind: exchange.MarketOrder, quantity: "6", price: "101", filled: "6",
			fee: "0.303", slipped: "6"},
		{name: "both", slippage: tenth, impact: percent, side: "sell", kind: exchange.MarketOrder, quantity: "1", price: "99.65", filled: "1",
			fee: "0.049825", slipped: "0.35"},
		{name: "bounded", slippage: tenth, impact: percent, bounded: true, side: "buy", kind: exchange.MarketOrder, quantity: "1", price: "100.35",
			filled: "1", fee: "0.050175", slipped: "0.35"},
		{name: "a limit on the way", slippage: tenth, side: "buy", kind: exchange.Limit, quantity: "1", limit: "100.04", price: "100.04", filled: "1",
			fee: "0.05002", slipped: "0.04"},
		{name: "a sale's limit on the way", slippage: tenth, side: "sell", kind: exchange.Limit, quantity: "1", limit: "99.97", price: "99.97", filled: "1",
			fee: "0.049985", slipped: "0.03"},
		{name: "a cap of half the volume", cap: half, side: "buy", kind: exchange.MarketOrder, quantity: "3", price: "100", filled: "2", fee: "0.1",
			slipped: "0"},
		{name: "a cap that is not reached", cap: half, side: "buy", kind: exchange.MarketOrder, quantity: "2", price: "100", filled: "2", fee: "0.1",
			slipped: "0"},
		{name: "a cap, bounded, with impact of what was asked", cap: half, impact: percent, bounded: true, side: "sell", kind: exchange.MarketOrder,
			quantity: "3", price: "99.25", filled: "2", fee: "0.09925", slipped: "1.5"},
		{name: "a rest makes", slippage: tenth, impact: percent, side: "buy", kind: exchange.Limit, quantity: "1", limit: "95", price: "95", filled: "1",
			fee: "0.019", slipped: "0", maker: true},
		{name: "a selling rest makes", side: "sell", kind: exchange.Limit, quantity: "0.1", limit: "105", price: "105", filled: "0.1", fee: "0.0021",
			slipped: "0", maker: true},
		{name: "a rest fills by the cap", cap: half, side: "buy", kind: exchange.Limit, quantity: "3", limit: "95", price: "95", filled: "2", fee: "0.038",
			slipped: "0", maker: true},
	} {
		d := newDesk(t, Config{}).on(exchange.Futures, "SOL-USDT")
		candles := d.barsOf(exchange.Minute1, [6]float64{0, 100, 110, 90, 100, 4})
		costs := Costs{Slippage: c.slippage, Impact: c.impact, VolumeCap: c.cap, Bounded: c.bounded}
		d.SetMarket(d.key(), Tape(candles, TapeConfig{Order: LowFirst, Costs: costs}))
		d.place(d.order(c.side, c.kind, c.quantity, c.limit))
		d.Advance(startMS + 59_999)
		fills := d.Fills()
		if len(fills) == 0 {
			t.Errorf("%s: want a fill", c.name)
			continue
		}
		want := Fill{ID: 1, Account: "alice", Market: exchange.Futures, Symbol: d.name, OrderID: 1, Side: fills[0].Side, Price: d.p(c.price),
			Quantity: d.q(c.filled),
			Fee:      exchange.MustAmount(c.fee), FeeAsset: "USDT", Maker: c.maker, TimeMS: fills[0].TimeMS, Slipped: exchange.MustAmount(c.slipped)}
		if fills[0] != want || (fills[0].TimeMS == startMS) == c.maker || len(fills) != 1 {
			t.Errorf("%s: want\n%+v\nhave\n%+v", c.name, want, fills)
		}
		d.checkMoney()
	}
}

// An order of one quantityTick rests and fills like any other.
func TestARestOfOneTickFills(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	order := d.place(d.order("buy", exchange.Limit, "0.001", "49000"))
	d.setLast("48000")
	d.wantStatus(order.ID, exchange.StatusFilled)
	d.fillsAre([2]string{"49000", "0.001"})
}
