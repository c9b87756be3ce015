package engine

import (
	"fmt"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// HaltBlind returns what a halt cannot see or act on, one line each. If a time is given, it adds what
// has not been read since then: until it is read, it is unknown what remains.
func (r *reporter) HaltBlind(level record.HaltLevel, scope account.Scope, sinceMS int64) (blind []string) {
	if !level.EndsOrders() {
		return nil
	}
	add := func(format string, values ...any) { blind = append(blind, fmt.Sprintf(format, values...)) }
	if r.journalErr != nil {
		add("the journal cannot be written, and no order is sent before its record: %v", r.journalErr)
	}
	for _, leg := range r.legs {
		if !scope.Covers(leg.config.Name, leg.symbol.Key()) {
			continue
		}
		r.blindRead(leg, sinceMS, add)
		for p := range r.tracker.Live() {
			if p.Symbol() == leg.symbol.Key() && p.State() == placement.Uncertain && p.Purpose().Opens() {
				add("placement %s on %s is uncertain: if it turns out to have opened a position, that is closed too", p.ClientOrderID(), p.Symbol())
			}
		}
		for _, row := range leg.symbol.ReappearedOrders() {
			if level == record.LevelFlatten || row.Side == exchange.Buy {
				add("%s: the %s order %d rests on the exchange although it was shown as ended: it is canceled once a later read does not show its end",
					leg.symbol.Key(), row.Side, row.ID)
			}
		}
		r.blindUnknown(leg, level, add)
		if level == record.LevelFlatten {
			r.blindExit(leg, add)
		}
	}
	r.blindUntraded(level, scope, add)
	return blind
}

// blindRead adds the parts of a symbol that are not read.
func (r *reporter) blindRead(leg *leg, sinceMS int64, add func(string, ...any)) {
	key := leg.symbol.Key()
	switch cause, seenMS := r.readHealth.cause(key); {
	case !leg.symbol.Read():
		add("%s has not been read since the start%s", key, causeSuffix(cause))
	case cause != "":
		add("%s has not been readable since %s%s", key, time.UnixMilli(seenMS).UTC().Format(time.RFC3339), causeSuffix(cause))
	case leg.rounds.readMS < sinceMS:
		add("%s has not been read since the halt", key)
	}
}

func causeSuffix(cause string) string {
	if cause == "" {
		return ""
	}
	return ": " + cause
}

// blindUnknown adds the orders that another botd, or this one with another journal, has placed: they are not canceled, and what they sell on spot is not
// known to be botd's. On futures the whole position is closed, and orders that reduce it end with it.
func (r *reporter) blindUnknown(leg *leg, level record.HaltLevel, add func(string, ...any)) {
	key := leg.symbol.Key()
	for _, o := range r.tracker.UnknownOrders(leg.symbol) {
		if opens(o) {
			add("%s: the %s order %d of this instance's prefix is not in the journal, and is not canceled: cancel it on the exchange", key, o.Side, o.ID)
		} else if key.Market == exchange.Spot && level == record.LevelFlatten {
			add("%s: the %s order %d of this instance's prefix is not in the journal, and the %s that it sells are neither known to be botd's nor sold (%s)",
				key, o.Side, o.ID, leg.config.Symbol.QuantityDecimal(o.Quantity-o.Filled), whoseUnits(leg))
		}
	}
}

// opens reports whether an order may open a position.
func opens(o exchange.Order) bool {
	return !o.Reduces() && (o.Market == exchange.Futures || o.Side == exchange.Buy)
}

// blindExit adds the obstacles to closing a position.
func (r *reporter) blindExit(leg *leg, add func(string, ...any)) {
	symbol, rules := leg.symbol, leg.config.Symbol
	position := r.tracker.ToClose(symbol)
	if position != 0 && !dust(leg, position) {
		if refused := r.rejections.reason(rejectionKey(leg.config.Name, placement.Exit, ""), r.nowMS); refused != "" {
			add("the exit of %s is refused by %s", symbol.Key(), refused)
		} else if why := minimumText(leg, position); why != "" {
			add("%s", why)
		}
	}
	cause, _ := r.readHealth.cause(symbol.Key())
	if frozen := symbol.FrozenUnexplained(); frozen != 0 && cause == "" { // otherwise the wallet may be older than the orders that were ended since
		add("%s: %s are frozen in the wallet for orders that the exchange does not show", symbol.Key(), rules.QuantityDecimal(frozen))
	}
	if held := symbol.ReplacementQuantity(); held != 0 {
		add("%s: %s are held by orders without ids that have replaced botd's stops, and are not sold", symbol.Key(), rules.QuantityDecimal(held))
	}
	if extra := r.tracker.Unclaimed(symbol); extra != 0 && (symbol.Quarantine() != "" || r.tracker.StandsDown()) {
		add("%s: %s in the wallet is not known to be botd's and is not sold (%s)", symbol.Key(), rules.QuantityDecimal(extra), whoseUnits(leg))
	}
}

// whoseUnits returns how a person decides whose units a halt leaves.
func whoseUnits(leg *leg) string {
	if leg.symbol.Quarantine() != "" {
		return "quarantined: botd resolve " + leg.symbol.Key().Name
	}
	return "standing down: another botd may have bought them, botd status names its order"
}

// blindUntraded adds what is open on symbols that no strategy trades, because none is configured or the exchange did not
// list the symbol at the start: botd sends no orders there. Positions are those of the exchange's list and of the journal.
func (r *reporter) blindUntraded(level record.HaltLevel, scope account.Scope, add func(string, ...any)) {
	shown := map[exchange.SymbolKey]bool{}
	for p := range r.tracker.OpenPositions() {
		key := exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol}
		if level == record.LevelFlatten && p.Remaining != 0 && r.legOn(key) == nil && scope.Covers("", key) {
			add("%s: a %s position that no strategy trades stays open: close it on the exchange", key, p.Side)
			shown[key] = true
		}
	}
	for _, orphan := range r.tracker.Orphans(func(_ string, key exchange.SymbolKey) bool { return r.legOn(key) != nil }) {
		key := orphan.Symbol
		if !scope.Covers(orphan.Strategy, key) {
			continue
		}
		if level == record.LevelFlatten && orphan.Held && !shown[key] {
			add("%s: the position of %s is neither seen nor closed, since the exchange did not list the symbol at the start: close it on the exchange",
				key, orphan.Strategy)
		}
		for p := range r.tracker.Live() {
			if p.Symbol() == key && p.Purpose().Opens() {
				add("%s: order %s is neither seen nor canceled: cancel it on the exchange", key, p.ClientOrderID())
			}
		}
	}
}

// closingInFlight reports whether the exchange has accepted orders that close the whole position of
// a symbol.
func (r *reporter) closingInFlight(leg *leg) bool {
	position := r.tracker.ToClose(leg.symbol)
	var covered exchange.Quantity
	for p := range r.tracker.Live() {
		taken := p.State() == placement.Acknowledged || p.State() == placement.Working
		if p.Symbol() == leg.symbol.Key() && taken && p.Purpose() == placement.Exit {
			covered += p.Remaining()
		}
	}
	return covered >= position.Abs()
}
