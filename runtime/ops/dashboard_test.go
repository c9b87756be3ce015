package ops

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestDashboardUsesRegisteredMetrics(t *testing.T) {
	t.Parallel()
	text, err := DashboardJSON()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	rows, expressions, taken := 0, 0, map[[2]int]string{}
	for _, p := range d.Panels {
		if p.Type == "row" {
			rows++
		} else if len(p.Targets) == 0 {
			t.Errorf("%s asks nothing", p.Title)
		}
		expressions += len(p.Targets)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, full := taken[[2]int{x, y}]; full || x >= 24 {
					t.Fatalf("%s lies over %s, or beside the screen", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	if rows != 7 || expressions < 28 {
		t.Errorf("want 7 rows and at least 28 expressions, have %d and %d", rows, expressions)
	}
}

// TestEveryExpressionOfTheDashboardIsParsed has promtool parse all of them as rules.
func TestEveryExpressionOfTheDashboardIsParsed(t *testing.T) {
	t.Parallel()
	queries := eventQueries()
	for _, row := range Rows() {
		for _, p := range row.Panels {
			queries = append(queries, p.Lines...)
		}
	}
	var b strings.Builder
	b.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for i, q := range queries {
		expression := strings.NewReplacer("$__rate_interval", "5m", "\n", " ").Replace(q.Expression)
		fmt.Fprintf(&b, "      - record: dashboard:expression:%d\n        expr: %s\n", i, quoted(expression))
	}
	if have := promtool(t, "check", "rules", write(t, "dashboard.yml", b.String())); !strings.Contains(have,
		fmt.Sprint(len(queries), " rules found")) {
		t.Errorf("want %d rules, have %s", len(queries), have)
	}
}

func TestEveryStateOfAStrategyIsDrawn(t *testing.T) {
	t.Parallel()
	drawn := rowStrategies().Panels[0].Lines[0].Expression
	for i, word := range []string{"running", "warming_up", "latched", "halted", "quarantined", "failed"} {
		if !strings.Contains(drawn, fmt.Sprintf(`vector(%d), "state", "%s"`, i+1, word)) || strings.ReplaceAll(stateWords[i].word, " ", "_") != word {
			t.Errorf("%s: want it drawn as %d", word, i+1)
		}
	}
	for _, state := range strategyStates {
		if !strings.Contains(drawn, `"`+state+`"`) {
			t.Errorf("%s is not drawn", state)
		}
	}
}

// undrawn lists the families without a panel, and the reasons.
var undrawn = map[string]string{
	"botd_build_info":                                   "the dashboard's variables are read from it",
	"botd_mode_info":                                    "shows what an alert applies to",
	"botd_config_last_reload_successful":                "BotdConfigReloadFailed",
	"botd_config_last_reload_success_timestamp_seconds": "the time of the last reload, for a person's query",
	"botd_last_shutdown_unclean":                        "restarts are annotated; botd status shows whether the last run ended unclean",
	"botd_exchange_backoff_until_timestamp_seconds":     "BotdRateLimited, and the panel of waits",
	"botd_market_polls_total":                           "part of the requests",
	"botd_exchange_clock_bound_seconds":                 "how exact the clock's offset is, which is drawn",
	"botd_exchange_clock_jumps_total":                   "the clock's offset shows each",
	"botd_risk_check_duration_seconds":                  "part of the cycle's time",
	"botd_strategy_last_cycle_timestamp_seconds":        "missed ticks are drawn",
	"botd_strategy_next_cycle_timestamp_seconds":        "BotdStrategyStalled",
	"botd_kill_switch_engagements_total":                "halts are annotated",
	"botd_out_of_band_halts_total":                      "halts are annotated; botd status shows that it acted without the engine",
	"botd_out_of_band_halt_seconds":                     "the same",
	"botd_kill_switch_beside_engine_total":              "the old name of botd_out_of_band_halts_total",
	"botd_kill_switch_beside_engine_seconds":            "the old name of botd_out_of_band_halt_seconds",
	"botd_orders_unsettled_oldest_timestamp_seconds":    "BotdOrderUnsettled; their number is drawn",
	"botd_strategy_unrealized_pnl_usdt":                 "drawn by position",
	"botd_position_unprotected_since_timestamp_seconds": "BotdUnprotectedPosition; the seconds are drawn",
	"botd_lease_expiry_timestamp_seconds":               "who trades is drawn",
	"botd_sse_disconnects_total":                        "streams are drawn",
	"botd_recorded_rows_total":                          "the size of the store is drawn",
}

// TestEveryMetricIsDrawnOrExcluded reads the dashboard's expressions, and the recorded rules in them.
func TestEveryMetricIsDrawnOrExcluded(t *testing.T) {
	t.Parallel()
	expressions := ""
	for _, q := range eventQueries() {
		expressions += q.Expression + "\n"
	}
	for _, row := range Rows() {
		for _, p := range row.Panels {
			for _, q := range p.Lines {
				expressions += q.Expression + "\n"
			}
		}
	}
	for _, r := range Recordings() {
		if strings.Contains(expressions, r.Name) {
			expressions += r.Expression + "\n"
		}
	}
	drawn := map[string]bool{}
	for _, name := range metricName.FindAllString(expressions, -1) {
		drawn[name] = true
	}
	left := maps.Clone(undrawn)
	for _, f := range NewMetrics("demo", Build{}).Families() {
		shown := drawn[f.Name] || drawn[f.Name+"_bucket"] || drawn[f.Name+"_sum"] || drawn[f.Name+"_count"]
		if _, out := left[f.Name]; shown == out {
			t.Errorf("%s: drawn %t, left out %t: want one of them", f.Name, shown, out)
		}
		delete(left, f.Name)
	}
	for name, why := range left {
		t.Errorf("%s is left out (%s), and is no metric", name, why)
	}
}
