package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// summary writes intents in a line: what is sent, and why.
func summary(intents []Intent) string {
	var all []string
	for i := range intents {
		intent, o := &intents[i], &intents[i].Order
		text := intent.Purpose.String()
		switch intent.Purpose {
		case placement.Cancel:
			text += fmt.Sprintf(" %d", intent.OrderID)
		case placement.Leverage:
			text += fmt.Sprintf(" %d", intent.Leverage)
		default:
			text += strings.ToLower(fmt.Sprintf(" %s %s", o.Side, o.Type))
		}
		for _, part := range []struct {
			is   bool
			text string
		}{
			{o.Quantity != 0, fmt.Sprintf(" %d", o.Quantity)}, {o.Price != 0, fmt.Sprintf(" at %v", float64(o.Price)/1e8)},
			{o.StopPrice != 0, fmt.Sprintf(" stop %v", float64(o.StopPrice)/1e8)}, {o.ReduceOnly, " reduceOnly"}, {o.ClosePosition, " whole"},
			{o.PostOnly, " postOnly"}, {intent.Key != "" && intent.Purpose != placement.Cancel, " as " + intent.Key}, {intent.Reason != "",
				": " + intent.Reason},
		} {
			if part.is {
				text += part.text
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// holds is a desk whose fills and position are a quantity of either side, settled.
func holds(t testing.TB, quantity exchange.Quantity) *desk {
	d := newDesk(t)
	d.target(quantity)
	d.observe(0, nil)
	d.adopt(quantity)
	return d
}

func (d *desk) adopt(quantity exchange.Quantity) {
	d.book.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: quantity}})
	d.observe(d.book.Symbol(bitcoin).Known(), nil)
}

// rests sends an order that the exchange takes under that id, and returns its client order id.
func (d *desk) rests(purpose placement.Purpose, orderID int64, order exchange.NewOrder) string {
	order.Market, order.Symbol = exchange.Futures, "BTC-USDT"
	id := d.send(Intent{Purpose: purpose, Key: "k", Order: order})
	d.acknowledge(id, orderID)
	return id
}

// resting is a limit order of botd that reduces a long position.
func (d *desk) resting(orderID int64, quantity exchange.Quantity) string {
	return d.rests(placement.ExitOrder, orderID,
		exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: d.price("60000"), Quantity: quantity, ReduceOnly: true})
}

// whole is a closePosition order of botd.
func (d *desk) whole(purpose placement.Purpose, orderID int64, side exchange.Side, price string) string {
	kind := exchange.StopMarket
	if purpose == placement.TakeProfit {
		kind = exchange.TakeProfitMarket
	}
	return d.rests(purpose, orderID, exchange.NewOrder{Side: side, Type: kind, StopPrice: d.price(price), ClosePosition: true})
}

func (d *desk) canceled(id string) { d.book.NoteCancel(id, d.now) }

// TestWhatLeadsFromAPositionToATarget says, for a position on futures, what is sent; with the stop or profit given.
func TestWhatLeadsFromAPositionToATarget(t *testing.T) {
	t.Parallel()
	flat, smaller := "exit sell market %d reduceOnly: the target is flat", "exit sell market %d reduceOnly: the target is smaller"
	stop := func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	}
	for _, c := range []struct {
		name         string
		held, target exchange.Quantity
		with         func(d *desk)
		desired      func(*Desired)
		want         string
	}{
		{"a long one to nothing", 20, 0, nil, nil, fmt.Sprintf(flat, 20)},
		{"a short one to nothing", -20, 0, nil, nil, "exit buy market 20 reduceOnly: the target is flat"},
		{"nothing to nothing", 0, 0, nil, nil, ""},
		{"to the other side", 20, -20, nil, nil, "exit sell market 20 reduceOnly: the target changed side: first flat, then the other side"},
		{"to a part", 20, 15, nil, nil, fmt.Sprintf(smaller, 5)},
		{"to as much", 20, 20, nil, nil, ""},
		{"to more", 20, 25, nil, nil, "entry buy market 5"},
		{"to more of a short one", -20, -25, nil, nil, "entry sell market 5"},
		{"to more, where nothing may open", 20, 25, nil, func(w *Desired) { w.Entries = false }, ""},
		{"to a part, where nothing may open", 20, 15, nil, func(w *Desired) { w.Entries = false }, fmt.Sprintf(smaller, 5)},
		{"the whole, with an exit resting", 20, 0, func(d *desk) { d.resting(12, 5) }, nil, "cancel 12: makes room for the exit"},
		{"the whole, with one that cannot be canceled", 20, 0, func(d *desk) { d.resting(12, 5); d.book.Symbol(bitcoin).Rules.Cancelable = false }, nil,
			"cancel 12: makes room for the exit; " + fmt.Sprintf(flat, 20)},
		{"a part that resting exits leave room for", 20, 15, func(d *desk) { d.resting(12, 15) }, nil, fmt.Sprintf(smaller,
			5) + "; cancel 12: no longer desired"},
		{"a part that they leave no room for", 20, 15, func(d *desk) { d.resting(12, 16) }, nil, "cancel 12: makes room for the exit"},
		{"the kill switch, just canceled", 20, 0, func(d *desk) { d.canceled(d.resting(12, 5)); d.now += repeatMS - 1 },
			func(w *Desired) { w.Flatten = true }, ""},
		{"the kill switch, canceled two seconds ago", 20, 0, func(d *desk) { d.canceled(d.resting(12, 5)); d.now += repeatMS },
			func(w *Desired) { w.Flatten = true }, "cancel 12: makes room for the exit; " + fmt.Sprintf(flat, 20)},
		{"a plan's exit, canceled two seconds ago", 20, 0, func(d *desk) { d.canceled(d.resting(12, 5)); d.now += repeatMS }, nil,
			"cancel 12: makes room for the exit"},
		{"a stop of the whole position stays", 20, 0, func(d *desk) { d.whole(placement.StopLoss, 12, exchange.Sell, "49000") }, stop, fmt.Sprintf(flat, 20)},
		{"one exit at a time", 20, 0, func(d *desk) {
			d.rests(placement.Exit, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 5, ReduceOnly: true})
		}, nil, ""},
		{"one part at a time", 20, 15, func(d *desk) {
			d.rests(placement.Exit, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 2, ReduceOnly: true})
		}, nil, ""},
		{"too little for an order", 1, 0, cheap, nil,
			"stop_loss sell stop_market stop 3999.9 whole as dust: the target is flat; too little for an order of its own"},
		{"too little of a short one", -1, 0, cheap, nil,
			"stop_loss buy stop_market stop 4000.1 whole as dust: the target is flat; too little for an order of its own"},
		{"too little, with a stop", 1, 0, func(d *desk) { cheap(d); d.whole(placement.StopLoss, 12, exchange.Sell, "3900") }, stop,
			"take_profit sell take_profit_market stop 4000.1 whole as dust: the target is flat; too little for an order of its own"},
		{"too little of a short one, with a stop", -1, 0, func(d *desk) { cheap(d); d.whole(placement.StopLoss, 12, exchange.Buy, "4100") }, stop,
			"take_profit buy take_profit_market stop 3999.9 whole as dust: the target is flat; too little for an order of its own"},
		{"too little, with both", 1, 0, func(d *desk) {
			cheap(d)
			d.whole(placement.StopLoss, 12, exchange.Sell, "3900")
			d.whole(placement.TakeProfit, 13, exchange.Sell, "4100")
		}, stop, ""},
		{"too little, beside what is left to others", 1, 0, func(d *desk) {
			cheap(d)
			d.book.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
			d.observe(6, nil)
		}, nil, ""},
		{"too little of a part", 2, 1, cheap, nil, ""},
		{"at the smallest price", 1, 0, func(d *desk) { d.book.Symbol(bitcoin).Last = d.price("0.1") }, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := holds(t, c.held)
			d.target(c.target)
			d.derive(nil) // it is priced
			if c.with != nil {
				c.with(d)
			}
			if have := summary(d.derive(c.desired)); have != c.want {
				t.Errorf("want %q\nhave %q", c.want, have)
			}
		})
	}
}

// cheap is a price at which one unit is worth less than the smallest order, five.
func cheap(d *desk) { d.book.Symbol(bitcoin).Last = d.price("4000") }
