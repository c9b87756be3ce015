package reconcile

// mostGapMS is the most that passes between two snapshots as time in which
// something lasted.
const mostGapMS = 1_000

// persistence measures for how long something has been the same, from snapshot to
// snapshot. Of the time between two of them no more counts than lies between
// rounds while something is unsettled, so that a clock that jumps ahead makes
// nothing last (exactly-once.md, L).
type persistence struct {
	sinceMS int64 // the first snapshot's end; 0 while it does not last
	lastMS  int64 // the newest snapshot's end
	forMS   int64
}

// extend takes one more snapshot in which it is the same.
func (l *persistence) extend(s *Snapshot) {
	end := max(s.BeganMS, s.EndedMS)
	if l.sinceMS == 0 {
		l.sinceMS, l.lastMS = end, end
		return
	}
	l.forMS += max(0, min(s.BeganMS-l.lastMS, mostGapMS))
	l.lastMS = end
}

// pause takes a snapshot before which it was interrupted: that time does not count.
func (l *persistence) pause(s *Snapshot) { l.lastMS = max(s.BeganMS, s.EndedMS) }

// restart begins with this snapshot.
func (l *persistence) restart(s *Snapshot) {
	*l = persistence{}
	l.extend(s)
}

// reset ends it.
func (l *persistence) reset() { *l = persistence{} }

func (l *persistence) exceeds(thanMS int64) bool { return l.sinceMS != 0 && l.forMS > thanMS }
