package simulation

import "botd/exchange"

// Two botds that each send an opening in the same moment cannot know of each other's: one of the two is the placement beyond the limit that exactly-once.md
// allows, whatever its size (case 34). A strategy that has waited, such as a twap after an outage, may open more at once than it usually does.

// atOnceMS is the maximum time between two openings of which no read could have shown the first before the second.
const atOnceMS = maxReadAgeMS

// openedAtOnce reports whether a process sends an opening on a symbol in the same moment as the other one, before any read has shown it an order of that one.
func (j *judge) openedAtOnce(a *placed) bool {
	if a == nil || !a.opens || len(j.w.processes) < 2 || j.met[a.by] {
		return false
	}
	for _, other := range j.w.venue.placed {
		apartMS := max(a.sentMS-other.sentMS, other.sentMS-a.sentMS)
		if other.by != a.by && other.opens && other.order.Key() == a.order.Key() && other.sentMS >= j.w.beyond.secondMS && apartMS <= atOnceMS {
			return true
		}
	}
	return false
}

// allowAtOnce counts such an opening as the largest placement of its symbol.
func (j *judge) allowAtOnce(id int64, key exchange.SymbolKey, quantity exchange.Quantity) {
	if j.openedAtOnce(j.w.venue.byOrder[id]) {
		j.atOnce[key] = max(j.atOnce[key], quantity)
		j.setLimits()
	}
}

// endAtOnce ends the allowance once the exposure is within the ordinary bound again.
func (j *judge) endAtOnce(key exchange.SymbolKey) {
	r := j.w.portfolio.role(j.w.portfolio.of(key))
	long, short := j.oracle.Exposure(nameOf(key))
	if max(long, short) <= int64(r.limit()+r.largest()+j.w.venue.held[key].slack)*finest {
		delete(j.atOnce, key)
	}
}
