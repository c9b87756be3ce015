package daemon

import (
	"io"
	"slices"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/engine"
	"botd/runtime/ops"
)

// TestAFeeInTheBaseAssetIsNoTradeAfterAStart has a spot strategy own its fills less fees. A start once compared the wallet with the fills
// alone, and reported a changed position.
func TestAFeeInTheBaseAssetIsNoTradeAfterAStart(t *testing.T) {
	t.Parallel()
	all := sim.DefaultSymbols()
	spot := all[slices.IndexFunc(all, func(s *exchange.Symbol) bool { return s.Market == exchange.Spot && s.Name == "SOL-USDT" })]
	bought, left := exchange.MustAmount("0.983"), exchange.MustAmount("0.982017")
	status := &engine.Status{Symbols: []engine.SymbolStatus{{Key: spot.Key(), Owner: "hold", Known: spot.QuantityOf(bought)}},
		Strategies: []engine.StrategyStatus{{Name: "hold", Symbol: spot, Booked: left}}}
	logs := ops.NewLogs()
	trades := &trades{positions: positionsByStrategy(status), log: ops.NewConsole(io.Discard, ops.Format{JSON: true}, nil, logs)}
	trades.note(&engine.Note{Strategy: "hold", Symbol: spot, Fact: engine.NotePosition{Quantity: spot.QuantityOf(exchange.MustAmount("0.982"))}})
	reported := func() (lines []ops.LogLine) {
		logs.Lines(func(all []ops.LogLine) { lines = slices.Clone(all) })
		return lines
	}
	if len(reported()) != 0 {
		t.Error("want no report of earlier positions")
	}
	trades.note(&engine.Note{Strategy: "hold", Symbol: spot, Fact: engine.NotePosition{Quantity: spot.QuantityOf(exchange.MustAmount("0.9"))}})
	if all := reported(); len(all) != 1 || all[0].Strategy != "hold" || all[0].Market != "spot" || all[0].Symbol != "SOL-USDT" {
		t.Errorf("want a position that has changed reported, with strategy and symbol, have %+v", all)
	}
}
