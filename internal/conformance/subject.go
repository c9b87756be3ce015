package conformance

import "slices"

// Subject is a statement of the interface or of docs/exchange.md that cases test.
type Subject struct {
	Key     string
	Text    string // a summary in a few words
	Section string // of the interface, or "decisions: ..." for a point that it leaves open
}

// Subjects returns the subjects that the suite must cover besides the operations, in the order of the interface.
// A subject without a case fails the suite's tests.
func Subjects() []Subject { return slices.Clone(subjects) }

const (
	placement = "POST /fhapi/v1/order"
	states    = "States and transitions"
	limits    = "Limits"
	decided   = "decisions: orders and positions"
)

var subjects = []Subject{
	{"service-4", "symbols are BASE-QUOTE, read from each market's list", "What the service does, 4"},
	{"service-5", "a placement only acknowledges; its outcome is fetched", "What the service does, 5"},
	{"order-fields", "what a futures order takes, requires and forbids", placement + ", body"},
	{"futures-rule-1", "LIMIT is good till canceled; timeInForce is ignored", placement + ", rule 1"},
	{"futures-rule-2", "value between minNotional and maxNotional, MARKET at the market price", placement + ", rule 2"},
	{"futures-rule-3", "reduceOnly and closePosition are not both true", placement + ", rule 3"},
	{"futures-rule-4", "BUY opens LONG, SELL opens SHORT, one position a symbol", placement + ", rule 4"},
	{"futures-rule-5", "reduceOnly: side, remainingQty, the sum, a position", placement + ", rule 5"},
	{"futures-rule-6", "a MARKET reduceOnly of everything sweeps the rest", placement + ", rule 6"},
	{"futures-rule-7", "conditional orders activate at stopPrice of their working price", placement + ", rule 7"},
	{"futures-rule-8", "closePosition: types, no qt, a position, its side, one per type", placement + ", rule 8"},
	{"futures-rule-9", "the side on which a closePosition stopPrice lies", placement + ", rule 9"},
	{"futures-rule-10", "part of a position is closed by qt with reduceOnly", placement + ", rule 10"},
	{"futures-rule-11", "stop-loss or take-profit is decided by side and stopPrice", placement + ", rule 11"},
	{"futures-rule-12", "conditional orders are listed as open and can be canceled", placement + ", rule 12"},
	{"futures-states", "CREATED, NEW, OPEN, FILLED, CANCELED, REJECTED, PRE_CANCELED", states + ", Futures order statuses"},
	{"position-states", "open, add, reduce, close; OPEN, CLOSED, LIQUIDATED", states + ", Futures position statuses"},
	{"spot-states", "CREATED, NEW, FILLED, CANCELED", states + ", Spot order statuses"},
	{"matching", "price, then time; maker and taker; part fills", "decisions: smaller ones, still"},
	{"margin", "order and position margin, available balance", decided + ", margin"},
	{"brackets", "maintenance and leverage by notional", decided + ", maintenance"},
	{"leverage", "1..maxLeverage of the position's bracket, margin permitting", decided + ", leverage change"},
	{"pnl", "unrealized at the mark, realized without fees and funding", decided + ", smaller ones"},
	{"liquidation", "when, at what price, with what left", decided + ", maintenance"},
	{"funding", "at its hours, by notional at mark x rate", decided + ", funding"},
	{"opposite-order", "rejected, or netted where the venue is set so", decided + ", opposite order"},
	{"futures-fees", "maker 0.02 %, taker 0.05 %", decided + ", fees"},
	{"positions-history", "newest first; filters; seconds", "GET /fhapi/v1/positions/history"},
	{"spot-order", "spot order body and its rules", "Spot order body"},
	{"spot-market-order", "MARKET by an amount of USDT", decided + ", spot MARKET"},
	{"spot-conditional", "STOP and TAKE_PROFIT on the last price", decided + ", spot conditional orders"},
	{"spot-wallet", "free and frozen", "Spot wallet entry"},
	{"spot-fees", "taken from the received asset", decided + ", spot fee"},
	{"spot-cancel", "one by id and symbol, all of a symbol", "Spot trading"},
	{"spot-history", "newest first; filters", "GET /hapi/v1/spot/order/history"},
	{"spot-user-trades", "role, fee, filters", "GET /hapi/v1/spot/order/trades"},
	{"cancel-all-null", "cancel-all with nothing to cancel answers plain NULL", "Other error behavior, 1"},
	{"candles", "one stream, all intervals, bounds", "Futures candle; decisions: smaller ones"},
	{"depth", "accounts' orders and quotes in one book", "Futures depth, Spot order book"},
	{"public-trades", "fills become public trades", "Futures public trade, Spot public trade"},
	{"ticker", "24-hour statistics", "Futures ticker, Spot ticker"},
	{"limits-default", "the default of each limit", limits},
	{"limits-maximum", "above the maximum is clamped, below 1 is 400", limits + "; " + decided},
	{"authentication", "three headers, HMAC-SHA256, the window", "Authentication"},
	{"permission", "a read-only key: 403, -2015", "Errors, Common error codes"},
	{"http-errors", "400, 401, 403, 404, 405, 429, 500, 503", "Errors, HTTP status codes"},
	{"error-body", "code and error; invalid symbol 118", "Errors, Spot error body"},
	{"lost-answers", "dropped, delayed, cut and hidden answers", "decisions: the simulated exchange as a program"},
	{"bodies", "unknown fields, null, wrong types, sizes", "decisions: errors of the simulated exchange"},
	{"encoding", "numbers and strings as documented", "Resources and their fields"},
	{"times", "seconds and milliseconds as documented", "Resources and their fields"},
}
