package sim

import (
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
)

// TestWithinTheCorridorNobodyIsLiquidated holds positions on two symbols and moves both within what
// Quiet allows at once: the account stays above its margin. Beyond the corridor it may not.
func TestWithinTheCorridorNobodyIsLiquidated(t *testing.T) {
	t.Parallel()
	quiet := 0
	rapid.Check(t, func(r *rapid.T) {
		d := newDesk(t, Config{})
		eth := d.on(exchange.Futures, "ETH-USDT")
		side := rapid.SampledFrom([]string{"buy", "sell"})
		d.place(d.order(side.Draw(r, "BTC"), exchange.MarketOrder, rapid.SampledFrom([]string{"0.1", "0.5", "0.9"}).Draw(r, "of BTC"), ""))
		eth.place(eth.order(side.Draw(r, "ETH"), exchange.MarketOrder, rapid.SampledFrom([]string{"1", "8", "16"}).Draw(r, "of ETH"), ""))
		a := d.Exchange.byName["alice"]
		// The widest move of both that is quiet.
		btc, ether := d.p("50000"), d.p("2500")
		for share := 900; share > 0; share-- {
			width := func(p exchange.Price) exchange.Price { return p / 1000 * exchange.Price(share) }
			calm := func() bool {
				return d.Quiet(d.key(), btc-width(btc), btc+width(btc), startMS) && eth.Quiet(eth.key(), ether-width(ether), ether+width(ether), startMS)
			}
			if first, second := calm(), calm(); !first || !second { // the second time with one corridor for both
				continue
			}
			quiet++
			for corner := range 4 {
				marks := [2]exchange.Price{btc - width(btc), ether - width(ether)}
				if corner&1 != 0 {
					marks[0] = btc + width(btc)
				}
				if corner&2 != 0 {
					marks[1] = ether + width(ether)
				}
				d.SkipTo(startMS, d.key(), marks[0])
				eth.SkipTo(startMS, eth.key(), marks[1])
				if a.money.Wallet.Add(a.unrealized()).Cmp(a.maintenance()) <= 0 {
					r.Fatalf("moves of %d/1000, corner %d: the margin is used up within what is quiet", share, corner)
				}
			}
			return
		}
	})
	if quiet < 20 {
		t.Errorf("only %d moves were quiet", quiet)
	}
}
