package view

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// maxTrips bounds the positions kept that are over; the journal keeps everything.
const maxTrips = 20_000

// RoundTrip is one round trip of a strategy, from flat to flat.
type RoundTrip struct {
	ID         string  `json:"id"`
	Strategy   string  `json:"strategy"`
	Market     string  `json:"market"`
	Symbol     string  `json:"symbol"`
	Side       string  `json:"side"` // LONG, SHORT
	Quantity   Decimal `json:"quantity"`
	Entry      Decimal `json:"entry_price"` // mean
	Exit       Decimal `json:"exit_price"`
	EnteredMS  int64   `json:"entered_ms"`
	LeftMS     int64   `json:"left_ms"`
	Asset      string  `json:"asset"`    // of the money
	Realised   Decimal `json:"realised"` // price difference alone
	Fees       Decimal `json:"fees"`
	Funding    Decimal `json:"funding"` // paid
	PNL        Decimal `json:"pnl"`     // net of fees and funding
	Derived    bool    `json:"derived"` // fees and funding follow from the wallet; else as the exchange told them
	Whole      bool    `json:"whole"`   // false: a part of the money is not known
	Purpose    string  `json:"exit_purpose"`
	PositionID int64   `json:"position_id,omitempty"` // futures
}

// EndedPosition is a position that is over, whoever had it.
type EndedPosition struct {
	ID         string  `json:"id"`
	PositionID int64   `json:"position_id,omitempty"` // futures
	Strategy   string  `json:"strategy"`              // empty for what no strategy of botd's did
	Market     string  `json:"market"`
	Symbol     string  `json:"symbol"`
	Side       string  `json:"side"`
	Quantity   Decimal `json:"quantity"`
	Entry      Decimal `json:"entry_price"`
	Exit       Decimal `json:"close_price"`
	Realised   Decimal `json:"realised"`
	Liquidated bool    `json:"liquidated"`
	Purpose    string  `json:"exit_purpose"`
	FromMS     int64   `json:"from_ms"`
	UntilMS    int64   `json:"until_ms"`
}

// over is a position that is over, under its number.
type over struct {
	n int64
	ledger.RoundTrip
}

// tripped keeps the positions that a record of the ledger ends.
func (h *History) tripped(r *record.Record) {
	for _, trip := range reconcile.TakeRoundTrips(h.trips, r) {
		if len(h.ended) == maxTrips {
			h.ended = h.ended[:copy(h.ended, h.ended[maxTrips/10:])]
		}
		h.lastEnded++
		h.ended = append(h.ended, over{h.lastEnded, trip})
		if trip.Strategy != "" {
			h.publish("trade", roundTripOf(&h.ended[len(h.ended)-1]))
		}
	}
}

func roundTripOf(o *over) RoundTrip {
	return RoundTrip{ID: number(o.n), Strategy: o.Strategy, Market: o.Symbol.Market.String(), Symbol: o.Symbol.Name, Side: sideOf(&o.RoundTrip), Quantity: o.Quantity.String(),
		Entry: o.Entry.String(), Exit: o.Exit.String(), EnteredMS: o.EnteredMS, LeftMS: o.LeftMS, Asset: o.Asset, Realised: o.Realised.String(), Fees: o.Fees.String(),
		Funding: o.Funding.String(), PNL: o.Net().String(), Derived: o.Derived, Whole: o.Whole, Purpose: endedBy(&o.RoundTrip), PositionID: o.PositionID}
}

func endedPositionOf(o *over) EndedPosition {
	return EndedPosition{ID: number(o.n), PositionID: o.PositionID, Strategy: o.Strategy, Market: o.Symbol.Market.String(), Symbol: o.Symbol.Name, Side: sideOf(&o.RoundTrip), Quantity: o.Quantity.String(),
		Entry: o.Entry.String(), Exit: o.Exit.String(), Realised: o.Realised.String(), Liquidated: o.Liquidated, Purpose: endedBy(&o.RoundTrip), FromMS: o.EnteredMS, UntilMS: o.LeftMS}
}

func sideOf(t *ledger.RoundTrip) string {
	if t.Side == exchange.Sell {
		return exchange.Short.String()
	}
	return exchange.Long.String()
}

// endedBy is what ended a position: an order's purpose, liquidation, or by_hand where
// it was no order of botd's.
func endedBy(t *ledger.RoundTrip) string {
	switch {
	case t.Liquidated:
		return "liquidation"
	case t.By == 0:
		return "by_hand"
	}
	return t.By.String()
}

// RoundTrips returns round trips of strategies, newest first.
func (h *History) RoundTrips(page Page, keep func(strategy, market, symbol string) bool) ([]RoundTrip, string) {
	return endedOf(h, page, func(o *over) bool {
		return o.Strategy != "" && keep(o.Strategy, o.Symbol.Market.String(), o.Symbol.Name)
	}, roundTripOf)
}

// EndedPositions returns positions that are over, newest first.
func (h *History) EndedPositions(page Page, keep func(strategy, market, symbol string) bool) ([]EndedPosition, string) {
	return endedOf(h, page, func(o *over) bool { return keep(o.Strategy, o.Symbol.Market.String(), o.Symbol.Name) }, endedPositionOf)
}

func endedOf[T any](h *History, page Page, keep func(*over) bool, show func(*over) T) ([]T, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Newest(h.ended, page, func(o *over) int64 { return o.n }, keep, show)
}
