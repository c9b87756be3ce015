package view

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// maxDifferences bounds those kept in memory; the journal keeps everything.
const maxDifferences = 5_000

// Difference is one way in which exchange and journal did not agree, and what was
// made of it.
type Difference struct {
	n int64

	ID            string  `json:"id"`
	AtMS          int64   `json:"at_ms"`
	Kind          string  `json:"kind"` // quarantine, adopted, ignored, found, unexplained
	Market        string  `json:"market"`
	Symbol        string  `json:"symbol,omitempty"`
	Quantity      Decimal `json:"quantity,omitempty"` // signed: what was adopted, or is left to others
	Amount        Decimal `json:"amount,omitempty"`   // unexplained: what the wallet has more, of the asset
	Asset         string  `json:"asset,omitempty"`
	ClientOrderID string  `json:"client_order_id,omitempty"`
	OrderID       int64   `json:"order_id,omitempty"`
	Text          string  `json:"text"`
	Open          bool    `json:"open"`               // a quarantine that waits for a person
	EndedMS       int64   `json:"ended_ms,omitempty"` // of one that does not any more

	key      exchange.SymbolKey
	quantity exchange.Quantity
}

// differed keeps the records that are about differences.
func (h *History) differed(r *record.Record) {
	d := Difference{AtMS: r.AtMS, Kind: r.Kind().String(), Market: r.Symbol.Market.String(), Symbol: r.Symbol.Name, ClientOrderID: r.ClientOrderID, key: r.Symbol}
	switch body := r.Body.(type) {
	case record.Quarantined:
		h.settled(r)
		d.Kind, d.Text, d.Open = "quarantine", body.Why, true
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
	h.differs(d)
}

func (h *History) differs(d Difference) {
	if len(h.differences) == maxDifferences {
		h.differences = h.differences[:copy(h.differences, h.differences[maxDifferences/10:])]
	}
	h.lastDifference++
	d.n, d.ID = h.lastDifference, number(h.lastDifference)
	h.differences = append(h.differences, d)
}

// unexplained keeps what a wallet has changed by and nothing explains.
func (h *History) unexplained(atMS int64, lines []ledger.Line) {
	for i := range lines {
		if line := &lines[i]; line.Account == ledger.Unexplained {
			amount := line.Amount.Neg().String() // where it came from is negative
			h.differs(Difference{AtMS: atMS, Kind: line.Account.String(), Market: line.Symbol.Market.String(), Symbol: line.Symbol.Name, Amount: amount, Asset: line.Asset,
				Text: fmt.Sprintf("the wallet has changed by %s %s that no fill, fee or funding explains", amount, line.Asset)})
		}
	}
}

// settled ends the quarantine of a symbol.
func (h *History) settled(r *record.Record) {
	for i := len(h.differences) - 1; i >= 0; i-- {
		if d := &h.differences[i]; d.Open && d.key == r.Symbol {
			d.Open, d.EndedMS = false, r.AtMS
		}
	}
}

func (h *History) difference(d *Difference) Difference {
	out := *d
	if s, found := h.symbols(d.key); found && d.quantity != 0 {
		out.Quantity = s.QuantityDecimal(d.quantity).String()
	}
	return out
}

// Differences returns differences, newest first.
func (h *History) Differences(page Page, keep func(*Difference) bool) ([]Difference, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Newest(h.differences, page, func(d *Difference) int64 { return d.n }, keep, h.difference)
}

// DifferenceKinds are the kinds of difference.
var DifferenceKinds = []string{"quarantine", "adopted", "ignored", "found", "unexplained"}
