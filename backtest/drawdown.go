package backtest

import "slices"

// worstDrawdowns is how many drawdowns a report lists.
const worstDrawdowns = 10

// drawdown follows equity below its peak so far.
type drawdown struct {
	fall  // the one under way
	peak  float64
	low   float64 // equity at the trough of the one under way
	worst []fall  // the deepest, deepest first
	long  fall    // the longest that ended, or is the one under way
}

// fall is equity below a peak: from the peak to when it was there again.
type fall struct {
	depth       float64 // as a share of the peak
	fromMS      int64   // when the peak was reached
	troughMS    int64
	recoveredMS int64 // 0: not yet
}

// take is given equity in the order of time.
func (d *drawdown) take(atMS int64, equity float64) {
	if equity < d.peak {
		if d.depth > 0 && equity >= d.low {
			return
		}
		if depth := (d.peak - equity) / d.peak; depth > d.depth {
			d.depth, d.troughMS, d.low = depth, atMS, equity
		}
		return
	}
	if d.depth > 0 {
		d.recoveredMS = atMS
		d.keep(d.fall)
		d.fall = fall{fromMS: atMS}
	}
	if equity > d.peak {
		d.peak, d.fromMS = equity, atMS
	}
}

// keep puts a fall among the worst.
func (d *drawdown) keep(f fall) {
	if f.length(f.recoveredMS) > d.long.length(d.long.recoveredMS) {
		d.long = f
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

// end closes the current drawdown: it is reported as not recovered.
func (d *drawdown) end(atMS int64) {
	if d.depth == 0 {
		return
	}
	open := d.fall
	longest := d.long
	d.keep(open)
	if open.length(atMS) > longest.length(longest.recoveredMS) {
		d.long = open
	}
}

// length is the time from the peak to the recovery, or to a time given instead.
func (f *fall) length(untilMS int64) int64 { return untilMS - f.fromMS }

// deepest is the deepest fall so far.
func (d *drawdown) deepest() fall {
	if len(d.worst) > 0 && d.worst[0].depth >= d.depth {
		return d.worst[0]
	}
	return d.fall
}
