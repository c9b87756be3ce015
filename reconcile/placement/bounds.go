package placement

// Bounds are the venue's: W, D and L of exactly-once.md.
type Bounds struct {
	WindowMS     int64 // W: maximum time in which a signed request can still be admitted
	VisibilityMS int64 // D: maximum time from an order's admission until lists show it
	StalenessMS  int64 // L: maximum age of a read
}
