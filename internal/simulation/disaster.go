package simulation

import (
	"slices"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
)

// Disasters change the account behind botd's back. botd cannot repair them; it must
// stop and declare the state.

// liquidate moves the price until the exchange liquidates a position, if the account has little enough equity.
func (w *world) liquidate() bool {
	for _, key := range w.venue.keys {
		h := w.venue.held[key]
		if key.Market != exchange.Futures || h.position == 0 {
			continue
		}
		last, _ := w.venue.x.Price(key)
		money := w.venue.x.Money(trader)
		value := h.rules.Notional(last, h.position.Abs())
		if value.IsZero() || !money.Equity().Less(value.MulRate(exchange.RateOne*9/10)) {
			continue
		}
		away := int64(money.Equity().Ratio(value)) / 100 // in millionths
		w.say("the price of %s runs until the position is liquidated", key)
		if h.position > 0 {
			away = -away
		}
		w.walk(key, away)
		return w.venue.held[key].position == 0
	}
	return false
}

// foreignID is a client order id that another botd under our prefix would use.
const foreignID = "b" + instance + "-zzzzzz-1"

// secondBot places an order as another botd of the same instance on the same account would: under botd's prefix, but unknown to the journal.
func (w *world) secondBot() bool {
	if w.venue.foreign {
		return false
	}
	key := w.venue.keys[w.people.below(int64(len(w.venue.keys)))]
	h := w.venue.held[key]
	last, _ := w.venue.x.Price(key)
	order := exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: exchange.Buy, Type: exchange.Limit, Quantity: w.portfolio.unit[key] * 2,
		Price: h.rules.FloorPrice(last / 10 * 8), ClientOrderID: foreignID}
	if key.Market == exchange.Futures && h.position < 0 {
		order.Side, order.Price = exchange.Sell, h.rules.FloorPrice(last/10*12)
	}
	_, err := w.venue.x.Do(trader, &exchange.Request{Operation: exchange.FuturesPlace.On(key.Market), Symbol: key.Name, Order: order})
	w.say("a second botd places %s: %s", orderText(h.rules, &order), outcome(exchange.Answer{}, err))
	if err != nil {
		return false
	}
	w.venue.foreign = true
	h.touch(w.nowMS, order.Quantity)
	return true
}

// restoreBackup ends the process and restarts it with an old copy of the journal, or with an empty one.
func (w *world) restoreBackup() bool {
	if !w.daemon.up || len(w.disk.records) == 0 || w.nowMS-w.daemon.bootMS < 1_000 { // restoring takes longer than a second, the resolution of an epoch
		return false
	}
	if slices.ContainsFunc(w.portfolio.roles, func(r role) bool { return r.absent }) {
		return false // only the first start that trades a symbol can find its forgotten orders and fills
	}
	w.end("dies with its disk")
	restored := w.people.below(int64(len(w.disk.records)))
	if w.people.chance(0.3) {
		restored = 0
	}
	w.say("a backup with %d of %d records is restored", restored, len(w.disk.records))
	w.disk.records = w.disk.records[:restored]
	w.inspector.story = newStory()
	for i := range w.disk.records {
		w.inspector.story.add(&w.disk.records[i])
	}
	for _, key := range w.venue.keys {
		h := w.venue.held[key]
		lost := w.venue.forget(w, key) // unknown to botd until they arrive
		if w.foreign == reconcile.ForeignIgnore {
			lost += h.position.Abs() + w.venue.resting(key) // forgotten fills count as foreign, and botd trades alongside them
		}
		h.touch(w.nowMS, lost)
	}
	return true
}

// poorAccount returns an account with little more than the margin its strategies need.
func (c *portfolio) poorAccount(v *venue) sim.AccountConfig {
	config := sim.DefaultAccount(trader)
	var need exchange.Amount
	for i := range c.roles {
		if r := &c.roles[i]; r.key.Market == exchange.Futures {
			last, _ := v.x.Price(r.key)
			need = need.Add(v.held[r.key].rules.Notional(last, r.most).Div(leverage))
		}
	}
	if !need.IsZero() {
		config.FuturesUSDT = need.MulRate(exchange.RateOne * 12 / 10)
	}
	return config
}
