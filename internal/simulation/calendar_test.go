package simulation

import (
	"slices"
	"testing"
)

// minimum is the number of 100 seeds of the calendar that must reach each comparison of figures at least
// once. The other seeds trade only on the other market, have no figures, or are disturbed by a person or a
// restored backup. A comparison that always fails would already show in one of 100 seeds.
var minimum = [reachedEnd]int{
	reachedExact: 58, reachedEstimate: 15, reachedSpot: 58, reachedStreak: 65, reachedEquity: 38, reachedTotal: 38, reachedDay: 27, reachedPeak: 6,
	reachedProfit: 35,
}

// Runs start near midnight and other times of funding. Their strategies may be any of the library, with
// sizing rules.
func TestSeedsOfTheCalendarReachEachComparison(t *testing.T) {
	t.Parallel()
	var reached [reachedEnd]int
	days, paid, kinds := 0, 0, map[string]int{}
	for seed := uint64(calendarFrom); seed < calendarFrom+100; seed++ {
		w := newWorld(Options{Seed: seed})
		w.loop()
		if w.failure == nil {
			w.inspector.converged()
		}
		if w.failure != nil {
			t.Errorf("seed %d at %d ms: want %s to hold, have: %s", seed, w.failure.AtMS, w.failure.Rule, w.failure.Text)
		}
		for kind, count := range w.inspector.figures.reached {
			reached[kind] += min(count, 1)
		}
		const dayMS = 24 * 60 * 60 * 1_000
		if w.beganMS/dayMS != w.nowMS/dayMS {
			days++
		}
		if slices.ContainsFunc(w.inspector.figures.shares, func(s roleResult) bool { return s.Funding.Sign() != 0 }) {
			paid++
		}
		for _, r := range w.portfolio.roles {
			if name := r.kind; w.inspector.figures.shares[w.portfolio.number(r.key)].fills > 0 {
				if name == "shelved" {
					name = shelf[r.follower].definition.Name
				}
				kinds[name]++
			}
		}
	}
	for kind, least := range minimum {
		if reached[kind] < least {
			t.Errorf("comparison %d: want %d of 100 seeds to reach it, have %d", kind, least, reached[kind])
		}
	}
	if days < 15 || paid < 20 {
		t.Errorf("want 15 seeds that begin another day and 20 that pay funding, have %d and %d", days, paid)
	}
	for _, name := range []string{"sized", "donchian", "rsi", "supertrend", "turtle", "rebalance", "assorted", "library", "patient", "twap", "breakout"} {
		if kinds[name] == 0 {
			t.Errorf("want %s to trade, have %v", name, kinds)
		}
	}
	t.Logf("reached by %v seeds; %d days, %d payments, traded %v", reached, days, paid, kinds)
}

// Seeds of the lower ranges start when they always did, because the corpus and the tables name them.
func TestLowerSeedsStartAtEight(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, patientFrom, libraryFrom, assortedFrom, calendarFrom - 1} {
		if have := begins(seed); have != startMS {
			t.Errorf("seed %d: want its start at %d, have %d", seed, startMS, have)
		}
	}
}
