package backtest

import "botd/runtime/engine"

// Exits that follow the price see the prices that the path of a candle reaches: the stop that trails a
// high is met on the way down from it. Nobody else sees them, since the path is a guess.

// trails reports whether the stop of any position follows the price.
func (r *run) trails() bool {
	for i := range r.legs {
		if r.machine.Trails(r.legs[i].key) {
			return true
		}
	}
	return false
}

// follow has exits follow the prices reached by now, and reports whether one has changed.
func (r *run) follow(nowMS int64) (again bool) {
	for i := range r.legs {
		l := &r.legs[i]
		trails := r.machine.Trails(l.key)
		l.seat.Trail(trails)
		last, _ := l.seat.Price()
		if !trails || l.openMS() > nowMS || last == l.reached {
			continue
		}
		l.reached = last
		conceal := l.seat.Reveal()
		r.give(nowMS, &engine.EventFollow{Series: l.key, Last: last})
		for r.machine.NextMS() <= nowMS {
			r.give(nowMS, &engine.EventWake{})
			again = true
		}
		conceal()
		known := l.seat.Known()
		r.price = engine.EventPrice{Series: l.key, Last: known, Mark: known}
		r.give(nowMS, &r.price)
	}
	return again
}
