package account

import "botd/strategy"

// Plan is a read-only view of a strategy's plan in force. After a record that changes the plan, it shows
// the new one.
type Plan struct{ inForce *strategy.Plan }

// Target returns the desired position.
func (p Plan) Target() strategy.Target { return p.inForce.Target }

// Leverage returns the desired leverage; 0 leaves it unchanged.
func (p Plan) Leverage() int { return p.inForce.Leverage }

// Orders returns the opening orders to keep on the exchange.
func (p Plan) Orders() Orders { return Orders{p.inForce.Orders} }

// Exits returns the reducing orders to keep on the exchange.
func (p Plan) Exits() Orders { return Orders{p.inForce.Exits} }

// OrdersSet reports whether the plan sets its orders, even to none.
func (p Plan) OrdersSet() bool { return p.inForce.OrdersSet }

// Protection returns the stop-loss and take-profit.
func (p Plan) Protection() strategy.Protection { return p.inForce.Protection }

// Reason returns why the strategy desires this, in words.
func (p Plan) Reason() string { return p.inForce.Reason }

// Clone returns a copy that shares nothing with it.
func (p Plan) Clone() *strategy.Plan { return p.inForce.Clone() }

// Equal reports whether both plans desire the same.
func (p Plan) Equal(other *strategy.Plan) bool { return p.inForce.Equal(other) }

// Covers reports whether putting a newer plan in force would change nothing.
func (p Plan) Covers(newer *strategy.Plan) bool { return p.inForce.Covers(newer) }

// Orders is a read-only view of the orders in a plan in force.
type Orders struct{ list []strategy.DesiredOrder }

// Len returns the number of orders.
func (o Orders) Len() int { return len(o.list) }

// At returns the order with the index.
func (o Orders) At(i int) strategy.DesiredOrder { return o.list[i] }
