package simulation

// Stats counts what happened in one run or in many.
type Stats struct {
	Events    int64
	Requests  int64
	Starts    int64
	Uncertain int64
	Placed    int64 // orders sent
	Opened    int64 // orders sent that open a position
	Faults    [FaultEnd]int64
	VirtualMS int64

	Quarantined  int64   // symbols at the end
	UncertainFor Seconds // uncertain placements by their duration
	Unprotected  Seconds // times without a stop, by duration
}

// Seconds counts durations by whole seconds; the last entry counts all longer ones.
type Seconds [600]int32

func (s *Seconds) count(ms int64) { s[min(ms/1000, int64(len(s)-1))]++ }

func (s *Stats) decidedAfter(ms int64) { s.UncertainFor.count(ms) }
func (s *Stats) unprotected(ms int64)  { s.Unprotected.count(ms) }

func (s *Stats) add(other *Stats) {
	s.Events += other.Events
	s.Requests += other.Requests
	s.Starts += other.Starts
	s.Uncertain += other.Uncertain
	s.Placed += other.Placed
	s.Opened += other.Opened
	s.VirtualMS += other.VirtualMS
	s.Quarantined += other.Quarantined
	for i := range s.Faults {
		s.Faults[i] += other.Faults[i]
	}
	for i := range s.UncertainFor {
		s.UncertainFor[i] += other.UncertainFor[i]
		s.Unprotected[i] += other.Unprotected[i]
	}
}

// quantile returns the number of seconds that a share of the counted times does not exceed; -1 if nothing was counted.
func quantile(counts *Seconds, share float64) int {
	var total, sum int64
	for _, n := range counts {
		total += int64(n)
	}
	for seconds, n := range counts {
		if sum += int64(n); total > 0 && float64(sum) >= share*float64(total) {
			return seconds
		}
	}
	return -1
}
