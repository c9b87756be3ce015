package simulation

import "botd/runtime/engine"

// scheduledKind is the kind of a scheduled event.
type scheduledKind uint8

const (
	happenSend      scheduledKind = iota + 1 // a worker sends a call: flight
	happenArrive                             // a request reaches the exchange: flight
	happenAnswer                             // an answer, or a timeout, reaches the daemon: flight
	happenCommit                             // the disk has finished an append
	happenBoot                               // the process starts
	happenGiveUp                             // the supervisor stops waiting for a stopping process
	happenFault                              // a spontaneous fault is due: fault
	happenRelease                            // the effect of a fault ends: fault
	happenPrices                             // the market moves
	happenClass                              // an episode beyond the bounds begins: class
	happenClassOver                          // an episode ends: episode
	happenPoll                               // botd polls the files of strategies: episode
	happenDecision                           // a strategy answers: thought
)

// scheduled is one entry of the agenda.
type scheduled struct {
	atMS     int64
	sequence int64
	kind     scheduledKind
	fault    Fault
	class    Class
	episode  *episode
	process  *process
	life     int // life of its process: an ended process handles nothing
	flight   *flight
	thought  *engine.EventDecision
}

func (h *scheduled) before(other *scheduled) bool {
	return h.atMS < other.atMS || h.atMS == other.atMS && h.sequence < other.sequence
}

// agenda is a binary heap: earliest first, and in insertion order within a millisecond.
type agenda struct {
	entries  []scheduled
	sequence int64
}

func (a *agenda) put(h scheduled) {
	a.sequence++
	h.sequence = a.sequence
	a.entries = append(a.entries, h)
	for i := len(a.entries) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a.entries[i].before(&a.entries[parent]) {
			break
		}
		a.entries[i], a.entries[parent] = a.entries[parent], a.entries[i]
		i = parent
	}
}

func (a *agenda) take() scheduled {
	first, last := a.entries[0], len(a.entries)-1
	a.entries[0] = a.entries[last]
	a.entries[last] = scheduled{}
	a.entries = a.entries[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return first
		}
		if child+1 < last && a.entries[child+1].before(&a.entries[child]) {
			child++
		}
		if !a.entries[child].before(&a.entries[i]) {
			return first
		}
		a.entries[i], a.entries[child] = a.entries[child], a.entries[i]
		i = child
	}
}

// nextMS returns the time of the first entry; never if there is none.
func (a *agenda) nextMS() int64 {
	if len(a.entries) == 0 {
		return never
	}
	return a.entries[0].atMS
}
