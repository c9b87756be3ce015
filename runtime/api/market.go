package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"botd/exchange"
	"botd/runtime/view"
)

// marketTimeout bounds how long a request waits for the exchange.
const marketTimeout = 8 * time.Second

// asked is a symbol of a request, checked.
func (s *Server) asked(market, name string) (*exchange.Symbol, error) {
	if s.config.Market == nil {
		return nil, errors.New("no market data is served here")
	}
	key, err := symbolKey(market, name)
	if err != nil {
		return nil, err
	}
	symbol, found := s.config.Symbols(key)
	if !found {
		return nil, fmt.Errorf("symbol %s is not known", key)
	}
	return symbol, nil
}

// listCandles serves GET /api/v1/candles: the last `limit` before `to`, or those
// from `from`.
func (s *Server) listCandles(w http.ResponseWriter, r *http.Request) {
	query, err := queryOf(r, "market", "symbol", "interval", "from", "to", "limit")
	var symbol *exchange.Symbol
	if err == nil {
		symbol, err = s.asked(query.Get("market"), query.Get("symbol"))
	}
	var interval exchange.Interval
	if err == nil {
		interval, err = exchange.ParseInterval(query.Get("interval"))
	}
	var fromMS, toMS int64
	if err == nil {
		fromMS, toMS, err = s.span(query, interval)
	}
	if err != nil {
		problem(w, r, http.StatusBadRequest, "parameter", err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), marketTimeout)
	defer cancel()
	out, err := s.market.Candles(ctx, symbol, interval, fromMS, toMS)
	if err != nil {
		unavailable(w, r, err)
		return
	}
	answer(w, r, out)
}

// span settles which candles are asked for, by their open times.
func (s *Server) span(query url.Values, interval exchange.Interval) (fromMS, toMS int64, err error) {
	limit, toMS := 500, s.config.Board.NowMS()+1
	if query.Has("limit") {
		limit, err = whole(query, "limit", 1, view.MaxCandles)
	}
	if err == nil && query.Has("to") {
		toMS, err = milliseconds("to", query.Get("to"))
	}
	fromMS = max(0, interval.OpenOf(max(0, toMS-1))-int64(limit-1)*int64(interval))
	if err == nil && query.Has("from") {
		if fromMS, err = milliseconds("from", query.Get("from")); err == nil && !query.Has("to") {
			toMS = min(toMS, fromMS+int64(limit)*int64(interval))
		}
	}
	if err == nil && (toMS-fromMS)/int64(interval) > view.MaxCandles {
		err = fmt.Errorf("from %d to %d are more than %d candles", fromMS, toMS, view.MaxCandles)
	}
	return fromMS, toMS, err
}

func unavailable(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *exchange.Refusal
	detail := "the exchange did not answer: " + exchange.ErrorKind(err)
	if errors.As(err, &refusal) {
		detail = "the exchange refused: " + refusal.Message
	}
	problem(w, r, http.StatusBadGateway, "exchange", detail)
}

func (s *Server) listSymbols(w http.ResponseWriter, r *http.Request) {
	query, err := queryOf(r, "market")
	if err != nil {
		problem(w, r, http.StatusBadRequest, "parameter", err.Error())
		return
	}
	owners := s.config.Board.Owners()
	items := []view.ListedSymbol{}
	var all []*exchange.Symbol
	if s.config.Listed != nil {
		all = s.config.Listed()
	}
	for _, symbol := range all {
		if !chosen(query, "", symbol.Market.String(), "") {
			continue
		}
		items = append(items, view.ListedSymbolOf(symbol, owners[symbol.Key()]))
	}
	writeList(w, r, items, "")
}

// oneMarket serves GET /api/v1/market/{market}/{symbol}.
func (s *Server) oneMarket(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	symbol, err := s.asked(r.PathValue("market"), r.PathValue("symbol"))
	if err != nil {
		missing(w, r, "symbol", r.PathValue("market")+" "+r.PathValue("symbol"))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), marketTimeout)
	defer cancel()
	out, err := s.market.Symbol(ctx, symbol)
	if err != nil {
		unavailable(w, r, err)
		return
	}
	answer(w, r, out)
}
