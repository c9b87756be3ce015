package engine

import (
	"errors"
	"fmt"
	"testing"

	"botd/exchange"
)

// The test covers all combinations of the lists. Futures are read by their positions, spot by orders and wallet. Nothing is read if reads
// failed and no list of orders came. Something is read if a list of the account came, or a requested history.
func TestRoundReadCombinations(t *testing.T) {
	t.Parallel()
	for lists := range 128 {
		futuresOrders, spotOrders, positions, wallet := lists&1 != 0, lists&2 != 0, lists&4 != 0, lists&8 != 0
		asked, rows, failed := lists&16 != 0, lists&64 != 0, lists&32 != 0
		r := &reader{base: emptyBase(1_000_000)}
		s := &r.roundReads.snapshot
		if futuresOrders {
			s.FuturesOrders = exchange.FetchedOf[exchange.Order](nil)
		}
		if spotOrders {
			s.SpotOrders = exchange.FetchedOf[exchange.Order](nil)
		}
		if positions {
			s.Positions = exchange.FetchedOf[exchange.Position](nil)
		}
		if wallet {
			s.Balances = exchange.FetchedOf[exchange.Balance](nil)
		}
		if failed {
			r.roundReads.failures = append(r.roundReads.failures, failure{err: errors.New("a test")})
		}
		if r.roundReads.requested = asked; rows {
			r.roundReads.history = []exchange.Order{{ID: 1}}
		}
		have := fmt.Sprint(r.wasRead(exchange.Futures), r.wasRead(exchange.Spot), r.nothingRead(), r.anyRead())
		want := fmt.Sprint(positions, spotOrders && wallet, failed && !futuresOrders && !spotOrders,
			futuresOrders || spotOrders || positions || wallet || asked && rows)
		if have != want {
			t.Errorf("futures orders %t, spot orders %t, positions %t, wallet %t, failed %t, history %t %t: want %s, have %s", futuresOrders,
				spotOrders, positions, wallet, failed, asked, rows, want, have)
		}
	}
}
