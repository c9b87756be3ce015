package view

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// ClosedPosition is a closed position, whether botd opened it or not: of a strategy, a round trip from flat to flat.
type ClosedPosition struct {
	ID         string  `json:"id"`
	PositionID int64   `json:"position_id,omitempty"` // only on futures
	Strategy   string  `json:"strategy"`              // empty if no strategy opened it
	Market     string  `json:"market"`
	Symbol     string  `json:"symbol"`
	Side       string  `json:"side"` // LONG | SHORT
	Quantity   Decimal `json:"quantity"`
	EntryPrice Decimal `json:"entry_price"` // the mean price
	ExitPrice  Decimal `json:"exit_price" was:"close_price"`
	OpenedMS   int64   `json:"opened_ms" was:"entered_ms,from_ms"`
	ClosedMS   int64   `json:"closed_ms" was:"left_ms,until_ms"`
	Asset      string  `json:"asset"`                   // the asset of the amounts of money
	Realized   Decimal `json:"realized" was:"realised"` // the result of the price difference, before fees and funding
	Fees       Decimal `json:"fees"`
	Funding    Decimal `json:"funding"`              // the funding that was paid
	PNL        Decimal `json:"pnl"`                  // the result less fees and funding
	Derived    bool    `json:"derived"`              // whether fees and funding follow from the wallet, not from a report of the exchange
	Complete   bool    `json:"complete" was:"whole"` // false if a part of the money is unknown
	Liquidated bool    `json:"liquidated"`
	Purpose    string  `json:"exit_purpose"` // the purpose of the order that ended it: exit, exit_order, stop_loss, take_profit; liquidation; manual
}

// tripped lists the positions that a record of the ledger closes.
func (h *History) tripped(r *record.Record) {
	for _, trip := range account.ApplyToRoundTrips(h.trips, r) {
		h.closed.add(trip)
		if trip.Asset == ledger.FuturesAsset {
			h.closedNet[trip.Strategy] = h.closedNet[trip.Strategy].Add(trip.Net())
		}
		if trip.Strategy == "" {
			continue
		}
		h.publish("trade", closedPositionOf(h.closed.last, &trip))
		if h.onClosed != nil && r.AtMS >= h.closedSinceMS {
			h.onClosed(&trip)
		}
	}
}

// ClosedNet returns the profit of a strategy's closed round trips in USDT, net of fees and funding.
func (h *History) ClosedNet(strategy string) exchange.Amount {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closedNet[strategy]
}

// Closed passes each round trip booked since a time to take, which must not use the history.
func (h *History) Closed(sinceMS int64, receive func(*ledger.RoundTrip)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closedSinceMS, h.onClosed = sinceMS, receive
}

func closedPositionOf(n int64, t *ledger.RoundTrip) ClosedPosition {
	return ClosedPosition{ID: number(n), PositionID: t.PositionID, Strategy: t.Strategy, Market: t.Symbol.Market.String(), Symbol: t.Symbol.Name,
		Side: sideOf(t), Quantity: t.Quantity.String(), EntryPrice: t.EntryPrice.String(), ExitPrice: t.ExitPrice.String(), OpenedMS: t.EnteredMS,
		ClosedMS: t.LeftMS, Asset: t.Asset, Realized: t.Realized.String(), Fees: t.Fees.String(), Funding: t.Funding.String(), PNL: t.Net().String(),
		Derived: t.Derived, Complete: t.Whole, Liquidated: t.Liquidated, Purpose: ExitPurpose(t)}
}

func sideOf(t *ledger.RoundTrip) string {
	if t.Side == exchange.Sell {
		return exchange.Short.String()
	}
	return exchange.Long.String()
}

// ExitPurpose returns the cause of a position's exit: an order's purpose, liquidation, or manual for an
// order that is not botd's.
func ExitPurpose(t *ledger.RoundTrip) string {
	switch {
	case t.Liquidated:
		return "liquidation"
	case t.By == 0:
		return "manual"
	}
	return t.By.String()
}

// RoundTrips returns the closed positions of strategies, newest first.
func (h *History) RoundTrips(page Page, keep func(strategy, market, symbol string) bool) ([]ClosedPosition, string) {
	return h.ClosedPositions(page, func(strategy, market, symbol string) bool { return strategy != "" && keep(strategy, market, symbol) })
}

// ClosedPositions returns closed positions, newest first.
func (h *History) ClosedPositions(page Page, keep func(strategy, market, symbol string) bool) ([]ClosedPosition, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Newest(h.closed.all, page, func(e *numbered[ledger.RoundTrip]) int64 { return e.n },
		func(e *numbered[ledger.RoundTrip]) bool {
			return keep(e.value.Strategy, e.value.Symbol.Market.String(), e.value.Symbol.Name)
		},
		func(e *numbered[ledger.RoundTrip]) ClosedPosition { return closedPositionOf(e.n, &e.value) })
}
