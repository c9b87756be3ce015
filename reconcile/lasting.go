package reconcile

// mostGapMS is the most that passes between two snapshots as time in which
// something lasted.
const mostGapMS = 1_000

// lasting measures for how long something has been the same, from snapshot to
// snapshot. Of the time between two of them no more counts than lies between
// rounds while something is unsettled, so that a clock that jumps ahead makes
// nothing last (exactly-once.md, L).
type lasting struct {
	sinceMS int64 // the first snapshot's end; 0 while it does not last
	lastMS  int64 // the newest snapshot's end
	forMS   int64
}

// again takes one more snapshot in which it is the same.
func (l *lasting) again(s *Snapshot) {
	end := max(s.BeganMS, s.EndedMS)
	if l.sinceMS == 0 {
		l.sinceMS, l.lastMS = end, end
		return
	}
	l.forMS += max(0, min(s.BeganMS-l.lastMS, mostGapMS))
	l.lastMS = end
}

// anew begins with this snapshot.
func (l *lasting) anew(s *Snapshot) {
	*l = lasting{}
	l.again(s)
}

// over ends it.
func (l *lasting) over() { *l = lasting{} }

func (l *lasting) longer(thanMS int64) bool { return l.sinceMS != 0 && l.forMS > thanMS }
