package reconcile

// maxGapMS is the maximum time between two snapshots that counts toward persistence.
const maxGapMS = 1_000

// persistence measures for how long a condition has persisted from snapshot to snapshot. Between
// two snapshots at most the usual interval of unsettled rounds counts, so a clock that jumps ahead
// does not make anything persist (exactly-once.md, The fence and the equation).
type persistence struct {
	sinceMS int64 // end of the first snapshot; 0 if it does not persist
	lastMS  int64 // end of the newest snapshot
	forMS   int64
}

// extend adds a snapshot in which the condition still holds.
func (l *persistence) extend(s *Snapshot) {
	end := max(s.BeganMS, s.EndedMS)
	if l.sinceMS == 0 {
		l.sinceMS, l.lastMS = end, end
		return
	}
	l.forMS += max(0, min(s.BeganMS-l.lastMS, maxGapMS))
	l.lastMS = end
}

// pause handles a snapshot before which the condition was interrupted: that time does not count.
func (l *persistence) pause(s *Snapshot) { l.lastMS = max(s.BeganMS, s.EndedMS) }

// restart begins the measurement with this snapshot.
func (l *persistence) restart(s *Snapshot) {
	*l = persistence{}
	l.extend(s)
}

// reset ends the measurement.
func (l *persistence) reset() { *l = persistence{} }

func (l *persistence) exceeds(thanMS int64) bool { return l.sinceMS != 0 && l.forMS > thanMS }
