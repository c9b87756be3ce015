package ops

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/risk"
	"botd/runtime/engine"
)

// TestSeriesThatBeginAtZero has, for each family with labels, the number of its series once a futures strategy is configured:
// rate() and increase() do not see the first increase of a series that did not exist before it. Families without a line have none
// until something happens.
func TestSeriesThatBeginAtZero(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.Expect("trend", bitcoin)
	want := map[string]int{
		"build_info": 1, "mode_info": 1, // without labels: ready and so on, below
		"log_events_total":                          4,                        // debug, info, warn, error
		"exchange_error_codes_total":                7,                        // six known codes, and other
		"exchange_throttle_wait_seconds_total":      1,                        // budget
		"exchange_backoff_until_timestamp_seconds":  1,                        // budget
		"market_polls_total":                        4,                        // candle and ticker, ok and failed
		"market_candle_gaps_total":                  1,                        //
		"market_candle_lag_seconds":                 1,                        //
		"strategy_state":                            10,                       // the states of docs/concepts.md
		"strategy_cycles_total":                     4,                        // ok, missed, failed, hung
		"strategy_cycle_duration_seconds":           1,                        //
		"intents_total":                             16,                       // eight purposes, approved and refused
		"risk_rejections_total":                     len(risk.Rules()),        //
		"trading_halted":                            22,                       // the states of docs/exactly-once.md, counted by a test of its own
		"kill_switch_engagements_total":             3,                        // kill_switch, breaker, limit
		"orders_submitted_total":                    6,                        // six types
		"orders_closed_total":                       6,                        // six final states
		"orders_open":                               1,                        //
		"orders_unsettled":                          2,                        // futures, spot
		"orders_unsettled_oldest_timestamp_seconds": 2,                        // futures, spot
		"order_ack_duration_seconds":                1,                        //
		"order_settle_duration_seconds":             1,                        //
		"fills_total":                               2,                        // BUY, SELL
		"fill_notional_usdt_total":                  1,                        //
		"fill_slippage_ratio":                       1,                        //
		"reconcile_runs_total":                      2,                        // ok, failed
		"reconcile_duration_seconds":                1,                        //
		"reconcile_last_success_timestamp_seconds":  1,                        //
		"reconcile_discrepancies_total":             7,                        // stale; quarantine, contradicted, found, adopted, ignored, unexplained
		"reconcile_discrepancies_unresolved":        1,                        //
		"strategy_equity_usdt":                      1,                        //
		"strategy_unrealized_pnl_usdt":              1,                        //
		"strategy_drawdown_ratio":                   1,                        //
		"ledger_unexplained":                        1,                        // USDT of futures
		"store_errors_total":                        1,                        // append
		"incidents_open":                            2*len(incidentKinds) + 2, // each kind and other, warning and critical
		"sse_disconnects_total":                     4,                        // client, slow, shutdown, other
		"recorded_rows_total":                       2,                        // kept, lost
		"exchange_requests_total":                   7 * operationsOf(exchange.Futures),
	}
	for _, unlabeled := range []string{"ready", "config_last_reload_successful", "config_last_reload_success_timestamp_seconds", "last_shutdown_unclean",
		"exchange_clock_offset_seconds", "exchange_clock_bound_seconds", "exchange_clock_jumps_total", "risk_check_duration_seconds", "halts_unfinished",
		"kill_switch_beside_engine_total", "kill_switch_beside_engine_seconds", "out_of_band_halts_total", "out_of_band_halt_seconds",
		"store_write_duration_seconds", "store_free_bytes",
		"store_last_backup_timestamp_seconds", "leader", "lease_expiry_timestamp_seconds", "sse_clients"} {
		want[unlabeled] = 1
	}
	all := gather(t, m)
	for _, family := range m.Families() {
		name := strings.TrimPrefix(family.Name, "botd_")
		if have := len(all[family.Name].GetMetric()); have != want[name] {
			t.Errorf("%s: want %d series at the start, have %d", name, want[name], have)
		}
	}
	for series, value := range figures(t, m) {
		name, _, _ := strings.Cut(series, "{")
		switch name {
		case "build_info", "mode_info", "config_last_reload_successful", "config_last_reload_success_timestamp_seconds":
		default:
			if value != 0 {
				t.Errorf("%s: want 0, have %g", series, value)
			}
		}
	}
}

func operationsOf(market exchange.Market) (count int) {
	for _, operation := range exchange.Operations() {
		if operation.Market() == market {
			count++
		}
	}
	return count
}

// TestLabelsAreBounded covers as many strategies and symbols as get labels, and one more.
func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	for i := range 101 {
		m.Expect(fmt.Sprint("s", i), newSymbol(exchange.Futures, fmt.Sprint("C", i, "-USDT")))
	}
	for name, want := range map[string]string{"s0": "s0", "s63": "s63", "s64": "other", "stranger": "other"} {
		if have := m.known.strategy(name); have != want {
			t.Errorf("strategy %s: want %s, have %s", name, want, have)
		}
	}
	for name, want := range map[string]string{"C0-USDT": "C0-USDT", "C99-USDT": "C99-USDT", "C100-USDT": "other", "X-USDT": "other"} {
		if have := m.known.symbol(name); have != want {
			t.Errorf("symbol %s: want %s, have %s", name, want, have)
		}
	}
	for name, want := range map[string]string{"C0": "C0", "USDT": "USDT", "C100": "other", "C0-USDT": "other"} {
		if have := m.known.asset(name); have != want {
			t.Errorf("asset %s: want %s, have %s", name, want, have)
		}
	}
	if m.known.market("spot") != "other" || m.known.market("futures") != "futures" {
		t.Error("want futures alone as a market")
	}
	// The codes of the interface: signature, time, key, permission, symbol on spot and on futures.
	for number, want := range map[int]string{-1022: "-1022", -1021: "-1021", -2008: "-2008", -2015: "-2015", 118: "118",
		1118: "1118", 0: "other", -9999: "other"} {
		if have := code(number); have != want {
			t.Errorf("code %d: want %s, have %s", number, want, have)
		}
	}
}

// TestFiguresOfMoneyNeedAToken covers the families that only a client with a token sees (docs/security.md).
func TestFiguresOfMoneyNeedAToken(t *testing.T) {
	t.Parallel()
	secret := []string{"account_balance_usdt", "account_asset_quantity", "strategy_equity_usdt", "strategy_unrealized_pnl_usdt",
		"strategy_realized_pnl_usdt", "strategy_fees_usdt_total", "ledger_unexplained", "position_notional_usdt", "position_unrealized_pnl_usdt",
		"position_unprotected_notional_usdt", "fill_notional_usdt_total"}
	for _, family := range NewMetrics("demo", Build{}).Families() {
		if want, have := slices.Contains(secret, strings.TrimPrefix(family.Name, "botd_")), ShowsMoney(family.Name); want != have {
			t.Errorf("%s: want it hidden %t, have %t", family.Name, want, have)
		}
	}
}

// TestARemovedStrategyLeavesItsLabelToAnother uses as many strategies as get labels, of which one is replaced.
func TestARemovedStrategyLeavesItsLabelToAnother(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	status := &engine.Status{}
	for i := range 100 {
		status.Strategies = append(status.Strategies, engine.StrategyStatus{Name: fmt.Sprint("s", i%64), Symbol: newSymbol(exchange.Futures, fmt.Sprint("C",
			i, "-USDT"))})
	}
	m.Status(status)
	status.Strategies = status.Strategies[64:] // their names are those of s0 to s35, with symbols of their own
	m.Status(status)
	m.Expect("new", newSymbol(exchange.Futures, "NEW-USDT"))
	if m.known.strategy("new") != "new" || m.known.symbol("NEW-USDT") != "NEW-USDT" || m.known.strategy("s40") != "other" {
		t.Errorf("want labels of the new ones: have %s, %s; and none of a removed one: %s", m.known.strategy("new"), m.known.symbol("NEW-USDT"),
			m.known.strategy("s40"))
	}
}

// TestOrdersWithoutAnOwnerLeaveNoSeries uses an order of a strategy that is not configured.
func TestOrdersWithoutAnOwnerLeaveNoSeries(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	status := running(t)
	m.Status(status)
	left := *status
	left.Strategies = status.Strategies[1:]
	m.Status(&left)
	expect(t, m, 1, "botd_orders_open", "market=futures", "strategy=other")
	left.Live = nil
	m.Status(&left)
	expect(t, m, -1, "botd_orders_open", "market=futures", "strategy=other")
}
