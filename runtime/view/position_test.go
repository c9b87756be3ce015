package view

import (
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/runtime/engine"
)

// TestAPositionsProfitIsNet uses a strategy whose earlier round trips made -8.97 and whose ledger has -10.97: the open
// position cost 2 in fees. It is short 0.02 BTC from 50,000, and the last price is 49,900: +2, less 2 of fees.
func TestAPositionsProfitIsNet(t *testing.T) {
	t.Parallel()
	last := enginetest.Price(t, bitcoin, "49900")
	b := &Board{}
	b.status = engine.Status{
		Ledger: []ledger.Balance{{Account: ledger.Realized, Strategy: "trend", Asset: "USDT", Amount: exchange.MustAmount("5")},
			{Account: ledger.Fees, Strategy: "trend", Asset: "USDT", Amount: exchange.MustAmount("5.97")}},
		Symbols: []engine.SymbolStatus{{Key: bitcoin.Key(), Rules: bitcoin, Position: -20, Last: last, EntryPrice: exchange.MustAmount("50000"),
			LiqPrice: exchange.MustAmount("54890"), SinceMS: 5}},
		Strategies: []engine.StrategyStatus{{Name: "trend", Symbol: bitcoin, Position: -20, Last: last, EntryPrice: exchange.MustAmount("50000")}},
	}
	p := b.Positions()[0]
	p.SubtractEarlier(exchange.MustAmount("-8.97"))
	if p.Unrealized != "2" || p.Profit != "0" || *p.ProfitRatio != 0 || *p.Distance != 0.1 || p.StopDistance != nil {
		t.Errorf("want 2 unrealized, 0 net and a distance of 0.1, have %s, %s, %v, %v", p.Unrealized, p.Profit, *p.ProfitRatio, *p.Distance)
	}
	if p.SubtractEarlier(exchange.MustAmount("-10.97")); p.Profit != "2" || *p.ProfitRatio != 0.002 {
		t.Errorf("without fees: want 2 and 0.002, have %s and %v", p.Profit, *p.ProfitRatio)
	}
	all := b.statusOf().Strategies
	if all[0].Profit != "-8.97" || all[0].Return != 0.002 || all[0].SinceMS != 5 {
		t.Errorf("want -8.97 in all and 0.002 open since 5, have %+v", all[0])
	}
}

// The list shows none of a position of 20 and is not trusted: the position is shown as botd acts on it, with the list's report, and with the state's cause,
// its time and what ends it.
func TestAContradictedPositionIsShown(t *testing.T) {
	t.Parallel()
	last := enginetest.Price(t, bitcoin, "50000")
	b := &Board{}
	b.status = engine.Status{
		Symbols:    []engine.SymbolStatus{{Key: bitcoin.Key(), Rules: bitcoin, Residual: -20, Unshown: 20, Last: last}},
		Strategies: []engine.StrategyStatus{{Name: "trend", Symbol: bitcoin, Position: 20, Last: last, State: "contradicted", Protected: true}},
		Degraded: []engine.Degraded{{State: "contradicted", Scope: account.Scope{Symbol: bitcoin.Key()}, Cause: "the list shows less", SinceMS: 1_000,
			Remedy: "a read shows it again"}},
	}
	shows(t, "its position", b.Positions()[0], `{"quantity":"0.02","reported":"0","journal":"0.02","difference":"-0.02","notional":"1000","protected":true,
		"contradiction":{"state":"contradicted","cause":"the list shows less","since":"1970-01-01T00:00:01Z","remedy":"a read shows it again"}}`)
	shows(t, "the status", b.statusOf(), `{"positions":1,"reconcile":{"differences":1}}`)
}
