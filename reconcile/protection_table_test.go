package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// others leaves part of the position to others.
func (d *desk) others(quantity exchange.Quantity) {
	d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: quantity}})
	d.observe(d.tracker.Symbol(bitcoin).Known()+quantity, nil)
}

// part is a reduceOnly stop of a quantity.
func (d *desk) part(orderID int64, quantity exchange.Quantity, price string) string {
	return d.rests(placement.StopLoss, orderID,
		exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: d.price(price), Quantity: quantity, ReduceOnly: true})
}

func (d *desk) last(price string) { d.tracker.Symbol(bitcoin).last = d.price(price) }

// The position was opened at 50,000, with a stop 2 % and a profit 4 % away, a minute apart.
func TestFuturesProtection(t *testing.T) {
	t.Parallel()
	const (
		stop, profit = "stop_loss sell stop_market stop 49000 whole: protects the position",
			"take_profit sell take_profit_market stop 52000 whole: takes the profit"
		passed        = "stop_loss sell market 20 reduceOnly: the price has already passed the stop"
		moves, bridge = "cancel 12: the protection moves", "stop_loss sell stop_market 20 stop 49000 reduceOnly as bridge: protects while the stop moves"
		part          = "stop_loss sell stop_market 20 stop 49000 reduceOnly as bridge: protects botd's part of the position"
		partProfit    = "take_profit sell take_profit_market 20 stop 52000 reduceOnly as bridge: takes the profit of botd's part of the position"
		minute        = int64(exchange.Minute1)
	)
	type desire = func(*Desired)
	only := func(stop, profit exchange.Rate) desire {
		return func(w *Desired) {
			w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: stop}, TakeProfit: strategy.Distance{Share: profit}}
		}
	}
	between := strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 47_000_15e6}, TakeProfit: strategy.Distance{Price: 53_000_15e6}}
	bridged := func(w *Desired) { only(2_000_000, 0)(w); w.Bridge = true }
	stands := func(price string, later int64) func(d *desk) {
		return func(d *desk) { d.whole(placement.StopLoss, 12, exchange.Sell, price); d.now += later }
	}
	takes := func(price string, later int64) func(d *desk) {
		return func(d *desk) { d.whole(placement.TakeProfit, 12, exchange.Sell, price); d.now += later }
	}
	quarantined := func(d *desk) {
		d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Quarantined{Reason: "a test"}})
	}
	for _, c := range []struct {
		name    string
		held    exchange.Quantity
		with    func(d *desk)
		desired desire
		want    string
	}{
		{"both of a long one", 20, nil, only(2_000_000, 4_000_000), stop + "; " + profit},
		{"both of a short one", -20, nil, only(2_000_000, 4_000_000), "stop_loss buy stop_market stop 51000 whole: protects the position; " +
			"take_profit buy take_profit_market stop 48000 whole: takes the profit"},
		{"at a price", 20, nil, func(w *Desired) {
			w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 47_000e8}}
		},
			"stop_loss sell stop_market stop 47000 whole: protects the position"},
		{"at a price between two ticks", 20, nil, func(w *Desired) { w.Protection = between },
			"stop_loss sell stop_market stop 47000.1 whole: protects the position; " +
				"take_profit sell take_profit_market stop 53000.2 whole: takes the profit"},
		{"a short one's at a price between two ticks", -20, nil, func(w *Desired) {
			w.Protection = strategy.Protection{Set: true, StopLoss: between.TakeProfit, TakeProfit: between.StopLoss}
		}, "stop_loss buy stop_market stop 53000.2 whole: protects the position; " +
			"take_profit buy take_profit_market stop 47000.1 whole: takes the profit"},
		{"none is wanted", 20, stands("49000", 0), func(w *Desired) { w.Protection = strategy.Protection{Set: true} }, "cancel 12: no longer desired"},
		{"no stop is desired", 20, stands("49000", 0), func(w *Desired) { w.Protection.StopLoss.Share = 1 }, "cancel 12: no longer desired"},
		{"no profit is wanted", 20, takes("52000", 0), func(w *Desired) { w.Protection = strategy.Protection{Set: true} }, "cancel 12: no longer desired"},
		{"it stands", 20, stands("49000", minute), bridged, ""},
		{"its price is the last", 20, func(d *desk) { d.last("49000") }, only(2_000_000, 0), passed},
		{"its price is a tick away", 20, func(d *desk) { d.last("49000.1") }, only(2_000_000, 0), stop},
		{"a short one's is the last", -20, func(d *desk) { d.last("51000") }, only(2_000_000, 0),
			"stop_loss buy market 20 reduceOnly: the price has already passed the stop"},
		{"another stands at a price that was not passed", 20, func(d *desk) { stands("48000", 0)(d); d.last("48500") }, only(2_000_000, 0), passed},
		{"it stands, and its price was passed", 20, func(d *desk) { stands("49000", 0)(d); d.last("48000") }, only(2_000_000, 0), ""},
		{"a profit's price is the last", 20, func(d *desk) { d.last("52000") }, only(0, 4_000_000), ""},
		{"a profit's price is a tick away", 20, func(d *desk) { d.last("51999.9") }, only(0, 4_000_000), profit},
		{"it moves by a bridge", 20, stands("48000", minute), bridged, bridge},
		{"it moves without", 20, stands("48000", minute), only(2_000_000, 0), moves},
		{"it has moved within the minute", 20, stands("48000", minute-1), bridged, ""},
		{"it would move while nothing is traded", 20, func(d *desk) { stands("48000", minute)(d); d.tracker.Symbol(bitcoin).rules.Tradable = false },
			bridged, ""},
		{"the bridge stands", 20, func(d *desk) { stands("48000", minute)(d); d.part(13, 20, "49000") }, bridged, moves},
		{"the bridge is of less", 20, func(d *desk) { stands("48000", minute)(d); d.part(13, 19, "49000") }, bridged,
			"cancel 13: it no longer covers the whole position"},
		{"it has moved", 20, func(d *desk) { stands("49000", minute)(d); d.part(13, 20, "49000") }, bridged, "cancel 13: the stop rests at its new price"},
		{"an exit takes the room of a bridge", 20, func(d *desk) { stands("48000", minute)(d); d.resting(13, 1) }, bridged,
			"cancel 13: no longer desired; " + moves},
		{"an exit is due: none moves", 20, func(d *desk) { stands("48000", minute)(d); d.target(-20) }, bridged,
			"exit sell market 20 reduceOnly: the target changed side: first flat, then the other side"},
		{"a profit moves", 20, takes("53000", minute), only(0, 4_000_000), moves},
		{"a profit has moved within the minute", 20, takes("53000", minute-1), only(0, 4_000_000), ""},
		{"a profit stands", 20, takes("52000", minute), only(0, 4_000_000), ""},
		{"nothing is held", 0, stands("49000", 0), only(2_000_000, 0), "cancel 12: there is no position to protect"},
		{"nothing is held, and a profit stands", 0, takes("52000", 0), only(2_000_000, 0), "cancel 12: there is no position to protect"},
		{"others hold part of it", 20, func(d *desk) { d.others(10) }, only(2_000_000, 4_000_000), part},
		{"others hold more", 20, func(d *desk) { d.others(20) }, only(2_000_000, 4_000_000), part + "; " + partProfit},
		{"others hold part of it, at a price that was passed", 20, func(d *desk) { d.others(10); d.last("48000") }, only(2_000_000, 0), passed},
		{"others hold part, and it is protected", 20, func(d *desk) { d.others(10); d.part(12, 20, "49000") }, only(2_000_000, 0), ""},
		{"others hold part, and some is protected", 20, func(d *desk) { d.others(10); d.part(12, 12, "49000") }, only(2_000_000, 0),
			"stop_loss sell stop_market 8 stop 49000 reduceOnly as bridge: protects botd's part of the position"},
		{"others hold part, and more than botd's is protected", 20, func(d *desk) { d.others(10); d.part(12, 21, "49000") }, only(2_000_000, 0),
			"cancel 12: its quantity exceeds botd's part of the position"},
		{"others hold part, and its stop moves", 20, func(d *desk) { d.others(10); d.part(12, 20, "48000"); d.now += minute }, only(2_000_000, 0), moves},
		{"others hold part, and one of the whole stands", 20, func(d *desk) { d.others(10); stands("49000", 0)(d) }, only(2_000_000, 0), part},
		{"others hold part, and both stand", 20, func(d *desk) { d.others(10); d.part(13, 20, "49000"); stands("49000", 0)(d) }, only(2_000_000, 0),
			"cancel 12: it would also close the part that others hold"},
		{"others hold part, and a profit takes the room of the stop", 20, func(d *desk) {
			d.others(10)
			d.rests(placement.TakeProfit, 12,
				exchange.NewOrder{Side: exchange.Sell, Type: exchange.TakeProfitMarket, StopPrice: d.price("52000"), Quantity: 20, ReduceOnly: true})
		}, only(2_000_000, 4_000_000), "cancel 12: makes room for the stop; " +
			"stop_loss sell stop_market 10 stop 49000 reduceOnly as bridge: protects botd's part of the position"},
		{"a foreign stop closes all", 20, func(d *desk) {
			d.observe(20, nil, exchange.Order{ID: 99, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket,
				ClosePosition: true, Status: exchange.StatusOpen})
		}, only(2_000_000, 4_000_000), part + "; " + profit},
		{"a foreign profit closes all", 20, func(d *desk) {
			d.observe(20, nil, exchange.Order{ID: 99, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.TakeProfitMarket,
				ClosePosition: true, Status: exchange.StatusOpen})
		}, only(0, 4_000_000), partProfit},
		{"in quarantine another stands", 20, func(d *desk) { quarantined(d); stands("48000", minute)(d) }, bridged, ""},
		{"in quarantine none stands", 20, quarantined, only(2_000_000, 4_000_000), stop + "; " + profit},
		{"in quarantine a profit stands", 20, func(d *desk) { quarantined(d); takes("53000", minute)(d) }, only(0, 4_000_000), ""},
		{"in quarantine nothing is held", 0, func(d *desk) { quarantined(d); stands("49000", 0)(d) }, only(2_000_000, 0), ""},
		{"nothing explains it", 0, func(d *desk) { quarantined(d); d.observe(20, nil) }, only(2_000_000, 0),
			"stop_loss sell stop_market stop 49000 whole: protects an unexplained position"},
		{"nothing explains it, and it was opened far from here", 0, func(d *desk) { quarantined(d); d.observe(20, nil); d.last("48000") }, only(2_000_000, 0),
			"stop_loss sell stop_market stop 47000 whole: protects an unexplained position"},
		{"nothing explains it, and it is protected", 0, func(d *desk) { quarantined(d); stands("49000", 0)(d); d.observe(20, nil) }, only(2_000_000, 0), ""},
		{"one unit", 1, nil, only(2_000_000, 4_000_000), stop + "; " + profit},
		{"one unit, and its stop stands", 1, stands("49000", 0), only(2_000_000, 0), ""},
		{"one unit, and an old list shows a short one's stop", 1, func(d *desk) { d.whole(placement.StopLoss, 12, exchange.Buy, "51000") }, only(2_000_000, 0),
			"cancel 12: it protects a position on the other side; " + stop},
		{"one unit of a short one", -1, nil, only(2_000_000, 0), "stop_loss buy stop_market stop 51000 whole: protects the position"},
		{"a stop at the least price", 20, func(d *desk) { d.tracker.Symbol(bitcoin).rules.PriceTick = 1 }, func(w *Desired) {
			w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 1}}
		}, "stop_loss sell stop_market stop 1e-08 whole: protects the position"},
		{"a profit at the least price", -20, func(d *desk) { d.tracker.Symbol(bitcoin).rules.PriceTick = 1 }, func(w *Desired) {
			w.Protection = strategy.Protection{Set: true, TakeProfit: strategy.Distance{Price: 1}}
		}, "take_profit buy take_profit_market stop 1e-08 whole: takes the profit"},
		{"others hold more, and a profit at the least price", -20, func(d *desk) { d.tracker.Symbol(bitcoin).rules.PriceTick = 1; d.others(-20) },
			func(w *Desired) {
				w.Protection = strategy.Protection{Set: true, TakeProfit: strategy.Distance{Price: 1}}
			},
			"take_profit buy take_profit_market 20 stop 1e-08 reduceOnly as bridge: takes the profit of botd's part of the position"},
		{"nothing explains it, and its stop is at the least price", 0, func(d *desk) {
			quarantined(d)
			d.observe(20, nil)
			d.tracker.Symbol(bitcoin).rules.PriceTick = 1
		}, func(w *Desired) { w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 1}} },
			"stop_loss sell stop_market stop 1e-08 whole: protects an unexplained position"},
		{"one unit that was shown beside others a moment ago", 1, func(d *desk) {
			d.tracker.Symbol(bitcoin).unexplainedMS = d.tracker.readBeganMS
		}, only(2_000_000, 0),
			stop},
		{"the list is not trusted, and a profit of others takes the place of its own", 20, func(d *desk) {
			symbol := d.tracker.Symbol(bitcoin)
			symbol.position, symbol.futuresEvidence.untrusted = 0, true
			symbol.foreign = []exchange.Order{{ID: 99, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.TakeProfitMarket,
				ClosePosition: true, Status: exchange.StatusOpen}}
		}, only(2_000_000, 4_000_000), stop},
		{"the same, and its stop stands", 20, func(d *desk) {
			stands("49000", 0)(d)
			symbol := d.tracker.Symbol(bitcoin)
			symbol.position, symbol.futuresEvidence.untrusted = 0, true
			symbol.foreign = []exchange.Order{{ID: 99, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.TakeProfitMarket,
				ClosePosition: true, Status: exchange.StatusOpen}}
		}, only(2_000_000, 4_000_000), partProfit},
		{"a stop at no price", 20, nil, only(exchange.RateOne, 0), ""},
		{"a profit at no price", -20, nil, only(0, exchange.RateOne), ""},
		{"an uncertain one would move", 20, func(d *desk) {
			id := d.whole(placement.StopLoss, 12, exchange.Sell, "48000")
			d.now += minute
			d.uncertain(id)
		}, bridged, ""},
		{"an uncertain one is beside the one that moves", 20, func(d *desk) {
			stands("48000", minute)(d)
			d.uncertain(d.whole(placement.StopLoss, 13, exchange.Sell, "49000"))
		}, only(2_000_000, 0), moves},
		{"of two the newer one moves", 20, func(d *desk) {
			stands("49000", 0)(d)
			d.whole(placement.StopLoss, 13, exchange.Sell, "48000")
			d.now += minute
		}, only(2_000_000, 0), "cancel 13: the protection moves"},
		{"the one that stands counts before an older uncertain one", 20, func(d *desk) {
			d.uncertain(d.whole(placement.StopLoss, 13, exchange.Sell, "49000"))
			d.now += 1_000
			stands("48000", 0)(d)
			d.now += minute
			d.uncertain(d.tracker.LiveAt(0).ClientOrderID())
		}, only(2_000_000, 0), moves},
		{"it is being sold, since its price was passed", 20, func(d *desk) {
			d.rests(placement.StopLoss, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 20, ReduceOnly: true})
			d.last("48000")
		}, only(2_000_000, 0), ""},
		{"its price was passed while an exit is under way", 20, func(d *desk) {
			d.rests(placement.Exit, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 5, ReduceOnly: true})
			d.last("48000")
		}, only(2_000_000, 0), ""},
		{"its price was passed while an exit is lost", 20, func(d *desk) {
			d.uncertain(d.rests(placement.Exit, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 5, ReduceOnly: true}))
			d.last("48000")
			d.now += 2_000
		}, only(2_000_000, 0), passed},
		{"its price was passed while an entry is under way", 20, func(d *desk) {
			d.rests(placement.Entry, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 5})
			d.last("48000")
		}, only(2_000_000, 0), passed},
		{"a profit of a part is left beside that of the whole", 20, func(d *desk) {
			takes("52000", 0)(d)
			d.rests(placement.TakeProfit, 13,
				exchange.NewOrder{Side: exchange.Sell, Type: exchange.TakeProfitMarket, StopPrice: d.price("52000"), Quantity: 20, ReduceOnly: true})
		}, only(0, 4_000_000), "cancel 13: the order for the whole position stands"},
		{"to a part, while a bridge stands", 20, func(d *desk) {
			d.target(15)
			d.derive(nil)
			stands("48000", minute)(d)
			d.part(13, 20, "49000")
		}, bridged, moves},
		{"its end is witnessed, and not booked yet", 20, func(d *desk) {
			stands("49000", 0)(d)
			d.observeClosed(0, 7, d.stopOpen(12))
		}, only(2_000_000, 0), ""},
		{"others hold part, and its stop was passed", 20, func(d *desk) { d.others(10); d.part(12, 20, "49000"); d.last("48000") }, only(2_000_000, 0), ""},
		{"others hold part, and its stop at another price", 20, func(d *desk) { d.others(10); d.part(12, 20, "47000"); d.last("48000") }, only(2_000_000, 0),
			"cancel 12: makes room for the exit"},
		{"others hold part, and its stop was passed and lost", 20, func(d *desk) {
			d.others(10)
			d.uncertain(d.part(12, 20, "49000"))
			d.last("48000")
			d.now += 2_000
		}, only(2_000_000, 0), "cancel 12: makes room for the exit; " + passed},
		{"others hold more, and stop and profit stand", 20, func(d *desk) {
			d.others(20)
			d.part(12, 20, "49000")
			d.rests(placement.TakeProfit, 13,
				exchange.NewOrder{Side: exchange.Sell, Type: exchange.TakeProfitMarket, StopPrice: d.price("52000"), Quantity: 20, ReduceOnly: true})
			d.now += minute
		}, only(2_000_000, 4_000_000), ""},
		{"others hold part, and all but one is protected", 20, func(d *desk) { d.others(10); d.part(12, 19, "49000") }, only(2_000_000, 0),
			"stop_loss sell stop_market 1 stop 49000 reduceOnly as bridge: protects botd's part of the position"},
		{"others hold one, and a stop of the whole is left", 20, func(d *desk) { d.others(1); d.part(13, 20, "49000"); stands("49000", 0)(d) },
			only(2_000_000, 0), "cancel 12: it would also close the part that others hold"},
		{"others hold more, and a profit leaves room for the stop", 20, func(d *desk) {
			d.others(20)
			d.rests(placement.TakeProfit, 12,
				exchange.NewOrder{Side: exchange.Sell, Type: exchange.TakeProfitMarket, StopPrice: d.price("52000"), Quantity: 20, ReduceOnly: true})
		}, only(2_000_000, 4_000_000), part},
		{"others hold part, and there is room for a crumb of the profit", 20, func(d *desk) {
			d.others(10)
			d.part(12, 20, "49000")
			d.rests(placement.TakeProfit, 13,
				exchange.NewOrder{Side: exchange.Sell, Type: exchange.TakeProfitMarket, StopPrice: d.price("52000"), Quantity: 5, ReduceOnly: true})
		}, only(2_000_000, 4_000_000), ""},
		{"others hold more, and the profit's price was passed", 20, func(d *desk) { d.others(20); d.part(12, 20, "49000"); d.last("52000") },
			only(2_000_000, 4_000_000), ""},
		{"others hold more, and the profit is at no price", -20, func(d *desk) { d.others(-20) }, only(0, exchange.RateOne), ""},
		{"others hold some, and an entry is under way", -20, func(d *desk) {
			d.others(-3)
			d.rests(placement.Entry, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 5})
		}, only(2_000_000, 0), "stop_loss buy stop_market 20 stop 51000 reduceOnly as bridge: protects botd's part of the position"},
		{"nothing explains it, and nothing but exits goes", 0, func(d *desk) { quarantined(d); d.observe(20, nil) }, func(w *Desired) {
			only(2_000_000, 0)(w)
			w.ExitsOnly = true
		}, ""},
		{"nothing explains it, and no stop is wanted", 0, func(d *desk) { quarantined(d); d.observe(20, nil) }, only(0, 4_000_000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := holds(t, c.held)
			d.derive(nil)
			if c.with != nil {
				c.with(d)
			}
			if have := summary(d.derive(c.desired)); have != c.want {
				t.Errorf("want %q\nhave %q", c.want, have)
			}
		})
	}
}
