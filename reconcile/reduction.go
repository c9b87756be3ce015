package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
)

// reductions determine how much of a position live orders, and those derived in this round, reduce already, and how much room they leave.
type reductions struct {
	*inputs
	derived []Intent // in this round
}

func (c *changes) reductions() reductions { return reductions{c.of, c.intents} }

// room returns the part of the position that the exchange's sum of reducing quantities,
// including orders derived in this round, leaves free (rule 5). On spot it is the part of the asset that
// no order sells.
func (s reductions) room() exchange.Quantity {
	free := s.ownPosition.Abs()
	if s.symbol.Key().Market == exchange.Futures {
		free = s.symbol.TrustedVenuePosition().Abs()
	}
	for _, p := range s.keyedOrders {
		if p.Purpose() == placement.ExitOrder {
			free -= p.Remaining()
		}
	}
	for _, p := range slices.Concat(s.stops, s.profits) { // on spot a stop holds the asset; closePosition orders have no quantity
		free -= p.Remaining()
	}
	for _, p := range s.targetOrders {
		if p.Order().ReduceOnly || p.Order().Market == exchange.Spot && p.Order().Side == exchange.Sell {
			free -= p.Remaining()
		}
	}
	for _, o := range s.symbol.foreignOrders() {
		if o.Reduces() && !o.ClosePosition {
			free -= o.Remaining()
		}
	}
	for i := range s.derived {
		if order := &s.derived[i].Order; order.ReduceOnly || s.derived[i].Purpose == placement.ExitOrder || s.derived[i].Purpose == placement.Exit {
			free -= order.Quantity
		}
	}
	return max(0, free)
}

// uncovered returns the part of botd's position that no resting exit covers yet, including exits derived
// in this round, and that fits into the exchange's sum (rule 5).
func (s reductions) uncovered() exchange.Quantity {
	free := s.spotPosition().unsoldByPeer().Abs()
	for _, p := range s.keyedOrders {
		if p.Purpose() == placement.ExitOrder {
			free -= p.Remaining()
		}
	}
	for i := range s.derived {
		if s.derived[i].Purpose == placement.ExitOrder || s.derived[i].Purpose == placement.Exit {
			free -= s.derived[i].Order.Quantity
		}
	}
	return saleQuantity(s).sellable(s.symbol.rules.FloorQuantity(max(0, min(free, s.room()))))
}

// exits reports whether an exit is due.
func (s reductions) exits() bool {
	return slices.ContainsFunc(s.derived, func(i Intent) bool { return i.Purpose == placement.Exit })
}

// exitsWhole reports whether an exit of a whole position is in flight. It does not count the part of an exit that the position already shows, even
// before the fill is booked. It counts an uncertain exit only until its repetition is due, not until its fence: a stop for the whole position ends with
// the position, whenever the exit executes. While only a list shows less than the fills explain, a new exit must cover all that they explain.
func (s reductions) exitsWhole(position exchange.Quantity) bool {
	ahead := s.symbol.Ahead()
	for _, p := range s.targetOrders {
		if p.Purpose() != placement.Exit || answerLost(p, s.nowMS) {
			continue
		}
		part := explained(p, ahead)
		if ahead -= part; p.Remaining()-part.Abs() >= position.Abs() {
			return true
		}
	}
	whole := position.Abs()
	if s.symbol.Unwitnessed() {
		whole = s.symbol.Known().Abs()
	}
	for i := range s.derived {
		if s.derived[i].Order.Type == exchange.MarketOrder && s.derived[i].Order.ReduceOnly && s.derived[i].Order.Quantity >= whole {
			return true
		}
	}
	return false
}
