package engine

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// outcomes records that many answered placements, lost answers, and placements that ended without a fill.
func outcomes(b *base, answered, lost, empty int) {
	for i := range answered + lost + empty {
		order := exchange.NewOrder{Market: bitcoin.Market, Symbol: bitcoin.Name, ClientOrderID: fmt.Sprint("order ", i), Side: exchange.Buy, Quantity: 10}
		about := func(body record.Body) {
			b.record(record.Record{Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID, Body: body})
		}
		about(record.Sending{Order: order, Purpose: placement.Entry})
		switch {
		case i < answered:
			about(record.Ended{OrderID: int64(i + 1), State: placement.Filled, Filled: 10})
		case i < answered+lost:
			about(record.Uncertain{Reason: "a test"})
		default:
			about(record.Ended{OrderID: int64(i + 1), State: placement.Canceled})
		}
	}
}

// The breaker pauses openings at a number of lost answers, at more than a fifth of at least ten placements, and at a number of consecutive
// placements without a fill. Outcomes before its window do not count.
func TestBreakerPausesOpenings(t *testing.T) {
	t.Parallel()
	const within, pause, emptyPause = 600_000, 900_000, 45_000
	for _, c := range []struct {
		name                  string
		answered, lost, empty int
		agoMS                 int64
		off                   func(*BreakerConfig)
		wantMS                int64 // how long nothing opens; 0 for no pause
	}{
		{"nothing lost", 20, 0, 0, 0, nil, 0},
		{"two lost of nine", 7, 2, 0, 0, nil, 0},
		{"two lost of ten: a fifth", 8, 2, 0, 0, nil, 0},
		{"three lost of ten: more than a fifth", 7, 3, 0, 0, nil, pause},
		{"three lost of fifteen: a fifth", 12, 3, 0, 0, nil, 0},
		{"three lost of fourteen", 11, 3, 0, 0, nil, pause},
		{"three lost of nine: too few for a share", 6, 3, 0, 0, nil, 0},
		{"four lost of thirty", 26, 4, 0, 0, nil, 0},
		{"five lost of thirty: the number", 25, 5, 0, 0, nil, pause},
		{"five lost, ten minutes ago", 0, 5, 0, within, nil, pause},
		{"five lost, longer ago", 0, 5, 0, within + 1, nil, 0},
		{"two without a fill", 0, 0, 2, 0, nil, 0},
		{"three without a fill", 0, 0, 3, 0, nil, emptyPause},
		{"three without a fill, and no number of them is set", 0, 0, 3, 0, func(c *BreakerConfig) { c.EmptyEndings = 0 }, 0},
		{"five lost, and there is no breaker", 0, 5, 0, 0, func(c *BreakerConfig) { c.Uncertain = 0 }, 0},
	} {
		b := emptyBase(10_000_000)
		b.config.Breaker = BreakerConfig{Uncertain: 5, WithinMS: within, PauseMS: pause, EmptyEndings: 3, EmptyPauseMS: emptyPause}
		if c.off != nil {
			c.off(&b.config.Breaker)
		}
		b.roundMS, b.rulesMS = never, never
		outcomes(b, c.answered, c.lost, c.empty)
		b.nowMS += c.agoMS
		one := &breaker{base: b}
		one.guardBreaker()
		until := b.tracker.Breaker().UntilMS
		if want := c.wantMS != 0; b.tracker.Breaking(b.nowMS) != want || want && until != b.nowMS+c.wantMS || one.breaking != want ||
			len(b.out.Notes) != map[bool]int{true: 1}[want] {
			t.Errorf("%s: want a pause of %d ms, have %d, %+v", c.name, c.wantMS, until-b.nowMS, b.out.Notes)
			continue
		}
		if c.wantMS == pause && c.lost > 0 {
			want := fmt.Sprintf("placements became uncertain %d times within 10 min", c.lost)
			if c.lost < 5 {
				want += fmt.Sprintf(": more than one in 5 of the %d that were sent meanwhile", c.answered+c.lost)
			}
			if why := b.tracker.Breaker().Reason; why != want {
				t.Errorf("%s: want %q, have %q", c.name, want, why)
			}
		}
		if rules := c.wantMS == emptyPause; (b.rulesMS == b.nowMS) != rules || (b.roundMS == b.nowMS) != rules {
			t.Errorf("%s: want the rules read and a round at once %t, have them at %d and %d", c.name, rules, b.rulesMS-b.nowMS, b.roundMS-b.nowMS)
		}
		if c.wantMS == 0 {
			continue
		}
		b.nowMS = until - 1
		if one.guardBreaker(); !one.breaking || len(b.out.Notes) != 1 {
			t.Errorf("%s: want it in force until then, have %+v", c.name, b.out.Notes)
		}
		b.nowMS++
		one.guardBreaker()
		if over, is := b.out.Notes[len(b.out.Notes)-1].Fact.(NoteBreaker); one.breaking || !is || !over.Ended || b.roundMS > b.nowMS+b.config.BusyRoundMS {
			t.Errorf("%s: want its end reported, and a round soon, have %+v", c.name, b.out.Notes)
		}
	}
}

// A shorter pause does not end the one in force and is not reported. A backtest reads no rules.
func TestALongerPauseStays(t *testing.T) {
	t.Parallel()
	for _, feed := range []bool{false, true} {
		b := emptyBase(10_000_000)
		b.config.Feed = feed
		b.config.Breaker = BreakerConfig{Uncertain: 5, WithinMS: 600_000, PauseMS: 900_000, EmptyEndings: 3, EmptyPauseMS: 45_000}
		one := &breaker{base: b}
		b.rulesMS = never
		outcomes(b, 0, 0, 3)
		if one.guardBreaker(); b.tracker.Breaker().UntilMS != b.nowMS+45_000 || (b.rulesMS == never) != feed {
			t.Errorf("want a pause of 45 s, and the rules read %t, have %+v", !feed, b.tracker.Breaker())
		}
		if one.rateLimited(); len(b.out.Notes) != 1 {
			t.Errorf("want the pause of the same length left alone, have %+v", b.out.Notes)
		}
		b.nowMS++
		if one.rateLimited(); len(b.out.Notes) != 2 || b.tracker.Breaker().UntilMS != b.nowMS+45_000 {
			t.Errorf("want a longer pause in force, have %+v", b.tracker.Breaker())
		}
		b.config.Breaker.EmptyPauseMS = 0
		b.nowMS++
		if one.rateLimited(); b.tracker.Breaker().UntilMS != b.nowMS+45_000 {
			t.Errorf("want 45 s where no pause is configured, have %+v", b.tracker.Breaker())
		}
		b.config.Breaker.Uncertain = 0
		b.nowMS++
		if one.rateLimited(); b.tracker.Breaker().UntilMS == b.nowMS+45_000 {
			t.Error("want nothing where there is no breaker")
		}
	}
}
