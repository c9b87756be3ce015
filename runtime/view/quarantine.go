package view

import (
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/runtime/engine"
)

// Quarantine is a symbol that waits for a person, with the evidence.
type Quarantine struct {
	Market     string         `json:"market"`
	Symbol     string         `json:"symbol"`
	Strategy   string         `json:"strategy,omitempty"`
	Cause      string         `json:"cause"`
	Since      time.Time      `json:"since"`
	Position   Decimal        `json:"position"`   // the position that the exchange reports
	Explained  Decimal        `json:"explained"`  // the position that botd's own fills and adopted quantities explain
	Ignored    Decimal        `json:"ignored"`    // the part that is left to its owner
	Difference Decimal        `json:"difference"` // the unexplained quantity
	Uncertain  []Order        `json:"unknown"`    // placements whose outcome is uncertain
	Orders     []ForeignOrder `json:"orders"`     // open orders that the journal does not know
	Adopt      []string       `json:"adopt"`      // the changes of --adopt
	Ignore     []string       `json:"ignore"`
	Blocked    string         `json:"blocked,omitempty"` // why the quarantine cannot be resolved now
}

// ForeignOrder is an open order that the journal does not know.
type ForeignOrder struct {
	OrderID       int64   `json:"order_id"`
	ClientOrderID string  `json:"client_order_id"`
	Side          string  `json:"side"`
	Type          string  `json:"type"`
	Quantity      Decimal `json:"quantity"`
	Filled        Decimal `json:"filled"`
	Price         Decimal `json:"price"`
	StopPrice     Decimal `json:"stop_price"`
}

// QuarantineOf writes a symbol that waits for a person.
func QuarantineOf(q *engine.Quarantine) Quarantine {
	quantity := func(v exchange.Quantity) string {
		if q.Rules == nil {
			return decimal.NewFromInt(int64(v)).String()
		}
		return q.Rules.QuantityDecimal(v).String()
	}
	price := func(v exchange.Price) string {
		if q.Rules == nil {
			return decimal.NewFromInt(int64(v)).String()
		}
		return q.Rules.PriceDecimal(v).String()
	}
	out := Quarantine{Market: q.Symbol.Market.String(), Symbol: q.Symbol.Name, Strategy: q.Strategy, Cause: q.Cause, Since: time.UnixMilli(q.SinceMS).UTC(),
		Position: quantity(q.Venue), Explained: quantity(q.Known), Ignored: quantity(q.Ignored), Difference: quantity(q.Difference),
		Uncertain: []Order{}, Orders: []ForeignOrder{}, Adopt: OrEmpty(q.Adopt), Ignore: OrEmpty(q.Ignore), Blocked: q.Blocked}
	for i := range q.Uncertain {
		out.Uncertain = append(out.Uncertain, orderOf(&q.Uncertain[i], q.Rules))
	}
	for i := range q.Orders {
		o := &q.Orders[i]
		out.Orders = append(out.Orders, ForeignOrder{o.ID, o.ClientOrderID, o.Side.String(), o.Type.String(), quantity(o.Quantity), quantity(o.Filled),
			price(o.Price), price(o.StopPrice)})
	}
	return out
}
