package view

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// RoundTrip is one round trip of a strategy, from flat to flat.
type RoundTrip struct {
	ID         string  `json:"id"`
	Strategy   string  `json:"strategy"`
	Market     string  `json:"market"`
	Symbol     string  `json:"symbol"`
	Side       string  `json:"side"` // LONG | SHORT
	Quantity   Decimal `json:"quantity"`
	EntryPrice Decimal `json:"entry_price"` // the mean price
	ExitPrice  Decimal `json:"exit_price"`
	EnteredMS  int64   `json:"entered_ms"`
	LeftMS     int64   `json:"left_ms"`
	Asset      string  `json:"asset"`    // the asset of the amounts of money
	Realized   Decimal `json:"realised"` // the result of the price difference, before fees and funding
	Fees       Decimal `json:"fees"`
	Funding    Decimal `json:"funding"`               // the funding that was paid
	PNL        Decimal `json:"pnl"`                   // the result less fees and funding
	Derived    bool    `json:"derived"`               // whether fees and funding follow from the wallet, not from a report of the exchange
	Whole      bool    `json:"whole"`                 // false if a part of the money is unknown
	Purpose    string  `json:"exit_purpose"`          // the purpose of the order that ended it: exit, exit_order, stop_loss, take_profit; liquidation; manual
	PositionID int64   `json:"position_id,omitempty"` // only on futures
}

// EndedPosition is a closed position, whether botd opened it or not.
type EndedPosition struct {
	ID         string  `json:"id"`
	PositionID int64   `json:"position_id,omitempty"` // only on futures
	Strategy   string  `json:"strategy"`              // empty if no strategy opened it
	Market     string  `json:"market"`
	Symbol     string  `json:"symbol"`
	Side       string  `json:"side"` // LONG | SHORT
	Quantity   Decimal `json:"quantity"`
	EntryPrice Decimal `json:"entry_price"`
	Exit       Decimal `json:"close_price"`
	Realized   Decimal `json:"realised"` // the result of the price difference, before fees and funding
	Fees       Decimal `json:"fees"`
	Funding    Decimal `json:"funding"` // the funding that was paid
	PNL        Decimal `json:"pnl"`     // the result less fees and funding
	Asset      string  `json:"asset"`   // the asset of the amounts of money
	Whole      bool    `json:"whole"`   // false if a part of the money is unknown
	Liquidated bool    `json:"liquidated"`
	Purpose    string  `json:"exit_purpose"` // the purpose of the order that ended it: exit, exit_order, stop_loss, take_profit; liquidation; manual
	FromMS     int64   `json:"from_ms"`
	UntilMS    int64   `json:"until_ms"`
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
		h.publish("trade", roundTripOf(h.closed.last, &trip))
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
func (h *History) Closed(sinceMS int64, take func(*ledger.RoundTrip)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closedSinceMS, h.onClosed = sinceMS, take
}

func roundTripOf(n int64, t *ledger.RoundTrip) RoundTrip {
	return RoundTrip{ID: number(n), Strategy: t.Strategy, Market: t.Symbol.Market.String(), Symbol: t.Symbol.Name, Side: sideOf(t),
		Quantity:   t.Quantity.String(),
		EntryPrice: t.EntryPrice.String(), ExitPrice: t.ExitPrice.String(), EnteredMS: t.EnteredMS, LeftMS: t.LeftMS, Asset: t.Asset,
		Realized: t.Realized.String(),
		Fees:     t.Fees.String(),
		Funding:  t.Funding.String(), PNL: t.Net().String(), Derived: t.Derived, Whole: t.Whole, Purpose: ExitPurpose(t), PositionID: t.PositionID}
}

func endedPositionOf(n int64, t *ledger.RoundTrip) EndedPosition {
	return EndedPosition{ID: number(n), PositionID: t.PositionID, Strategy: t.Strategy, Market: t.Symbol.Market.String(), Symbol: t.Symbol.Name,
		Side:     sideOf(t),
		Quantity: t.Quantity.String(), EntryPrice: t.EntryPrice.String(), Exit: t.ExitPrice.String(), Realized: t.Realized.String(),
		Fees: t.Fees.String(), Funding: t.Funding.String(), PNL: t.Net().String(), Asset: t.Asset, Whole: t.Whole, Liquidated: t.Liquidated,
		Purpose: ExitPurpose(t), FromMS: t.EnteredMS, UntilMS: t.LeftMS}
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

// RoundTrips returns round trips of strategies, newest first.
func (h *History) RoundTrips(page Page, keep func(strategy, market, symbol string) bool) ([]RoundTrip, string) {
	return closedOf(h, page, roundTripOf, func(strategy, market, symbol string) bool { return strategy != "" && keep(strategy, market, symbol) })
}

// EndedPositions returns closed positions, newest first.
func (h *History) EndedPositions(page Page, keep func(strategy, market, symbol string) bool) ([]EndedPosition, string) {
	return closedOf(h, page, endedPositionOf, keep)
}

func closedOf[T any](h *History, page Page, show func(int64, *ledger.RoundTrip) T, keep func(strategy, market, symbol string) bool) ([]T, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Newest(h.closed.all, page, func(e *numbered[ledger.RoundTrip]) int64 { return e.n },
		func(e *numbered[ledger.RoundTrip]) bool {
			return keep(e.value.Strategy, e.value.Symbol.Market.String(), e.value.Symbol.Name)
		},
		func(e *numbered[ledger.RoundTrip]) T { return show(e.n, &e.value) })
}
