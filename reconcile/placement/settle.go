package placement

// Settle are the venue's bounds: W, D and L of exactly-once.md.
type Settle struct {
	WindowMS     int64 // W: how long a signed request can still be admitted
	VisibilityMS int64 // D: until an order is visible, terminal, or never was
	StalenessMS  int64 // L: how old a read may be
}

// UnmeasuredSettle are the bounds for a venue that was not probed.
var UnmeasuredSettle = Settle{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000}
