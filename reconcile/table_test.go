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

// summary writes intents on one line: order and reason.
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

// holds returns a desk with a settled position of a quantity, on either side, that fills explain.
func holds(t testing.TB, quantity exchange.Quantity) *desk {
	d := newDesk(t)
	d.target(quantity)
	d.observe(0, nil)
	d.adopt(quantity)
	return d
}

func (d *desk) adopt(quantity exchange.Quantity) {
	d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: quantity}})
	d.observe(d.tracker.Symbol(bitcoin).Known(), nil)
}

// rests sends an order that the exchange accepts under that id, and returns its client order id.
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

func (d *desk) canceled(id string) { d.tracker.NoteCancel(id, d.now) }

// The cases list the intents for a futures position, with the given stop or profit.
func TestFuturesTargetIntents(t *testing.T) {
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
		{"to more, where nothing may open", 20, 25, nil, func(w *Desired) { w.MayOpen = false }, ""},
		{"to a part, where nothing may open", 20, 15, nil, func(w *Desired) { w.MayOpen = false }, fmt.Sprintf(smaller, 5)},
		{"the whole, with an exit resting", 20, 0, func(d *desk) { d.resting(12, 5) }, nil, "cancel 12: makes room for the exit"},
		{"the whole, with one that cannot be canceled", 20, 0, func(d *desk) { d.resting(12, 5); d.tracker.Symbol(bitcoin).rules.Cancelable = false }, nil,
			"cancel 12: makes room for the exit; " + fmt.Sprintf(flat, 20)},
		{"a part that resting exits leave room for", 20, 15, func(d *desk) { d.resting(12, 15) }, nil, fmt.Sprintf(smaller,
			5) + "; cancel 12: no longer desired"},
		{"a part that they leave no room for", 20, 15, func(d *desk) { d.resting(12, 16) }, nil, "cancel 12: makes room for the exit"},
		{"a part that they leave no room for, and no order can sell", 20, 12, func(d *desk) {
			d.resting(12, 16)
			d.tracker.Symbol(bitcoin).rules.QuantityTick = 10
		}, nil, "cancel 12: no longer desired"},
		{"the kill switch, just canceled", 20, 0, func(d *desk) { d.canceled(d.resting(12, 5)); d.now += RepeatMS - 1 },
			func(w *Desired) { w.Flatten = true }, ""},
		{"the kill switch, canceled two seconds ago", 20, 0, func(d *desk) { d.canceled(d.resting(12, 5)); d.now += RepeatMS },
			func(w *Desired) { w.Flatten = true }, "cancel 12: makes room for the exit; " + fmt.Sprintf(flat, 20)},
		{"a plan's exit, canceled two seconds ago", 20, 0, func(d *desk) { d.canceled(d.resting(12, 5)); d.now += RepeatMS }, nil,
			"cancel 12: makes room for the exit"},
		{"a stop of the whole position stays", 20, 0, func(d *desk) { d.whole(placement.StopLoss, 12, exchange.Sell, "49000") }, stop, fmt.Sprintf(flat, 20)},
		{"one exit at a time", 20, 0, func(d *desk) {
			d.rests(placement.Exit, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 5, ReduceOnly: true})
		}, nil, ""},
		{"one part at a time", 20, 15, func(d *desk) {
			d.rests(placement.Exit, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 2, ReduceOnly: true})
		}, nil, ""},
		{"too little for an order", 1, 0, cheap, nil,
			"stop_loss sell stop_market stop 3999.9 whole as dust: the target is flat; too small for an order of its own"},
		{"too little of a short one", -1, 0, cheap, nil,
			"stop_loss buy stop_market stop 4000.1 whole as dust: the target is flat; too small for an order of its own"},
		{"too little, with a stop", 1, 0, func(d *desk) { cheap(d); d.whole(placement.StopLoss, 12, exchange.Sell, "3900") }, stop,
			"take_profit sell take_profit_market stop 4000.1 whole as dust: the target is flat; too small for an order of its own"},
		{"too little of a short one, with a stop", -1, 0, func(d *desk) { cheap(d); d.whole(placement.StopLoss, 12, exchange.Buy, "4100") }, stop,
			"take_profit buy take_profit_market stop 3999.9 whole as dust: the target is flat; too small for an order of its own"},
		{"too little, with both", 1, 0, func(d *desk) {
			cheap(d)
			d.whole(placement.StopLoss, 12, exchange.Sell, "3900")
			d.whole(placement.TakeProfit, 13, exchange.Sell, "4100")
		}, stop, ""},
		{"too little, beside what is left to others", 1, 0, func(d *desk) {
			cheap(d)
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
			d.observe(6, nil)
		}, nil, ""},
		{"too little of a part", 2, 1, cheap, nil, ""},
		{"too little, a moment after", 1, 0, func(d *desk) { cheap(d); d.dust(12); d.now += int64(exchange.Minute1) - 1 }, nil, ""},
		{"too little, a minute after", 1, 0, func(d *desk) { cheap(d); d.dust(12); d.now += int64(exchange.Minute1) }, nil,
			"take_profit sell take_profit_market stop 4000.1 whole as dust: the target is flat; too small for an order of its own"},
		{"one unit to two", 1, 2, nil, nil, "entry buy market 1"},
		{"to one less", 20, 19, nil, nil, fmt.Sprintf(smaller, 1)},
		{"to one more", 20, 21, nil, nil, "entry buy market 1"},
		{"for the plan's reason", 20, 0, func(d *desk) { d.want(&strategy.Plan{Target: strategy.Flat(), Reason: "it crossed"}) }, nil,
			fmt.Sprintf(flat, 20) + ": it crossed"},
		{"beside an entry of a part", 20, 25, func(d *desk) {
			entry := d.rests(placement.Entry, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 3})
			d.observe(20, nil, d.order(entry, 12, exchange.StatusOpen, 3, 0))
		}, nil, ""},
		{"the leverage first", 0, 20, func(d *desk) { d.tracker.Symbol(bitcoin).leverage = 5 }, nil, "leverage 10: the desired leverage"},
		{"the leverage, beside an order that goes", 0, 20, func(d *desk) {
			d.tracker.Symbol(bitcoin).leverage = 5
			bid := d.rests(placement.Order, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 3})
			d.observe(0, nil, d.order(bid, 12, exchange.StatusOpen, 3, 0))
		}, nil, "leverage 10: the desired leverage; cancel 12: no longer desired"},
		{"to a part, latched", 20, 15, latches, nil, fmt.Sprintf(smaller, 5)},
		{"to more, latched", 20, 25, latches, nil, ""},
		{"to another part, latched: it has no price", 20, 15, func(d *desk) { latches(d); d.target(14) }, nil, ""},
		{"a step that has grown sells nothing", 30, 24, func(d *desk) { d.tracker.Symbol(bitcoin).rules.QuantityTick = 10; d.target(25) }, nil, ""},
		{"to less than a step's worth, where the whole is too little for an order", 1, 1, func(d *desk) {
			cheap(d)
			d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(1)}})
		}, nil, "stop_loss sell stop_market stop 3999.9 whole as dust: the target is smaller; too small for an order of its own"},
		{"an entry on its way buys too much: an exit that waits for a refusal's pause keeps no resting one away", 20, 20, func(d *desk) {
			entry := d.rests(placement.Entry, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 5})
			d.observe(20, nil, d.order(entry, 12, exchange.StatusOpen, 5, 0))
			d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}, ExitsSet: true,
				Exits: []strategy.DesiredOrder{{Key: "high", Side: exchange.Sell, Price: d.price("60000"), Quantity: 5}}})
		}, func(w *Desired) { w.ExitFromMS = 1 << 60 }, "exit_order sell limit 5 at 60000 reduceOnly as high"},
		{"to less than a step's worth", 20, 24, func(d *desk) {
			d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(1)}})
		}, nil, fmt.Sprintf(smaller, 20)},
		{"a stop of a part is in the way", 20, 0, func(d *desk) { d.part(12, 20, "49000") }, stop,
			"cancel 12: makes room for the exit; stop_loss sell stop_market stop 49000 whole: protects the position"},
		{"the whole is being sold in place of a stop", 20, 0, func(d *desk) {
			d.rests(placement.StopLoss, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 20, ReduceOnly: true})
		}, stop, ""},
		{"to a part, which others' leaves room for", 20, 15, func(d *desk) { d.others(5); d.part(12, 20, "49000") }, stop, fmt.Sprintf(smaller, 5)},
		{"to a part, which others' leaves no room for", 20, 10, func(d *desk) { d.others(5); d.part(12, 20, "49000") }, stop,
			"cancel 12: makes room for the exit"},
		{"to a part, which others' leaves no room for, and no order can sell", 20, 12, func(d *desk) {
			d.others(5)
			d.part(12, 20, "49000")
			d.tracker.Symbol(bitcoin).rules.QuantityTick = 10
		}, stop, ""},
		{"a tick above the smallest price", 1, 0, func(d *desk) { d.tracker.Symbol(bitcoin).rules.PriceTick, d.tracker.Symbol(bitcoin).last = 1, 2 }, nil,
			"stop_loss sell stop_market stop 1e-08 whole as dust: the target is flat; too small for an order of its own"},
		{"without a price, and not at its leverage", 0, 20, func(d *desk) {
			symbol := d.tracker.Symbol(bitcoin)
			symbol.last, symbol.leverage = 0, 5
		}, nil, ""},
		{"without a price", 20, 0, func(d *desk) { d.tracker.Symbol(bitcoin).last = 0 }, nil, ""},
		{"to a part, some of which is protected", 20, 10, func(d *desk) { d.others(1); d.part(12, 12, "49000") }, stop,
			"cancel 12: makes room for the exit"},
		{"a second order under one id protects nothing", 20, 20, func(d *desk) {
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket,
				StopPrice: d.price("49000"), ClosePosition: true}
			d.tracker.Apply(&record.Record{AtMS: d.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: "x#13",
				Body: record.Found{OrderID: 13, Order: order, Purpose: placement.StopLoss, Duplicate: true}})
		}, stop, "cancel 13: a second order under one client order id; stop_loss sell stop_market stop 49000 whole: protects the position"},
		{"at the smallest price", 1, 0, func(d *desk) { d.tracker.Symbol(bitcoin).last = d.price("0.1") }, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := holds(t, c.held)
			d.target(c.target)
			d.derive(nil) // the target is priced
			if c.with != nil {
				c.with(d)
			}
			if have := summary(d.derive(c.desired)); have != c.want {
				t.Errorf("want %q\nhave %q", c.want, have)
			}
		})
	}
}

// latches ends a long position by something other than the plan.
func latches(d *desk) { d.tracker.Apply(&record.Record{Strategy: "one", Body: record.Latch{Side: 1}}) }

// dust is a stop next to the price that closes a remainder too small for an order.
func (d *desk) dust(orderID int64) {
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: d.price("3999.9"),
		ClosePosition: true}
	d.acknowledge(d.send(Intent{Purpose: placement.StopLoss, Key: dustKey, Order: order}), orderID)
}

// A target is priced when its first order is due.
func TestATargetHasNoPriceBeforeItsLeverageIsSet(t *testing.T) {
	t.Parallel()
	d := holds(t, 0)
	target := strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(1_000)}
	d.want(&strategy.Plan{Target: target})
	d.tracker.Symbol(bitcoin).leverage = 5
	d.one(placement.Leverage, nil)
	if _, priced := d.tracker.Strategy("one").Priced(target); priced {
		t.Error("want no price yet")
	}
	d.tracker.Symbol(bitcoin).leverage = 10
	d.tracker.Symbol(bitcoin).last = d.price("25000")
	if entry := d.one(placement.Entry, nil); entry.Order.Quantity != 40 || entry.Strategy != "one" || entry.Last != d.price("25000") || entry.Before != 0 {
		t.Errorf("want 40 bought at the price of then, have %+v", entry)
	}
}

// cheap is a price at which one unit is worth less than the smallest order, five.
func cheap(d *desk) { d.tracker.Symbol(bitcoin).last = d.price("4000") }
