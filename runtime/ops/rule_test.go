package ops

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// required reports whether BOTD_REQUIRE asks for a tool: then its absence fails.
func required(tool string) bool {
	return slices.Contains(strings.FieldsFunc(os.Getenv("BOTD_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' }), tool)
}

// promtool runs Prometheus's own checks, where it is installed.
func promtool(t *testing.T, arguments ...string) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		if required("promtool") {
			t.Fatal("promtool is not installed: Debian's package is prometheus")
		}
		t.Skip("promtool is not installed (Debian: prometheus); BOTD_REQUIRE=promtool makes this fail")
	}
	output, err := exec.Command(path, arguments...).CombinedOutput()
	if err != nil {
		t.Errorf("promtool %v: %v\n%s", arguments, err, output)
	}
	return string(output)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRulesNameOnlyWhatIsRegistered(t *testing.T) {
	t.Parallel()
	text, err := RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	if have := Named(`rate(botd_fills_total[5m]) + botd_nonsense + botd_fills_bucket`); !slices.Equal(have,
		[]string{"botd_nonsense", "botd_fills_bucket"}) {
		t.Errorf("unknown names: want botd_nonsense and botd_fills_bucket, have %v", have)
	}
	if pages, tickets := strings.Count(text, "severity: page"), strings.Count(text, "severity: ticket"); pages != 13 || tickets != 15 ||
		len(Recordings()) != 6 {
		t.Errorf("want 13 alerts that page, 15 tickets and 6 recordings, have %d, %d and %d", pages, tickets, len(Recordings()))
	}
}

func TestRulesAreCheckedByPromtool(t *testing.T) {
	t.Parallel()
	text, err := RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	if have := promtool(t, "check", "rules", write(t, "botd.rules.yml", text)); !strings.Contains(have, "SUCCESS: 34 rules found") {
		t.Errorf("want 34 rules, have %s", have)
	}
}

// promSeries are one or more series with their values in Prometheus's test notation,
// a value a minute.
type promSeries struct{ name, values string }

// alertCases are, for every alert, when it must fire and when it must not.
var alertCases = []struct {
	alert  string
	minute int // at which it is looked at
	series []promSeries
	fires  string // labels of what fires, besides the alert's own; empty: nothing may
}{
	{"BotdDown", 3, []promSeries{{`up{job="botd", instance="a"}`, "0x9"}}, `job="botd", instance="a"`},
	{"BotdDown", 3, []promSeries{{`up{job="botd", instance="a"}`, "0 1x9"}}, ""},
	{"BotdDown", 3, []promSeries{{`up{job="node", instance="a"}`, "0x9"}}, ""},
	{"BotdAbsent", 6, []promSeries{{`up{job="other", instance="a"}`, "1x9"}}, " "},
	{"BotdAbsent", 6, []promSeries{{`botd_build_info{job="botd", instance="a"}`, "1x9"}}, ""},
	{
		"BotdTradingHalted",
		3,
		[]promSeries{{`botd_trading_halted{job="botd", instance="a", reason="kill_switch"}`, "1x9"}},
		`job="botd", instance="a", reason="kill_switch"`,
	},
	{"BotdTradingHalted", 3, []promSeries{{`botd_trading_halted{job="botd", instance="a", reason="kill_switch"}`, "0x9"}}, ""},
	{
		"BotdOrderUnsettled",
		2,
		[]promSeries{{`botd_orders_unsettled_oldest_timestamp_seconds{job="botd", instance="a", market="spot"}`, "30x9"}},
		`job="botd", instance="a", market="spot"`,
	},
	{"BotdOrderUnsettled", 9, []promSeries{{`botd_orders_unsettled_oldest_timestamp_seconds{job="botd", instance="a", market="spot"}`, "0x9"}}, ""},
	{"BotdOrderUnsettled", 2, []promSeries{{`botd_orders_unsettled_oldest_timestamp_seconds{job="botd", instance="a", market="spot"}`, "90x9"}}, ""},
	{
		"BotdReconcileStale",
		5,
		[]promSeries{{`botd_reconcile_last_success_timestamp_seconds{job="botd", instance="a", market="all"}`, "60x9"}},
		`job="botd", instance="a", market="all"`,
	},
	{"BotdReconcileStale", 5, []promSeries{{`botd_reconcile_last_success_timestamp_seconds{job="botd", instance="a", market="all"}`, "0+60x9"}}, ""},
	{
		"BotdDiscrepancyUnresolved",
		4,
		[]promSeries{{`botd_reconcile_discrepancies_unresolved{job="botd", instance="a", market="all"}`, "2x9"}},
		`job="botd", instance="a", market="all"`,
	},
	{
		"BotdDiscrepancyUnresolved",
		4,
		[]promSeries{{`botd_reconcile_discrepancies_unresolved{job="botd", instance="a", market="all"}`, "0 0 0 2x9"}},
		"",
	},
	{
		"BotdNearLiquidation",
		1,
		[]promSeries{{`botd_position_liquidation_distance_ratio{job="botd", instance="a", symbol="BTC-USDT"}`, "0.04x9"}},
		`job="botd", instance="a", symbol="BTC-USDT"`,
	},
	{"BotdNearLiquidation", 1, []promSeries{{`botd_position_liquidation_distance_ratio{job="botd", instance="a", symbol="BTC-USDT"}`, "0.06x9"}}, ""},
	{
		"BotdUnprotectedPosition",
		5,
		[]promSeries{{`botd_position_unprotected_seconds_total{job="botd", instance="a", symbol="BTC-USDT"}`, "0+60x9"}},
		`job="botd", instance="a", symbol="BTC-USDT"`,
	},
	{
		"BotdUnprotectedPosition",
		5,
		[]promSeries{{`botd_position_unprotected_seconds_total{job="botd", instance="a", symbol="BTC-USDT"}`, "0+1x9"}},
		"",
	},
	{
		"BotdUnprotectedPosition",
		2,
		[]promSeries{{`botd_position_unprotected_since_timestamp_seconds{job="botd", instance="a", symbol="BTC-USDT"}`, "60x9"}},
		`job="botd", instance="a", symbol="BTC-USDT"`,
	},
	{
		"BotdUnprotectedPosition",
		2,
		[]promSeries{{`botd_position_unprotected_since_timestamp_seconds{job="botd", instance="a", symbol="BTC-USDT"}`, "0x9"}},
		"",
	},
	{
		"BotdIntentRefused",
		3,
		[]promSeries{{`botd_trading_halted{job="botd", instance="a", reason="refused"}`, "0 1x9"}},
		`job="botd", instance="a"`,
	},
	{
		"BotdIntentRefused",
		3,
		[]promSeries{{`botd_trading_halted{job="botd", instance="a", reason="blind"}`, "1x9"}},
		"",
	},
	{
		"BotdAuthFailing",
		3,
		[]promSeries{{`botd_exchange_error_codes_total{job="botd", instance="a", market="futures", code="-2015"}`, "0 1x9"}},
		`job="botd", instance="a", market="futures"`,
	},
	{"BotdAuthFailing", 3, []promSeries{{`botd_exchange_error_codes_total{job="botd", instance="a", market="futures", code="-1021"}`, "0 1x9"}}, ""},
	{
		"BotdNoLeader",
		3,
		[]promSeries{{`botd_leader{job="botd", instance="a"}`, "0x9"}, {`botd_leader{job="botd", instance="b"}`, "0x9"}},
		`job="botd"`,
	},
	{"BotdNoLeader", 3, []promSeries{{`botd_leader{job="botd", instance="a"}`, "0x9"}, {`botd_leader{job="botd", instance="b"}`, "1x9"}}, ""},
	{
		"BotdTwoLeaders",
		3,
		[]promSeries{{`botd_leader{job="botd", instance="a"}`, "1x9"}, {`botd_leader{job="botd", instance="b"}`, "1x9"}},
		`job="botd"`,
	},
	{"BotdTwoLeaders", 3, []promSeries{{`botd_leader{job="botd", instance="a"}`, "1x9"}, {`botd_leader{job="other", instance="b"}`, "1x9"}}, ""},
	{
		"BotdStrategyStalled",
		9,
		[]promSeries{
			{`botd_strategy_next_cycle_timestamp_seconds{job="botd", instance="a", strategy="trend"}`, "60x9"},
			{`botd_strategy_state{job="botd", instance="a", strategy="trend", state="running"}`, "1x9"},
		},
		`job="botd", instance="a", strategy="trend"`,
	},
	{
		"BotdStrategyStalled",
		9,
		[]promSeries{
			{`botd_strategy_next_cycle_timestamp_seconds{job="botd", instance="a", strategy="trend"}`, "60x9"},
			{`botd_strategy_state{job="botd", instance="a", strategy="trend", state="running"}`, "0x9"},
		},
		"",
	},
	{
		"BotdStrategyFailed",
		1,
		[]promSeries{{`botd_strategy_state{job="botd", instance="a", strategy="trend", state="failed"}`, "1x9"}},
		`job="botd", instance="a", strategy="trend", state="failed"`,
	},
	{"BotdStrategyFailed", 1, []promSeries{{`botd_strategy_state{job="botd", instance="a", strategy="trend", state="failed"}`, "0x9"}}, ""},
	{
		"BotdStrategyHung",
		1,
		[]promSeries{{`botd_strategy_state{job="botd", instance="a", strategy="trend", state="hung"}`, "1x9"}},
		`job="botd", instance="a", strategy="trend", state="hung"`,
	},
	{"BotdStrategyHung", 1, []promSeries{{`botd_strategy_state{job="botd", instance="a", strategy="trend", state="hung"}`, "0x9"}}, ""},
	{
		"BotdExchangeErrors",
		18,
		[]promSeries{
			{`botd_exchange_requests_total{job="botd", instance="a", market="futures", endpoint="x", outcome="ok"}`, "0+8x20"},
			{`botd_exchange_requests_total{job="botd", instance="a", market="futures", endpoint="x", outcome="refusal"}`, "0+2x20"},
		},
		`job="botd", instance="a"`,
	},
	{
		"BotdExchangeErrors",
		18,
		[]promSeries{
			{`botd_exchange_requests_total{job="botd", instance="a", market="futures", endpoint="x", outcome="ok"}`, "0+99x20"},
			{`botd_exchange_requests_total{job="botd", instance="a", market="futures", endpoint="x", outcome="refusal"}`, "0+1x20"},
		},
		"",
	},
	{"BotdRateLimited", 7, []promSeries{{`botd_incidents_open{job="botd", instance="a", kind="rate_limited", severity="warning"}`, "1x9"}},
		`job="botd", instance="a"`},
	{"BotdDiskLow", 2, []promSeries{{`botd_store_free_bytes{job="botd", instance="a"}`, "200000000x9"}}, `job="botd", instance="a"`},
	{"BotdDiskLow", 2, []promSeries{{`botd_store_free_bytes{job="botd", instance="a"}`, "300000000x9"}}, ""},
	{"BotdLedgerDifference", 1, []promSeries{{`botd_incidents_open{job="botd", instance="a", kind="ledger", severity="warning"}`, "0 1x9"}},
		`job="botd", instance="a"`},
	{"BotdLedgerDifference", 1, []promSeries{{`botd_incidents_open{job="botd", instance="a", kind="halted", severity="warning"}`, "0 1x9"}}, ""},
	{"BotdRestartLoop", 9, []promSeries{{`process_start_time_seconds{job="botd", instance="a"}`, "0 0 120 120 240 240 360x9"}}, `job="botd", instance="a"`},
	{"BotdRestartLoop", 9, []promSeries{{`process_start_time_seconds{job="botd", instance="a"}`, "0 0 120x9"}}, ""},
	{"BotdTicksMissed", 9, []promSeries{{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="missed"}`, "0+2x9"}},
		`job="botd", instance="a", strategy="trend", result="missed"`},
	{"BotdTicksMissed", 9, []promSeries{{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="missed"}`, "0 1x9"}}, ""},
	{
		"BotdRateLimited",
		9,
		[]promSeries{
			{`botd_incidents_open{job="botd", instance="a", kind="rate_limited", severity="warning"}`, "0 1 1 0x9"},
			{`botd_exchange_throttle_wait_seconds_total{job="botd", instance="a", market="futures", class="budget"}`, "0+10x9"},
		},
		"",
	},
	{
		"BotdMarketDataStale",
		4,
		[]promSeries{{`botd_component_up{job="botd", instance="a", component="market_data"}`, "0x9"}},
		`job="botd", instance="a", component="market_data"`,
	},
	{"BotdMarketDataStale", 4, []promSeries{{`botd_component_up{job="botd", instance="a", component="market_data"}`, "1x9"}}, ""},
	{"BotdClockSkew", 12, []promSeries{{`botd_exchange_clock_offset_seconds{job="botd", instance="a"}`, "-6x20"}}, `job="botd", instance="a"`},
	{
		"BotdClockSkew",
		12,
		[]promSeries{
			{`botd_exchange_clock_offset_seconds{job="botd", instance="a"}`, "4x20"},
			{`botd_component_up{job="botd", instance="a", component="clock"}`, "1x20"},
		},
		"",
	},
	{
		"BotdLimitNearlyReached",
		7,
		[]promSeries{{`botd_risk_limit_usage_ratio{job="botd", instance="a", limit="max_drawdown", scope="account"}`, "0.9x9"}},
		`job="botd", instance="a", limit="max_drawdown", scope="account"`,
	},
	{
		"BotdLimitNearlyReached",
		7,
		[]promSeries{{`botd_risk_limit_usage_ratio{job="botd", instance="a", limit="max_leverage", scope="account"}`, "1x9"}},
		"",
	},
	{"BotdConfigReloadFailed", 1, []promSeries{{`botd_config_last_reload_successful{job="botd", instance="a"}`, "0x9"}}, `job="botd", instance="a"`},
	{"BotdConfigReloadFailed", 1, []promSeries{{`botd_config_last_reload_successful{job="botd", instance="a"}`, "1x9"}}, ""},
	{
		"BotdBackupOld",
		64,
		[]promSeries{
			{`botd_store_last_backup_timestamp_seconds{job="botd", instance="a"}`, "-200000x70"},
			{`botd_mode_info{job="botd", instance="a", mode="live"}`, "1x70"},
		},
		`job="botd", instance="a"`,
	},
	{
		"BotdBackupOld",
		64,
		[]promSeries{
			{`botd_store_last_backup_timestamp_seconds{job="botd", instance="a"}`, "-200000x70"},
			{`botd_mode_info{job="botd", instance="a", mode="demo"}`, "1x70"},
		},
		"",
	},
	{
		"BotdStoreSlow",
		14,
		[]promSeries{
			{`botd_store_write_duration_seconds_bucket{job="botd", instance="a", le="0.5"}`, "0+1x20"},
			{`botd_store_write_duration_seconds_bucket{job="botd", instance="a", le="1"}`, "0+10x20"},
			{`botd_store_write_duration_seconds_bucket{job="botd", instance="a", le="+Inf"}`, "0+10x20"},
		},
		`job="botd", instance="a"`,
	},
	{
		"BotdStoreSlow",
		14,
		[]promSeries{
			{`botd_store_write_duration_seconds_bucket{job="botd", instance="a", le="0.5"}`, "0+10x20"},
			{`botd_store_write_duration_seconds_bucket{job="botd", instance="a", le="+Inf"}`, "0+10x20"},
			{`botd_store_errors_total{job="botd", instance="a", op="append"}`, "0x20"},
		},
		"",
	},
	{
		"BotdNotificationsFailing",
		3,
		[]promSeries{{`botd_notifications_total{job="botd", instance="a", channel="phone", result="failed"}`, "0 1x9"}},
		`job="botd", instance="a", channel="phone"`,
	},
	{
		"BotdNotificationsFailing",
		3,
		[]promSeries{{`botd_notifications_total{job="botd", instance="a", channel="phone", result="sent"}`, "0 1x9"}},
		"",
	},
}

// TestEveryAlertFiresWhenItMustAndOnlyThen has promtool evaluate the rules over
// series of each case.
func TestEveryAlertFiresWhenItMustAndOnlyThen(t *testing.T) {
	t.Parallel()
	text, err := RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	rules := write(t, "botd.rules.yml", text)
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [%s]\nevaluation_interval: 1m\ntests:\n", rules)
	fires, quiet, severities := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, a := range Alerts() {
		severities[a.Name] = a.Severity
	}
	for _, c := range alertCases {
		fmt.Fprintf(&b, "  - interval: 1m\n    input_series:\n")
		for _, s := range c.series {
			fmt.Fprintf(&b, "      - series: %s\n        values: %s\n", quoted(s.name), quoted(s.values))
		}
		firing := fmt.Sprintf(`ALERTS{alertname="%s", alertstate="firing"}`, c.alert)
		fmt.Fprintf(&b, "    promql_expr_test:\n      - expr: %s\n        eval_time: %dm\n", quoted(firing), c.minute)
		if c.fires == "" {
			quiet[c.alert] = true
			fmt.Fprintf(&b, "        exp_samples: []\n")
			continue
		}
		fires[c.alert] = true
		labels := fmt.Sprintf(`ALERTS{alertname="%s", alertstate="firing", severity="%s"%s}`, c.alert, severities[c.alert], and(c.fires))
		fmt.Fprintf(&b, "        exp_samples:\n          - labels: %s\n            value: 1\n", quoted(labels))
	}
	for _, a := range Alerts() {
		if !fires[a.Name] || !quiet[a.Name] {
			t.Errorf("%s: want a case in which it fires and one in which it does not", a.Name)
		}
	}
	if have := promtool(t, "test", "rules", write(t, "botd.test.yml", b.String())); !strings.Contains(have, "SUCCESS") {
		t.Errorf("have %s", have)
	}
}

func and(labels string) string {
	if labels = strings.TrimSpace(labels); labels == "" {
		return ""
	}
	return ", " + labels
}
