package simulation

import (
	"botd/exchange"
	"botd/risk"
	"botd/runtime/engine"
)

// User actions on a running botd, and limits that the user set. They have their own random source, so seeds
// without them are unchanged.

// drawActions adds user actions to the weather of one in five of the seeds that have
// more than one fault.
func drawActions(d *draw, weather *Weather) {
	on, faults := d.chance(0.2), 0
	for _, strength := range weather {
		if strength > 0 {
			faults++
		}
	}
	if !on || faults < 2 {
		return
	}
	for f := Resolve; f <= DiskLow; f++ {
		if strength := d.unit(); d.chance(0.6) {
			weather[f] = float64(strongest[f] * (0.1 + float64(0.9*strength)))
		}
	}
}

// bounded are limits on equity and results, of the account and of each strategy. Market moves cannot reach distant ones.
type bounded struct {
	account, strategy risk.Limits
	far               bool
}

// drawLimits sets limits in one seed out of six.
func drawLimits(d *draw) (b bounded) {
	if !d.chance(0.17) {
		return b
	}
	loss := func() risk.Loss { return risk.Loss{USDT: exchange.AmountOf(d.between(1, 10)).Div(20)} }
	if b.far = d.chance(0.5); b.far {
		loss = func() risk.Loss { return risk.Loss{Share: exchange.RateOne / 2} }
	}
	if d.chance(0.7) {
		b.account.MaxDailyLoss = loss()
	}
	if d.chance(0.5) {
		b.strategy.MaxDailyLoss = loss()
	}
	if d.chance(0.5) {
		b.strategy.MaxDrawdown = loss()
	}
	if !b.far && d.chance(0.5) {
		b.strategy.MaxLosingStreak, b.strategy.CoolDownMS = int(d.between(1, 3)), 60_000
	}
	return b
}

// resolve ends a quarantine as a person would, in one of two ways.
func (w *world) resolve() bool {
	d := w.daemon
	if !d.listens() {
		return false
	}
	for _, key := range w.venue.keys {
		if d.machine.Tracker().Symbol(key).Quarantine() == "" {
			continue
		}
		adopt := w.actions.chance(0.5)
		if _, err := d.machine.PreviewResolution(key, adopt, byPerson); err != nil {
			continue
		}
		if h := w.venue.held[key]; !adopt || key.Market == exchange.Spot { // the position counts as foreign from now on, and botd trades alongside it
			h.touch(w.nowMS, h.position.Abs()+w.venue.resting(key))
		}
		if h := w.venue.held[key]; adopt { // the strategy may now sell what a person bought
			h.forgot += h.slack
		}
		w.say("a person resolves %s: adopt %t", key, adopt)
		d.handle(&engine.EventResolve{Symbol: key, Adopt: adopt, Reason: byPerson})
		return true
	}
	return false
}

// crowd makes the journal's disk nearly full for a while.
func (w *world) crowd() bool {
	d := w.daemon
	if !d.listens() || d.low {
		return false
	}
	d.low = true
	w.say("the disk is nearly full")
	d.handle(&engine.EventDisk{Reason: "nearly full"})
	w.put(scheduled{atMS: w.nowMS + w.actions.between(1_000, 40_000), kind: happenRelease, fault: DiskLow, life: d.life})
	return true
}

// roomy ends the effect of crowd.
func (w *world) roomy(life int) {
	if d := w.daemon; d.up && d.life == life {
		d.low = false
		d.handle(&engine.EventDisk{})
	}
}

// suspend suspends the process until a time, or for as long as it already is.
func (d *daemon) suspend(untilMS int64) {
	d.pausedMS = max(d.pausedMS, untilMS)
	d.wokenMS = d.pausedMS
}

// listens reports whether a person's request reaches the process.
func (d *daemon) listens() bool { return d.up && !d.stopping && d.pausedMS <= d.w.nowMS }
