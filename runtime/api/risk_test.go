package api

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/risk"
	"botd/runtime/engine"
)

func TestLimitsShowUtilizationHeadroomAndTheRemedy(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board.Show(engine.Status{Limits: []risk.Utilization{
		{Scope: "account", Rule: risk.MaxOpenOrders, Value: "3", Limit: "200", Headroom: "197", Ratio: 3.0 / 200, State: risk.StateOK},
		{Scope: "strategy one", Strategy: "one", Rule: risk.MaxDailyLoss, Value: "101 USDT", Limit: "100 USDT", Headroom: "0 USDT", Ratio: 1.01,
			State:  risk.StateBreached,
			Reason: "lost", Remedy: "clears automatically", SinceMS: 1_000, UntilMS: 86_400_000},
	}})
	want := []map[string]any{
		{"scope": "account", "rule": "max_open_orders", "value": "3", "use": "3", "limit": "200", "headroom": "197", "ratio": 0.015, "state": "ok",
			"near": "alerts"},
		{"scope": "strategy one", "strategy": "one", "rule": "max_daily_loss", "value": "101 USDT", "use": "101 USDT", "limit": "100 USDT",
			"headroom": "0 USDT", "ratio": 1.01, "state": "breached", "near": "alerts",
			"reason": "lost", "why": "lost",
			"remedy": "clears automatically", "way_out": "clears automatically", "since": "1970-01-01T00:00:01Z", "until": "1970-01-02T00:00:00Z"},
	}
	for _, path := range []string{"/api/v1/risk/limits", "/api/v1/limits"} {
		var page struct{ Items []map[string]any }
		if err := json.Unmarshal([]byte(d.want(200, path)), &page); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, page.Items); diff != "" {
			t.Errorf("%s: want - have +\n%s", path, diff)
		}
	}
}
