package simulation

// Stats are what happened in one run or in many.
type Stats struct {
	Events    int64
	Requests  int64
	Starts    int64
	Unknowns  int64
	Faults    [FaultEnd]int64
	VirtualMS int64

	Quarantined int64      // symbols at the end
	Resolution  [128]int64 // unknowns by how long they took, in seconds
	Naked       [128]int64 // times without a stop, by how long, in seconds
}

func (s *Stats) resolved(ms int64)    { s.Resolution[min(ms/1000, 127)]++ }
func (s *Stats) unprotected(ms int64) { s.Naked[min(ms/1000, 127)]++ }
