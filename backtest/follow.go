package backtest

import "botd/runtime/engine"

// Exits that follow the price see the prices that the path of a candle reaches, until the stop that they want
// stands: the stop that trails a high is met on the way down from it. No decision sees them, since the path is a guess.

// trails reports whether the stop of any position follows the price.
func (r *run) trails() bool {
	for i := range r.legs {
		if !r.legs[i].follows {
			continue
		}
		if _, _, trails := r.machine.Trails(r.legs[i].key); trails {
			return true
		}
	}
	return false
}

// follow has exits follow the prices reached by now, and reports whether one has changed.
func (r *run) follow(nowMS int64) (again bool) {
	for i := range r.legs {
		l := &r.legs[i]
		if !l.follows {
			continue
		}
		stop, from, trails := r.machine.Trails(l.key)
		last, _ := l.seat.Price()
		if trails && l.openMS() <= nowMS && last != l.reached {
			l.reached = last
			l.seat.Reveal(true)
			r.give(nowMS, &engine.EventFollow{Series: l.key, Last: last})
			for r.machine.NextMS() <= nowMS {
				r.give(nowMS, &engine.EventWake{})
				again = true
			}
			stop, from, trails = r.machine.Trails(l.key)
		}
		l.seat.Trail(stop, from, trails)
		if l.seat.Revealed() && (!trails || l.seat.Trailed()) {
			l.seat.Reveal(false)
			r.show(nowMS, l)
		}
	}
	return again
}

// conceal has what is decided next see known prices only.
func (r *run) conceal() {
	for i := range r.legs {
		r.legs[i].seat.Reveal(false)
	}
}

// show gives the machine the price that is known of a symbol.
func (r *run) show(nowMS int64, l *leg) {
	known := l.seat.Known()
	r.price = engine.EventPrice{Series: l.key, Last: known, Mark: known}
	r.give(nowMS, &r.price)
}
