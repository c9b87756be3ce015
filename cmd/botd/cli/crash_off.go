//go:build !botd_crash

package cli

import "botd/runtime"

// crashing gives venue and journal back as they are: only a binary built with the
// tag botd_crash, for tests, kills itself at a named point.
func crashing(venue runtime.Venue, journal runtime.Journal) (runtime.Venue, runtime.Journal) {
	return venue, journal
}
