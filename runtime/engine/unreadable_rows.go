package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
)

// handleUnreadableRows handles the unreadable rows of a list. Each affects only its own domain (case 43).
func (r *reader) handleUnreadableRows(p *pendingCall, answer *exchange.Answer) {
	market := answer.Operation.Market()
	for i := range answer.Unreadable {
		row := &answer.Unreadable[i]
		switch answer.Operation {
		case exchange.FuturesOpenOrders, exchange.SpotOpenOrders:
			r.noteOrderRow(reconcile.UnreadOrder{Market: market, Open: true, Row: *row})
		case exchange.SpotOrderHistory:
			r.noteOrderRow(reconcile.UnreadOrder{Market: market, Row: *row})
		case exchange.SpotWallet:
			r.noteAssetRow(row)
		case exchange.FuturesOpenPositions:
			r.notePositionRow(row)
		case exchange.FuturesLeverages:
			if key := (exchange.SymbolKey{Market: market, Name: row.Symbol}); r.legOn(key) != nil {
				r.addFailure(key, row)
			}
		case exchange.FuturesTickers, exchange.SpotTickers: // omitted prices are requested individually
		default: // reads of a single symbol
			r.addUnread(p.symbol.Key(), row)
		}
	}
}

func (r *reader) noteOrderRow(u reconcile.UnreadOrder) {
	r.roundReads.snapshot.UnreadOrders = append(r.roundReads.snapshot.UnreadOrders, u)
	if p := r.tracker.PlacementOf(&u); p != nil {
		r.addFailure(p.Symbol(), &u.Row)
	} else if u.Row.Symbol == "" {
		r.addUnread(u.Key(), &u.Row)
	}
}

// notePositionRow records that a position is unreadable: its absence from the list proves nothing.
func (r *reader) notePositionRow(row *exchange.UnreadableRow) {
	snapshot, key := &r.roundReads.snapshot, exchange.SymbolKey{Market: exchange.Futures, Name: row.Symbol}
	snapshot.UnreadPositions = append(snapshot.UnreadPositions, key)
	if key.Name == "" || r.legOn(key) != nil {
		r.addUnread(key, row)
	}
}

// noteAssetRow records that a balance is unreadable: its last known value stays. A base asset affects
// its symbol, any other asset the wallet's market.
func (r *reader) noteAssetRow(row *exchange.UnreadableRow) {
	snapshot := &r.roundReads.snapshot
	snapshot.UnreadAssets = true
	if row.Asset == "" {
		snapshot.Balances = exchange.Fetched[exchange.Balance]{}
		r.addUnread(exchange.SymbolKey{Market: exchange.Spot}, row)
		return
	}
	if snapshot.Balances.Done() {
		snapshot.Balances = exchange.FetchedOf(append(slices.Clone(snapshot.Balances.Items()), r.tracker.Balance(row.Asset)))
	}
	for _, leg := range r.legs {
		switch key := leg.symbol.Key(); {
		case key.Market != exchange.Spot:
		case leg.config.Symbol.Base == row.Asset:
			r.addUnread(key, row)
		case leg.config.Symbol.Quote == row.Asset:
			r.addFailure(exchange.SymbolKey{Market: exchange.Spot}, row)
		}
	}
}
