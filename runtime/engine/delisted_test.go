package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
)

// TestLedgerContinuesAfterDelisting has the executions of one symbol refused. The other symbol's money is
// booked nevertheless, and the ledger equals the exchange's wallet (exactly-once.md, case 44).
func TestLedgerContinuesAfterDelisting(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := small(market)
		w := pairOf(t, market, &one, &two, withLedger)
		booked, lost := true, false
		w.network = func(call *Call) fate {
			if executions := call.Request.Operation == exchange.SpotUserTrades && call.Request.Symbol == "ETH-USDT"; lost && w.about(call, "ETH-USDT") ||
				executions && !booked {
				return fate{err: delisted[market]}
			}
			return fate{}
		}
		w.pass(60_000)
		booked = false
		two += two / 2
		w.pass(10_000) // the position is bought, and its fill is known
		if n := len(w.ledger().WantsTrades()); market == exchange.Spot && n != 1 {
			t.Fatalf("want the executions of one order not booked, have %d", n)
		}
		lost = true
		w.pass(30_000)
		one += one / 2
		w.pass(240_000)
		assets := []string{"USDT"}
		if market == exchange.Spot {
			assets = append(assets, "BTC", "ETH")
		}
		for _, asset := range assets {
			have := w.venue.Money("one").Wallet
			if market == exchange.Spot {
				free, frozen := w.venue.Balance("one", asset)
				have = free.Add(frozen)
			}
			w.wantSum(ledger.Wallet, market, asset, have)
		}
	})
}
