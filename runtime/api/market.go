package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"botd/exchange"
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var marketRoutes = []route{
	{id: "candles", tag: "market", method: "GET", path: "/api/v1/candles", minimum: auth.Viewer, endpoint: read(of(marketsOf, (*markets).candles)),
		summary: "Candles in columns, oldest first: the last `limit` before `to`, or those from `from`. The exchange records them; final ones are cached.",
		takes: append([]parameter{{name: "symbol", text: "The symbol.", required: true}, {name: "market", text: "futures by default.", values: ofMarket.values},
			{name: "interval", text: "1m, 5m, 1h, 1d, ...", required: true}}, candleSpan...), fails: []int{502}},
	{id: "symbols", tag: "market", method: "GET", path: "/api/v1/market/symbols", minimum: auth.Viewer, endpoint: all(of(marketsOf, (*markets).symbols)),
		summary: "The symbols that the exchange lists, and which strategy trades each.", takes: []parameter{ofMarket}},
	{id: "market", tag: "market", method: "GET", path: "/api/v1/market/{market}/{symbol}", minimum: auth.Viewer,
		endpoint: read(of(marketsOf, (*markets).symbolMarket)),
		summary:  "A symbol's market now: ticker, book, trades, funding, margin brackets.", fails: []int{404, 502}},
}

// markets serves market data.
type markets struct {
	config *Config
	guard  *auth.Guard
	data   *view.MarketReader
}

func marketsOf(s *Server) *markets { return &s.markets }

// candleSpan is which candles are shown.
var candleSpan = []parameter{{name: "from", text: "First open time, milliseconds.", kind: milliseconds}, {name: "to",
	text: "Open times before this, milliseconds; now by default.", kind: milliseconds},
	{name: "limit", text: "Maximum number of candles.", kind: number, fallback: 500, maximum: view.MaxCandles}}

// marketTimeout bounds how long a request waits for the exchange.
const marketTimeout = 8 * time.Second

func marketContext(r *request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), marketTimeout)
}

// tradable finds a symbol with market data.
func (m *markets) tradable(market, name string) (*exchange.Symbol, error) {
	if m.config.Market == nil {
		return nil, errors.New("this botd serves no market data")
	}
	key, err := exchange.ParseSymbolKey(market, name)
	if err != nil {
		return nil, err
	}
	symbol, found := m.config.Symbols(key)
	if !found {
		return nil, fmt.Errorf("unknown symbol %s", key)
	}
	return symbol, nil
}

// paced denies market data to a credential that exceeds its request quota.
func (m *markets) paced(r *request) error {
	requester := requester(r.Request)
	if denied := m.guard.PaceMarket(&requester, time.Now()); denied != nil {
		return denied
	}
	return nil
}

func (m *markets) candles(r *request) (view.Candles, error) {
	if err := m.paced(r); err != nil {
		return view.Candles{}, err
	}
	symbol, err := m.tradable(r.query.Get("market"), r.query.Get("symbol"))
	if err != nil {
		return view.Candles{}, badParameter(err.Error())
	}
	interval, err := exchange.ParseInterval(r.query.Get("interval"))
	if err != nil {
		return view.Candles{}, badParameter(err.Error())
	}
	fromMS, toMS, err := m.span(r, interval)
	if err != nil {
		return view.Candles{}, err
	}
	ctx, cancel := marketContext(r)
	defer cancel()
	out, err := m.data.Candles(ctx, symbol, interval, fromMS, toMS)
	if err != nil {
		return out, unavailable(err)
	}
	return out, nil
}

// span returns the time whose candles are shown, by their open times.
func (m *markets) span(r *request, interval exchange.Interval) (fromMS, toMS int64, err error) {
	limit, step := r.number("limit", 500), int64(interval)
	toMS = r.number("to", m.config.Board.NowMS()+1)
	fromMS = max(0, interval.OpenOf(max(0, toMS-1))-(limit-1)*step)
	if r.query.Has("from") {
		fromMS = r.number("from", 0)
		if !r.query.Has("to") {
			toMS = min(toMS, fromMS+limit*step)
		}
	}
	if (toMS-fromMS)/step > view.MaxCandles {
		return 0, 0, badParameter(fmt.Sprintf("from %d to %d are more than %d candles", fromMS, toMS, view.MaxCandles))
	}
	return fromMS, toMS, nil
}

func (m *markets) symbols(r *request) ([]view.ListedSymbol, error) {
	owners, items := m.config.Board.Owners(), []view.ListedSymbol{}
	if m.config.Listed == nil {
		return items, nil
	}
	for _, symbol := range m.config.Listed() {
		if r.is("market", symbol.Market.String()) {
			items = append(items, view.ListedSymbolOf(symbol, owners[symbol.Key()]))
		}
	}
	return items, nil
}

func (m *markets) symbolMarket(r *request) (view.OneMarket, error) {
	if err := m.paced(r); err != nil {
		return view.OneMarket{}, err
	}
	market, name := r.PathValue("market"), r.PathValue("symbol")
	symbol, err := m.tradable(market, name)
	if err != nil {
		return view.OneMarket{}, notFound("symbol", market+" "+name)
	}
	ctx, cancel := marketContext(r)
	defer cancel()
	out, err := m.data.Symbol(ctx, symbol)
	if err != nil {
		return out, unavailable(err)
	}
	return out, nil
}
