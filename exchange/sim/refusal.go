package sim

import (
	"fmt"

	"botd/exchange"
)

// Rule is one reason for a refusal. Code, docs and tests share one table of numbered rules.
type Rule struct {
	Code     int
	Name     string
	Sentence string
}

// Codes of refusals, besides those of package exchange.
const (
	CodeParameter = 2000 + iota
	CodeSide
	CodeType
	CodeNotTradable
	CodeReduceOnlySymbol
	CodeQuantity
	CodeQuantityTick
	CodePriceMissing
	CodePriceForbidden
	CodePriceTick
	CodeStopPriceMissing
	CodeStopPriceForbidden
	CodeStopPriceTick
	CodeStopPriceEqual
	CodeWorkingTypeMissing
	CodeWorkingTypeForbidden
	CodeMinNotional
	CodeMaxNotional
	CodePostOnlyType
	CodeReduceAndClose
	CodeNoPosition
	CodeReduceSide
	CodeReduceQuantity
	CodeReduceSum
	CodeCloseType
	CodeCloseQuantity
	CodeCloseDuplicate
	CodeCloseStopPrice
	CodeOppositeOrder
	CodeMargin
	CodeBalance
	CodeUnknownOrder
	CodeFinishedOrder
	CodeNotCancelable
	CodeLeverage
	CodeLeverageMargin
	CodeNoPrice
	CodeTooManyOrders
	CodeClientOrderID
)

var rules = []Rule{
	{exchange.CodeSpotInvalidSymbol, "spot_symbol", "the symbol is not in the spot list"},
	{exchange.CodeFuturesInvalidSymbol, "futures_symbol", "the symbol is not in the futures list"},
	{exchange.CodeNotPermitted, "not_permitted", "the key is read-only"},
	{exchange.CodeUnknownKey, "unknown_key", "the key is not known"},
	{CodeParameter, "parameter", "a parameter is missing or outside its bounds"},
	{CodeSide, "side", "side is BUY or SELL"},
	{CodeType, "type", "type is one the symbol accepts"},
	{CodeNotTradable, "not_tradable", "new orders need a symbol whose isTrade is true"},
	{CodeReduceOnlySymbol, "reduce_only_symbol", "only reducing orders are accepted while isReduceOnly is true"},
	{CodeQuantity, "quantity", "qt is greater than zero"},
	{CodeQuantityTick, "quantity_tick", "qt is a multiple of quantityTick"},
	{CodePriceMissing, "price_missing", "LIMIT kinds need a price"},
	{CodePriceForbidden, "price_forbidden", "price must not be sent for MARKET kinds"},
	{CodePriceTick, "price_tick", "price is a multiple of priceTick"},
	{CodeStopPriceMissing, "stop_price_missing", "STOP and TAKE_PROFIT kinds need a stopPrice"},
	{CodeStopPriceForbidden, "stop_price_forbidden", "stopPrice must not be sent for LIMIT and MARKET"},
	{CodeStopPriceTick, "stop_price_tick", "stopPrice is a multiple of priceTick"},
	{CodeStopPriceEqual, "stop_price_equal", "stopPrice differs from the current price (rule 11)"},
	{CodeWorkingTypeMissing, "working_type_missing", "STOP and TAKE_PROFIT kinds on futures need a workingType"},
	{CodeWorkingTypeForbidden, "working_type_forbidden", "workingType must not be sent for LIMIT and MARKET"},
	{CodeMinNotional, "min_notional", "the order's value is at least minNotional (rule 2)"},
	{CodeMaxNotional, "max_notional", "the order's value is at most maxNotional (rule 2)"},
	{CodePostOnlyType, "post_only_type", "postOnly is only for LIMIT orders"},
	{CodeReduceAndClose, "reduce_and_close", "reduceOnly and closePosition are not both true (rule 3)"},
	{CodeNoPosition, "no_position", "a reducing order needs an open position (rules 5 and 8)"},
	{CodeReduceSide, "reduce_side", "a reducing order's side is opposite to the position (rules 5 and 8)"},
	{CodeReduceQuantity, "reduce_quantity", "a reduceOnly qt is at most remainingQty (rule 5)"},
	{CodeReduceSum, "reduce_sum", "the sum of open reduceOnly orders is at most remainingQty (rule 5)"},
	{CodeCloseType, "close_type", "closePosition is for STOP_MARKET and TAKE_PROFIT_MARKET (rule 8)"},
	{CodeCloseQuantity, "close_quantity", "closePosition forbids qt (rule 8)"},
	{CodeCloseDuplicate, "close_duplicate", "one closePosition order is active per symbol and type (rule 8)"},
	{CodeCloseStopPrice, "close_stop_price", "a closePosition stopPrice lies on its type's side of the current price (rule 9)"},
	{CodeOppositeOrder, "opposite_order", "an order opposite to the open position needs reduceOnly"},
	{CodeMargin, "margin", "the order margin is at most the available balance"},
	{CodeBalance, "balance", "the order holds at most the free balance"},
	{CodeUnknownOrder, "unknown_order", "the order is one of the account's own"},
	{CodeFinishedOrder, "finished_order", "a finished order cannot be canceled"},
	{CodeNotCancelable, "not_cancelable", "canceling needs a symbol whose isCancelOrder is true"},
	{CodeLeverage, "leverage", "leverage lies within 1..maxLeverage of the position's bracket"},
	{CodeLeverageMargin, "leverage_margin", "a leverage leaves enough margin for what is open"},
	{CodeNoPrice, "no_price", "the symbol has a price"},
	{CodeTooManyOrders, "too_many_orders", "open orders of an account and market have a limit"},
	{CodeClientOrderID, "client_order_id", "client_order_id has a length limit"},
}

// Rules returns the table of refusals, for docs and tests.
func Rules() []Rule { return append([]Rule(nil), rules...) }

// refuse returns a refusal: HTTP 400 unless the code concerns the key. The message names field,
// value and bound.
func refuse(operation exchange.Operation, code int, format string, values ...any) *exchange.Refusal {
	status := 400
	switch code {
	case exchange.CodeNotPermitted:
		status = 403
	case exchange.CodeUnknownKey:
		status = 401
	}
	return &exchange.Refusal{Operation: operation, Status: status, Code: code, Message: fmt.Sprintf(format, values...)}
}
