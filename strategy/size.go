package strategy

import "botd/exchange"

// Position sizing for targets.

// QuantityAtRisk returns the signed quantity that loses a share of the equity between the last
// price and a stop: long if the stop is below, short if it is above, zero if it is at the price.
// Fees and slippage add to the loss.
//
// quantity = equity x share / |last - stop|
func (v *View) QuantityAtRisk(share exchange.Rate, stop exchange.Price) exchange.Quantity {
	distance, sign := v.Last-stop, exchange.Quantity(1)
	if distance < 0 {
		distance, sign = -distance, -1
	}
	if distance == 0 || share <= 0 || v.Equity.Sign() <= 0 {
		return 0
	}
	return sign * v.Symbol.QuantityFor(v.Equity.MulRate(share), distance)
}

// QuantityByVolatility returns the quantity whose value moves by a share of the equity in a usual
// candle. usual is the range of such a candle, for example the average true range.
func (v *View) QuantityByVolatility(share exchange.Rate, usual exchange.Price) exchange.Quantity {
	if usual <= 0 || share <= 0 || v.Equity.Sign() <= 0 {
		return 0
	}
	return v.Symbol.QuantityFor(v.Equity.MulRate(share), usual)
}

// AllIn returns the quantity that the whole equity buys at the last price at leverage 1, including
// a fee at that rate.
func (v *View) AllIn(fee exchange.Rate) exchange.Quantity {
	if v.Equity.Sign() <= 0 {
		return 0
	}
	return v.Symbol.QuantityFor(v.Equity.MulDiv(int64(exchange.RateOne), int64(exchange.RateOne+fee)), v.Last)
}
