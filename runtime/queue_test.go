package runtime

import (
	"testing"

	"botd/runtime/engine"
)

// queued takes the next call of the served priorities, which must be queued already.
func queued(t *testing.T, q *queue, served engine.Priority, want int64) (engine.Call, <-chan struct{}) {
	t.Helper()
	call, recalled, open := q.take(served)
	if !open || call.ID != want {
		t.Errorf("want call %d, have %d, open %t", want, call.ID, open)
	}
	return call, recalled
}

func wantPut(t *testing.T, q *queue, id int64, priority engine.Priority, want bool) {
	t.Helper()
	if have := q.put(engine.Call{ID: id, Priority: priority}); have != want {
		t.Errorf("call %d: want it taken %t, have %t", id, want, have)
	}
}

// The queue has room again for each call that was taken, recalled or dropped.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]func(q *queue){
		"taken":    func(q *queue) { queued(t, q, engine.PriorityMarket, 1) },
		"recalled": func(q *queue) { q.recall(2) },
		"dropped":  func(q *queue) { q.drop(engine.PriorityMarket) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(3)
			wantPut(t, q, 1, engine.PriorityExit, true)
			wantPut(t, q, 2, engine.PriorityOpening, true)
			wantPut(t, q, 3, engine.PriorityMarket, true)
			wantPut(t, q, 4, engine.PriorityExit, false)
			leaves(q)
			wantPut(t, q, 5, engine.PriorityExit, true)
			wantPut(t, q, 6, engine.PriorityExit, false)
		})
	}
}

// The order within a priority is kept. A worker that serves fewer priorities gets none of the others.
func TestAQueueServesTheMostUrgentFirst(t *testing.T) {
	t.Parallel()
	q := newQueue(9)
	for id, priority := range []engine.Priority{engine.PriorityMarket, engine.PriorityOpening, engine.PriorityOpening, engine.PriorityExit} {
		wantPut(t, q, int64(id+1), priority, true)
	}
	queued(t, q, engine.PriorityMarket, 4)
	queued(t, q, engine.PriorityOpening, 2)
	queued(t, q, engine.PriorityMarket, 3)
	queued(t, q, engine.PriorityMarket, 1)
	q.close()
	if _, _, open := q.take(engine.PriorityMarket); open {
		t.Error("want nothing from a closed queue")
	}
}

// A second recall finds nothing; an exit is never recalled.
func TestARecalledOpeningIsTakenOutOrItsWorkerNotified(t *testing.T) {
	t.Parallel()
	q := newQueue(9)
	for id, priority := range []engine.Priority{engine.PriorityExit, engine.PriorityOpening, engine.PriorityOpening} {
		wantPut(t, q, int64(id+1), priority, true)
	}
	if _, removed := q.recall(1); removed {
		t.Error("want an exit left in the queue")
	}
	if call, removed := q.recall(3); !removed || call.ID != 3 {
		t.Errorf("want the opening that waits taken out, have %d, %t", call.ID, removed)
	}
	if _, recalled := queued(t, q, engine.PriorityMarket, 1); recalled != nil {
		t.Error("want no recall of an exit")
	}
	_, recalled := queued(t, q, engine.PriorityMarket, 2)
	for range 2 { // a second recall finds nothing
		if _, removed := q.recall(2); removed {
			t.Error("want an opening that a worker has not taken out")
		}
	}
	select {
	case <-recalled:
	default:
		t.Error("want its worker notified")
	}
	wantPut(t, q, 4, engine.PriorityOpening, true)
	call, later := queued(t, q, engine.PriorityMarket, 4)
	q.done(&call)
	q.recall(4)
	select {
	case <-later:
		t.Error("want nothing recalled of a call that is done")
	default:
	}
}
