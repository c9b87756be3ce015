package view

import (
	"fmt"
	"slices"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/runtime/engine"
	"botd/runtime/incident"
	"botd/runtime/ops"
)

// seen identifies a state whose beginning is stored.
type seen struct {
	state string
	scope account.Scope
}

// dangers returns states that need a person but that the engine does not declare: it continues as before.
func (b *Board) dangers(nowMS int64) []engine.Degraded {
	all := slices.Concat(b.clockState(), b.nearLiquidations(), b.unfinishedHalts(), b.unsettledOrders())
	if len(all) == 0 {
		b.incidents.first = nil
		return nil
	}
	first := make(map[seen]int64, len(all))
	for i := range all {
		d := &all[i]
		state := seen{d.State, d.Scope}
		since, before := b.incidents.first[state]
		if !before {
			since = nowMS
		}
		if first[state] = since; d.SinceMS == 0 {
			d.SinceMS = since
		}
	}
	b.incidents.first = first
	return all
}

// clockState returns the state of an exchange's clock that cannot be read well enough for signing.
func (b *Board) clockState() []engine.Degraded {
	at := slices.IndexFunc(b.reported, func(check ops.Check) bool { return check.Name == "clock" && !check.OK })
	if at < 0 {
		return nil
	}
	return []engine.Degraded{{State: "clock", Cause: b.reported[at].Detail,
		Remedy: "check NTP on the machine (timedatectl, chronyc tracking), and the network to the exchange"}}
}

// nearLiquidations returns the positions that a small move of the price would liquidate.
func (b *Board) nearLiquidations() (all []engine.Degraded) {
	for i := range b.status.Symbols {
		t := &b.status.Symbols[i]
		if t.Rules == nil || t.Position == 0 || t.Last <= 0 || t.LiqPrice.IsZero() {
			continue
		}
		away := *distance(t.Rules.PriceFloat(t.Last), t.LiqPrice.Float())
		if away >= incident.NearLiquidation {
			continue
		}
		all = append(all, engine.Degraded{State: "liquidation", Scope: account.Scope{Symbol: t.Key},
			Cause:  fmt.Sprintf("the price, %s, is %.1f %% from the liquidation at %s", t.Rules.PriceDecimal(t.Last), 100*away, t.LiqPrice),
			Remedy: "add margin on the exchange, or botd halt --level flatten --symbol " + t.Key.Name})
	}
	return all
}

// unfinishedHalts returns halts that have left orders or positions.
func (b *Board) unfinishedHalts() (all []engine.Degraded) {
	for i := range b.status.Degraded {
		if d := &b.status.Degraded[i]; d.State == "halted" && d.Remaining != "" {
			all = append(all, engine.Degraded{State: "unfinished", Scope: d.Scope, Cause: d.Remaining,
				Remedy: "botd status shows the reason; close it on the exchange's own screen if this persists"})
		}
	}
	return all
}

// unsettledOrders returns the markets with an order whose outcome is uncertain.
func (b *Board) unsettledOrders() (all []engine.Degraded) {
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		var oldest *account.Placement
		for i := range b.status.Live {
			p := &b.status.Live[i]
			if p.Order().Market == market && p.State() != placement.Working && p.SentMS() > 0 && (oldest == nil || p.SentMS() < oldest.SentMS()) {
				oldest = p
			}
		}
		if oldest == nil {
			continue
		}
		all = append(all, engine.Degraded{State: "unsettled", Scope: account.Scope{Symbol: exchange.SymbolKey{Market: market}}, SinceMS: oldest.SentMS(),
			Cause: fmt.Sprintf("order %s on %s was sent at %s, and its outcome is uncertain", oldest.Order().ClientOrderID, oldest.Symbol().Name,
				time.UnixMilli(oldest.SentMS()).UTC().Format(time.TimeOnly)),
			Remedy: "it is settled by evidence and never resent automatically; check botd orders and the exchange's own screen"})
	}
	return all
}
