package simulation

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/internal/oracle"
	"botd/runtime/engine"
	"botd/strategy"
)

// A position counts as shown from the first answer whose state is not older than its fill. A wallet that
// shows earlier units does not show it, and neither does a list that shows an earlier position (seeds
// 19518364 and 19518385).
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
				base := exchange.Balance{Asset: w.venue.held[key].rules.Base, Free: exchange.AmountOf(1_000_000)}
				answer = exchange.Answer{Balances: exchange.FetchedOf([]exchange.Balance{base})}
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

// A second botd with a copy of the journal sells the units of both, then buys units that no row has
// identified to the first one, and sells half of these. The first one needs no stop for the rest until a row
// identifies the purchase (seed 830000839).
func TestSaleOfSharedUnitsLeavesUnnamedPurchasesUnnamed(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{false, true} {
		w, key := (*world)(nil), exchange.SymbolKey{}
		for seed := uint64(1); key.Market != exchange.Spot; seed++ {
			w = newWorld(Options{Seed: seed, Beyond: &Beyond{}})
			key = w.venue.keys[len(w.venue.keys)-1]
		}
		j, symbol := w.judge, nameOf(key)
		j.oracle.Judge(symbol, oracle.Limits{Protected: true})
		for i, fill := range []struct {
			by       int
			side     exchange.Side
			quantity exchange.Quantity
		}{{0, exchange.Buy, 68}, {1, exchange.Sell, 68}, {1, exchange.Buy, 138}, {1, exchange.Sell, 69}} {
			id := int64(i + 1)
			w.venue.byOrder[id], j.open[id] = &placed{by: fill.by}, true
			j.oracle.Accepted(w.nowMS, oracle.Order{ID: id, Own: true, Symbol: symbol, Buy: fill.side == exchange.Buy, Quantity: int64(fill.quantity) * finest})
			j.filled(key, id, fill.side, fill.quantity, exchange.Amount{}, "")
		}
		if named {
			j.name(&flight{answer: exchange.Answer{Orders: exchange.FetchedOf([]exchange.Order{{ID: 3, ClientOrderID: "bsim-1"}})}})
		}
		j.oracle.Shown(w.nowMS, w.nowMS, symbol)
		j.oracle.Advance(w.nowMS + patienceMS + 1)
		if have := len(j.oracle.Violations()) == 1; have != named {
			t.Errorf("named %t: have %v", named, j.oracle.Violations())
		}
	}
}

// If two botds sell the same units at the same moment, the second one sells a person's units. That quantity
// is not part of the position that either one reduces later (seed 830001043).
func TestSecondSaleOfSharedUnitsIsNoPartOfThePosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		held held
		want bool
	}{
		{"above the target", held{position: 79}, false},
		{"at the target", held{position: 40}, true},
		{"above it, beside the second sale", held{position: 1, unaware: 78}, false},
		{"below it, beside the second sale", held{position: -39, unaware: 78}, true},
		{"nothing", held{}, false},
	} {
		if have := (&judge{}).missing(&c.held, strategy.Target{Kind: strategy.ByQuantity, Quantity: 40}); have != c.want {
			t.Errorf("%s: want an exit to sell what is missing %t, have %t", c.name, c.want, have)
		}
	}
}

// Two botds with one plan each send an opening of 60 % of the limit. In one moment, before a read has shown one the order of the other, they cannot know: one
// is the placement that may exceed the limit (seed 862003078). Otherwise the second one is a mistake, and so is a third.
func TestOpeningsOfOneMomentMayExceedTheLimitOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		apartMS int64
		change  func(w *world)
		more    int // openings after these two
		want    bool
	}{
		"in one moment":                         {35, nil, 0, false},
		"a round apart":                         {atOnceMS, nil, 0, false},
		"later":                                 {atOnceMS + 1, nil, 0, true},
		"a read has shown the other's":          {35, func(w *world) { w.judge.met[1] = true }, 0, true},
		"the other one ran with no second botd": {35, func(w *world) { w.beyond.secondMS = w.nowMS + 1 }, 0, true},
		"by one botd":                           {35, func(w *world) { w.processes = w.processes[:1] }, 0, true},
		"and a third":                           {35, nil, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			openedTogether(t, c.apartMS, c.change, c.more, c.want)
		})
	}
}

func openedTogether(t *testing.T, apartMS int64, change func(*world), more int, want bool) {
	t.Helper()
	w := newWorld(Options{Seed: 1, Beyond: &Beyond{}})
	w.processes = append(w.processes, &process{number: 1})
	r := &w.portfolio.roles[0]
	r.kind, r.most, r.unit = "twap", 1_000, 100
	sent := func(id int64, by int, atMS int64) *placed {
		order := exchange.NewOrder{Market: r.key.Market, Symbol: r.key.Name, Side: exchange.Buy, Quantity: 600}
		a := &placed{order: order, opens: true, by: by, sentMS: atMS}
		w.venue.placed[string(rune('a'+id))], w.venue.byOrder[id] = a, a
		return a
	}
	first := sent(1, 0, w.nowMS)
	if change != nil {
		change(w)
	}
	w.judge.accepted(1, true, false, &first.order)
	for i := range 1 + more {
		w.nowMS += apartMS
		w.judge.accepted(int64(2+i), true, false, &sent(int64(2+i), 1, w.nowMS).order)
	}
	if have := len(w.judge.oracle.Violations()) > 0; have != want {
		t.Errorf("want a violation %t, have %v", want, w.judge.oracle.Violations())
	}
}
