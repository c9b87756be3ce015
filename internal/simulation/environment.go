package simulation

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// These are the changes around botd beyond the bounds: a symbol's rules, the account's money, and other processes on the account.

// changeRules changes a symbol's rules for an episode.
func (b *beyond) changeRules(e *episode) bool {
	w := b.w
	if w.venue.drifted {
		return false
	}
	w.venue.drifted, b.rulesMS = true, e.untilMS
	symbol := w.venue.held[e.key].rules
	switch e.way % 6 {
	case 0:
		symbol.PriceTick *= 10
	case 1:
		symbol.QuantityTick *= 10
	case 2:
		symbol.MinNotional = symbol.MinNotional.Mul(20)
	case 3:
		symbol.Tradable = false
	case 4:
		symbol.ReduceOnly = symbol.Market == exchange.Futures
	case 5:
		symbol.Brackets = slices.Clone(symbol.Brackets)
		for i := range symbol.Brackets {
			symbol.Brackets[i].MaxLeverage = max(1, symbol.Brackets[i].MaxLeverage/50)
		}
	}
	w.judge.setLimits() // a quantity too small for an order is dust
	return true
}

// transfer moves money into or out of a wallet, or base asset into one.
func (b *beyond) transfer(e *episode) bool {
	x := b.w.venue.x
	amount := exchange.AmountOf(b.draw.between(50, 3_000))
	asset := "USDT"
	switch e.way % 5 {
	case 0, 1:
		amount = amount.Neg()
	case 4:
		if asset = b.w.venue.held[e.key].rules.Base; e.key.Market != exchange.Spot {
			return false
		}
		amount = b.w.venue.held[e.key].rules.QuantityAmount(b.w.portfolio.unit[e.key] * exchange.Quantity(b.draw.between(1, 20)))
	}
	err := x.Transfer(trader, e.key.Market, asset, amount)
	b.w.say("a transfer of %s %s on %s: %v", amount, asset, e.key.Market, err)
	return err == nil
}

// startSecond starts another botd of the same instance on the account: either with its own journal, in the
// same second as the first one, or with a copy of the first one's journal.
func (b *beyond) startSecond(e *episode) bool {
	w := b.w
	if len(w.processes) > 1 || !w.daemon.listens() {
		return false
	}
	b.secondMS = w.nowMS
	p := &process{number: 1, disk: newDisk()}
	copied := *w.portfolio
	copied.roles = slices.Clone(w.portfolio.roles)
	p.portfolio, p.daemon = &copied, &daemon{w: w}
	w.processes = append(w.processes, p)
	if e.way%2 == 0 {
		p.disk.records = slices.Clone(w.disk.records)
		for i := range p.disk.records {
			if sending, ok := p.disk.records[i].Body.(record.Sending); ok {
				p.disk.sending[p.disk.records[i].ClientOrderID] = sending.Order
			}
		}
	}
	if e.way%3 != 0 { // both start in the same second
		w.end("is started again, and so is a second one")
		w.put(scheduled{atMS: w.nowMS + 150, kind: happenBoot})
	}
	w.as(p, func() { w.put(scheduled{atMS: w.nowMS + 150, kind: happenBoot}) })
	return true
}

// endSecond ends the second botd permanently; its orders stay.
func (b *beyond) endSecond() {
	w := b.w
	if len(w.processes) < 2 {
		return
	}
	p := w.processes[1]
	if p.daemon.up {
		w.as(p, func() { w.end("is stopped for good") })
	}
	p.retired = true
}

// watchMS bounds the delay of the watch over the journal's files.
const watchMS = 1_000

// loseJournal unlinks the journal's files under the running process, whose open files stay usable; the next start finds none. It happens once in a run.
func (b *beyond) loseJournal(e *episode) bool {
	w := b.w
	if !w.daemon.listens() || w.disk.lostMS != 0 {
		return false
	}
	w.disk.lostMS = w.nowMS
	e.untilMS = w.nowMS + b.draw.between(0, watchMS)
	return true
}

// noticeLoss performs the watch over the journal's files.
func (b *beyond) noticeLoss() {
	if w := b.w; w.daemon.listens() && w.disk.lostMS > w.daemon.bootMS {
		w.daemon.handle(&engine.EventDisk{Reason: "the journal's files were unlinked", Lost: true})
	}
}
