package exchange

import "fmt"

// Operation names one of the 35 operations of the interface.
type Operation uint8

// All operations, in the interface's order.
const (
	// The public requests of futures.
	FuturesHealth Operation = iota + 1
	FuturesPing
	FuturesTime
	FuturesSymbols
	FuturesTickers
	FuturesTicker
	FuturesDepth
	FuturesTrades
	FuturesCandles
	FuturesFundingRate
	FuturesMarginLevels
	FuturesSymbolMarginLevels

	// The requests that trade futures.
	FuturesPlace
	FuturesOrder
	FuturesOpenOrders
	FuturesCancel
	FuturesCancelAll
	FuturesLeverages
	FuturesSetLeverage
	FuturesAccount
	FuturesOpenPositions
	FuturesPositionsHistory

	// The public requests of spot.
	SpotPairs
	SpotTickers
	SpotTicker
	SpotDepth
	SpotTrades
	SpotCandles

	// The requests that trade spot.
	SpotPlace
	SpotCancel
	SpotCancelAll
	SpotOpenOrders
	SpotOrderHistory
	SpotUserTrades
	SpotWallet

	operationEnd
)

var operationNames = names[Operation]{"operation", []string{"",
	"futures_health", "futures_ping", "futures_time", "futures_symbols", "futures_tickers", "futures_ticker",
	"futures_depth", "futures_trades", "futures_candles", "futures_funding_rate", "futures_margin_levels", "futures_symbol_margin_levels",
	"futures_place", "futures_order", "futures_open_orders", "futures_cancel", "futures_cancel_all", "futures_leverages",
	"futures_set_leverage", "futures_account", "futures_open_positions", "futures_positions_history",
	"spot_pairs", "spot_tickers", "spot_ticker", "spot_depth", "spot_trades", "spot_candles",
	"spot_place", "spot_cancel", "spot_cancel_all", "spot_open_orders", "spot_order_history", "spot_user_trades", "spot_wallet",
}}

// Operations returns all 35 operations, in order.
func Operations() []Operation {
	all := make([]Operation, 0, operationEnd-1)
	for op := FuturesHealth; op < operationEnd; op++ {
		all = append(all, op)
	}
	return all
}

// String returns the operation's name from a closed set, suitable as a metric label.
func (o Operation) String() string { return operationNames.text(o) }

// MarshalText writes the name.
func (o Operation) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Market returns the market the operation belongs to.
func (o Operation) Market() Market {
	if o >= SpotPairs {
		return Spot
	}
	return Futures
}

// On returns the operation of a market that corresponds to one of futures.
func (o Operation) On(market Market) Operation {
	if market == Spot {
		return spotTwins[o]
	}
	return o
}

// spotTwins lists the spot operations that correspond to one of futures.
var spotTwins = [operationEnd]Operation{FuturesSymbols: SpotPairs, FuturesTickers: SpotTickers, FuturesTicker: SpotTicker, FuturesDepth: SpotDepth,
	FuturesTrades: SpotTrades, FuturesCandles: SpotCandles, FuturesPlace: SpotPlace, FuturesOpenOrders: SpotOpenOrders, FuturesCancel: SpotCancel,
	FuturesCancelAll: SpotCancelAll}

// Signed reports whether the operation needs a signature.
func (o Operation) Signed() bool {
	return o >= FuturesPlace && o <= FuturesPositionsHistory || o >= SpotPlace
}

// Places reports whether the operation places an order. Such a request is sent at most once, and
// its outcome is uncertain if the answer is lost.
func (o Operation) Places() bool { return o == FuturesPlace || o == SpotPlace }

// Changes reports whether the operation changes anything on the exchange.
func (o Operation) Changes() bool {
	switch o {
	case FuturesPlace, FuturesCancel, FuturesCancelAll, FuturesSetLeverage, SpotPlace, SpotCancel, SpotCancelAll:
		return true
	}
	return false
}

// SendLimit bounds the time at which the first byte of a request may be sent. The zero value sets
// no bound.
type SendLimit struct {
	NotAfterMS int64           // not after this server time; 0 for any
	Recalled   <-chan struct{} // not after it is closed; nil for never
	Withdrawn  func() bool     // not if it returns true just before sending; nil for never
}

// IsRecalled reports whether the request was recalled.
func (l SendLimit) IsRecalled() bool {
	select {
	case <-l.Recalled:
		return true
	default:
		return l.Withdrawn != nil && l.Withdrawn()
	}
}

// HistoryPage is the maximum number of rows in an answer of orders, trades or ended positions (interface, Limits).
const HistoryPage = 1_000

// Request is one call of an operation. The client reads only the operation's own fields; a zero
// field is not sent.
type Request struct {
	Operation      Operation
	Symbol         string
	Interval       Interval
	StartMS, EndMS int64 // FuturesPositionsHistory sends whole seconds
	Limit, Offset  int
	OrderID        int64
	Leverage       int
	Side           Side         // SpotOrderHistory
	PositionSide   PositionSide // FuturesPositionsHistory
	Type           OrderType    // SpotOrderHistory
	Order          NewOrder     // FuturesPlace, SpotPlace
}

// Fetched is the content of a list answer. Its zero value means "not fetched", in which case Items
// panics: a failed fetch cannot be mistaken for an empty list.
type Fetched[T any] struct {
	items []T
	done  bool
}

// FetchedOf wraps a fetched list, empty or not.
func FetchedOf[T any](items []T) Fetched[T] { return Fetched[T]{items, true} }

// Done reports whether the list was fetched.
func (f Fetched[T]) Done() bool { return f.done }

// Items returns the list. It panics if the list was not fetched.
func (f Fetched[T]) Items() []T {
	if !f.done {
		panic("exchange: items of a list that was not fetched")
	}
	return f.items
}

// Answer is the answer to an operation. Only the fields of its operation are set.
type Answer struct {
	Operation    Operation
	Status       string // health, ping, set leverage
	ServerTimeMS int64  // FuturesTime

	Order     Order // place, get, cancel
	Account   MarginAccount
	Depth     Depth
	Funding   FundingRate
	Candles   *Candles // FuturesCandles, SpotCandles; nil if not fetched
	Symbols   Fetched[*Symbol]
	Tickers   Fetched[Ticker] // also for a single ticker
	Trades    Fetched[Trade]
	Levels    Fetched[SymbolBracket]
	Orders    Fetched[Order] // open lists, history, cancel all (empty for NULL alone)
	Leverages Fetched[LeverageSetting]
	Positions Fetched[Position]
	Fills     Fetched[UserTrade]
	Balances  Fetched[Balance]

	Unreadable []UnreadableRow // rows of the account's lists that could not be parsed into any of the above
}

// UnreadableRow is a list row that cannot be parsed, with the fields that could be read.
type UnreadableRow struct {
	Symbol        string // empty if it cannot be read, like the other names
	ID            int64
	ClientOrderID string
	Asset         string   // of a wallet
	Filled        Quantity // of an order
	FilledRead    bool
	UnknownSymbol bool // the row is valid, but its symbol is not in the table
	Reason        string
	Raw           string // clipped and printable
}

// Error returns the reason and the row's text.
func (r *UnreadableRow) Error() string {
	return fmt.Sprintf("a row cannot be read: %s: %s", r.Reason, r.Raw)
}

// SymbolBracket is one margin level of a symbol.
type SymbolBracket struct {
	Symbol string
	Bracket
}
