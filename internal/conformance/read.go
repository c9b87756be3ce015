package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"botd/exchange"
	"botd/exchange/rest"
)

// Reader is the venue that Read reads: the signed client implements it, even without keys.
type Reader interface {
	Do(ctx context.Context, request exchange.Request) (exchange.Answer, error)
}

// Finding is the result of one check by Read.
type Finding struct {
	What string // a short description; includes the symbol, if any
	Err  error  // the fault, or nil
}

// Bounds are the movements of a venue between two calls of Read. The zero value is a venue that does not move: everything must agree to the last digit.
type Bounds struct {
	Moves exchange.Rate // how far a price may have moved
	Own   bool          // accounts trade apart from the market: a fill need not be the last price
}

// liveBounds are the bounds for a market that moves while it is read.
var liveBounds = Bounds{Moves: exchange.RateOne / 50}

// readsPerSecond is the pace of ReadAt.
const readsPerSecond = 5

// maxSymbols bounds the symbols that Read reads per market.
const maxSymbols = 4

// Read performs all public operations on a venue, changes nothing, and checks that the
// answers are consistent: symbols, tickers, order books, trades, candles of all intervals,
// funding and margin levels. It returns everything it checked.
func Read(ctx context.Context, venue Reader, bounds Bounds) []Finding {
	s := &story{ctx: ctx, venue: venue, bounds: bounds}
	s.service()
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		s.symbols(market)
	}
	s.markets()
	return s.findings
}

// ReadAt is Read on the venue at an address, without a key, within the bounds of a market that moves.
func ReadAt(ctx context.Context, address string) ([]Finding, error) {
	client, err := rest.New(rest.Config{BaseURL: address, Budget: readsPerSecond})
	if err != nil {
		return nil, err
	}
	return Read(ctx, client, liveBounds), nil
}

// story is a reading in progress.
type story struct {
	ctx      context.Context
	venue    Reader
	bounds   Bounds
	findings []Finding
	nowMS    int64
	last     map[exchange.SymbolKey]float64
}

// note adds a finding; its error joins all faults.
func (s *story) note(what string, faults ...error) {
	s.findings = append(s.findings, Finding{what, errors.Join(faults...)})
}

// ask performs a read and records a failure.
func (s *story) ask(request exchange.Request) (exchange.Answer, bool) {
	answer, err := s.venue.Do(s.ctx, request)
	if err != nil {
		s.note(strings.TrimSpace(request.Operation.String()+" "+request.Symbol), err)
	}
	return answer, err == nil
}

// service checks health, ping and time.
func (s *story) service() {
	for _, operation := range []exchange.Operation{exchange.FuturesHealth, exchange.FuturesPing} {
		if answer, ok := s.ask(exchange.Request{Operation: operation}); ok {
			s.note(operation.String(), when(answer.Status == "", "status is empty"))
		}
	}
	first, ok := s.ask(exchange.Request{Operation: exchange.FuturesTime})
	second, again := s.ask(exchange.Request{Operation: exchange.FuturesTime})
	if !ok || !again {
		return
	}
	s.nowMS = second.ServerTimeMS
	s.note("futures_time", when(first.ServerTimeMS < 1e12, "serverTime %d is not in milliseconds", first.ServerTimeMS),
		when(second.ServerTimeMS < first.ServerTimeMS, "serverTime went back from %d to %d", first.ServerTimeMS, second.ServerTimeMS))
}

// symbols checks a market's list, and each of its first symbols.
func (s *story) symbols(market exchange.Market) {
	operation := exchange.FuturesSymbols.On(market)
	answer, ok := s.ask(exchange.Request{Operation: operation})
	if !ok {
		return
	}
	listed := answer.Symbols.Items()
	faults := []error{when(len(listed) == 0, "no symbol is listed")}
	for _, symbol := range listed {
		base, quote, hyphen := strings.Cut(symbol.Name, "-")
		faults = append(faults, when(!hyphen || base != symbol.Base || quote != symbol.Quote, "%s is not %s-%s", symbol.Name, symbol.Base, symbol.Quote),
			when(symbol.MinNotional.Sign() < 0 || symbol.MaxNotional.Less(symbol.MinNotional), "%s: minNotional %s, maxNotional %s", symbol.Name,
				symbol.MinNotional, symbol.MaxNotional))
	}
	s.note(operation.String(), faults...)
	tickers := s.tickers(market, listed)
	levels := s.levels(market)
	for _, symbol := range listed[:min(maxSymbols, len(listed))] {
		if !symbol.Tradable {
			continue
		}
		s.symbol(symbol, tickers[symbol.Name])
		if market == exchange.Futures {
			s.funding(symbol)
			s.bracketsOf(symbol, levels)
		}
	}
}

// tickers reads the statistics of all symbols.
func (s *story) tickers(market exchange.Market, listed []*exchange.Symbol) map[string]exchange.Ticker {
	operation := exchange.FuturesTickers.On(market)
	answer, ok := s.ask(exchange.Request{Operation: operation})
	if !ok {
		return nil
	}
	all := map[string]exchange.Ticker{}
	for _, ticker := range answer.Tickers.Items() {
		all[ticker.Symbol] = ticker
	}
	var faults []error
	for _, symbol := range listed {
		_, found := all[symbol.Name]
		faults = append(faults, when(symbol.Tradable && !found, "%s has no ticker", symbol.Name))
	}
	s.note(operation.String(), faults...)
	return all
}

// markets compares the two markets' data of one symbol.
func (s *story) markets() {
	for key, price := range s.last {
		other, both := s.last[exchange.SymbolKey{Market: exchange.Spot, Name: key.Name}]
		if key.Market == exchange.Futures && both {
			s.note("futures and spot "+key.Name, when(price > other*1.05 || price < other*0.95, "futures trade at %v, spot at %v", price, other))
		}
	}
}

// when returns an error if the condition holds.
func when(wrong bool, format string, values ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, values...)
}
