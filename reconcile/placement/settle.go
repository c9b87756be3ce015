package placement

// Settle are the venue's bounds: W, D and L of exactly-once.md.
type Settle struct {
	WindowMS     int64 // W: maximum time in which a signed request can still be admitted
	VisibilityMS int64 // D: time until an order is visible, final, or proven absent
	StalenessMS  int64 // L: maximum age of a read
}

// UnmeasuredSettle returns the bounds for a venue that was not probed.
var UnmeasuredSettle = Settle{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000}
