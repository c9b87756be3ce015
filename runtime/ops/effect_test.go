package ops

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
)

// figures are the values of all series, without the process's; of a histogram its number and its sum.
func figures(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for name, family := range gather(t, m) {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			series := strings.TrimPrefix(name, "botd_") + "{" + strings.Join(labels, " ") + "}"
			switch {
			case metric.Histogram != nil:
				all[series+" number"], all[series+" sum"] = float64(metric.Histogram.GetSampleCount()), metric.Histogram.GetSampleSum()
			case metric.Counter != nil:
				all[series] = metric.Counter.GetValue()
			default:
				all[series] = metric.Gauge.GetValue()
			}
		}
	}
	return all
}

// effect lists by how much the action changes which series: "name{values of labels, by their names} +1".
func effect(t *testing.T, m *Metrics, act func()) string {
	t.Helper()
	before := figures(t, m)
	act()
	var changed []string
	after := figures(t, m)
	for series, value := range after {
		was, known := before[series]
		switch {
		case !known:
			changed = append(changed, fmt.Sprintf("new %s %.6g", series, value))
		case math.Abs(value-was) > 1e-9 && !strings.Contains(series, "cycle_duration_seconds{trend} sum") && series != "risk_check_duration_seconds{} sum":
			changed = append(changed, fmt.Sprintf("%s %+.6g", series, value-was))
		}
	}
	for series := range before {
		if _, left := after[series]; !left {
			changed = append(changed, "without "+series)
		}
	}
	slices.Sort(changed)
	return strings.Join(changed, "\n")
}

func wantEffect(t *testing.T, name string, m *Metrics, act func(), want ...string) {
	t.Helper()
	slices.Sort(want)
	if have := effect(t, m, act); have != strings.Join(want, "\n") {
		t.Errorf("%s: want\n%s\nhave\n%s", name, strings.Join(want, "\n"), have)
	}
}

// TestWhatANoteCounts covers the facts of the engine, and every series that each changes: labels are in the order of their names.
func TestWhatANoteCounts(t *testing.T) {
	t.Parallel()
	order := engine.NoteOrder{Purpose: placement.Entry, ClientOrderID: "a",
		Order: exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Quantity: 10}}
	market := order
	market.Order.Type = exchange.MarketOrder
	intent := &reconcile.Intent{Purpose: placement.StopLoss}
	for _, c := range []struct {
		fact engine.Fact
		want string
	}{
		{engine.NoteGap{Missing: 3}, "market_candle_gaps_total{futures} +3"},
		{engine.NoteGap{Missing: -1}, ""},
		{engine.NoteTick{}, "strategy_cycles_total{ok trend} +1"},
		{engine.NoteMissed{Count: 1}, "strategy_cycles_total{missed trend} +1"},
		{engine.NoteMissed{Count: -1}, ""},
		{engine.NoteStrategyFailed{}, "strategy_cycles_total{failed trend} +1"},
		{engine.NoteHung{}, "strategy_cycles_total{hung trend} +1"},
		{engine.NoteHung{Ended: true}, ""},
		{engine.NoteStale{Count: 2}, "reconcile_discrepancies_total{stale all} +2"},
		{engine.NoteStale{Count: -1}, ""},
		{engine.NoteFound{}, "reconcile_discrepancies_total{found futures} +1"},
		{engine.NoteIgnored{}, "reconcile_discrepancies_total{ignored futures} +1"},
		{engine.NoteAdopted{}, "reconcile_discrepancies_total{adopted futures} +1"},
		{engine.NoteUnexplained{Market: exchange.Spot}, "reconcile_discrepancies_total{unexplained spot} +1"},
		{engine.NoteQuarantine{}, "reconcile_discrepancies_total{quarantine futures} +1"},
		{engine.NoteQuarantine{Ended: true}, ""},
		{engine.NoteContradicted{}, "reconcile_discrepancies_total{contradicted futures} +1"},
		{engine.NoteContradicted{Ended: true}, ""},
		{engine.NoteHalt{}, "kill_switch_engagements_total{kill_switch} +1"},
		{engine.NoteHalt{Ended: true}, ""},
		{engine.NoteBreaker{}, "kill_switch_engagements_total{breaker} +1"},
		{engine.NoteBreaker{Ended: true}, ""},
		{engine.NoteLimit{}, "kill_switch_engagements_total{limit} +1"},
		{engine.NoteLimit{Ended: true}, ""},
		{engine.NoteRound{DurationMS: 250},
			"reconcile_runs_total{all failed} +1; reconcile_duration_seconds{all} number +1; reconcile_duration_seconds{all} sum +0.25"},
		{engine.NoteRound{Complete: true}, "reconcile_runs_total{all ok} +1; reconcile_duration_seconds{all} number +1; " +
			"reconcile_last_success_timestamp_seconds{all} +1.7e+09"},
		{engine.NoteApproved{Intent: intent}, "intents_total{stop_loss approved trend} +1"},
		{engine.NoteRejection{Intent: intent, Rejection: &risk.Rejection{Rule: "margin"}},
			"intents_total{stop_loss refused trend} +1; risk_rejections_total{margin} +1"},
		{engine.NotePlaced{NoteOrder: order}, "orders_submitted_total{futures trend LIMIT} +1"},
		{engine.NoteAcknowledged{NoteOrder: order, DurationMS: 500},
			"order_ack_duration_seconds{futures} number +1; order_ack_duration_seconds{futures} sum +0.5"},
		{engine.NoteRefused{NoteOrder: order}, "orders_closed_total{futures refused trend} +1"},
		{engine.NoteSettled{NoteOrder: order, State: placement.Filled, DurationMS: 500}, "orders_closed_total{futures filled trend} +1"},
		{engine.NoteSettled{NoteOrder: market, State: placement.Filled, DurationMS: 500}, "orders_closed_total{futures filled trend} +1; " +
			"order_settle_duration_seconds{futures} number +1; order_settle_duration_seconds{futures} sum +0.5"},
		{engine.NoteSettled{NoteOrder: market, State: placement.Canceled, DurationMS: 500}, "orders_closed_total{futures canceled trend} +1"},
		// 0.010 BTC at the reported 50,050, and at the last price of 50,000 where none is reported.
		{engine.NoteFill{NoteOrder: order, Quantity: 10, Price: enginetest.Amount(t, "50050"), Last: enginetest.Price(t, bitcoin, "50000")},
			"fills_total{futures SELL trend} +1; fill_notional_usdt_total{futures trend} +500.5"},
		{engine.NoteFill{NoteOrder: order, Quantity: 10, Last: enginetest.Price(t, bitcoin, "50000")},
			"fills_total{futures SELL trend} +1; fill_notional_usdt_total{futures trend} +500"},
		{engine.NoteLatch{}, ""}, {engine.NoteTransfer{}, ""}, {engine.NoteForeign{}, ""},
	} {
		m := NewMetrics("demo", Build{})
		m.Status(running(t))
		var want []string
		if c.want != "" {
			want = strings.Split(c.want, "; ")
		}
		wantEffect(t, fmt.Sprintf("%T", c.fact), m, func() {
			m.Note(&engine.Note{AtMS: 1_700_000_000_000, Strategy: "trend", Symbol: bitcoin, Fact: c.fact})
		}, want...)
	}
	m := NewMetrics("demo", Build{})
	m.Status(running(t))
	wantEffect(t, "a fill whose symbol has no rules", m, func() {
		m.Note(&engine.Note{Strategy: "trend", Fact: engine.NoteFill{NoteOrder: order,
			Quantity: 10}})
	},
		"new fills_total{other SELL trend} 1")
}

// TestSlippageIsOfOneOrder covers an order that was refused, and one whose price at the decision is not known.
func TestSlippageIsOfOneOrder(t *testing.T) {
	t.Parallel()
	order := engine.NoteOrder{Purpose: placement.Entry, ClientOrderID: "a", Order: exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder}}
	approved := engine.NoteApproved{Intent: &reconcile.Intent{Purpose: placement.Entry, Last: enginetest.Price(t, bitcoin, "50000")}}
	filled := engine.NoteSettled{NoteOrder: order, State: placement.Filled, Price: enginetest.Amount(t, "50050")}
	unpriced := filled
	unpriced.Price = exchange.Amount{}
	for _, c := range []struct {
		name  string
		facts []engine.Fact
		want  string // number and sum
	}{
		{"bought 0.1 % higher", []engine.Fact{approved, engine.NotePlaced{NoteOrder: order}, filled}, "1 0.001"},
		{"settled again", []engine.Fact{approved, engine.NotePlaced{NoteOrder: order}, filled, filled}, "1 0.001"},
		{"refused before", []engine.Fact{approved, engine.NotePlaced{NoteOrder: order}, engine.NoteRefused{NoteOrder: order}, filled}, "0 0"},
		{"not approved by this process", []engine.Fact{engine.NotePlaced{NoteOrder: order}, filled}, "0 0"},
		{"no price reported", []engine.Fact{approved, engine.NotePlaced{NoteOrder: order}, unpriced}, "0 0"},
	} {
		m := NewMetrics("demo", Build{})
		m.Status(running(t))
		for _, fact := range c.facts {
			m.Note(&engine.Note{Strategy: "trend", Symbol: bitcoin, Fact: fact})
		}
		all := figures(t, m)
		if have := fmt.Sprintf("%g %.4g", all["fill_slippage_ratio{futures} number"], all["fill_slippage_ratio{futures} sum"]); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// TestWhatTheDaemonCounts covers the calls of the daemon, the client and the API.
func TestWhatTheDaemonCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		act  func(m *Metrics)
		want string
	}{
		{"a request", func(m *Metrics) { m.Request(exchange.FuturesPlace, "ok", 0, 500*time.Millisecond, 0) },
			"exchange_requests_total{futures_place futures ok} +1; new exchange_request_duration_seconds{futures_place futures} number 1; " +
				"new exchange_request_duration_seconds{futures_place futures} sum 0.5"},
		{"a poll that fails", func(m *Metrics) { m.Request(exchange.SpotTicker, "unavailable", -1, 0, 250*time.Millisecond) },
			"exchange_requests_total{spot_ticker spot unavailable} +1; market_polls_total{ticker spot failed} +1; exchange_error_codes_total{other spot} +1; " +
				"exchange_throttle_wait_seconds_total{budget spot} +0.25; new exchange_request_duration_seconds{spot_ticker spot} number 1; " +
				"new exchange_request_duration_seconds{spot_ticker spot} sum 0"},
		{"the clock", func(m *Metrics) { m.Clock(-250*time.Millisecond, 40*time.Millisecond) },
			"exchange_clock_offset_seconds{} -0.25; exchange_clock_bound_seconds{} +0.04"},
		{"a clock that was set", (*Metrics).ClockJumped, "exchange_clock_jumps_total{} +1"},
		{"a start after a crash", func(m *Metrics) { m.Unclean(true) }, "last_shutdown_unclean{} +1"},
		{"a start after a clean stop", func(m *Metrics) { m.Unclean(false) }, ""},
		{"a commit", func(m *Metrics) { m.Commit(250*time.Millisecond, nil) },
			"store_write_duration_seconds{} number +1; store_write_duration_seconds{} sum +0.25"},
		{"a commit that fails", func(m *Metrics) { m.Commit(0, errors.New("no space")) },
			"store_write_duration_seconds{} number +1; store_errors_total{append} +1"},
		{"the kill switch's lane", func(m *Metrics) { m.LaneUsed(1500 * time.Millisecond) },
			"out_of_band_halts_total{} +1; out_of_band_halt_seconds{} +1.5; " +
				"kill_switch_beside_engine_total{} +1; kill_switch_beside_engine_seconds{} +1.5"},
		{"a cycle", func(m *Metrics) { m.Measure(engine.MeasuredDecision, "trend")() }, "strategy_cycle_duration_seconds{trend} number +1"},
		{"a check", func(m *Metrics) { m.Measure(engine.MeasuredCheck, "trend")() }, "risk_check_duration_seconds{} number +1"},
		{"streams", func(m *Metrics) { m.StreamClients(3) }, "sse_clients{} +3"},
		{"a slow stream", func(m *Metrics) { m.StreamEnded("slow") }, "sse_disconnects_total{slow} +1"},
		{"a stream that ends otherwise", func(m *Metrics) { m.StreamEnded("?") }, "sse_disconnects_total{other} +1"},
		{"a route", func(m *Metrics) { m.Served("GET /api/v1/status", 200, 250*time.Millisecond) },
			"new http_requests_total{200 GET /api/v1/status} 1; new http_request_duration_seconds{GET /api/v1/status} number 1; " +
				"new http_request_duration_seconds{GET /api/v1/status} sum 0.25"},
		{"no route", func(m *Metrics) { m.Served("", 404, 0) },
			"new http_requests_total{404 other} 1; new http_request_duration_seconds{other} number 1; new http_request_duration_seconds{other} sum 0"},
		{"a message", func(m *Metrics) { m.Notified("desk", "sent", 2) }, "new notifications_total{desk sent} 2"},
		{"a heartbeat", func(m *Metrics) { m.Heartbeat("withheld", 1) }, "new heartbeats_total{withheld} 1"},
		{"recorded rows", func(m *Metrics) { m.Recorded(5, 2) }, "recorded_rows_total{kept} +5; recorded_rows_total{lost} +2"},
		{"a failed reload", func(m *Metrics) { m.Reloaded(false) }, "config_last_reload_successful{} -1"},
		{"ready", func(m *Metrics) { m.Ready([]Check{{"loop", true, ""}, {"journal", true, ""}}) },
			"ready{} +1; new component_up{loop} 1; new component_up{journal} 1"},
		{"not ready", func(m *Metrics) { m.Ready([]Check{{"loop", false, ""}, {"journal", true, ""}}) },
			"new component_up{loop} 0; new component_up{journal} 1"},
		{"free space", func(m *Metrics) { m.WatchFree(func() (int64, bool) { return 1024, true }); m.Scraped(nil) }, "ready{} +1; store_free_bytes{} +1024"},
		{"free space that the system does not report", func(m *Metrics) { m.WatchFree(func() (int64, bool) { return 1024, false }); m.Scraped(nil) },
			"ready{} +1"},
		{"a size", func(m *Metrics) { m.WatchSize("x", func() int64 { return 7 }) }, "new store_size_bytes{x} 0"},
		{"a size, scraped", func(m *Metrics) { m.WatchSize("x", func() int64 { return 7 }); m.Scraped(nil) }, "ready{} +1; new store_size_bytes{x} 7"},
		{"a backup", func(m *Metrics) { m.WatchBackup(func() time.Time { return time.UnixMilli(2_500) }); m.Scraped(nil) },
			"ready{} +1; store_last_backup_timestamp_seconds{} +2.5"},
		{"no backup yet", func(m *Metrics) { m.WatchBackup(func() time.Time { return time.Time{} }); m.Scraped(nil) }, "ready{} +1"},
	} {
		m := NewMetrics("demo", Build{})
		m.Status(running(t))
		var want []string
		if c.want != "" {
			want = strings.Split(c.want, "; ")
		}
		wantEffect(t, c.name, m, func() { c.act(m) }, want...)
	}
	m := NewMetrics("demo", Build{})
	begun, now := figures(t, m)["config_last_reload_success_timestamp_seconds{}"], float64(time.Now().UnixMilli())/1000
	if math.Abs(begun-now) > 60 {
		t.Errorf("want the start as the time of the last good reload, %v, have %v", now, begun)
	}
	m.reloadedAt.WithLabelValues().Set(1)
	m.Reloaded(false)
	if have := figures(t, m)["config_last_reload_success_timestamp_seconds{}"]; have != 1 {
		t.Errorf("a failed reload: want the time of the last good one to stay, have %v", have)
	}
	m.Reloaded(true)
	if have := figures(t, m)["config_last_reload_success_timestamp_seconds{}"]; math.Abs(have-now) > 60 {
		t.Errorf("a good reload: want its time, %v, have %v", now, have)
	}
}

// TestWhatAChangedStatusSets changes one thing of an account at a time.
func TestWhatAChangedStatusSets(t *testing.T) {
	t.Parallel()
	halted := func(d engine.Degraded) func(*engine.Status) {
		return func(s *engine.Status) { s.Degraded = []engine.Degraded{d} }
	}
	key := account.Scope{Symbol: bitcoin.Key()}
	futures, trend := account.Scope{Symbol: exchange.SymbolKey{Market: exchange.Futures}}, account.Scope{Strategy: "trend"}
	for _, c := range []struct {
		name   string
		change func(s *engine.Status)
		want   string
	}{
		{"nothing", func(*engine.Status) {}, ""},
		{"the futures account", func(s *engine.Status) {
			s.Account.WalletBalance = enginetest.Amount(t, "10001.123456789")
			s.Account.AvailableBalance, s.Account.UnrealizedPNL = enginetest.Amount(t, "900"), enginetest.Amount(t, "-3")
			s.Account.MarginUsed, s.Account.MaintenanceMargin = enginetest.Amount(t, "50"), enginetest.Amount(t, "5")
		}, "account_balance_usdt{wallet} +1; account_balance_usdt{available} +900; account_balance_usdt{unrealized} -3; " +
			"account_balance_usdt{margin_used} +50; account_balance_usdt{maintenance} +5"},
		{"halted by a person", halted(engine.Degraded{State: "halted"}), "trading_halted{kill_switch} +1"},
		{"halted, and not finished", halted(engine.Degraded{State: "halted", Remaining: "2 orders"}), "trading_halted{kill_switch} +1; halts_unfinished{} +1"},
		{"a symbol halted", halted(engine.Degraded{State: "halted", Scope: key}), "trading_halted{symbol_halted} +1"},
		{"a strategy halted", halted(engine.Degraded{State: "halted", Scope: trend}), "trading_halted{strategy_halted} +1"},
		{"blind", halted(engine.Degraded{State: "blind"}), "trading_halted{blind} +1"},
		{"a market blind", halted(engine.Degraded{State: "blind", Scope: futures}), "trading_halted{market_blind} +1"},
		{"a symbol blind", halted(engine.Degraded{State: "blind", Scope: key}), "trading_halted{symbol_blind} +1"},
		{"a limit", halted(engine.Degraded{State: "limit"}), "trading_halted{limit} +1"},
		{"a strategy's limit", halted(engine.Degraded{State: "limit", Scope: trend}), "trading_halted{strategy_limit} +1"},
		{"unprotected", halted(engine.Degraded{State: "unprotected", Scope: key, Remaining: "x"}), "trading_halted{unprotected} +1"},
		{"a strategy quarantined", func(s *engine.Status) { s.Strategies[0].State = "quarantined" },
			"strategy_state{quarantined trend} +1; strategy_state{running trend} -1; reconcile_discrepancies_unresolved{all} +1"},
		{"a strategy contradicted", func(s *engine.Status) { s.Strategies[0].State = "contradicted" },
			"strategy_state{contradicted trend} +1; strategy_state{running trend} -1; reconcile_discrepancies_unresolved{all} +1"},
		{"a tick", func(s *engine.Status) { s.Strategies[0].TickMS += 60_000; s.Strategies[0].NextMS += 60_000 },
			"strategy_last_cycle_timestamp_seconds{trend} +60; strategy_next_cycle_timestamp_seconds{trend} +60"},
		{"a price", func(s *engine.Status) { s.Strategies[0].LastMS += 1_000 }, "market_last_update_timestamp_seconds{price futures BTC-USDT} +1"},
		{"the same candle", func(s *engine.Status) { s.NowMS += 5_000 }, ""},
		{"a candle that closed 40 seconds ago", func(s *engine.Status) { s.NowMS += 40_000; s.Strategies[0].CandleMS += 60_000 },
			"market_last_update_timestamp_seconds{candle futures BTC-USDT} +60; market_candle_lag_seconds{futures} number +1; " +
				"market_candle_lag_seconds{futures} sum +40"},
		{"the first candle of a warm-up", func(s *engine.Status) { s.Strategies[1].CandleMS = 1_700_000_040_000 },
			"new market_last_update_timestamp_seconds{candle spot ETH-USDT} 1.7e+09"},
		{"unprotected for two seconds", func(s *engine.Status) {
			s.Strategies[0].UnprotectedMS, s.Strategies[0].UnprotectedSinceMS = 2_000, 5_000
		},
			"position_unprotected_seconds_total{BTC-USDT} +2; position_unprotected_since_timestamp_seconds{BTC-USDT} +5"},
		{"protected", func(s *engine.Status) { s.Strategies[0].Protected = true }, "position_unprotected_notional_usdt{BTC-USDT} -1002"},
		{"short", func(s *engine.Status) {
			s.Strategies[0].Position, s.Strategies[0].LiqPrice = -20, enginetest.Amount(t, "55110")
		},
			"position_notional_usdt{BTC-USDT} -2004; position_unrealized_pnl_usdt{BTC-USDT} -4; strategy_unrealized_pnl_usdt{trend} -4; " +
				"strategy_realized_pnl_usdt{trend} +0"},
		{"closed", func(s *engine.Status) { s.Strategies[0].Position = 0 },
			"position_notional_usdt{BTC-USDT} -1002; position_unprotected_notional_usdt{BTC-USDT} -1002; position_unrealized_pnl_usdt{BTC-USDT} -2; " +
				"strategy_unrealized_pnl_usdt{trend} -2; without position_liquidation_distance_ratio{BTC-USDT}"},
		{"no last price", func(s *engine.Status) { s.Strategies[0].Last = 0 },
			"position_notional_usdt{BTC-USDT} -1002; position_unprotected_notional_usdt{BTC-USDT} -1002; position_unrealized_pnl_usdt{BTC-USDT} -2; " +
				"strategy_unrealized_pnl_usdt{trend} -2; without position_liquidation_distance_ratio{BTC-USDT}"},
		{"an order settled", func(s *engine.Status) { s.Live = s.Live[:1] },
			"orders_unsettled{futures} -1; orders_unsettled_oldest_timestamp_seconds{futures} -7"},
		{"an order canceled", func(s *engine.Status) { s.Live = s.Live[1:] }, "orders_open{futures trend} -1"},
		{"an earlier order unsettled", func(s *engine.Status) { s.Live = append(s.Live, unsettled(3_000)) },
			"orders_unsettled{futures} +1; orders_unsettled_oldest_timestamp_seconds{futures} -4"},
		{"a later order unsettled", func(s *engine.Status) { s.Live = append(s.Live, unsettled(9_000)) }, "orders_unsettled{futures} +1"},
		{"limits", func(s *engine.Status) {
			s.Limits = []risk.Utilization{{Scope: "account", Rule: risk.MaxOpenOrders, Ratio: .5}, {Scope: "market futures", Rule: risk.MaxDrawdown,
				Ratio: .25},
				{Scope: "x", Strategy: "trend", Rule: risk.MaxDrawdown, Ratio: .75}, {Scope: "x", Symbol: bitcoin.Key(), Rule: risk.MaxDrawdown, Ratio: 1}}
		}, "new risk_limit_usage_ratio{max_open_orders account} 0.5; new risk_limit_usage_ratio{max_drawdown market futures} 0.25; " +
			"new risk_limit_usage_ratio{max_drawdown strategy trend} 0.75; new risk_limit_usage_ratio{max_drawdown symbol futures BTC-USDT} 1"},
		{"fees and results", func(s *engine.Status) {
			s.Ledger = append(s.Ledger, ledger.Balance{Account: ledger.Fees, Strategy: "trend", Symbol: bitcoin.Key(), Asset: "USDT",
				Amount: enginetest.Amount(t, "0.5")})
		}, "strategy_fees_usdt_total{trend} +0.5; strategy_realized_pnl_usdt{trend} -0.5"},
		{"unexplained", func(s *engine.Status) {
			s.Ledger = append(s.Ledger, ledger.Balance{Account: ledger.Unexplained, Symbol: exchange.SymbolKey{Market: exchange.Spot}, Asset: "ETH",
				Amount: enginetest.Amount(t, "3")})
		}, "new ledger_unexplained{ETH spot} -3"},
		{"equity", func(s *engine.Status) { s.Strategies[0].Own = enginetest.Amount(t, "75") }, "strategy_equity_usdt{trend} +75"},
		{"the account before its first read", func(s *engine.Status) { s.AccountMS, s.Account.WalletBalance = 0, exchange.Amount{} }, ""},
		{"equity without the value of a position", func(s *engine.Status) {
			s.Strategies[0].Own, s.Strategies[0].Peak, s.Strategies[0].Unpriced = enginetest.Amount(t, "75"), enginetest.Amount(t, "100"), true
		}, ""},
		{"equity below its peak", func(s *engine.Status) {
			s.Strategies[0].Own, s.Strategies[0].Peak = enginetest.Amount(t, "75"), enginetest.Amount(t, "100")
		}, "strategy_equity_usdt{trend} +75; strategy_drawdown_ratio{trend} +0.25"},
	} {
		m := NewMetrics("demo", Build{})
		m.Status(running(t))
		status := running(t)
		c.change(status)
		var want []string
		for _, one := range strings.Split(c.want, "; ") {
			if one != "" && !strings.HasSuffix(one, "+0") {
				want = append(want, one)
			}
		}
		wantEffect(t, c.name, m, func() { m.Status(status) }, want...)
	}
}

// unsettled is an order without an answer.
func unsettled(sentMS int64) account.Placement {
	return enginetest.Placement(record.Record{AtMS: sentMS, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: "bx-1-3",
		Body: record.Sending{Purpose: placement.Entry, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Quantity: 30}}},
		placement.Uncertain, 0)
}
