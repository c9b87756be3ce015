package account

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// maxStarts bounds the number of remembered starts; the oldest are dropped.
const maxStarts = 10_000

// knownStart is a start recorded in the journal, or known from the id of an order.
type knownStart struct {
	placement.Start
	sequence int64 // the highest sequence of its known ids
	booted   bool  // by a process that wrote this journal
}

// starts are the known starts, sorted, at most maxStarts.
type starts struct {
	newest        placement.Start
	known         []knownStart
	reportedEpoch int64 // the newest epoch with an unknown id that was reported to a person for the account, or whose id was forgotten
	former        int64 // its value before the newest such report

	reportedOn map[exchange.SymbolKey]reportedIDs
}

// reportedIDs are the unknown ids on one symbol that a person was notified of, or that were adopted.
type reportedIDs struct {
	before int64              // ids of earlier epochs are reported
	former int64              // the value of before until the newest such report
	ids    []placement.Serial // the newest reported id of each start that is not earlier: it covers the start's ids before it
}

// maxReported limits the number of starts in reportedIDs.ids, per symbol; the starts reported first are dropped.
const maxReported = 64

// Epoch returns the highest journalled epoch.
func (s *starts) Epoch() int64 { return s.newest.Epoch }

// Start returns the newest journalled start.
func (s *starts) Start() placement.Start { return s.newest }

// boot adds a start, unless a later one is known.
func (s *starts) boot(body *record.Boot) {
	start := placement.Start{Epoch: body.Epoch, Random: body.Random}
	if body.Epoch < s.newest.Epoch {
		return
	}
	s.newest = start
	s.note(knownStart{start, 0, true})
	if body.Lane != "" {
		s.note(knownStart{placement.Start{Epoch: body.Epoch, Random: body.Lane}, placement.LaneIDs, true})
	}
}

// Booted reports whether the process of a start wrote this journal. An order of such a start that the journal does not contain was sent after the
// journal was copied or truncated: the process sold what this journal counts as held, or what it bought itself after that.
func (s *starts) Booted(start placement.Start) bool {
	i, found := s.find(start)
	return found && s.known[i].booted
}

func (s *starts) find(start placement.Start) (at int, found bool) {
	return slices.BinarySearchFunc(s.known, start, func(t knownStart, start placement.Start) int { return t.Compare(start) })
}

// noteID records the id of a record's order. An id that was reported to a person is not reported
// again: for the account, or only for the record's symbol, because other symbols' orders of the
// same start may not have been read yet.
func (s *starts) noteID(r *record.Record) {
	if r.ClientOrderID == "" {
		return
	}
	id, ours := placement.ParseSerial(r.ClientOrderID)
	if !ours {
		return
	}
	switch r.Body.(type) {
	case record.Sending:
		s.note(knownStart{Start: id.Start, sequence: id.Sequence})
	case record.Halt:
		s.note(knownStart{Start: id.Start, sequence: id.Sequence})
		s.former, s.reportedEpoch = s.reportedEpoch, max(s.reportedEpoch, s.boundedEpoch(id))
	default:
		s.noteOn(r.Symbol, id)
	}
}

// noteOn records that an id is known on a symbol, although this journal may not have sent it.
func (s *starts) noteOn(key exchange.SymbolKey, id placement.Serial) {
	if s.accounts(id) {
		return
	}
	on := s.reportedOn[key]
	if id.Start.Epoch < on.before {
		return
	}
	on.former, on.before = on.before, max(on.before, s.boundedEpoch(id))
	on.ids = slices.DeleteFunc(slices.Clone(on.ids), func(one placement.Serial) bool {
		if one.Start == id.Start {
			id.Sequence = max(id.Sequence, one.Sequence)
		}
		return one.Start == id.Start || one.Start.Epoch < on.before
	})
	on.ids = append(on.ids, id)
	on.ids = on.ids[max(0, len(on.ids)-maxReported):]
	if s.reportedOn == nil {
		s.reportedOn = map[exchange.SymbolKey]reportedIDs{}
	}
	s.reportedOn[key] = on
}

// boundedEpoch returns the smaller of an id's epoch and the newest start's: an id from a botd whose clock was ahead proves nothing about later starts,
// whose orders an old backup may lack.
func (s *starts) boundedEpoch(id placement.Serial) int64 { return min(id.Start.Epoch, s.newest.Epoch) }

// note records that the journal knows a start and its ids up to a sequence.
func (s *starts) note(one knownStart) {
	i, found := s.find(one.Start)
	if !found {
		s.known = slices.Insert(s.known, i, one)
	}
	s.known[i].sequence, s.known[i].booted = max(s.known[i].sequence, one.sequence), s.known[i].booted || one.booted
	if len(s.known) > maxStarts {
		s.reportedEpoch = max(s.reportedEpoch, s.known[0].Epoch)
		s.known = slices.Delete(s.known, 0, 1)
	}
}

// Sent reports whether the journal accounts for one of botd's order ids on a symbol: it knows the start and an equal or later id of it, or a person
// was notified of that start, or of a later one when that start had already begun. Any other id was sent by another botd, or by this one after the
// journal was copied.
func (s *starts) Sent(key exchange.SymbolKey, id placement.Serial) bool {
	on := s.reportedOn[key]
	return s.accounts(id) || id.Start.Epoch < on.before || slices.ContainsFunc(on.ids, func(one placement.Serial) bool {
		return one.Start == id.Start && id.Sequence <= one.Sequence
	})
}

// OnlyReported reports whether the journal accounts for an id on a symbol only because a person was notified of a later start, and for the first
// time: while botd stands down because of that start, nothing is decided about the order.
func (s *starts) OnlyReported(key exchange.SymbolKey, id placement.Serial) bool {
	_, found := s.find(id.Start)
	on := s.reportedOn[key]
	return !found && id.Start.Epoch >= max(s.former, on.former) && id.Start.Epoch < max(s.reportedEpoch, on.before)
}

// accounts reports whether the journal accounts for an id on any symbol.
func (s *starts) accounts(id placement.Serial) bool {
	if i, found := s.find(id.Start); found {
		return id.Sequence <= s.known[i].sequence
	}
	return id.Start.Epoch < s.reportedEpoch
}
