package backtest

import "slices"

// worstDrawdowns is the maximum number of drawdowns in a report.
const worstDrawdowns = 10

// drawdowns tracks equity below its running peak.
type drawdowns struct {
	drawdown // the current one
	peak     float64
	low      float64    // equity at the trough of the current one
	lowest   float64    // equity until the current one
	worst    []drawdown // the deepest, deepest first
	longest  drawdown   // the longest so far, ended or current
}

// drawdown is one drawdown, from the peak to the recovery.
type drawdown struct {
	depth       float64 // as a share of the peak
	fromMS      int64   // when the peak was reached
	troughMS    int64
	recoveredMS int64 // 0: not yet recovered
}

// unchangedBy reports whether equity changes nothing: it is below the peak, and above the trough of a drawdown.
func (d *drawdowns) unchangedBy(equity float64) bool {
	return equity < d.peak && equity >= d.low && d.depth > 0
}

// add processes equity in order of time.
func (d *drawdowns) add(atMS int64, equity float64) {
	if d.unchangedBy(equity) {
		return
	}
	if equity < d.peak {
		if depth := (d.peak - equity) / d.peak; depth > d.depth {
			d.depth, d.troughMS, d.low = depth, atMS, equity
		}
		return
	}
	if d.depth > 0 {
		d.recoveredMS, d.lowest = atMS, min(d.lowest, d.low)
		d.keep(d.drawdown)
		d.drawdown = drawdown{fromMS: atMS}
	}
	if equity > d.peak {
		d.peak, d.fromMS = equity, atMS
	}
}

// keep adds a drawdown to the deepest ones, if it belongs there.
func (d *drawdowns) keep(f drawdown) {
	if f.length(f.recoveredMS) > d.longest.length(d.longest.recoveredMS) {
		d.longest = f
	}
	at := len(d.worst)
	for at > 0 && d.worst[at-1].depth < f.depth {
		at--
	}
	if at == worstDrawdowns {
		return
	}
	d.worst = slices.Insert(d.worst, at, f)
	d.worst = d.worst[:min(len(d.worst), worstDrawdowns)]
}

// end closes the current drawdown and reports it as not recovered.
func (d *drawdowns) end(atMS int64) {
	if d.depth == 0 {
		return
	}
	open := d.drawdown
	longest := d.longest
	d.keep(open)
	if open.length(atMS) > longest.length(longest.recoveredMS) {
		d.longest = open
	}
}

// length returns the time from the peak to the recovery, or to the given time.
func (f *drawdown) length(untilMS int64) int64 { return untilMS - f.fromMS }

// deepest returns the deepest drawdown so far.
func (d *drawdowns) deepest() drawdown {
	if len(d.worst) > 0 && d.worst[0].depth >= d.depth {
		return d.worst[0]
	}
	return d.drawdown
}
