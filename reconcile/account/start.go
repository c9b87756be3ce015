package account

import (
	"slices"

	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// maxStarts bounds how many starts are remembered, newest first.
const maxStarts = 10_000

// started is a start that the journal holds, or knows of by the id of an order.
type started struct {
	placement.Start
	sequence int64 // the highest of its ids that the journal knows
}

// noteID notes the id of the order that a record is about. One that was reported to
// a person is not reported again.
func (s *State) noteID(r *record.Record) {
	if r.ClientOrderID == "" {
		return
	}
	id, ours := placement.ParseSerial(r.ClientOrderID)
	if !ours {
		return
	}
	s.noteStart(id.Start, id.Sequence)
	switch r.Body.(type) {
	case record.Halt, record.Quarantined, record.Adopted, record.Ignored:
		s.reported = max(s.reported, id.Start.Epoch)
	}
}

// noteStart notes that the journal knows a start, and its ids up to a sequence.
func (s *State) noteStart(start placement.Start, sequence int64) {
	i, found := slices.BinarySearchFunc(s.starts, start, func(t started, start placement.Start) int { return t.Compare(start) })
	if !found {
		s.starts = slices.Insert(s.starts, i, started{Start: start})
	}
	s.starts[i].sequence = max(s.starts[i].sequence, sequence)
	if len(s.starts) > maxStarts {
		s.reported = max(s.reported, s.starts[0].Epoch)
		s.starts = slices.Delete(s.starts, 0, 1)
	}
}

// Sent reports whether the journal accounts for an order id of botd's: it knows the
// start and an id of it that is no earlier, or a person was notified of that start or a
// later one. Any other was sent by another botd, or by this one after the journal was
// copied.
func (s *State) Sent(id placement.Serial) bool {
	i, found := slices.BinarySearchFunc(s.starts, id.Start, func(t started, start placement.Start) int { return t.Compare(start) })
	if found {
		return id.Sequence <= s.starts[i].sequence
	}
	return id.Start.Epoch < s.reported
}
