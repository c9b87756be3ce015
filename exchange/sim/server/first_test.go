package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
)

const manySymbols = 2_000

// manyOf returns that many futures symbols.
func manyOf(tb testing.TB, count int) []*exchange.Symbol {
	tb.Helper()
	symbols := make([]*exchange.Symbol, count)
	for i := range symbols {
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: fmt.Sprintf("S%04d-USDT", i),
			Base: fmt.Sprintf("S%04d", i), Quote: "USDT", PriceTick: decimal.RequireFromString("0.01"),
			QuantityTick: decimal.RequireFromString("0.01"), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000),
			Brackets: sim.DefaultBrackets(), Tradable: true, Cancelable: true, FundingIntervalHours: 8})
		if err != nil {
			tb.Fatal(err)
		}
		symbols[i] = symbol
	}
	return symbols
}

// firstQuestions are the requests with which a client may start.
var firstQuestions = []string{
	"/fapi/v1/ticker",
	"/fapi/v1/symbols",
	"/fapi/v1/candle?symbol=S0007-USDT&interval=1m",
	"/fapi/v1/candle?symbol=S0007-USDT&interval=1d",
}

// firstAnswers builds a random market of the symbols and answers the requests.
func firstAnswers(tb testing.TB, symbols []*exchange.Symbol, questions ...string) {
	tb.Helper()
	options := Options{Market: "random", Seed: 1}
	x, err := options.build(sim.Config{Symbols: symbols, StartMS: manualStartMS}, nil, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	server, err := New(Config{Exchange: x, Clock: Clock{StartMS: manualStartMS, Manual: true}})
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range questions {
		recorded := httptest.NewRecorder()
		server.Handler().ServeHTTP(recorded, httptest.NewRequest(http.MethodGet, path, nil))
		if recorded.Code != http.StatusOK || recorded.Body.Len() < 1_000 {
			tb.Fatalf("%s: %d %s", path, recorded.Code, recorded.Body)
		}
	}
}

// The past of a random market is computed on request; precomputed it took 1.5 GB for 550 symbols.
func TestTheFirstAnswersOfManySymbolsTakeLittleMemory(t *testing.T) {
	symbols := manyOf(t, manySymbols)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	firstAnswers(t, symbols, firstQuestions...)
	runtime.ReadMemStats(&after)
	const most = 100 << 20
	if have := after.TotalAlloc - before.TotalAlloc; have > most {
		t.Errorf("allocated for the first answers of %d symbols: want %d MB at most, have %d MB", manySymbols, most>>20, have>>20)
	}
}

// BenchmarkTheFirstAnswersOfManySymbols measures the time from nothing to the answer of each first request.
func BenchmarkTheFirstAnswersOfManySymbols(b *testing.B) {
	symbols := manyOf(b, manySymbols)
	for _, question := range firstQuestions {
		b.Run(question, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				firstAnswers(b, symbols, question)
			}
		})
	}
}
