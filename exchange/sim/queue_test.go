package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"botd/exchange"
)

// The order in which they were added does not matter, even if some are taken in between.
func TestEventsAreDueByTimeThenInTheOrderOfTheRequests(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		q := queue{dueMS: never}
		var queued []eventTime
		for range 60 {
			if random.IntN(3) > 0 {
				at := random.Int64N(12)
				q.push(at, &order{}, false)
				queued = append(queued, eventTime{at, q.sequence})
			} else if len(queued) > 0 {
				slices.SortFunc(queued, func(a, b eventTime) int {
					if a.TimeMS != b.TimeMS {
						return int(a.TimeMS - b.TimeMS)
					}
					return int(a.Sequence - b.Sequence)
				})
				if q.dueMS != queued[0].TimeMS {
					t.Fatalf("want the first due at %d, have %d", queued[0].TimeMS, q.dueMS)
				}
				first := q.pop()
				if have := (eventTime{first.timeMS, first.sequence}); have != queued[0] || first.order.arrives != have {
					t.Fatalf("want %v, have %v of an order that arrives at %v", queued[0], have, first.order.arrives)
				}
				queued = queued[1:]
			}
			if len(q.events) != len(queued) || len(queued) == 0 && q.dueMS != never {
				t.Fatalf("want %d events, have %d, due at %d", len(queued), len(q.events), q.dueMS)
			}
		}
	}
}

func TestAnOrderEndsByTheFirstOfItsCancels(t *testing.T) {
	t.Parallel()
	o := &order{}
	for _, c := range []struct {
		at     eventTime
		cancel bool
		want   [2]eventTime // when it arrives, when the order ends
	}{
		{eventTime{5, 1}, false, [2]eventTime{{5, 1}, {}}},
		{eventTime{9, 2}, true, [2]eventTime{{5, 1}, {9, 2}}},
		{eventTime{9, 3}, true, [2]eventTime{{5, 1}, {9, 2}}},
		{eventTime{12, 4}, true, [2]eventTime{{5, 1}, {9, 2}}},
		{eventTime{7, 5}, true, [2]eventTime{{5, 1}, {7, 5}}},
		{eventTime{20, 6}, false, [2]eventTime{{20, 6}, {7, 5}}},
	} {
		if o.expect(c.at, c.cancel); o.arrives != c.want[0] || o.ends != c.want[1] {
			t.Errorf("%+v: want %v, have %v and %v", c.at, c.want, o.arrives, o.ends)
		}
	}
}

// A delay is between the base delay and that plus the spread, both included, and the same for the same seed.
func TestADelayIsDrawnForEachOrder(t *testing.T) {
	t.Parallel()
	arrivals := func(seed uint64) (all []int64) {
		d := newDesk(t, Config{OrderDelayMS: 10, OrderDelaySpreadMS: 3, Seed: seed})
		for range 60 {
			at := d.NowMS()
			id := d.place(d.order("buy", exchange.Limit, "0.001", "49000")).ID
			for d.state(id).Status == exchange.StatusCreated {
				next, _ := d.NextMS()
				d.Advance(next)
			}
			all = append(all, d.NowMS()-at)
		}
		return all
	}
	first := arrivals(1)
	counts := map[int64]int{}
	for _, ms := range first {
		counts[ms]++
	}
	if len(counts) != 4 || counts[10] == 0 || counts[11] == 0 || counts[12] == 0 || counts[13] == 0 {
		t.Errorf("want delays of 10 to 13 ms, have %v", counts)
	}
	if again := arrivals(1); !slices.Equal(first, again) {
		t.Errorf("want the same delays, have %v and %v", first, again)
	}
	if other := arrivals(2); slices.Equal(first, other) {
		t.Error("want other delays of another seed, have the same")
	}
}
