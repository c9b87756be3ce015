package daemon

import (
	"fmt"
	"time"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/runtime/engine"
	"botd/runtime/notify"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// trades reports entries and exits: a line of the log each, and a notification.
type trades struct {
	positions map[string]exchange.Quantity // by strategy; from the journal at the start, then from the notes
	notify    func(*notify.Trade)          // nil without channels
	log       *ops.Console
}

// startTrades reports trades from now on: a position that the journal already has is not an entry.
func (p *process) startTrades() {
	p.trades = &trades{positions: positionsByStrategy(new(p.machine.Status())), log: p.console}
	p.history.Closed(p.venue.Client.ServerNowMS(), p.trades.closed)
}

// positionsByStrategy returns each strategy's position by the journal: on spot the booked quantity, net of fees in the base asset.
func positionsByStrategy(status *engine.Status) map[string]exchange.Quantity {
	positions := map[string]exchange.Quantity{}
	for i := range status.Symbols {
		positions[status.Symbols[i].Owner] = status.Symbols[i].Known
	}
	for i := range status.Strategies {
		if s := &status.Strategies[i]; s.Symbol != nil && s.Symbol.Market == exchange.Spot && !s.Booked.IsZero() {
			positions[s.Name] = s.Symbol.FloorQuantity(s.Symbol.QuantityOf(s.Booked))
		}
	}
	return positions
}

// note takes a changed position. The ledger reports the end of a position, with its result.
func (t *trades) note(n *engine.Note) {
	fact, is := n.Fact.(engine.NotePosition)
	if !is || n.Symbol == nil {
		return
	}
	before := t.positions[n.Strategy]
	t.positions[n.Strategy] = fact.Quantity
	if fact.Quantity == 0 || fact.Quantity == before {
		return
	}
	side, quantity := "long", n.Symbol.QuantityDecimal(fact.Quantity)
	if fact.Quantity < 0 {
		side, quantity = "short", quantity.Neg()
	}
	price := fact.EntryPrice.Decimal()
	if fact.EntryPrice.IsZero() { // spot reports none
		price = n.Symbol.PriceDecimal(fact.Last)
	}
	name, what, was := "trade.opened", "opened", ""
	if before.Sign() == fact.Quantity.Sign() {
		name, what, was = "trade.changed", "changed", fmt.Sprintf(", was %s", n.Symbol.QuantityDecimal(before.Abs()))
	}
	t.report(n.Symbol.Key(), &notify.Trade{At: time.UnixMilli(n.AtMS), Name: name, Strategy: n.Strategy,
		Text: fmt.Sprintf("%s %s: %s %s %s at %s%s", n.Strategy, what, side, quantity, n.Symbol.Name, price, was)})
}

// closed takes a booked round trip.
func (t *trades) closed(trip *ledger.RoundTrip) {
	by := view.ExitPurpose(trip)
	side := "long"
	if trip.Side == exchange.Sell {
		side = "short"
	}
	cost := trip.Fees.Add(trip.Funding)
	text := fmt.Sprintf("%s closed by %s: %s %s %s from %s to %s after %s, net %s %s (fees and funding %s)", trip.Strategy, by, side, trip.Quantity,
		trip.Symbol.Name, trip.EntryPrice, trip.ExitPrice, (time.Duration(max(0, trip.LeftMS-trip.EnteredMS)) * time.Millisecond).Round(time.Second),
		notify.Signed(trip.Net()), trip.Asset, cost.Decimal().StringFixed(2))
	if !trip.Whole {
		text += "; some of the amounts are unknown"
	}
	t.report(trip.Symbol, &notify.Trade{At: time.UnixMilli(trip.LeftMS), Name: "trade.closed", Strategy: trip.Strategy, Text: text, By: by, Net: trip.Net(),
		Asset: trip.Asset})
}

func (t *trades) report(symbol exchange.SymbolKey, trade *notify.Trade) {
	log := t.log.Of(trade.Strategy, symbol)
	switch trade.Name { // the names of events are never made at run time
	case "trade.opened":
		log.Say("trade.opened", "trade     %s", trade.Text)
	case "trade.changed":
		log.Say("trade.changed", "trade     %s", trade.Text)
	case "trade.closed":
		log.Say("trade.closed", "trade     %s", trade.Text)
	}
	if t.notify != nil {
		t.notify(trade)
	}
}
