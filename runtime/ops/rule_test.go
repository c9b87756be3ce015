package ops

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// required reports whether BOTD_REQUIRE names a tool, whose absence then fails.
func required(tool string) bool {
	return slices.Contains(strings.FieldsFunc(os.Getenv("BOTD_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' }), tool)
}

// promtool runs Prometheus's own checks, if it is installed.
func promtool(t *testing.T, arguments ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("promtool is a program of its own, which no race detector sees: go test without -short runs it")
	}
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

func TestRulesUseRegisteredMetrics(t *testing.T) {
	t.Parallel()
	text, err := RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	if have := Named(`rate(botd_fills_total[5m]) + botd_nonsense + botd_fills_bucket`); !slices.Equal(have,
		[]string{"botd_nonsense", "botd_fills_bucket"}) {
		t.Errorf("unknown names: want botd_nonsense and botd_fills_bucket, have %v", have)
	}
	if pages, tickets := strings.Count(text, "severity: page"), strings.Count(text, "severity: ticket"); pages != 13 || tickets != 22 ||
		len(Recordings()) != 13 {
		t.Errorf("want 13 alerts that page, 22 tickets and 13 recordings, have %d, %d and %d", pages, tickets, len(Recordings()))
	}
}

func TestRulesAreCheckedByPromtool(t *testing.T) {
	t.Parallel()
	text, err := RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	if have := promtool(t, "check", "rules", write(t, "botd.rules.yml", text)); !strings.Contains(have, "SUCCESS: 49 rules found") {
		t.Errorf("want 49 rules, have %s", have)
	}
}

// promSeries are one or more series with their values in Prometheus's test notation, one value a minute.
type promSeries struct{ name, values string }

// alertCases lists, for every alert, when it must fire and when it must not.
var alertCases = []struct {
	alert  string
	minute int // when it is evaluated
	series []promSeries
	fires  string // labels of the firing alert besides its own; empty: it must not fire
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
		`job="botd", instance="a"`,
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
		[]promSeries{{`botd_exchange_error_codes_total{job="botd", instance="a", market="futures", code="-2015"}`, "0 1x9"},
			{`botd_exchange_error_codes_total{job="botd", instance="a", market="spot", code="-2015"}`, "0 1x9"}}, // one key, one page
		`job="botd", instance="a"`,
	},
	{"BotdAuthFailing", 3, []promSeries{{`botd_exchange_error_codes_total{job="botd", instance="a", market="futures", code="-1021"}`, "0 1x9"}}, ""},
	{"BotdHaltUnfinished", 4, []promSeries{{`botd_halts_unfinished{job="botd", instance="a"}`, "1x9"}}, `job="botd", instance="a"`},
	{"BotdHaltUnfinished", 4, []promSeries{{`botd_halts_unfinished{job="botd", instance="a"}`, "1 1 0x9"}}, ""},
	{"BotdWatchdog", 1, []promSeries{{`up{job="botd", instance="a"}`, "1x9"}}, " "},
	{"BotdPartHalted", 12, []promSeries{{`botd_trading_halted{job="botd", instance="a", reason="breaker"}`, "1x20"}},
		`job="botd", instance="a", reason="breaker"`},
	{"BotdPartHalted", 12, []promSeries{{`botd_trading_halted{job="botd", instance="a", reason="breaker"}`, "1 0 1 0 1 1 0 1 1 0 1 1 1"}}, ""},
	{"BotdPartHalted", 20, []promSeries{{`botd_trading_halted{job="botd", instance="a", reason="breaker"}`, "0 0 1x25"}, // lost orders
		{`botd_orders_unsettled_oldest_timestamp_seconds{job="botd", instance="a", market="spot"}`, "60x6 0x19"}}, ""},
	{"BotdHaltUnfinished", 9, []promSeries{{`botd_halts_unfinished{job="botd", instance="a"}`, "0 0 1x20"},
		{`botd_orders_unsettled_oldest_timestamp_seconds{job="botd", instance="a", market="spot"}`, "60x20"}}, ""},
	{"BotdTradingHalted", 9, []promSeries{{`botd_trading_halted{job="botd", instance="a", reason="breaker"}`, "1x20"}}, ""},
	{"BotdPositionWithoutStop", 17, withoutStop("0", "live"), `job="botd", instance="a", symbol="BTC-USDT"`},
	{"BotdPositionWithoutStop", 17, withoutStop("60", "live"), ""},
	{"BotdPositionWithoutStop", 17, withoutStop("0", "demo"), ""},
	{"BotdCandlesMissing", 9, []promSeries{{`botd_market_candle_gaps_total{job="botd", instance="a", market="spot"}`, "0+2x9"}},
		`job="botd", instance="a", market="spot"`},
	{"BotdCandlesMissing", 9, []promSeries{{`botd_market_candle_gaps_total{job="botd", instance="a", market="spot"}`, "0 1x9"}}, ""},
	{"BotdSlippageHigh", 60, slippage("0.01"), `job="botd", instance="a", market="spot"`},
	{"BotdSlippageHigh", 60, slippage("0.001"), ""},
	{"BotdObjectiveMissed", 60, []promSeries{
		{`botd_reconcile_runs_total{job="botd", instance="a", market="all", result="ok"}`, "0+4x60"},
		{`botd_reconcile_runs_total{job="botd", instance="a", market="all", result="failed"}`, "0+1x60"},
	}, `job="botd", instance="a", objective="rounds"`},
	{"BotdObjectiveMissed", 60, []promSeries{
		{`botd_position_unprotected_seconds_total{job="botd", instance="a", symbol="BTC-USDT"}`, "0+3x60"},
	}, `job="botd", instance="a", objective="protection"`},
	{"BotdObjectiveMissed", 60, []promSeries{
		{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="ok"}`, "0+100x60"},
		{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="missed"}`, "0+1x60"},
	}, ""},
	{"BotdObjectiveMissed", 60, []promSeries{ // one tick of two a minute is missed every seven minutes
		{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="ok"}`, "0+2x60"},
		{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="missed"}`, "0+0.15x60"},
	}, `job="botd", instance="a", objective="decisions"`},
	{"BotdObjectiveMissed", 60, []promSeries{ // stalled ticks have a separate alert
		{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="ok"}`, "0+2x60"},
		{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="missed"}`, "0+1x60"},
	}, ""},
	{"BotdObjectiveMissed", 60, []promSeries{ // an outage of half an hour has a separate alert
		{`botd_reconcile_runs_total{job="botd", instance="a", market="all", result="ok"}`, "0x30 0+4x30"},
		{`botd_reconcile_runs_total{job="botd", instance="a", market="all", result="failed"}`, "0+4x30 120x30"},
		{`botd_trading_halted{job="botd", instance="a", reason="blind"}`, "1x30 0x30"},
	}, ""},
	{"BotdTelegramFailing", 9, []promSeries{{`botd_telegram_messages_total{job="botd", instance="a", result="unread"}`, "0+1x9"}}, `job="botd", instance="a"`},
	{"BotdTelegramFailing", 9, []promSeries{{`botd_telegram_messages_total{job="botd", instance="a", result="done"}`, "0+1x9"}}, ""},
	{"BotdSignalsFailing", 9, []promSeries{{`botd_signals_total{job="botd", instance="a", result="wrong_token"}`, "0+1x9"}}, `job="botd", instance="a"`},
	{"BotdSignalsFailing", 9, []promSeries{{`botd_signals_total{job="botd", instance="a", result="taken"}`, "0+1x9"}}, ""},
	{"BotdNotificationsFailing", 9, []promSeries{{`botd_heartbeats_total{job="botd", instance="a", result="failed"}`, "0+1x9"}}, `job="botd", instance="a"`},
	// One cause is one page: while the exchange cannot be read, and after its end, consequences are suppressed.
	{"BotdReconcileStale", 3, []promSeries{{`botd_trading_halted{job="botd", instance="a", reason="market_blind"}`, "0 1x9"}}, `job="botd", instance="a"`},
	{"BotdMarketDataStale", 9, outageSeries(`botd_component_up{job="botd", instance="a", component="market_data"}`, "0x30"), ""},
	{"BotdOrderUnsettled", 9, outageSeries(`botd_orders_unsettled_oldest_timestamp_seconds{job="botd", instance="a", market="spot"}`, "60x30"), ""},
	{"BotdStrategyStalled", 9, append(outageSeries(`botd_strategy_next_cycle_timestamp_seconds{job="botd", instance="a", strategy="trend"}`, "60x30"),
		promSeries{`botd_strategy_state{job="botd", instance="a", strategy="trend", state="running"}`, "1x30"}), ""},
	{"BotdTicksMissed", 18, append([]promSeries{{`botd_trading_halted{job="botd", instance="a", reason="blind"}`, "1x10 0x20"}},
		promSeries{`botd_strategy_cycles_total{job="botd", instance="a", strategy="trend", result="missed"}`, "0x12 9x20"}), ""},
	{"BotdBackupOld", 2950, []promSeries{
		{`botd_store_last_backup_timestamp_seconds{job="botd", instance="a"}`, "0x750"}, {`botd_mode_info{job="botd", instance="a", mode="live"}`, "1x750"},
	}, `job="botd", instance="a"`},
	{"BotdBackupOld", 90, []promSeries{ // a fresh botd has no backup yet
		{`botd_store_last_backup_timestamp_seconds{job="botd", instance="a"}`, "0x100"}, {`botd_mode_info{job="botd", instance="a", mode="live"}`, "1x100"},
	}, ""},
	{"BotdLimitNearlyReached", 7, []promSeries{ // a strategy with the maximum position
		{`botd_risk_limit_usage_ratio{job="botd", instance="a", limit="max_position", scope="strategy hold"}`, "1x9"},
	}, ""},
	{"BotdRateLimited", 9, []promSeries{
		{`botd_exchange_requests_total{job="botd", instance="a", market="futures", endpoint="x", outcome="rate_limited"}`, "0+30x20"},
	}, `job="botd", instance="a"`},
	{"BotdExchangeErrors", 18, []promSeries{ // it has a separate alert
		{`botd_exchange_requests_total{job="botd", instance="a", market="futures", endpoint="x", outcome="ok"}`, "0+8x20"},
		{`botd_exchange_requests_total{job="botd", instance="a", market="futures", endpoint="x", outcome="rate_limited"}`, "0+8x20"},
	}, ""},
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

// withoutStop returns a futures position whose strategy has requested a stop since a time, or requests none.
func withoutStop(since, mode string) []promSeries {
	of := `{job="botd", instance="a", symbol="BTC-USDT"}`
	return []promSeries{
		{`botd_position_unprotected_notional_usdt` + of, "500x30"}, {`botd_position_liquidation_distance_ratio` + of, "0.1x30"},
		{`botd_position_unprotected_since_timestamp_seconds` + of, since + "x30"}, {`botd_mode_info{job="botd", instance="a", mode="` + mode + `"}`, "1x30"},
	}
}

// slippage returns one market order a minute that fills worse than decided by that much.
func slippage(each string) []promSeries {
	return []promSeries{{`botd_fill_slippage_ratio_sum{job="botd", instance="a", market="spot"}`, "0+" + each + "x60"},
		{`botd_fill_slippage_ratio_count{job="botd", instance="a", market="spot"}`, "0+1x60"}}
}

// outageSeries returns a series while the exchange cannot be read.
func outageSeries(name, values string) []promSeries {
	return []promSeries{{`botd_trading_halted{job="botd", instance="a", reason="blind"}`, "1x30"}, {name, values}}
}

// TestEveryAlertFiresWhenItMustAndOnlyThen has promtool evaluate the rules over each case's series.
func TestEveryAlertFiresWhenItMustAndOnlyThen(t *testing.T) {
	t.Parallel()
	text, err := RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	rules := write(t, "botd.rules.yml", text)
	fires, quiet, severities := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, a := range Alerts() {
		severities[a.Name] = a.Severity
	}
	short, long := testFile(rules, "1m"), testFile(rules, "4m")
	for _, c := range alertCases {
		b, interval := short, "1m"
		if c.minute > 1000 { // two days
			b, interval = long, "4m"
		}
		fmt.Fprintf(b, "  - interval: %s\n    input_series:\n", interval)
		for _, s := range c.series {
			fmt.Fprintf(b, "      - series: %s\n        values: %s\n", quoted(s.name), quoted(s.values))
		}
		firing := fmt.Sprintf(`ALERTS{alertname="%s", alertstate="firing"}`, c.alert)
		fmt.Fprintf(b, "    promql_expr_test:\n      - expr: %s\n        eval_time: %dm\n", quoted(firing), c.minute)
		if c.fires == "" {
			quiet[c.alert] = true
			fmt.Fprintf(b, "        exp_samples: []\n")
			continue
		}
		fires[c.alert] = true
		labels := fmt.Sprintf(`ALERTS{alertname="%s", alertstate="firing", severity="%s"%s}`, c.alert, severities[c.alert], and(c.fires))
		fmt.Fprintf(b, "        exp_samples:\n          - labels: %s\n            value: 1\n", quoted(labels))
	}
	for _, a := range Alerts() {
		if !fires[a.Name] || !quiet[a.Name] && a.Severity != None {
			t.Errorf("%s: want a case in which it fires and one in which it does not", a.Name)
		}
	}
	for _, b := range []*strings.Builder{short, long} {
		if have := promtool(t, "test", "rules", write(t, "botd.test.yml", b.String())); !strings.Contains(have, "SUCCESS") {
			t.Errorf("have %s", have)
		}
	}
}

// TestWindowedAlertsEndWithTheirWindow uses faults from minute 1 to 6 whose alerts last as long as their windows.
func TestWindowedAlertsEndWithTheirWindow(t *testing.T) {
	t.Parallel()
	text, err := RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	of := `{job="botd", instance="a", `
	b := testFile(write(t, "botd.rules.yml", text), "1m")
	for _, c := range []struct {
		alert       string
		series      []promSeries
		fires, ends int // minute, or one before: a recorded rule may be evaluated after the alert
	}{
		{"BotdNotificationsFailing", []promSeries{{"botd_notifications_total" + of + `channel="desk", result="failed"}`, "0+1x6 6x40"}}, 1, 21},
		{"BotdTelegramFailing", []promSeries{{"botd_telegram_messages_total" + of + `result="unread"}`, "0+3x6 18x40"}}, 7, 20},
		{"BotdSignalsFailing", []promSeries{{"botd_signals_total" + of + `result="wrong_token"}`, "0+3x6 18x40"}}, 2, 20},
		{"BotdRestartLoop", []promSeries{{"process_start_time_seconds" + of + `mode="live"}`, "0 60 120 180 240 300 360x40"}}, 3, 34},
		{"BotdAuthFailing", []promSeries{{"botd_exchange_error_codes_total" + of + `market="spot", code="-2015"}`, "0+3x6 18x40"}}, 1, 11},
		{"BotdRateLimited", []promSeries{{"botd_exchange_requests_total" + of + `outcome="rate_limited"}`, "0+30x6 180x40"}}, 4, 11},
		{"BotdStoreSlow", []promSeries{
			{"botd_store_write_duration_seconds_bucket" + of + `le="0.5"}`, "0x40"},
			{"botd_store_write_duration_seconds_bucket" + of + `le="1"}`, "0+10x6 60x40"},
			{"botd_store_write_duration_seconds_bucket" + of + `le="+Inf"}`, "0+10x6 60x40"},
		}, 7, 12},
	} {
		fmt.Fprintf(b, "  - interval: 1m\n    input_series:\n")
		for _, s := range c.series {
			fmt.Fprintf(b, "      - series: %s\n        values: %s\n", quoted(s.name), quoted(s.values))
		}
		fmt.Fprintf(b, "    promql_expr_test:\n")
		for minute, samples := range map[int]string{max(0, c.fires-2): "[]", c.fires: "[{value: 1}]", c.ends - 2: "[{value: 1}]", c.ends: "[]"} {
			firing := fmt.Sprintf(`max(ALERTS{alertname="%s", alertstate="firing"})`, c.alert)
			fmt.Fprintf(b, "      - expr: %s\n        eval_time: %dm\n        exp_samples: %s\n", quoted(firing), minute, samples)
		}
	}
	if have := promtool(t, "test", "rules", write(t, "botd.test.yml", b.String())); !strings.Contains(have, "SUCCESS") {
		t.Errorf("have %s", have)
	}
}

// TestTheDocumentedTableOfAlertsHasEachOfThem reads the table of docs/operations.md.
func TestTheDocumentedTableOfAlertsHasEachOfThem(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (Botd\w+) \| (\w+) \| .+ \| .+ \| .+ \|$`).FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = row[2]
	}
	for _, a := range Alerts() {
		if documented[a.Name] != a.Severity {
			t.Errorf("%s: want %s in the table, have %q", a.Name, a.Severity, documented[a.Name])
		}
	}
	if len(documented) != len(Alerts()) {
		t.Errorf("want a row for each of %d alerts, have %d", len(Alerts()), len(documented))
	}
}

// testFile is the beginning of a promtool test file.
func testFile(rules, interval string) *strings.Builder {
	b := &strings.Builder{}
	fmt.Fprintf(b, "rule_files: [%s]\nevaluation_interval: %s\ntests:\n", rules, interval)
	return b
}

func and(labels string) string {
	if labels = strings.TrimSpace(labels); labels == "" {
		return ""
	}
	return ", " + labels
}
