package simulation

import (
	"slices"
	"time"

	"botd/exchange"
	"botd/runtime/engine"
	"botd/runtime/reload"
)

// These are the file system faults beyond the bounds: files of strategies are absent for a moment, and the
// journal is cut, or replaced by an older copy, under the running process.

const (
	pollFilesMS = 2_000  // botd's own interval
	awayMS      = 30_000 // minimum absence of a file before its strategy is removed
)

// vanish removes the files of one strategy or of all.
func (b *beyond) vanish(e *episode) bool {
	w := b.w
	if !w.daemon.listens() || slices.ContainsFunc(w.portfolio.roles, func(r role) bool { return r.absent }) {
		return false
	}
	b.absences, b.absencesOf = &reload.Absences{}, w.daemon.life
	w.put(scheduled{atMS: w.nowMS, kind: happenPoll, episode: e})
	return true
}

// pollFiles performs botd's poll every two seconds: it removes strategies whose files stayed away.
func (b *beyond) pollFiles(e *episode) {
	w, d := b.w, b.w.daemon
	if w.nowMS >= e.untilMS {
		return
	}
	w.put(scheduled{atMS: w.nowMS + pollFilesMS, kind: happenPoll, episode: e})
	if !d.listens() {
		return
	}
	if b.absencesOf != d.life { // a start resets the count
		b.absences, b.absencesOf = &reload.Absences{}, d.life
	}
	var missing []string
	for i := range w.portfolio.roles {
		if r := &w.portfolio.roles[i]; !r.absent && (e.way%3 == 0 || r.key == e.key) {
			missing = append(missing, r.name)
		}
	}
	if len(missing) == 0 || b.absences.Poll(time.UnixMilli(w.nowMS), missing, len(missing) < len(w.portfolio.roles)) != reload.Ripe {
		return
	}
	if w.nowMS-e.beganMS < awayMS {
		w.judge.fail(e.key, "removed_early", "files were absent for less than 30 s")
	}
	change := &engine.Reload{Removed: missing}
	if d.handle(&engine.EventReload{Reload: change}); len(change.Refused) > 0 {
		return
	}
	w.say("%v stayed away, and are removed", missing)
	for _, name := range missing {
		w.portfolio.role(name).absent = true
	}
}

// reappear restores the files.
func (b *beyond) reappear() {
	if w := b.w; slices.ContainsFunc(w.portfolio.roles, func(r role) bool { return r.absent }) {
		w.put(scheduled{atMS: w.nowMS, kind: happenRelease, fault: Remove})
	}
}

// cutJournal truncates the journal under the running process, or replaces it by an older copy: the next start
// finds the records up to some point before the end.
func (b *beyond) cutJournal(e *episode) bool {
	if !b.loseJournal(e) {
		return false
	}
	b.w.disk.left = int(b.draw.below(int64(len(b.w.disk.records) + 1)))
	return true
}

// liquidation is a position that the exchange has liquidated.
type liquidation struct {
	key        exchange.SymbolKey
	positionID int64
}

// liquidate withdraws the account's free money, moves the price until a position is liquidated, and returns the money.
func (b *beyond) liquidate() bool {
	w := b.w
	answer, err := w.venue.x.Do(trader, &exchange.Request{Operation: exchange.FuturesAccount})
	if err != nil {
		return false
	}
	out := answer.Account.AvailableBalance.MulRate(exchange.RateOne * 95 / 100)
	if out.Sign() <= 0 || w.venue.x.Transfer(trader, exchange.Futures, "USDT", out.Neg()) != nil {
		return false
	}
	found := false
	for tries := 0; !found && tries < 3; tries++ { // the mark follows the price
		found = w.liquidate()
	}
	if err := w.venue.x.Transfer(trader, exchange.Futures, "USDT", out); err != nil {
		w.say("the money does not come back: %v", err)
	}
	if !found {
		return false
	}
	for _, key := range w.venue.keys {
		answer, err := w.venue.x.Do(trader, &exchange.Request{Operation: exchange.FuturesPositionsHistory, Symbol: key.Name, Limit: 1})
		if key.Market != exchange.Futures || err != nil || len(answer.Positions.Items()) == 0 {
			continue
		}
		p := &answer.Positions.Items()[0]
		known := slices.ContainsFunc(b.liquidations, func(l liquidation) bool { return l.positionID == p.ID })
		if p.Status == exchange.PositionLiquidated && p.Symbol == key.Name && !known {
			b.liquidations = append(b.liquidations, liquidation{key, p.ID})
		}
	}
	return true
}
