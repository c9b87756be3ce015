package engine

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
)

// denial makes open list and history deny each order of a type that rests on spot: the list omits it, the history shows it with a status.
func (w *world) denial(of exchange.OrderType, status exchange.OrderStatus) func(*exchange.Answer) {
	return func(answer *exchange.Answer) {
		denied := func(o *exchange.Order) bool { return o.Type == of }
		switch answer.Operation {
		case exchange.SpotOpenOrders:
			var rows []exchange.Order
			for _, o := range answer.Orders.Items() {
				if !denied(&o) {
					rows = append(rows, o)
				}
			}
			answer.Orders = exchange.FetchedOf(rows)
		case exchange.SpotOrderHistory:
			rows := slices.DeleteFunc(slices.Clone(answer.Orders.Items()), func(o exchange.Order) bool { return denied(&o) && !o.Status.Final() })
			w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) {
				if row := *o; denied(o) {
					if row.Status = status; status == exchange.StatusFilled {
						row.Filled, row.AveragePrice = row.Quantity, w.venue.Symbol(row.Key()).PriceAmount(row.Price)
					}
					rows = append(rows, row)
				}
			})
			answer.Orders = exchange.FetchedOf(rows)
		}
	}
}

// forSale returns the quantity that open sales hold on the exchange.
func (w *world) forSale() (sum exchange.Quantity) {
	w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) {
		if o.Side == exchange.Sell {
			sum += o.Remaining()
		}
	})
	return sum
}

// Open list and history show the end of each stop, and the stops rest. Once the lists show them again, one protects the position, the others are canceled,
// and flatten closes everything.
func TestStopShownAsEndedThatRestsIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]restingStop{
		"canceled":                           {onEther, exchange.StatusCanceled, false},
		"canceled, next to a person's units": {onSpot, exchange.StatusCanceled, false},
		"canceled, and a start":              {onSpot, exchange.StatusCanceled, true},
		"filled":                             {onEther, exchange.StatusFilled, false},
		"filled, next to a person's units":   {onSpot, exchange.StatusFilled, false},
		"filled, and a start":                {onEther, exchange.StatusFilled, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

type restingStop struct {
	market   option
	shown    exchange.OrderStatus
	restarts bool
}

func (c restingStop) check(t testing.TB) {
	t.Helper()
	w := newWorld(t, hold(2_000), c.market, protected)
	w.mirror = w.denial(exchange.StopLimit, c.shown)
	w.pass(30_000)
	if c.restarts {
		w.start()
	}
	w.mirror = nil
	w.pass(20_000)
	position := w.symbol().Position()
	if position < 1_990 || w.forSale() != position {
		t.Errorf("want a stop for the position of 2,000 less the fee, have %d for sale, position %d\n%s", w.forSale(), position, w.story())
	}
	w.flatten()
	w.pass(10_000)
	if d := w.wantState("halted"); w.forSale() != 0 || w.symbol().Position() != 0 || d.Remaining != "" || len(d.Blind) != 0 {
		t.Errorf("want it flat, have %d for sale, position %d, %+v\n%s", w.forSale(), w.symbol().Position(), d, w.story())
	}
}

// As long as the lists deny the stop, flatten is not complete: the wallet freezes units for it.
func TestFlattenReportsFrozenUnitsThatNoOrderExplains(t *testing.T) {
	t.Parallel()
	for _, c := range []restingStop{{market: onEther, shown: exchange.StatusFilled}, {market: onSpot, shown: exchange.StatusFilled},
		{market: onSpot, shown: exchange.StatusCanceled}} {
		c.reported(t)
	}
}

func (c restingStop) reported(t testing.TB) {
	t.Helper()
	w := newWorld(t, hold(2_000), c.market, protected)
	w.mirror = w.denial(exchange.StopLimit, c.shown)
	w.pass(20_000)
	w.flatten()
	w.pass(8_000)
	if d := w.wantState("halted"); !strings.Contains(strings.Join(d.Blind, "\n"), "frozen in the wallet for orders that the exchange does not show") {
		t.Errorf("want the frozen units reported, have %+v\n%s", d, w.story())
	}
	w.mirror = nil
	w.pass(1_500)
	w.wantUnseen("rests on the exchange although it was shown as ended")
	w.pass(6_500)
	if d := w.wantState("halted"); w.forSale() != 0 || d.Remaining != "" || len(d.Blind) != 0 {
		t.Errorf("want it flat, have %d for sale, %+v\n%s", w.forSale(), d, w.story())
	}
}

// The lists deny a resting purchase. The plan's order is placed again after a wait that doubles, as if the exchange had refused it. Once the lists show
// what rests, a halt at level cancel reports it and cancels it.
func TestPurchaseShownAsEndedThatRestsIsCanceled(t *testing.T) {
	t.Parallel()
	deniedPurchase(t)
}

func deniedPurchase(t testing.TB) {
	t.Helper()
	w := newWorld(t, rest(2_000, 40_000e8), onSpot)
	w.mirror = w.denial(exchange.Limit, exchange.StatusCanceled)
	w.pass(30_000)
	if open := w.venue.OpenOrders("one", exchange.Spot); open != 3 {
		t.Fatalf("want three purchases in half a minute, have %d\n%s", open, w.story())
	}
	w.give(&EventHalt{Level: record.LevelCancel, Reason: "a test"})
	w.pass(3_000)
	w.mirror = nil
	reported := false
	for range 40 {
		w.pass(500)
		reported = reported || strings.Contains(strings.Join(w.wantState("halted").Blind, "\n"), "rests on the exchange although it was shown as ended")
	}
	if d := w.wantState("halted"); !reported || w.venue.OpenOrders("one", exchange.Spot) != 0 || len(d.Blind) != 0 {
		t.Errorf("want them reported, %t, and none resting, have %d, %+v\n%s", reported, w.venue.OpenOrders("one", exchange.Spot), d, w.story())
	}
}
