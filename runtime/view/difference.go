package view

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// Difference is one difference between exchange and journal, and how it was resolved.
type Difference struct {
	ID            string  `json:"id"`
	AtMS          int64   `json:"at_ms"`
	Kind          string  `json:"kind"` // quarantine | adopted | ignored | found | unexplained
	Market        string  `json:"market"`
	Symbol        string  `json:"symbol,omitempty"`
	Quantity      Decimal `json:"quantity,omitempty"` // the quantity, with its sign, that was adopted or left to its owner
	Amount        Decimal `json:"amount,omitempty"`   // the increase of the asset's balance that is unexplained
	Asset         string  `json:"asset,omitempty"`
	ClientOrderID string  `json:"client_order_id,omitempty"`
	OrderID       int64   `json:"order_id,omitempty"`
	Text          string  `json:"text"`
	Open          bool    `json:"open"`               // whether it is a quarantine that waits for a person
	EndedMS       int64   `json:"ended_ms,omitempty"` // when it was resolved

	key      exchange.SymbolKey
	quantity exchange.Quantity
}

// differed lists the records of differences.
func (h *History) differed(r *record.Record) {
	d := Difference{AtMS: r.AtMS, Kind: r.Kind().String(), Market: r.Symbol.Market.String(), Symbol: r.Symbol.Name, ClientOrderID: r.ClientOrderID,
		key: r.Symbol}
	switch body := r.Body.(type) {
	case record.Quarantined:
		h.settled(r)
		d.Kind, d.Text, d.Open = "quarantine", body.Reason, true
	case record.Adopted:
		h.settled(r)
		d.quantity, d.Text = body.Quantity, body.Evidence
	case record.Ignored:
		h.settled(r)
		d.quantity, d.OrderID, d.Text = body.Quantity, body.OrderID, body.Evidence
	case record.Found:
		d.OrderID, d.Text = body.OrderID, body.Evidence
	case record.Posting:
		h.unexplained(r.AtMS, body.Lines)
		return
	default:
		return
	}
	h.addDifference(d)
}

func (h *History) addDifference(d Difference) {
	d.ID = h.differences.nextID()
	h.differences.add(d)
}

// unexplained lists unexplained changes of a wallet.
func (h *History) unexplained(atMS int64, lines []ledger.Line) {
	for i := range lines {
		if line := &lines[i]; line.Account == ledger.Unexplained {
			amount := line.Amount.Neg().String() // the source of the money is negative
			h.addDifference(Difference{AtMS: atMS, Kind: line.Account.String(), Market: line.Symbol.Market.String(), Symbol: line.Symbol.Name, Amount: amount,
				Asset: line.Asset,
				Text:  fmt.Sprintf("the wallet has changed by %s %s that no fill, fee or funding explains", amount, line.Asset)})
		}
	}
}

// settled ends the quarantine of a symbol.
func (h *History) settled(r *record.Record) {
	for i := range h.differences.all {
		if d := &h.differences.all[i].value; d.Open && d.key == r.Symbol {
			d.Open, d.EndedMS = false, r.AtMS
		}
	}
}

// Differences returns differences, newest first.
func (h *History) Differences(page Page, keep func(*Difference) bool) ([]Difference, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	items, next := h.differences.page(page, keep)
	for i := range items {
		if s, found := h.symbols(items[i].key); found && items[i].quantity != 0 {
			items[i].Quantity = s.QuantityDecimal(items[i].quantity).String()
		}
	}
	return items, next
}

// DifferenceKinds are the kinds of difference.
var DifferenceKinds = []string{"quarantine", "adopted", "ignored", "found", "unexplained"}
