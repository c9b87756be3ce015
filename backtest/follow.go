package backtest

import "botd/runtime/engine"

// While a candle plays, trailing exits see the prices along its path, until the desired stop is resting: the path can
// meet a stop that trails a high on the way down from it. No other decision sees these prices, since the path is a
// guess.

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

// follow updates trailing exits with the price reached, and reports whether one has changed.
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

// conceal shows only known prices to the next decisions.
func (r *run) conceal() {
	for i := range r.legs {
		r.legs[i].seat.Reveal(false)
	}
}

// show gives the machine the known price of a symbol.
func (r *run) show(nowMS int64, l *leg) {
	known := l.seat.Known()
	r.price = engine.EventPrice{Series: l.key, Last: known, Mark: known}
	r.give(nowMS, &r.price)
}
