package backtest

import (
	"encoding/json"
	"testing"
	"time"
)

// TestTheHashCoversFiguresAndNotTheirExplanations changes one part of a result at a time.
func TestTheHashCoversFiguresAndNotTheirExplanations(t *testing.T) {
	t.Parallel()
	hash := func(change func(*Result)) string {
		t.Helper()
		r := &Result{
			Orders:      OrderCounts{Derived: 7},
			EndedBy:     &EndedBy{Limit: "halt", Time: time.UnixMilli(1_000).UTC(), Value: "by hand", Text: "by hand"},
			NotTraded:   []NotTraded{{Strategy: "trend", Reason: roundedToNothing, Count: 3, First: "0.1 at 100"}},
			Warnings:    []Warning{{Halted, "trading was halted"}, {Configured, "a strategy file has no stop"}},
			Assumptions: []string{"orders fill at the next open"},
		}
		change(r)
		if err := r.sign(); err != nil {
			t.Fatal(err)
		}
		return r.ResultSHA256
	}
	same := hash(func(*Result) {})
	for what, c := range map[string]struct {
		change  func(*Result)
		covered bool
	}{
		"the text of a warning":         {func(r *Result) { r.Warnings[0].Text = "halted" }, false},
		"a warning about another run":   {func(r *Result) { r.Warnings = r.Warnings[:1] }, false},
		"an assumption":                 {func(r *Result) { r.Assumptions[0] = "at the next open" }, false},
		"the words of the end":          {func(r *Result) { r.EndedBy.Value, r.EndedBy.Text = "a person", "a person" }, false},
		"the words of suppressed ones":  {func(r *Result) { r.NotTraded[0].Reason, r.NotTraded[0].First = "too small", "" }, false},
		"the version":                   {func(r *Result) { r.Version = "2.0.0" }, false},
		"the code of a warning":         {func(r *Result) { r.Warnings[0].Code = Quarantined }, true},
		"a warning more":                {func(r *Result) { r.warn(FewTrades, "few") }, true},
		"what ended trading":            {func(r *Result) { r.EndedBy.Limit = "max_drawdown" }, true},
		"the time of the end":           {func(r *Result) { r.EndedBy.Time = time.UnixMilli(2_000).UTC() }, true},
		"that trading ended":            {func(r *Result) { r.EndedBy = nil }, true},
		"the number of suppressed ones": {func(r *Result) { r.NotTraded[0].Count++ }, true},
		"the number of orders":          {func(r *Result) { r.Orders.Derived++ }, true},
		"a fill":                        {func(r *Result) { r.Executions = []Execution{{Price: "1"}} }, true},
	} {
		if covered := hash(c.change) != same; covered != c.covered {
			t.Errorf("%s: want covered %v, have %v", what, c.covered, covered)
		}
	}
}

// TestCountsOfOrdersAreReadUnderTheirOldKey reads reports of earlier versions and of this one.
func TestCountsOfOrdersAreReadUnderTheirOldKey(t *testing.T) {
	t.Parallel()
	for text, derived := range map[string]int{`{"wanted":7,"placed":2}`: 7, `{"derived":7,"placed":2}`: 7, `{"placed":2}`: 0} {
		var have OrderCounts
		if err := json.Unmarshal([]byte(text), &have); err != nil || have.Derived != derived || have.Placed != 2 {
			t.Errorf("%s: want %d derived and 2 placed, have %+v (%v)", text, derived, have, err)
		}
	}
	var have OrderCounts
	if err := json.Unmarshal([]byte(`{"wanted":"many"}`), &have); err == nil {
		t.Error("a text as a number: want an error")
	}
}
