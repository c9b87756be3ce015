package view

import (
	"botd/exchange"
	"botd/reconcile/account"
)

// Order is one placement.
type Order struct {
	ClientOrderID string  `json:"client_order_id"`
	OrderID       int64   `json:"order_id"` // 0 until acknowledged
	Strategy      string  `json:"strategy"`
	Purpose       string  `json:"purpose"`
	Key           string  `json:"key,omitempty"` // the key of the order in the plan
	Market        string  `json:"market"`
	Symbol        string  `json:"symbol"`
	Side          string  `json:"side"`
	Type          string  `json:"type"`
	State         string  `json:"state"`
	Live          bool    `json:"live"` // whether it is in no final state
	Price         Decimal `json:"price"`
	StopPrice     Decimal `json:"stop_price"`
	Quantity      Decimal `json:"quantity"`
	QuoteAmount   Decimal `json:"quote_amount,omitempty"`
	ReduceOnly    bool    `json:"reduce_only"`
	ClosePosition bool    `json:"close_position"`
	PostOnly      bool    `json:"post_only"`
	Filled        Decimal `json:"filled"`
	MeanPrice     Decimal `json:"mean_price"` // the mean price of the filled quantity; 0 when unknown
	SentMS        int64   `json:"sent_ms"`
	EndedMS       int64   `json:"ended_ms,omitempty"`
	Reason        string  `json:"reason,omitempty" was:"why"` // why the order was refused or is uncertain
	Evidence      string  `json:"evidence,omitempty"`         // the evidence of the final state
}

// orderOf writes a placement; prices and quantities stay empty while the scales of the
// symbol are unknown.
func orderOf(p *account.Placement, s *exchange.Symbol) Order {
	o := Order{ClientOrderID: p.ClientOrderID(), OrderID: p.OrderID(), Strategy: p.Strategy(), Purpose: p.Purpose().String(), Key: p.Key(),
		Market: p.Order().Market.String(), Symbol: p.Order().Symbol, Side: p.Order().Side.String(), Type: p.Order().Type.String(), State: p.State().String(),
		Live: !p.State().Final(), ReduceOnly: p.Order().ReduceOnly, ClosePosition: p.Order().ClosePosition, PostOnly: p.Order().PostOnly,
		MeanPrice: p.Price().String(), SentMS: p.SentMS(),
		EndedMS: p.EndedMS(), Reason: p.Reason(), Evidence: p.Evidence()}
	if !p.Order().QuoteAmount.IsZero() {
		o.QuoteAmount = p.Order().QuoteAmount.String()
	}
	if s != nil {
		o.Price, o.StopPrice = s.PriceDecimal(p.Order().Price).String(), s.PriceDecimal(p.Order().StopPrice).String()
		o.Quantity, o.Filled = s.QuantityDecimal(p.Order().Quantity).String(), s.QuantityDecimal(p.Filled()).String()
	}
	return o
}

func (h *History) order(o *placed) Order {
	s, _ := h.symbols(o.p.Symbol())
	return orderOf(&o.p, s)
}

// OneOrder is an order with its steps.
type OneOrder struct {
	Schema int `json:"schema"`
	Order
	Steps []Step `json:"steps"`
}
