package view

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// HaltStep is one request that a halt sends.
type HaltStep struct {
	Strategy      string  `json:"strategy"`
	Market        string  `json:"market"`
	Symbol        string  `json:"symbol"`
	Action        string  `json:"action"` // cancel | exit
	Side          string  `json:"side,omitempty"`
	Type          string  `json:"type,omitempty"`
	Quantity      Decimal `json:"quantity,omitempty"`
	Price         Decimal `json:"price,omitempty"`
	StopPrice     Decimal `json:"stop_price,omitempty"`
	ReduceOnly    bool    `json:"reduce_only,omitempty"`
	ClosePosition bool    `json:"close_position,omitempty"`
	ClientOrderID string  `json:"client_order_id,omitempty"` // the order that a cancel cancels
	OrderID       int64   `json:"order_id,omitempty"`
	Later         bool    `json:"later,omitempty"` // whether it is sent only once the cancels before it are confirmed
	Text          string  `json:"text"`            // the step in words
}

// HaltStepOf writes one request that a halt sends.
func HaltStepOf(step *engine.Step) HaltStep {
	o, symbol := &step.Intent.Order, step.Symbol
	out := HaltStep{Strategy: step.Strategy, Market: symbol.Market.String(), Symbol: symbol.Name, Action: step.Intent.Purpose.String(), Later: step.Later,
		ClientOrderID: step.Intent.ClientID, OrderID: step.Intent.OrderID}
	if step.Intent.Purpose == placement.Cancel {
		out.Text = engine.CancelText(out.OrderID, out.ClientOrderID, symbol.Key())
		return out
	}
	out.Side, out.Type, out.ReduceOnly, out.ClosePosition = o.Side.String(), o.Type.String(), o.ReduceOnly, o.ClosePosition
	out.Quantity, out.Price = nonZero(o.Quantity != 0, symbol.QuantityDecimal(o.Quantity)), nonZero(o.Price != 0, symbol.PriceDecimal(o.Price))
	out.StopPrice = nonZero(o.StopPrice != 0, symbol.PriceDecimal(o.StopPrice))
	out.Text = fmt.Sprintf("close by %s %s %s on %s", out.Side, out.Type, closing(o, out.Quantity), symbol.Key())
	if out.Price != "" {
		out.Text += " at " + out.Price + " or better"
	}
	if notional := symbol.Notional(step.Intent.Last, o.Quantity); !notional.IsZero() {
		out.Text += fmt.Sprintf(" (about %s USDT)", notional.Decimal().Round(2))
	}
	if out.Later {
		out.Text += ", once the cancels are confirmed"
	}
	return out
}

func closing(o *exchange.NewOrder, quantity string) string {
	if o.ClosePosition {
		return "the whole position"
	}
	return quantity
}
