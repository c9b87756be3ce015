package view

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/engine"
)

// TestADayIsNoLossBeforeTheFirstRound checks a start: the day is in the journal, the equity has not been read
// yet.
func TestADayIsNoLossBeforeTheFirstRound(t *testing.T) {
	t.Parallel()
	thousand, _ := exchange.ParseAmount("1000")
	half, _ := exchange.ParseAmount("500")
	day := account.Day{StartMS: 1, Equity: thousand, Peak: thousand}
	for _, c := range []struct {
		name           string
		equity         exchange.Amount
		complete       bool
		change         string
		ratio, dropped float64
	}{
		{"nothing read", exchange.Amount{}, false, "0", 0, 0},
		{"half lost", half, true, "-500", -0.5, 0.5},
		{"all lost", exchange.Amount{}, true, "-1000", -1, 1},
	} {
		if d := dayOf(day, c.equity, c.complete); d.Change != c.change || d.ChangeRatio != c.ratio || d.DrawdownRatio != c.dropped {
			t.Errorf("%s: want %s, %g, %g, have %+v", c.name, c.change, c.ratio, c.dropped, d)
		}
	}
}

// The engine counts a start as a round, in which nothing was read.
func TestEquityNeedsReadsOfAllMarkets(t *testing.T) {
	t.Parallel()
	of := func(market exchange.Market) engine.StrategyStatus {
		return engine.StrategyStatus{Symbol: &exchange.Symbol{Market: market, Name: "BTC-USDT"}}
	}
	futures, spot := of(exchange.Futures), of(exchange.Spot)
	wallet := []exchange.Balance{{Asset: "USDT"}}
	for _, c := range []struct {
		name   string
		status engine.Status
		want   bool
	}{
		{"a start", engine.Status{SoundMS: 5, Strategies: []engine.StrategyStatus{futures}}, false},
		{"futures", engine.Status{SoundMS: 5, AccountMS: 6, Strategies: []engine.StrategyStatus{futures}}, true},
		{"spot", engine.Status{SoundMS: 5, Balances: wallet, Strategies: []engine.StrategyStatus{spot}}, true},
		{"futures of both", engine.Status{SoundMS: 5, AccountMS: 6, Strategies: []engine.StrategyStatus{futures, spot}}, false},
		{"spot of both", engine.Status{SoundMS: 5, Balances: wallet, Strategies: []engine.StrategyStatus{futures, spot}}, false},
	} {
		if have := accountsRead(&c.status); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}
