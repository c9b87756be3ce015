package runtime

import (
	"slices"
	"sync"

	"botd/runtime/engine"
)

// queue holds calls that wait for a worker, by priority. It is safe for concurrent use.
type queue struct {
	capacity int

	mu     sync.Mutex // guards all below
	added  *sync.Cond
	calls  [engine.PriorityMarket][]engine.Call // by priority, each in order
	size   int
	closed bool
	begun  map[int64]chan struct{} // of the openings a worker has: closed on a recall
}

func newQueue(capacity int) *queue {
	q := &queue{capacity: capacity, begun: map[int64]chan struct{}{}}
	q.added = sync.NewCond(&q.mu)
	return q
}

// put adds a call. It returns false when the queue is full.
func (q *queue) put(call engine.Call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size == q.capacity {
		return false
	}
	queued := &q.calls[call.Priority-engine.PriorityExit]
	*queued = append(*queued, call)
	q.size++
	q.added.Broadcast()
	return true
}

// take waits for the most urgent call of the priorities served. The channel is closed when the call
// is recalled before it is done; open is false once the queue is closed.
func (q *queue) take(served engine.Priority) (call engine.Call, recalled <-chan struct{}, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed {
		for i := range q.calls[:served] {
			if queued := &q.calls[i]; len(*queued) > 0 {
				call := (*queued)[0]
				*queued = (*queued)[1:]
				q.size--
				return call, q.begin(&call), true
			}
		}
		q.added.Wait()
	}
	return engine.Call{}, nil, false
}

// begin records that a worker has a call. Only openings are ever recalled.
func (q *queue) begin(call *engine.Call) <-chan struct{} {
	if call.Priority != engine.PriorityOpening {
		return nil
	}
	recalled := make(chan struct{})
	q.begun[call.ID] = recalled
	return recalled
}

// done records that a worker has finished a call.
func (q *queue) done(call *engine.Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.begun, call.ID)
}

// recall removes a call from the queue. If a worker has already begun the call, it is still sent only if
// its first byte has already left.
func (q *queue) recall(id int64) (call engine.Call, removed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if recalled, begun := q.begun[id]; begun {
		close(recalled)
		delete(q.begun, id)
		return engine.Call{}, false
	}
	queued := &q.calls[engine.PriorityOpening-engine.PriorityExit]
	i := slices.IndexFunc(*queued, func(c engine.Call) bool { return c.ID == id })
	if i < 0 {
		return engine.Call{}, false
	}
	call = (*queued)[i]
	*queued = slices.Delete(*queued, i, i+1)
	q.size--
	return call, true
}

// drop removes all calls of a priority and of those below it.
func (q *queue) drop(from engine.Priority) []engine.Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	var dropped []engine.Call
	for i := from - engine.PriorityExit; i < engine.PriorityMarket; i++ {
		dropped = append(dropped, q.calls[i]...)
		q.calls[i] = nil
	}
	q.size -= len(dropped)
	return dropped
}

// close ends every take.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.added.Broadcast()
}
