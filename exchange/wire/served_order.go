package wire

import (
	"errors"

	"botd/exchange"
)

// order reads a new order of either market. Here it only has to be readable; the exchange applies
// the rules.
func (d *requestDecoder) order() {
	f := d.source.(fields)
	o := &d.request.Order
	o.Market = d.request.Operation.Market()
	var faults []error
	word := func(name string) string {
		value, err := f.word(name)
		faults = append(faults, err)
		return value
	}
	flag := func(name string) bool {
		value, err := f.flag(name)
		faults = append(faults, err)
		return value
	}
	decimal := func(name string) number {
		value, err := f.decimal(name)
		faults = append(faults, err)
		return value
	}
	o.Symbol = word("symbol")
	side, kind, working := word("side"), word("type"), ""
	quantity, price, stop := decimal("qt"), decimal("price"), decimal("stopPrice")
	if o.Market == exchange.Spot {
		o.ClientOrderID = word("clientOrderId")
	} else {
		o.ClientOrderID, working = word("client_order_id"), word("workingType")
		o.ReduceOnly, o.ClosePosition, o.PostOnly = flag("reduceOnly"), flag("closePosition"), flag("postOnly")
	}
	if err := errors.Join(faults...); err != nil {
		d.refuse(CodeMalformed, "%v", firstOf(faults))
		return
	}
	d.request.Symbol = o.Symbol
	d.orderWords(o, side, kind, working)
	if d.refusal == nil {
		d.orderNumbers(o, quantity, price, stop)
	}
}

func firstOf(faults []error) error {
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *requestDecoder) orderWords(o *exchange.NewOrder, side, kind, working string) {
	if o.Symbol == "" {
		d.refuse(CodeMalformed, "symbol is required")
	}
	var err error
	if o.Side, err = exchange.ParseSide(side); err != nil {
		d.refuse(CodeSide, "side %q is neither BUY nor SELL", side)
	}
	if o.Type, err = exchange.ParseOrderType(kind); err != nil {
		d.refuse(CodeType, "type: %v", err)
	}
	if o.WorkingType, err = exchange.ParseWorkingType(working); err != nil {
		d.refuse(CodeParameter, "workingType %q is neither MARK_PRICE nor CONTRACT_PRICE", working)
	}
}

// orderNumbers converts decimals to the symbol's units. A number finer than the units cannot be on
// a tick.
func (d *requestDecoder) orderNumbers(o *exchange.NewOrder, quantity, price, stop number) {
	s, found := d.symbols.Symbol(o.Key())
	if !found {
		code := exchange.CodeFuturesInvalidSymbol
		if o.Market == exchange.Spot {
			code = exchange.CodeSpotInvalidSymbol
		}
		d.refuse(code, "symbol %q is unknown on %s", o.Symbol, o.Market)
		return
	}
	if !quantity.given && !o.ClosePosition {
		d.refuse(CodeMalformed, "qt is required")
	}
	var err error
	if o.Price, err = s.Price(price.Decimal); err != nil {
		d.refuse(CodePriceTick, "price %s is not a multiple of priceTick %s", price, s.PriceDecimal(s.PriceTick))
	}
	if o.StopPrice, err = s.Price(stop.Decimal); err != nil {
		d.refuse(CodeStopPriceTick, "stopPrice %s is not a multiple of priceTick %s", stop, s.PriceDecimal(s.PriceTick))
	}
	if o.Market == exchange.Spot && byQuote(o.Type) {
		if o.QuoteAmount, err = exchange.AmountFromDecimal(quantity.Decimal); err != nil {
			d.refuse(CodeParameter, "qt %s: %v", quantity, err)
		}
		return
	}
	if o.Quantity, err = s.Quantity(quantity.Decimal); err != nil {
		d.refuse(CodeQuantityTick, "qt %s is not a multiple of quantityTick %s", quantity, s.QuantityDecimal(s.QuantityTick))
	}
}
