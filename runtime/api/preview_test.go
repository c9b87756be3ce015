package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/runtime/engine"
	"botd/runtime/view"
	"botd/strategy"
)

// previews have one of everything.
func previews(t testing.TB, plan strategy.Plan) []engine.TickPreview {
	t.Helper()
	intent := func(purpose placement.Purpose) reconcile.Intent {
		return reconcile.Intent{Purpose: purpose, Strategy: "trend", OrderID: 9, Leverage: 5, Reason: "because",
			Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
				Type: exchange.StopLimit, Quantity: 10, Price: enginetest.Price(t, bitcoin, "50000"), StopPrice: enginetest.Price(t, bitcoin, "49000")}}
	}
	spending := intent(placement.Entry)
	spending.Order.QuoteAmount = enginetest.Amount(t, "100")
	return []engine.TickPreview{{
		Strategy: "trend", Kind: "sma_cross", Symbol: bitcoin, Interval: exchange.Minute1, NowMS: 9, NextMS: 10, Seen: 5, Warmup: 21, CandleMS: 8,
		Candle: exchange.Candle{Open: 1, High: 2, Low: 1, Close: 2}, Last: 2, LastMS: 9, Position: 10, EntryPrice: enginetest.Amount(t, "50000"),
		Equity: enginetest.Amount(t, "10000"),
		Conditions: []strategy.Condition{{Name: "fast average", Value: "2", Requires: "above the slow one 1", Met: true}, {Name: "last target",
			Value: "long"}},
		InForce: plan, Plan: plan, Changes: true, Latch: 1,
		Steps: []engine.PreviewedIntent{
			{Intent: intent(placement.Entry), Approved: true, Verdicts: []risk.Verdict{{Rule: "price", Outcome: risk.Passed}}},
			{Intent: spending, Approved: true, Later: true},
			{Intent: intent(placement.Exit), Verdicts: []risk.Verdict{{Rule: "margin", Outcome: risk.Rejected, Value: "1", Limit: "2", Hint: "less"},
				{Rule: "balance", Outcome: risk.NotReached}}},
			{Intent: intent(placement.Cancel), Approved: true},
			{Intent: intent(placement.Leverage), Approved: true},
		},
		Blocks: []engine.Block{{What: "halted: news", Remedy: "botd rearm"}},
	}, {Strategy: "hold", Kind: "buy_and_hold", Symbol: ether, Interval: exchange.Minute1, Latch: -1}}
}

func TestAPreviewReportsStepsRulesAndBlocks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.previews = previews(t, strategy.Plan{})
	var one view.OneTickPreview
	if err := json.Unmarshal([]byte(d.want(http.StatusOK, "/api/v1/strategies/trend/explain")), &one); err != nil {
		t.Fatal(err)
	}
	want := []struct{ purpose, outcome, rule string }{{"entry", "approved", ""}, {"entry", "waits", ""}, {"exit", "refused", "margin"}, {"cancel",
		"approved", ""}, {"leverage", "approved", ""}}
	if len(one.Steps) != len(want) {
		t.Fatalf("steps: want %d, have %+v", len(want), one.Steps)
	}
	for i, w := range want {
		if s := one.Steps[i]; s.Purpose != w.purpose || s.Outcome != w.outcome || s.Rule != w.rule {
			t.Errorf("step %d: want %+v, have %+v", i, w, s)
		}
	}
	if one.Steps[4].Quantity != "5" || one.Steps[3].OrderID != 9 {
		t.Errorf("want leverage 5 and a cancel of order 9, have %+v", one.Steps)
	}
	if one.Latch != "long" || !one.Changes || one.Data.Warmup != 21 || one.Conditions[0].Requires == "" || one.Blocks[0].Remedy != "botd rearm" {
		t.Errorf("want latch, change, data, conditions and blocks reported, have %+v", one)
	}
	d.want(http.StatusNotFound, "/api/v1/strategies/nobody/explain")
	var all struct{ Items []view.TickPreview }
	if err := json.Unmarshal([]byte(d.want(http.StatusOK, "/api/v1/plan")), &all); err != nil || len(all.Items) != 2 || all.Items[1].Latch != "short" {
		t.Errorf("plan: want both strategies, have %+v, %v", all.Items, err)
	}
}
