// Package wire the interface's JSON in both directions, its quirks, its signature.
//
// The client encodes requests and decodes answers tolerantly (numbers or
// strings for decimals, objects or arrays for candles, error bodies of three
// shapes); the server does the reverse, definitely. Both read one table of routes.
package wire

import (
	"strings"

	"botd/exchange"
)

// Route is where an operation lives.
type Route struct {
	Operation exchange.Operation
	Method    string
	Path      string // {symbol} stands for the path's symbol
}

var routes = []Route{
	{exchange.FuturesHealth, "GET", "/fapi/v1/health"},
	{exchange.FuturesPing, "GET", "/fapi/v1/ping"},
	{exchange.FuturesTime, "GET", "/fapi/v1/time"},
	{exchange.FuturesSymbols, "GET", "/fapi/v1/symbols"},
	{exchange.FuturesTickers, "GET", "/fapi/v1/ticker"},
	{exchange.FuturesTicker, "GET", "/fapi/v1/ticker/{symbol}"},
	{exchange.FuturesDepth, "GET", "/fapi/v1/depth"},
	{exchange.FuturesTrades, "GET", "/fapi/v1/trades"},
	{exchange.FuturesCandles, "GET", "/fapi/v1/candle"},
	{exchange.FuturesFundingRate, "GET", "/fapi/v1/funding-rate/{symbol}"},
	{exchange.FuturesMarginLevels, "GET", "/fapi/v1/margin-levels"},
	{exchange.FuturesSymbolMarginLevels, "GET", "/fapi/v1/margin-levels/{symbol}"},
	{exchange.FuturesPlace, "POST", "/fhapi/v1/order"},
	{exchange.FuturesOrder, "GET", "/fhapi/v1/order"},
	{exchange.FuturesOpenOrders, "POST", "/fhapi/v1/order/open"},
	{exchange.FuturesCancel, "POST", "/fhapi/v1/order/cancel"},
	{exchange.FuturesCancelAll, "POST", "/fhapi/v1/order/cancel/all"},
	{exchange.FuturesLeverages, "GET", "/fhapi/v1/leverage"},
	{exchange.FuturesSetLeverage, "POST", "/fhapi/v1/leverage"},
	{exchange.FuturesAccount, "GET", "/fhapi/v1/margin/account"},
	{exchange.FuturesOpenPositions, "POST", "/fhapi/v1/positions/open"},
	{exchange.FuturesPositionsHistory, "GET", "/fhapi/v1/positions/history"},
	{exchange.SpotPairs, "GET", "/api/v1/spot/public/pairs"},
	{exchange.SpotTickers, "GET", "/api/v1/spot/public/tickers"},
	{exchange.SpotTicker, "GET", "/api/v1/spot/public/ticker/{symbol}"},
	{exchange.SpotDepth, "GET", "/api/v1/spot/public/books"},
	{exchange.SpotTrades, "GET", "/api/v1/spot/public/trades"},
	{exchange.SpotCandles, "GET", "/api/v1/spot/public/candles"},
	{exchange.SpotPlace, "POST", "/hapi/v1/spot/order"},
	{exchange.SpotCancel, "POST", "/hapi/v1/spot/cancel"},
	{exchange.SpotCancelAll, "POST", "/hapi/v1/spot/cancel_all"},
	{exchange.SpotOpenOrders, "GET", "/hapi/v1/spot/order/open"},
	{exchange.SpotOrderHistory, "GET", "/hapi/v1/spot/order/history"},
	{exchange.SpotUserTrades, "GET", "/hapi/v1/spot/order/trades"},
	{exchange.SpotWallet, "GET", "/hapi/v1/spot/wallet"},
}

// RouteOf returns where an operation lives; it panics on one that is none.
func RouteOf(operation exchange.Operation) Route { return routes[operation-1] }

// Match finds the operation of a method and a path. Without one, known says
// whether the path exists with another method, named by allow.
func Match(method, path string) (operation exchange.Operation, symbol string, known bool, allow []string) {
	for _, route := range routes {
		found, fits := route.fits(path)
		if !fits {
			continue
		}
		if route.Method == method {
			return route.Operation, found, true, nil
		}
		known = true
		allow = append(allow, route.Method)
	}
	return 0, "", known, allow
}

func (r Route) fits(path string) (symbol string, fits bool) {
	prefix, isPattern := strings.CutSuffix(r.Path, "{symbol}")
	if !isPattern {
		return "", r.Path == path
	}
	symbol, fits = strings.CutPrefix(path, prefix)
	return symbol, fits && symbol != "" && !strings.Contains(symbol, "/")
}
