package engine

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// watchLiquidations finds positions on the strategies' symbols that positions/history shows as
// liquidated, before they are adopted as closed (case 46). In a backtest a liquidation ends a position
// like anything else, and the strategy's own latch applies.
func watchLiquidations(b *base, snapshot *reconcile.Snapshot) {
	if b.config.Feed {
		return
	}
	for _, leg := range b.legs {
		if row := leg.symbol.Liquidation(snapshot); row != nil {
			liquidated(b, leg.symbol, row.ID, leg.symbol.Known(), row.ClosePrice, row.RealizedPNL)
		}
	}
}

// bookedLiquidations handles liquidations among the ended positions that the ledger read and no round
// saw.
func bookedLiquidations(b *base, closed []ledger.Position) {
	if b.config.Feed {
		return
	}
	for i := range closed {
		if c := &closed[i]; c.Liquidated {
			symbol := b.tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: c.Symbol})
			liquidated(b, symbol, c.ID, 0, c.Close, c.Realized)
		}
	}
}

// liquidated journals a liquidation once and halts the strategy of its symbol: a plan that has lost
// its margin does not continue without a person's decision.
func liquidated(b *base, symbol *reconcile.SymbolState, positionID int64, quantity exchange.Quantity, price, realized exchange.Amount) {
	if positionID == symbol.LiquidatedID() {
		return
	}
	why := fmt.Sprintf("%s was liquidated: positions/history shows position %d LIQUIDATED", symbol.Key(), positionID)
	if !price.IsZero() {
		why += " at " + price.String()
	}
	why += ", realized " + realized.String() + " USDT before fees"
	b.record(record.Record{Symbol: symbol.Key(), Body: record.Liquidated{
		PositionID: positionID, Quantity: quantity, ClosePrice: price, Realized: realized, Evidence: "positions/history shows it LIQUIDATED"}})
	leg := b.legOn(symbol.Key())
	b.note(leg.name(), leg.noteSymbol(), NoteLiquidated{realized, why})
	if leg != nil && b.tracker.HaltOf(account.Scope{Strategy: leg.config.Name}).Level == record.LevelNone {
		b.record(record.Record{Strategy: leg.config.Name, Body: record.Halt{Level: record.LevelPause, Reason: why}})
		b.note(leg.config.Name, leg.config.Symbol, NoteHalt{Reason: why})
	}
}
