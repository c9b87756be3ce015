// Package wire encodes and decodes the exchange's JSON interface, with its quirks and its signature.
//
// The client encodes requests and decodes answers tolerantly: numbers or strings for decimals,
// objects or arrays for candles, error bodies of three shapes. The server does the reverse,
// strictly. Both use one table of routes.
package wire

import (
	"strings"

	"botd/exchange"
)

// Route is the address of an operation and its parameters. Parameters of GET are in the query,
// those of POST in the body, and {symbol} is in the path.
type Route struct {
	Operation  exchange.Operation
	Method     string
	Path       string // {symbol} is replaced by the symbol
	Parameters []Parameter
	Limit      Limit
}

// Parameter is one parameter of an operation: its name on the wire and its field in
// exchange.Request.
type Parameter struct {
	Name     string
	Field    Field
	Required bool
}

// Limit is the default and the maximum of the limit parameter (interface, Limits).
type Limit struct{ Default, Max int }

// Field is a field of exchange.Request and its encoding.
type Field uint8

// The fields of a request.
const (
	FieldSymbol       Field = iota + 1
	FieldInterval           // 1m, 5m, ...
	FieldStart              // milliseconds
	FieldEnd                // milliseconds
	FieldStartSeconds       // whole seconds
	FieldEndSeconds         // whole seconds
	FieldLimit
	FieldOffset
	FieldOrderID
	FieldLeverage
	FieldSide
	FieldPositionSide
	FieldType
	FieldOrder // the whole body
)

const (
	get  = "GET"
	post = "POST"
)

// Parameters that several operations share.
var (
	theOrder       = Parameter{"", FieldOrder, true}
	aSymbol        = Parameter{"symbol", FieldSymbol, true}
	optionalSymbol = Parameter{"symbol", FieldSymbol, false}
	anInterval     = Parameter{"interval", FieldInterval, true}
	optionalStart  = Parameter{"startTime", FieldStart, false}
	optionalEnd    = Parameter{"endTime", FieldEnd, false}
	optionalSide   = Parameter{"side", FieldSide, false}
	optionalLimit  = Parameter{"limit", FieldLimit, false}
	optionalOffset = Parameter{"offset", FieldOffset, false}
)

// routes is the interface, in the order of exchange.Operation.
var routes = []Route{
	{exchange.FuturesHealth, get, "/fapi/v1/health", nil, Limit{}},
	{exchange.FuturesPing, get, "/fapi/v1/ping", nil, Limit{}},
	{exchange.FuturesTime, get, "/fapi/v1/time", nil, Limit{}},
	{exchange.FuturesSymbols, get, "/fapi/v1/symbols", nil, Limit{}},
	{exchange.FuturesTickers, get, "/fapi/v1/ticker", nil, Limit{}},
	{exchange.FuturesTicker, get, "/fapi/v1/ticker/{symbol}", nil, Limit{}},
	{exchange.FuturesDepth, get, "/fapi/v1/depth", []Parameter{aSymbol, optionalLimit}, Limit{100, 1_000}},
	{exchange.FuturesTrades, get, "/fapi/v1/trades", []Parameter{aSymbol, optionalLimit}, Limit{500, exchange.HistoryPage}},
	{exchange.FuturesCandles, get, "/fapi/v1/candle", []Parameter{aSymbol, anInterval, optionalStart, optionalEnd, optionalLimit},
		Limit{500, exchange.FuturesCandlesPage}},
	{exchange.FuturesFundingRate, get, "/fapi/v1/funding-rate/{symbol}", nil, Limit{}},
	{exchange.FuturesMarginLevels, get, "/fapi/v1/margin-levels", nil, Limit{}},
	{exchange.FuturesSymbolMarginLevels, get, "/fapi/v1/margin-levels/{symbol}", nil, Limit{}},

	{exchange.FuturesPlace, post, "/fhapi/v1/order", []Parameter{theOrder}, Limit{}},
	{exchange.FuturesOrder, get, "/fhapi/v1/order", []Parameter{{"order_id", FieldOrderID, true}}, Limit{}},
	{exchange.FuturesOpenOrders, post, "/fhapi/v1/order/open", []Parameter{optionalSymbol}, Limit{}},
	{exchange.FuturesCancel, post, "/fhapi/v1/order/cancel", []Parameter{{"id", FieldOrderID, true}}, Limit{}},
	{exchange.FuturesCancelAll, post, "/fhapi/v1/order/cancel/all", nil, Limit{}},
	{exchange.FuturesLeverages, get, "/fhapi/v1/leverage", nil, Limit{}},
	{exchange.FuturesSetLeverage, post, "/fhapi/v1/leverage", []Parameter{aSymbol, {"leverage", FieldLeverage, true}}, Limit{}},
	{exchange.FuturesAccount, get, "/fhapi/v1/margin/account", nil, Limit{}},
	{exchange.FuturesOpenPositions, post, "/fhapi/v1/positions/open", nil, Limit{}},
	{exchange.FuturesPositionsHistory, get, "/fhapi/v1/positions/history", []Parameter{optionalLimit, optionalOffset, optionalSymbol,
		{"side", FieldPositionSide, false}, {"startTime", FieldStartSeconds, false}, {"endTime", FieldEndSeconds, false}}, Limit{30, exchange.HistoryPage}},

	{exchange.SpotPairs, get, "/api/v1/spot/public/pairs", nil, Limit{}},
	{exchange.SpotTickers, get, "/api/v1/spot/public/tickers", nil, Limit{}},
	{exchange.SpotTicker, get, "/api/v1/spot/public/ticker/{symbol}", nil, Limit{}},
	{exchange.SpotDepth, get, "/api/v1/spot/public/books", []Parameter{aSymbol, optionalLimit}, Limit{100, 100}},
	{exchange.SpotTrades, get, "/api/v1/spot/public/trades", []Parameter{aSymbol, optionalLimit}, Limit{500, exchange.HistoryPage}},
	{exchange.SpotCandles, get, "/api/v1/spot/public/candles", []Parameter{aSymbol, anInterval,
		{"startTime", FieldStart, true}, {"endTime", FieldEnd, true}, optionalLimit, optionalOffset}, Limit{100, exchange.SpotCandlesPage}},

	{exchange.SpotPlace, post, "/hapi/v1/spot/order", []Parameter{theOrder}, Limit{}},
	{exchange.SpotCancel, post, "/hapi/v1/spot/cancel", []Parameter{{"orderId", FieldOrderID, true}, aSymbol}, Limit{}},
	{exchange.SpotCancelAll, post, "/hapi/v1/spot/cancel_all", []Parameter{aSymbol}, Limit{}},
	{exchange.SpotOpenOrders, get, "/hapi/v1/spot/order/open", []Parameter{optionalSymbol}, Limit{}},
	{exchange.SpotOrderHistory, get, "/hapi/v1/spot/order/history", []Parameter{optionalSymbol, optionalSide, {"type", FieldType, false},
		optionalStart, optionalEnd, optionalLimit, optionalOffset}, Limit{500, exchange.HistoryPage}},
	{exchange.SpotUserTrades, get, "/hapi/v1/spot/order/trades", []Parameter{optionalSymbol, {"order_id", FieldOrderID, false}, optionalLimit, optionalOffset},
		Limit{500, exchange.HistoryPage}},
	{exchange.SpotWallet, get, "/hapi/v1/spot/wallet", nil, Limit{}},
}

// RouteOf returns the route of an operation. It panics on an unknown operation.
func RouteOf(operation exchange.Operation) Route { return routes[operation-1] }

// Match returns the operation of a method and a path. If there is none, known reports whether the
// path exists with other methods, and allow lists them.
func Match(method, path string) (operation exchange.Operation, symbol string, known bool, allow []string) {
	for i := range routes {
		found, fits := routes[i].fits(path)
		if !fits {
			continue
		}
		if routes[i].Method == method {
			return routes[i].Operation, found, true, nil
		}
		known = true
		allow = append(allow, routes[i].Method)
	}
	return 0, "", known, allow
}

// MatchesAny reports whether any route of a method has a path that begins with prefix. An empty
// method matches all; begins reports whether any symbol of a market begins with a text.
func MatchesAny(method, prefix string, begins func(exchange.Market, string) bool) bool {
	for i := range routes {
		fixed, isPattern := strings.CutSuffix(routes[i].Path, symbolPattern)
		if method != "" && routes[i].Method != method {
			continue
		}
		rest, within := strings.CutPrefix(prefix, fixed)
		if strings.HasPrefix(fixed, prefix) || isPattern && within && begins(routes[i].Operation.Market(), rest) {
			return true
		}
	}
	return false
}

const symbolPattern = "{symbol}"

func (r *Route) fits(path string) (symbol string, fits bool) {
	prefix, isPattern := strings.CutSuffix(r.Path, symbolPattern)
	if !isPattern {
		return "", r.Path == path
	}
	symbol, fits = strings.CutPrefix(path, prefix)
	return symbol, fits && symbol != "" && !strings.Contains(symbol, "/")
}
