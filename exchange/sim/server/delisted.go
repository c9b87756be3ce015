package server

import (
	"fmt"
	"net/http"
	"slices"

	"botd/exchange"
)

// A delisted symbol is in no symbol list, and every call about it is refused. Its position and its
// orders remain, and lists return them.

type symbolRequest struct {
	Market   exchange.Market `json:"market"`
	Symbol   string          `json:"symbol"`
	Delisted *bool           `json:"delisted"`
}

// setSymbol delists a symbol, or lists it again.
func (s *Server) setSymbol(request *symbolRequest) reply {
	if request.Delisted == nil {
		return badControl("delisted is missing: true or false")
	}
	return s.change(func() error {
		key := exchange.SymbolKey{Market: request.Market, Name: request.Symbol}
		if s.exchange.Symbol(key) == nil {
			return fmt.Errorf("symbol %q of market %q is unknown", request.Symbol, request.Market)
		}
		delete(s.delisted, key)
		if *request.Delisted {
			s.delisted[key] = true
		}
		return nil
	})
}

// refusesSymbol returns the refusal of a call about a delisted symbol, or nil for any other call.
func (s *Server) refusesSymbol(operation exchange.Operation, name string) error {
	if !s.delisted[exchange.SymbolKey{Market: operation.Market(), Name: name}] {
		return nil
	}
	code := exchange.CodeFuturesInvalidSymbol
	if operation.Market() == exchange.Spot {
		code = exchange.CodeSpotInvalidSymbol
	}
	return &exchange.Refusal{Operation: operation, Status: http.StatusBadRequest, Code: code, Message: "Invalid symbol."}
}

// leaveOutDelisted removes delisted symbols from the lists of symbols, tickers and margin levels.
func (s *Server) leaveOutDelisted(answer *exchange.Answer) {
	if len(s.delisted) == 0 {
		return
	}
	unlisted := func(name string) bool {
		return s.delisted[exchange.SymbolKey{Market: answer.Operation.Market(), Name: name}]
	}
	if answer.Symbols.Done() {
		answer.Symbols = without(answer.Symbols, func(symbol *exchange.Symbol) bool { return unlisted(symbol.Name) })
	}
	if answer.Tickers.Done() {
		answer.Tickers = without(answer.Tickers, func(ticker exchange.Ticker) bool { return unlisted(ticker.Symbol) })
	}
	if answer.Levels.Done() {
		answer.Levels = without(answer.Levels, func(level exchange.SymbolBracket) bool { return unlisted(level.Symbol) })
	}
}

func without[T any](list exchange.Fetched[T], which func(T) bool) exchange.Fetched[T] {
	return exchange.FetchedOf(slices.DeleteFunc(slices.Clone(list.Items()), which))
}
