package ops

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/shopspring/decimal"
	"go.uber.org/goleak"

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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newSymbol(market exchange.Market, name string) *exchange.Symbol {
	base, quote, _ := strings.Cut(name, "-")
	s, err := exchange.NewSymbol(exchange.SymbolSpec{
		Market: market, Name: name, Base: base, Quote: quote,
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"),
		MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true,
	})
	if err != nil {
		panic(err)
	}
	return s
}

var (
	bitcoin = newSymbol(exchange.Futures, "BTC-USDT")
	ether   = newSymbol(exchange.Spot, "ETH-USDT")
)

// running is a status of two strategies, one of them in a position.
func running(t *testing.T) *engine.Status {
	t.Helper()
	return &engine.Status{
		NowMS: 1_700_000_100_000, SoundMS: 1_700_000_099_000, Equity: enginetest.Amount(t, "10001.5"), AccountMS: 1,
		Account: exchange.MarginAccount{WalletBalance: enginetest.Amount(t, "10000.123456789")},
		Strategies: []engine.StrategyStatus{
			{
				Name:       "trend",
				Symbol:     bitcoin,
				Interval:   exchange.Minute1,
				State:      "running",
				Position:   20,
				EntryPrice: enginetest.Amount(t, "50000"),
				Last:       enginetest.Price(t, bitcoin, "50100"),
				LiqPrice:   enginetest.Amount(t, "45090"),
				LastMS:     1_700_000_099_500,
				CandleMS:   1_700_000_040_000,
				TickMS:     1_700_000_040_000,
				NextMS:     1_700_000_102_000,
			},
			{
				Name:     "hold",
				Symbol:   ether,
				Interval: exchange.Minute1,
				State:    "warming_up",
				Last:     enginetest.Price(t, ether, "3000"),
				LastMS:   1_700_000_099_500,
			},
		},
		Ledger: []ledger.Balance{
			{Account: ledger.Wallet, Symbol: exchange.SymbolKey{Market: exchange.Futures}, Asset: "USDT", Amount: enginetest.Amount(t, "10000")},
			{Account: ledger.Unexplained, Symbol: exchange.SymbolKey{Market: exchange.Futures}, Asset: "USDT", Amount: enginetest.Amount(t, "-2.5")},
			{Account: ledger.Realized, Strategy: "trend", Symbol: bitcoin.Key(), Asset: "USDT", Amount: enginetest.Amount(t, "-7")},
			{Account: ledger.Fees, Strategy: "trend", Symbol: bitcoin.Key(), Asset: "USDT", Amount: enginetest.Amount(t, "1.25")},
		},
		Live: []account.Placement{
			enginetest.Placement(record.Record{
				AtMS:          5_000,
				Strategy:      "trend",
				Symbol:        bitcoin.Key(),
				ClientOrderID: "bx-1-1",
				Body: record.Sending{
					Purpose: placement.StopLoss,
					Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
						Type: exchange.StopMarket, StopPrice: enginetest.Price(t, bitcoin, "49000"), ClosePosition: true},
				},
			}, placement.Working, 11),
			enginetest.Placement(record.Record{
				AtMS:          7_000,
				Strategy:      "trend",
				Symbol:        bitcoin.Key(),
				ClientOrderID: "bx-1-2",
				Body: record.Sending{
					Purpose: placement.Entry,
					Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
						Type: exchange.MarketOrder, Quantity: 30},
				},
			}, placement.Uncertain, 0),
		},
	}
}

func gather(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*dto.MetricFamily{}
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "botd_") {
			byName[family.GetName()] = family
		}
	}
	return byName
}

// value returns a series' value, a histogram's count, or -1 if there is none.
func value(t *testing.T, m *Metrics, name string, labels ...string) float64 {
	t.Helper()
	for _, metric := range gather(t, m)[name].GetMetric() {
		var have []string
		for _, label := range metric.GetLabel() {
			have = append(have, label.GetName()+"="+label.GetValue())
		}
		if !slices.Equal(labels, have) {
			continue
		}
		switch {
		case metric.Histogram != nil:
			return float64(metric.Histogram.GetSampleCount())
		case metric.Counter != nil:
			return metric.Counter.GetValue()
		}
		return metric.Gauge.GetValue()
	}
	return -1
}

func expect(t *testing.T, m *Metrics, want float64, name string, labels ...string) {
	t.Helper()
	if have := value(t, m, name, labels...); have-want > 1e-9 || want-have > 1e-9 {
		t.Errorf("%s%v: want %v, have %v", name, labels, want, have)
	}
}

func series(t *testing.T, m *Metrics) (count int) {
	t.Helper()
	for _, family := range gather(t, m) {
		count += len(family.GetMetric())
	}
	return count
}

func TestSeriesAreBoundedForExternalInput(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.Status(running(t))
	feed := func(i int) {
		name := fmt.Sprint("FAKE", i)
		for _, n := range enginetest.Notes(t, name, newSymbol(exchange.Futures, name+"-USDT"), name, name) {
			m.Note(&n)
		}
		m.Request(exchange.FuturesPlace, name, -i, time.Millisecond, time.Millisecond)
	}
	feed(-1)
	before := series(t, m)
	for i := range 10_000 {
		feed(i + 1)
	}
	status := running(t)
	for i := range 10_000 { // and a status that no configuration can have
		status.Strategies = append(status.Strategies, engine.StrategyStatus{Name: fmt.Sprint("FAKE", i),
			Symbol: newSymbol(exchange.Futures, fmt.Sprint("FAKE", i, "-USDT"))})
	}
	if have := series(t, m); before != have {
		t.Errorf("series after 10000 unknown symbols, strategies, rules and codes: want %d, have %d", before, have)
	}
	m.Status(status)
	if have := series(t, m); have > 20_000 {
		t.Errorf("series with 10000 strategies: want the limits of %d and %d to hold, have %d", maxStrategies, maxSymbols, have)
	}
	expect(t, m, 10_001, "botd_risk_rejections_total", "rule=other")
	expect(t, m, 10_001, "botd_exchange_requests_total", "endpoint=futures_place", "market=futures", "outcome=other")
	if len(m.decided) > maxDecisions {
		t.Errorf("remembered decisions: want at most %d, have %d", maxDecisions, len(m.decided))
	}
}

func TestKnownSeriesBeginAtZero(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{Version: "1", Revision: "2", Go: "3"})
	m.Status(running(t))
	expect(t, m, 1, "botd_build_info", "goversion=3", "revision=2", "version=1")
	expect(t, m, 1, "botd_mode_info", "mode=demo")
	expect(t, m, 0, "botd_log_events_total", "level=error")
	expect(t, m, 0, "botd_risk_rejections_total", "rule=margin")
	expect(t, m, 0, "botd_intents_total", "kind=entry", "outcome=refused", "strategy=hold")
	expect(t, m, 0, "botd_exchange_requests_total", "endpoint=futures_place", "market=futures", "outcome=uncertain")
	expect(t, m, 0, "botd_exchange_error_codes_total", "code=-1021", "market=spot")
	expect(t, m, 0, "botd_orders_closed_total", "market=futures", "status=rejected", "strategy=trend")
	expect(t, m, 0, "botd_order_ack_duration_seconds", "market=futures")
	expect(t, m, 0, "botd_store_errors_total", "op=append")
}

func TestNotesAreCounted(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.Status(running(t))
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "margin") {
		m.Note(&n)
	}
	m.Note(&engine.Note{Symbol: bitcoin, Fact: engine.NoteQuarantine{Ended: true}}) // its end does not count as another one
	expect(t, m, 2, "botd_market_candle_gaps_total", "market=futures")
	expect(t, m, 1, "botd_strategy_cycles_total", "result=ok", "strategy=trend")
	expect(t, m, 2, "botd_strategy_cycles_total", "result=missed", "strategy=trend")
	expect(t, m, 1, "botd_intents_total", "kind=entry", "outcome=approved", "strategy=trend")
	expect(t, m, 1, "botd_risk_rejections_total", "rule=margin")
	expect(t, m, 1, "botd_orders_submitted_total", "market=futures", "strategy=trend", "type=MARKET")
	expect(t, m, 1, "botd_order_ack_duration_seconds", "market=futures")
	expect(t, m, 1, "botd_orders_closed_total", "market=futures", "status=filled", "strategy=trend")
	expect(t, m, 1, "botd_orders_closed_total", "market=futures", "status=refused", "strategy=trend")
	expect(t, m, 1, "botd_fills_total", "market=futures", "side=BUY", "strategy=trend")
	expect(t, m, 500.5, "botd_fill_notional_usdt_total", "market=futures", "strategy=trend")
	expect(t, m, 1, "botd_reconcile_runs_total", "market=all", "result=failed")
	expect(t, m, 1, "botd_reconcile_discrepancies_total", "kind=quarantine", "market=futures")
	expect(t, m, 1, "botd_kill_switch_engagements_total", "reason=kill_switch")
}

func TestSlippageIsMeasuredAgainstThePriceOfTheDecision(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.Status(running(t))
	order := engine.NoteOrder{Purpose: placement.Exit, ClientOrderID: "a", Order: exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder}}
	for _, fact := range []engine.Fact{
		engine.NoteApproved{Intent: &reconcile.Intent{Purpose: placement.Exit, Last: enginetest.Price(t, bitcoin, "50000")}},
		engine.NotePlaced{NoteOrder: order},
		engine.NoteSettled{NoteOrder: order, State: placement.Filled, Price: enginetest.Amount(t, "49975"), DurationMS: 800}, // sold 0.05 % lower
	} {
		m.Note(&engine.Note{Strategy: "trend", Symbol: bitcoin, Fact: fact})
	}
	histogram := gather(t, m)["botd_fill_slippage_ratio"].GetMetric()[0].GetHistogram()
	if have := histogram.GetSampleSum(); have < 0.000499 || have > 0.000501 {
		t.Errorf("slippage: want 0.0005, worse, have %v", have)
	}
	expect(t, m, 1, "botd_order_settle_duration_seconds", "market=futures")
	if len(m.decided) != 1 { // the strategy's last decision stays, the order's is removed
		t.Errorf("remembered: want 1, have %v", m.decided)
	}
}

func TestTheStatusSetsTheGauges(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	status := running(t)
	m.Status(status)
	expect(t, m, 1, "botd_orders_open", "market=futures", "strategy=trend")
	expect(t, m, 1, "botd_orders_unsettled", "market=futures")
	expect(t, m, 7, "botd_orders_unsettled_oldest_timestamp_seconds", "market=futures")
	expect(t, m, 1002, "botd_position_notional_usdt", "symbol=BTC-USDT")
	expect(t, m, 2, "botd_position_unrealized_pnl_usdt", "symbol=BTC-USDT")
	expect(t, m, 0.1, "botd_position_liquidation_distance_ratio", "symbol=BTC-USDT")
	expect(t, m, 1002, "botd_position_unprotected_notional_usdt", "symbol=BTC-USDT")
	expect(t, m, 1, "botd_strategy_state", "state=warming_up", "strategy=hold")
	expect(t, m, 0, "botd_strategy_state", "state=running", "strategy=hold")
	expect(t, m, 1_700_000_040, "botd_market_last_update_timestamp_seconds", "kind=candle", "market=futures", "symbol=BTC-USDT")
	expect(t, m, 0, "botd_market_candle_lag_seconds", "market=futures")

	status.Strategies[0].Protected, status.Strategies[0].CandleMS, status.NowMS = true, 1_700_000_100_000, 1_700_000_102_500
	status.Degraded = []engine.Degraded{{State: "halted"}, {State: "breaker"}, {State: "halted", Scope: account.Scope{Strategy: "hold"}}}
	m.Status(status)
	expect(t, m, 1, "botd_trading_halted", "reason=breaker")
	expect(t, m, 1, "botd_trading_halted", "reason=strategy_halted")
	expect(t, m, 0, "botd_trading_halted", "reason=symbol_halted")
	expect(t, m, 0, "botd_position_unprotected_notional_usdt", "symbol=BTC-USDT")
	expect(t, m, 1, "botd_market_candle_lag_seconds", "market=futures")
	expect(t, m, 1, "botd_trading_halted", "reason=kill_switch")

	status.Strategies[0].Position, status.Live = 0, nil
	m.Status(status)
	expect(t, m, -1, "botd_position_liquidation_distance_ratio", "symbol=BTC-USDT") // no alert depends on an ended position
	expect(t, m, 0, "botd_orders_open", "market=futures", "strategy=trend")
	expect(t, m, 0, "botd_orders_unsettled_oldest_timestamp_seconds", "market=futures")
}

func TestPollsAreRequestsForMarketData(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.Status(running(t))
	m.Request(exchange.FuturesCandles, "ok", 0, time.Millisecond, 0)
	m.Request(exchange.FuturesCandles, "refusal", exchange.CodeInvalidTimestamp, time.Millisecond, 2*time.Second)
	expect(t, m, 1, "botd_market_polls_total", "kind=candle", "market=futures", "result=ok")
	expect(t, m, 1, "botd_market_polls_total", "kind=candle", "market=futures", "result=failed")
	expect(t, m, 1, "botd_exchange_error_codes_total", "code=-1021", "market=futures")
	expect(t, m, 2, "botd_exchange_throttle_wait_seconds_total", "class=budget", "market=futures")
	expect(t, m, 2, "botd_exchange_request_duration_seconds", "endpoint=futures_candles", "market=futures")
}

// TestTheDocumentOfMetricsListsEveryFamily keeps docs/metrics.md equal to the metrics that botd shows; -update rewrites it.
func TestTheDocumentOfMetricsListsEveryFamily(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.WatchFile("journal", "metrics_test.go")
	m.WatchBackup(func() time.Time { return time.UnixMilli(1_500) })
	status := running(t)
	status.Limits = []risk.Utilization{{Scope: "account", Rule: risk.MaxOpenOrders}}
	status.Balances = []exchange.Balance{{Asset: "BTC"}}
	m.Status(status)
	m.Scraped([]Check{{"loop", true, ""}})
	expect(t, m, 1.5, "botd_store_last_backup_timestamp_seconds")
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "margin") {
		m.Note(&n)
	}
	m.Request(exchange.FuturesPlace, "ok", 0, time.Millisecond, 0)
	m.httpRequests.WithLabelValues("x", "200")
	m.httpSeconds.WithLabelValues("x")
	m.Notified("none", "ok", 1)
	m.Heartbeat("sent", 1)
	m.Signaled("taken", 1)
	m.Commanded("done", 1)
	families := gather(t, m)
	if have := len(m.Families()); have != len(families) {
		t.Errorf("want every registered family shown, have %d registered and %d shown", have, len(families))
	}
	var rows []string
	for _, name := range slices.Sorted(maps.Keys(families)) {
		var labels []string
		for _, label := range families[name].GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+label.GetName()+"`")
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, strings.ToLower(families[name].GetType().String()),
			strings.Join(labels, ", "), strings.ReplaceAll(families[name].GetHelp(), "|", `\|`)))
	}
	const path, head = "../../docs/metrics.md", "| metric | type | labels | meaning |\n|---|---|---|---|\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), head)
	if !found {
		t.Fatal("docs/metrics.md has no table of metrics")
	}
	rest := after
	for strings.HasPrefix(rest, "| ") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if want := before + head + strings.Join(rows, "") + rest; *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Error("docs/metrics.md is not the list of metrics: go test ./runtime/ops -run DocumentOfMetrics -update writes it")
	}
}

func TestLedgerMetrics(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.Status(running(t))
	m.Status(running(t))
	expect(t, m, 5.75, "botd_strategy_realized_pnl_usdt", "strategy=trend")
	expect(t, m, 1.25, "botd_strategy_fees_usdt_total", "strategy=trend")
	expect(t, m, 2.5, "botd_ledger_unexplained", "asset=USDT", "market=futures")
	m.Note(&engine.Note{Fact: engine.NoteUnexplained{Market: exchange.Futures}})
	expect(t, m, 1, "botd_reconcile_discrepancies_total", "kind=unexplained", "market=futures")
}

func TestStrategyProfitAndEquityMetrics(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	s := running(t)
	for _, c := range []struct {
		own, peak string
		fall      float64
	}{{"100", "0", 0}, {"120", "0", 0}, {"90", "0", .25}, {"90", "180", .5}, {"0", "0", 1}} {
		s.Strategies[0].Own, s.Strategies[0].Peak = enginetest.Amount(t, c.own), enginetest.Amount(t, c.peak)
		m.Status(s)
		expect(t, m, c.fall, "botd_strategy_drawdown_ratio", "strategy=trend")
	}
	expect(t, m, 0, "botd_strategy_equity_usdt", "strategy=trend")
	expect(t, m, 2, "botd_strategy_unrealized_pnl_usdt", "strategy=trend")
}

func TestOnlyConfiguredAssetsAreExported(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	s := running(t)
	s.Balances = []exchange.Balance{
		{Asset: "BTC", Free: enginetest.Amount(t, "1.5"), Frozen: enginetest.Amount(t, "0.5")},
		{Asset: "DUST", Free: enginetest.Amount(t, "9")},
	}
	m.Status(s)
	expect(t, m, 1.5, "botd_account_asset_quantity", "asset=BTC", "field=free")
	expect(t, m, 0.5, "botd_account_asset_quantity", "asset=BTC", "field=frozen")
	if have := len(gather(t, m)["botd_account_asset_quantity"].GetMetric()); have != 2 {
		t.Errorf("series: want 2, have %d", have)
	}
}

func TestGaugesThatAreReadAtEachScrape(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.Status(running(t))
	paused := time.UnixMilli(5_000)
	m.WatchPauses(func(market exchange.Market) time.Time {
		if market == exchange.Spot {
			return time.Time{}
		}
		return paused
	})
	m.WatchFile("journal", "metrics_test.go")
	m.WatchFile("gone", "nowhere")
	m.Scraped(nil)
	expect(t, m, 5, "botd_exchange_backoff_until_timestamp_seconds", "class=budget", "market=futures")
	expect(t, m, 0, "botd_exchange_backoff_until_timestamp_seconds", "class=budget", "market=spot")
	expect(t, m, 0, "botd_store_size_bytes", "file=gone")
	if have := value(t, m, "botd_store_size_bytes", "file=journal"); have < 1000 {
		t.Errorf("size: want this file's, have %v", have)
	}
	expect(t, m, 0, "botd_leader")
	m.Leads()
	expect(t, m, 1, "botd_leader")
	if have := value(t, m, "botd_lease_expiry_timestamp_seconds"); !math.IsInf(have, 1) {
		t.Errorf("lease: want one without an end, have %v", have)
	}
	m.Measure(engine.MeasuredDecision, "trend")()
	m.Measure(engine.MeasuredCheck, "trend")()
	expect(t, m, 1, "botd_strategy_cycle_duration_seconds", "strategy=trend")
	expect(t, m, 1, "botd_risk_check_duration_seconds")
}

// TestNumberOfSeriesIsBounded measures the exposition at four sizes of an account, and bounds it.
func TestNumberOfSeriesIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ strategies, most int }{{1, 2_000}, {8, 3_500}, {32, 7_000}, {64, 12_000}} {
		m := NewMetrics("demo", Build{})
		s := &engine.Status{}
		for i := range c.strategies {
			market := []exchange.Market{exchange.Futures, exchange.Spot}[i%2]
			s.Strategies = append(
				s.Strategies,
				engine.StrategyStatus{
					Name:     fmt.Sprint("s", i),
					Symbol:   newSymbol(market, fmt.Sprint("C", i, "-USDT")),
					Last:     1,
					LastMS:   1,
					CandleMS: 1,
					TickMS:   1,
				},
			)
		}
		m.Status(s)
		lines := 0
		for _, family := range gather(t, m) {
			for _, metric := range family.GetMetric() {
				if lines++; metric.Histogram != nil {
					lines += len(metric.Histogram.GetBucket()) + 2
				}
			}
		}
		t.Logf("%d strategies: %d series", c.strategies, lines)
		if lines > c.most {
			t.Errorf("%d strategies: want at most %d series, have %d", c.strategies, c.most, lines)
		}
	}
}
