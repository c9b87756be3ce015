package sim

// event is an order that reaches its order book, or a cancel that takes effect, after the delay.
type event struct {
	timeMS   int64
	sequence int64
	order    *order
	cancel   bool
}

func (e *event) before(other *event) bool {
	return e.timeMS < other.timeMS || e.timeMS == other.timeMS && e.sequence < other.sequence
}

// queue is a binary heap of events, earliest first and, at the same time, in the order of the
// requests.
type queue struct {
	events   []event
	sequence int64
	dueMS    int64 // time of the first event; never if there is none
}

func (q *queue) push(timeMS int64, o *order, cancel bool) {
	q.sequence++
	q.events = append(q.events, event{timeMS, q.sequence, o, cancel})
	o.expect(eventTime{timeMS, q.sequence}, cancel)
	i := len(q.events) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !q.events[i].before(&q.events[parent]) {
			break
		}
		q.events[i], q.events[parent] = q.events[parent], q.events[i]
		i = parent
	}
	q.dueMS = q.events[0].timeMS
}

func (q *queue) pop() event {
	first, last := q.events[0], len(q.events)-1
	q.events[0] = q.events[last]
	q.events[last] = event{}
	q.events = q.events[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && q.events[child+1].before(&q.events[child]) {
			child++
		}
		if !q.events[child].before(&q.events[i]) {
			break
		}
		q.events[i], q.events[child] = q.events[child], q.events[i]
		i = child
	}
	q.dueMS = never
	if last > 0 {
		q.dueMS = q.events[0].timeMS
	}
	return first
}

// expect stores an order's event, for snapshots. Of several cancels, the first one applies.
func (o *order) expect(at eventTime, cancel bool) {
	switch {
	case !cancel:
		o.arrives = at
	case o.ends.Sequence == 0 || at.TimeMS < o.ends.TimeMS:
		o.ends = at
	}
}

// deliver processes an event.
func (x *Exchange) deliver(e event) {
	x.noteOrder(e.order)
	if !e.cancel {
		e.order.visible, e.order.arrives = true, eventTime{}
	}
	switch {
	case e.order.Status.Final():
	case e.cancel:
		x.finish(e.order, canceled)
	default:
		e.order.orderBook.arrive(e.order)
	}
	x.clearing.settleAccounts()
}

// delay returns the delay until an order reaches the order book or a cancel takes effect.
func (x *Exchange) delay() int64 {
	if x.config.OrderDelaySpreadMS == 0 {
		return x.config.OrderDelayMS
	}
	draw := mix(x.config.Seed + uint64(x.queue.sequence))
	return x.config.OrderDelayMS + int64(draw%uint64(x.config.OrderDelaySpreadMS+1))
}

// mix returns a uniform random number of 64 bits for a counter (splitmix64).
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
