package daemon

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/engine"
)

// TestAFeeInTheBaseAssetIsNoTradeAfterAStart has a strategy on spot own what its fills left after fees. Once a start compared what the wallet holds
// with the fills alone, and reported a changed position.
func TestAFeeInTheBaseAssetIsNoTradeAfterAStart(t *testing.T) {
	t.Parallel()
	all := sim.DefaultSymbols()
	spot := all[slices.IndexFunc(all, func(s *exchange.Symbol) bool { return s.Market == exchange.Spot && s.Name == "SOL-USDT" })]
	bought, left := exchange.MustAmount("0.983"), exchange.MustAmount("0.982017")
	status := &engine.Status{Symbols: []engine.SymbolStatus{{Key: spot.Key(), Owner: "hold", Known: spot.QuantityOf(bought)}},
		Strategies: []engine.StrategyStatus{{Name: "hold", Symbol: spot, Booked: left}}}
	reported := 0
	trades := &trades{held: heldBy(status), say: func(string, string, ...any) { reported++ }}
	trades.note(&engine.Note{Strategy: "hold", Symbol: spot, Fact: engine.NotePosition{Quantity: spot.QuantityOf(exchange.MustAmount("0.982"))}})
	if reported != 0 {
		t.Error("want nothing said of what was held before")
	}
	trades.note(&engine.Note{Strategy: "hold", Symbol: spot, Fact: engine.NotePosition{Quantity: spot.QuantityOf(exchange.MustAmount("0.9"))}})
	if reported != 1 {
		t.Error("want a position that has changed reported")
	}
}
