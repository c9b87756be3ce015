package engine

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// lied returns an empty list until the command, long enough to be contradicted.
func lied(operation exchange.Operation) func(*world) {
	return func(w *world) {
		bought(w)
		w.pass(40_000)
		w.mirror = empty(operation)
		w.pass(60_000)
		w.wantState("contradicted")
		w.mirror = nil
	}
}

// refused has the exchange refuse the placements that match, long enough for a long backoff.
func refused(matches func(*exchange.NewOrder) bool, before func(*world)) func(*world) {
	return func(w *world) {
		bought(w)
		w.network = refuses(matches)
		before(w)
		w.pass(300_000)
		w.network = nil
	}
}

// declaredFlattenings are the declared states of the daemon that block something.
func declaredFlattenings() []flattening {
	stop := []option{protected}
	steady := func(w *world) { bought(w); w.pass(40_000) }
	nothing := func(*world) {}
	exits := func(o *exchange.NewOrder) bool { return o.StopPrice == 0 && o.Side == exchange.Sell }
	halts := func(w *world) {
		w.give(&EventHalt{Scope: account.Scope{Strategy: "one"}, Level: record.LevelFlatten, Reason: "before"})
	}
	restarted := func(w *world) { steady(w); w.start() }
	lost := func(w *world) {
		steady(w)
		w.give(&EventDisk{Reason: "the journal was replaced", Lost: true})
		w.pass(2_000)
	}
	limited := func(w *world) {
		steady(w)
		w.pass(5_000)
		w.wantState("limit")
	}
	tight := func(w *world) {
		w.config.Limits = risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.MustAmount("0.000001")}}
	}
	return []flattening{
		{"futures, contradicted until now", false, stop, lied(exchange.FuturesOpenPositions)},
		{"spot, contradicted until now", true, stop, lied(exchange.SpotWallet)},
		{"futures, contradicted, the list still empty", false, stop, func(w *world) {
			lied(exchange.FuturesOpenPositions)(w)
			w.mirror = empty(exchange.FuturesOpenPositions)
		}},
		{"futures, the stop refused for 5 minutes", false, stop, refused(conditional, nothing)},
		{"spot, the stop refused for 5 minutes", true, stop, refused(conditional, nothing)},
		{"futures, an exit refused for 5 minutes", false, nil, refused(exits, halts)},
		{"spot, an exit refused for 5 minutes", true, nil, refused(exits, halts)},
		{"futures, a limit is breached", false, append([]option{tight}, stop...), limited},
		{"spot, a limit is breached", true, append([]option{tight}, stop...), limited},
		{"futures, just started", false, stop, restarted},
		{"spot, just started", true, stop, restarted},
		{"futures, the journal's files are lost", false, stop, lost},
		{"spot, the journal's files are lost", true, stop, lost},
		{"spot, halted already", true, stop, func(w *world) {
			steady(w)
			w.give(&EventHalt{Level: record.LevelCancel, Reason: "before"})
			w.pass(5_000)
		}},
	}
}

// settleTimes are those of an unmeasured venue, and of the simulated one.
var settleTimes = []struct {
	name   string
	bounds placement.Bounds
}{
	{"60/45/15 s", placement.Bounds{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000}},
	{"5/1/1 s", placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000}},
}

// BenchmarkFlatten reports the virtual time from the command to flat in every state, at a hundred moments of
// a round each.
func BenchmarkFlatten(b *testing.B) {
	for _, times := range settleTimes {
		for _, state := range flattenings() {
			b.Run(times.name+"/"+state.name, func(b *testing.B) {
				var all []int64
				for b.Loop() {
					all = all[:0]
					for offset := int64(0); offset < 1_000; offset += 10 {
						all = append(all, state.flat(b, times.bounds, offset))
					}
				}
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2]), "p50-ms")
				b.ReportMetric(float64(all[len(all)*99/100]), "p99-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// TestFlattenClosesWithinFiveSecondsInEveryState flattens in every state, at each tenth of a second of a
// round, with the settle times of an unmeasured venue, and with short ones.
func TestFlattenClosesWithinFiveSecondsInEveryState(t *testing.T) {
	t.Parallel()
	for _, times := range settleTimes {
		for _, state := range flattenings() {
			t.Run(times.name+"/"+state.name, func(t *testing.T) {
				t.Parallel()
				var most int64
				for offset := int64(0); offset < 1_000; offset += 100 {
					most = max(most, state.flat(t, times.bounds, offset))
				}
				if most > 5_000 {
					t.Errorf("want it flat within 5 s, have %d ms", most)
				}
			})
		}
	}
}

// flat returns the time from the command until the exchange has no position.
func (s *flattening) flat(t testing.TB, bounds placement.Bounds, offset int64) int64 {
	t.Helper()
	plan, options := hold(2_000), slices.Concat(s.options, []option{onEther})
	if !s.spot {
		plan, options = hold(10), slices.Clone(s.options)
	}
	w := newWorld(t, plan, append(options, func(w *world) { w.config.Bounds = bounds })...)
	s.until(w)
	w.pass(offset)
	w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
	const most = 120_000
	for waited := int64(0); waited < most; waited += 50 {
		if w.held() == 0 && w.inEther() < 10 { // the rest may be less than an order
			w.staysFlat(waited)
			return waited
		}
		w.pass(50)
	}
	t.Errorf("%s: not flat after two minutes\n%s", fmt.Sprint(offset, " ms later"), w.story())
	return most
}
