package simulation

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/internal/oracle"
	"botd/runtime/engine"
)

// A position counts as shown by the first answer whose state is not older than its fill. A wallet that shows earlier coins does not show it, nor does a list
// that shows an earlier position (seeds 19518364 and 19518385).
func TestOnlyStateSinceItsFillShowsPosition(t *testing.T) {
	t.Parallel()
	for operation, class := range map[exchange.Operation]Class{exchange.SpotWallet: LyingWallet, exchange.FuturesOpenPositions: LyingPositions} {
		for _, c := range []struct {
			name          string
			way           int64
			fromMS, fills int64 // since the start: when the episode begins, and when the order fills; the read is at two seconds
			want          bool
		}{
			{"a state from before the fill", listStale, 1_000, 1_001, false},
			{"a state of the fill's moment", listStale, 1_000, 1_000, true},
			{"a state from after the fill, old by now", listStale, 1_000, 999, true},
			{"the present state, of which a list shows half", listSmaller, 1_000, 1_001, true},
		} {
			w, at := (*world)(nil), -1
			for seed := uint64(1); at < 0; seed++ {
				w = newWorld(Options{Seed: seed, Beyond: &Beyond{}})
				at = slices.IndexFunc(w.venue.keys, func(key exchange.SymbolKey) bool { return key.Market == operation.Market() })
			}
			key := w.venue.keys[at]
			answer := exchange.Answer{Positions: exchange.FetchedOf([]exchange.Position{{Symbol: key.Name, Remaining: 100}})}
			if key.Market == exchange.Spot {
				coins := exchange.Balance{Asset: w.venue.held[key].rules.Base, Free: exchange.AmountOf(1_000_000)}
				answer = exchange.Answer{Balances: exchange.FetchedOf([]exchange.Balance{coins})}
			}
			o, symbol, f := w.judge.oracle, nameOf(key), &flight{call: engine.Call{Request: exchange.Request{Operation: operation}}}
			e := &episode{class: class, way: c.way, chance: 1, beganMS: w.beganMS + c.fromMS,
				frozen: map[replicaKey]exchange.Answer{{operation: operation}: answer}}
			o.Judge(symbol, oracle.Limits{Protected: true})
			o.Accepted(w.beganMS, oracle.Order{ID: 1, Own: true, Symbol: symbol, Buy: true, Quantity: 100})
			o.Filled(w.beganMS+c.fills, oracle.Fill{OrderID: 1, Symbol: symbol, Buy: true, Quantity: 100})
			w.nowMS = w.beganMS + 2_000
			f.stateMS = w.nowMS
			if err := e.distort(w.beyond, f, &answer); err != nil {
				t.Fatal(err)
			}
			f.answer = answer
			w.judge.recordAnswer(f)
			o.Advance(w.nowMS + patienceMS + 1)
			if have := len(o.Violations()) == 1; have != c.want {
				t.Errorf("%s, %s: want the position shown %t, have %v", operation, c.name, c.want, o.Violations())
			}
		}
	}
}
