// Package ops exports metrics and logs, and generates the rules, dashboard and unit that watch them.
//
// It shows what the engine reports: notes become log lines and counters, and the status becomes
// gauges and JSON. It decides nothing.
package ops

import (
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"botd/exchange"
	"botd/runtime/incident"
)

// Build describes the running binary.
type Build struct{ Version, Revision, Go string }

// Metrics are botd's metric families. Labels come from closed sets (operations, rules, configured
// strategies and symbols), never from an id, an error's text or an address. It is safe for several
// goroutines.
type Metrics struct {
	Registry *prometheus.Registry
	known    *closed

	ready, reloaded, reloadedAt *prometheus.GaugeVec // without labels
	unclean                     *prometheus.GaugeVec
	component, halted           *prometheus.GaugeVec
	logEvents                   *prometheus.CounterVec

	requests, errorCodes, throttle *prometheus.CounterVec
	requestSeconds                 *prometheus.HistogramVec
	clockOffset, clockBound        *prometheus.GaugeVec
	clockJumps                     *prometheus.CounterVec
	polls, gaps                    *prometheus.CounterVec
	marketUpdate                   *prometheus.GaugeVec
	candleLag                      *prometheus.HistogramVec

	strategyState, lastCycle, nextCycle *prometheus.GaugeVec
	cycles, intents, refusals, kills    *prometheus.CounterVec
	outOfBandHalts, oldOutOfBandHalts   *prometheus.CounterVec
	outOfBandSeconds                    *prometheus.GaugeVec
	oldOutOfBandSeconds                 *prometheus.GaugeVec
	usage                               *prometheus.GaugeVec

	submitted, closed, fills, fillNotional *prometheus.CounterVec
	open, unsettled, oldest                *prometheus.GaugeVec
	ackSeconds, settleSeconds, slippage    *prometheus.HistogramVec
	rounds, discrepancyKinds               *prometheus.CounterVec
	roundSeconds                           *prometheus.HistogramVec
	roundSuccess, discrepancies            *prometheus.GaugeVec

	balance, positionValue, positionPNL *prometheus.GaugeVec
	liquidation, unguarded              *prometheus.GaugeVec
	unprotectedSince                    *prometheus.GaugeVec
	unprotectedSeconds                  *prometheus.CounterVec
	realized, unexplained               *prometheus.GaugeVec
	incidents, storeFree, unfinished    *prometheus.GaugeVec
	strategyEquity, strategyOpen        *prometheus.GaugeVec
	strategyDrawdown, assets            *prometheus.GaugeVec
	leader, leaseEnd, backoff           *prometheus.GaugeVec
	cycleSeconds, checkSeconds          *prometheus.HistogramVec
	storeSize, backup                   *prometheus.GaugeVec
	files                               []file
	lastBackup                          func() time.Time
	free                                func() (bytes int64, known bool)
	pauses                              func(exchange.Market) time.Time
	peaks                               map[string]float64 // peaks of the strategies' equity since the start
	due                                 map[string]dueTick // by strategy
	fees                                *prometheus.CounterVec
	commitSeconds, httpSeconds          *prometheus.HistogramVec
	storeErrors, httpRequests           *prometheus.CounterVec
	streams                             *prometheus.GaugeVec
	streamEnds                          *prometheus.CounterVec

	notifications, heartbeats, signals, telegram, recorded *prometheus.CounterVec

	families      []Family
	vectors       []vector                    // of all families
	traded        map[string]*exchange.Symbol // by strategy, at the previous Status
	used          map[[2]string]bool          // limits and scopes, at the previous Status
	decided       decisions
	unprotectedMS map[string]int64   // per symbol, at the previous Status
	paid          map[string]float64 // fees per strategy, at the previous Status
	candles       map[string]int64   // close of the newest candle per strategy, at the previous Status
}

var (
	requestBuckets  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	fastBuckets     = []float64{.000001, .00001, .0001, .001, .01, .1, 1}
	settleBuckets   = []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 120}
	slippageBuckets = []float64{-.01, -.001, -.0001, 0, .0001, .0005, .001, .005, .01, .05}
)

// Reloaded records that the configuration was read again, and whether it is in force.
func (m *Metrics) Reloaded(good bool) {
	if !good {
		m.reloaded.WithLabelValues().Set(0)
		return
	}
	m.reloaded.WithLabelValues().Set(1)
	m.reloadedAt.WithLabelValues().Set(float64(time.Now().UnixMilli()) / 1000)
}

// NewMetrics registers every family on a new registry, once the configuration is loaded.
func NewMetrics(mode string, build Build) *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry(), known: newClosed(), decided: decisions{}, candles: map[string]int64{},
		unprotectedMS: map[string]int64{}, peaks: map[string]float64{}, due: map[string]dueTick{}, paid: map[string]float64{}}
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.gauge("botd_build_info", "Build of the running binary; always 1.", "version", "revision", "goversion").
		WithLabelValues(build.Version, build.Revision, build.Go).
		Set(1)
	m.gauge("botd_mode_info", "Run mode; always 1.", "mode").WithLabelValues(mode).Set(1)
	m.ready = m.gauge("botd_ready", "1 when every readiness check passes.")
	m.component = m.gauge("botd_component_up", "1 when the component's last check passed.", "component")
	m.reloaded = m.gauge("botd_config_last_reload_successful", "1 when the last configuration load worked.")
	m.reloadedAt = m.gauge("botd_config_last_reload_success_timestamp_seconds", "Time of the last good configuration load.")
	m.unclean = m.gauge("botd_last_shutdown_unclean", "1 when the previous run ended without a clean stop.")
	m.unclean.WithLabelValues()
	m.logEvents = m.counter("botd_log_events_total", "Log events written.", "level")
	m.exchangeFamilies()
	m.strategyFamilies()
	m.orderFamilies()
	m.accountFamilies()
	m.notifications = m.counter("botd_notifications_total", "Notices sent.", "channel", "result")
	m.heartbeats = m.counter("botd_heartbeats_total", "Requests to the dead-man's service, by outcome; withheld while botd does not work.", "result")
	m.signals = m.counter("botd_signals_total", "Signals, by outcome.", "result")
	m.telegram = m.counter("botd_telegram_messages_total", "Messages from Telegram, by outcome, and replies that could not be sent.", "result")
	m.recorded = m.counter("botd_recorded_rows_total", "Polled candles and funding rates, stored for backtests or lost.", "result")
	m.Recorded(0, 0)
	m.ready.WithLabelValues()
	m.reloaded.WithLabelValues().Set(1)
	m.reloadedAt.WithLabelValues().Set(float64(time.Now().UnixMilli()) / 1000)
	for _, level := range levels {
		m.logEvents.WithLabelValues(level)
	}
	return m
}

func (m *Metrics) exchangeFamilies() {
	m.requests = m.counter("botd_exchange_requests_total", "Requests sent to the exchange, by how they ended.", "market", "endpoint", "outcome")
	m.requestSeconds = m.histogram("botd_exchange_request_duration_seconds", "Time from send to body read.", requestBuckets, "market", "endpoint")
	m.errorCodes = m.counter("botd_exchange_error_codes_total", "Error codes in exchange replies; unknown codes count as other.", "market", "code")
	m.clockOffset = m.gauge("botd_exchange_clock_offset_seconds", "Server time minus local time, corrected by half the round trip.")
	m.throttle = m.counter("botd_exchange_throttle_wait_seconds_total", "Total time that requests waited for the local rate limiter.", "market", "class")
	m.backoff = m.gauge("botd_exchange_backoff_until_timestamp_seconds", "Time before which no request of the class is sent; 0 when none.", "market",
		"class")
	m.polls = m.counter("botd_market_polls_total", "Market-data polls.", "market", "kind", "result")
	m.marketUpdate = m.gauge("botd_market_last_update_timestamp_seconds", "Exchange time of the newest market data.", "market", "symbol", "kind")
	m.candleLag = m.histogram("botd_market_candle_lag_seconds", "Delay from candle close to receipt.", settleBuckets, "market")
	m.gaps = m.counter("botd_market_candle_gaps_total", "Missing candles found in a series.", "market")
	m.clockBound = m.gauge("botd_exchange_clock_bound_seconds", "Maximum error of the clock offset, in either direction.")
	m.clockJumps = m.counter("botd_exchange_clock_jumps_total", "Number of steps of the local clock and of suspends of the machine.")
	m.clockOffset.WithLabelValues()
	m.clockBound.WithLabelValues()
	m.clockJumps.WithLabelValues()
}

func (m *Metrics) strategyFamilies() {
	m.strategyState = m.gauge("botd_strategy_state", "1 for the state the strategy is in.", "strategy", "state")
	m.cycles = m.counter("botd_strategy_cycles_total", "Decisions of strategies by result.", "strategy", "result")
	m.cycleSeconds = m.histogram("botd_strategy_cycle_duration_seconds", "Time of one decision.", fastBuckets, "strategy")
	m.checkSeconds = m.histogram("botd_risk_check_duration_seconds", "Time of one risk decision.", fastBuckets)
	m.checkSeconds.WithLabelValues()
	m.lastCycle = m.gauge("botd_strategy_last_cycle_timestamp_seconds", "Time of the last decision without an error.", "strategy")
	m.nextCycle = m.gauge("botd_strategy_next_cycle_timestamp_seconds", "Time when the next decision is due.", "strategy")
	m.intents = m.counter("botd_intents_total", "Intents by kind and outcome of the risk layer.", "strategy", "kind", "outcome")
	m.refusals = m.counter("botd_risk_rejections_total", "Intents refused, by rule.", "rule")
	m.halted = m.gauge("botd_trading_halted", "1 while trading is halted for the reason.", "reason")
	m.unfinished = m.gauge("botd_halts_unfinished", "Halts that have not yet removed everything they cover.")
	m.unfinished.WithLabelValues()
	m.kills = m.counter("botd_kill_switch_engagements_total", "Times the kill switch engaged.", "reason")
	m.outOfBandHalts = m.counter("botd_out_of_band_halts_total", "Number of times that the kill switch acted without the engine.")
	m.outOfBandHalts.WithLabelValues()
	m.outOfBandSeconds = m.gauge("botd_out_of_band_halt_seconds",
		"Time from the last halt that the kill switch carried out without the engine until the engine took over; 0 for none.")
	m.outOfBandSeconds.WithLabelValues()
	m.oldOutOfBandHalts = m.counter("botd_kill_switch_beside_engine_total", "Deprecated: use botd_out_of_band_halts_total.")
	m.oldOutOfBandHalts.WithLabelValues()
	m.oldOutOfBandSeconds = m.gauge("botd_kill_switch_beside_engine_seconds", "Deprecated: use botd_out_of_band_halt_seconds.")
	m.oldOutOfBandSeconds.WithLabelValues()
	m.usage = m.gauge("botd_risk_limit_usage_ratio", "Share of a limit in use; 1 is the limit.", "limit", "scope")
	for _, rule := range m.known.rules {
		m.refusals.WithLabelValues(rule)
	}
	for _, reason := range haltReasons {
		m.halted.WithLabelValues(reason)
	}
	m.kills.WithLabelValues("kill_switch")
	m.kills.WithLabelValues("breaker")
	m.kills.WithLabelValues("limit")
}

func (m *Metrics) orderFamilies() {
	m.submitted = m.counter("botd_orders_submitted_total", "Orders sent.", "market", "strategy", "type")
	m.closed = m.counter("botd_orders_closed_total", "Orders that reached a final state.", "market", "strategy", "status")
	m.open = m.gauge("botd_orders_open", "Orders known to be working.", "market", "strategy")
	m.unsettled = m.gauge("botd_orders_unsettled", "Orders sent whose state has not been fetched yet.", "market")
	m.oldest = m.gauge("botd_orders_unsettled_oldest_timestamp_seconds", "Send time of the oldest unsettled order; 0 when none.", "market")
	m.ackSeconds = m.histogram("botd_order_ack_duration_seconds", "Send to acknowledgment.", requestBuckets, "market")
	m.settleSeconds = m.histogram("botd_order_settle_duration_seconds", "Send to first fetched state.", settleBuckets, "market")
	m.fills = m.counter("botd_fills_total", "Fills recorded.", "market", "strategy", "side")
	m.fillNotional = m.counter("botd_fill_notional_usdt_total", "Value filled.", "market", "strategy")
	m.slippage = m.histogram("botd_fill_slippage_ratio", "Fill price against decision price, signed so that positive is worse.", slippageBuckets,
		"market")
	m.rounds = m.counter("botd_reconcile_runs_total", "Rounds of the reconciler.", "market", "result")
	m.roundSeconds = m.histogram("botd_reconcile_duration_seconds", "Time of one round.", requestBuckets, "market")
	m.roundSuccess = m.gauge("botd_reconcile_last_success_timestamp_seconds", "Time of the last complete round.", "market")
	m.discrepancyKinds = m.counter("botd_reconcile_discrepancies_total", "Differences between journal and exchange.", "market", "kind")
	m.discrepancies = m.gauge("botd_reconcile_discrepancies_unresolved", "Differences not yet explained.", "market")
	// One round reads both markets of the account, hence the label.
	m.rounds.WithLabelValues("all", "ok")
	m.rounds.WithLabelValues("all", "failed")
	m.roundSeconds.WithLabelValues("all")
	m.roundSuccess.WithLabelValues("all")
	m.discrepancies.WithLabelValues("all")
	m.discrepancyKinds.WithLabelValues("all", "stale")
	for _, market := range []string{"futures", "spot"} {
		m.unsettled.WithLabelValues(market)
		m.oldest.WithLabelValues(market)
	}
}

func (m *Metrics) accountFamilies() {
	m.balance = m.gauge("botd_account_balance_usdt", "Margin account amounts.", "field")
	m.strategyEquity = m.gauge("botd_strategy_equity_usdt", "Equity attributed to the strategy.", "strategy")
	m.strategyOpen = m.gauge("botd_strategy_unrealized_pnl_usdt", "Unrealized profit.", "strategy")
	m.strategyDrawdown = m.gauge("botd_strategy_drawdown_ratio", "Drawdown from the highest equity, 0 to 1.", "strategy")
	m.assets = m.gauge("botd_account_asset_quantity", "Spot wallet amounts of configured assets.", "asset", "field")
	m.realized = m.gauge("botd_strategy_realized_pnl_usdt", "Realized profit since the strategy began, fees and funding included.", "strategy")
	m.fees = m.counter("botd_strategy_fees_usdt_total", "Fees paid.", "strategy")
	m.unexplained = m.gauge("botd_ledger_unexplained", "Change of a wallet that fills, fees and funding do not explain.", "market", "asset")
	m.unexplained.WithLabelValues("futures", "USDT")
	m.positionValue = m.gauge("botd_position_notional_usdt", "Signed value of the open position.", "symbol")
	m.positionPNL = m.gauge("botd_position_unrealized_pnl_usdt", "Unrealized profit of the open position.", "symbol")
	m.liquidation = m.gauge("botd_position_liquidation_distance_ratio", "Distance from the last price to the liquidation price over the last price.",
		"symbol")
	m.unprotectedSeconds = m.counter("botd_position_unprotected_seconds_total", "Total time that positions lacked their planned stop.", "symbol")
	m.unprotectedSince = m.gauge("botd_position_unprotected_since_timestamp_seconds",
		"Time since which the position lacks its planned stop; 0 while it has one.", "symbol")
	m.unguarded = m.gauge("botd_position_unprotected_notional_usdt", "Value of the position not covered by a working stop.", "symbol")
	m.commitSeconds = m.histogram("botd_store_write_duration_seconds", "Time of one journal commit.", requestBuckets)
	m.storeErrors = m.counter("botd_store_errors_total", "Errors of writing the journal.", "op")
	m.httpRequests = m.counter("botd_http_requests_total", "Requests served by botd.", "handler", "code")
	m.httpSeconds = m.histogram("botd_http_request_duration_seconds", "Time of requests served by botd.", requestBuckets, "handler")
	m.storeSize = m.gauge("botd_store_size_bytes", "Size on disk.", "file")
	m.storeFree = m.gauge("botd_store_free_bytes", "Free space on the disk of the data directory.")
	m.storeFree.WithLabelValues()
	m.backup = m.gauge("botd_store_last_backup_timestamp_seconds", "Time of the last good backup.")
	m.backup.WithLabelValues()
	m.leader = m.gauge("botd_leader", "1 while this process holds the trading lease.")
	m.leaseEnd = m.gauge("botd_lease_expiry_timestamp_seconds", "When the lease ends unless renewed.")
	m.leader.WithLabelValues()
	m.leaseEnd.WithLabelValues()
	m.incidents = m.gauge("botd_incidents_open", "Incidents that are open: botd incidents lists them.", "kind", "severity")
	m.Incidents(nil)
	m.streams = m.gauge("botd_sse_clients", "Open event streams.")
	m.streamEnds = m.counter("botd_sse_disconnects_total", "Event streams ended, by reason.", "reason")
	m.streams.WithLabelValues()
	for _, reason := range streamReasons {
		m.streamEnds.WithLabelValues(reason)
	}
	m.commitSeconds.WithLabelValues()
	m.storeErrors.WithLabelValues("append")
}

// file is a file whose size is a metric.
type file struct {
	name  string
	bytes func() int64
}

// WatchFile exports the size of a file of the store at each scrape; name is its label.
func (m *Metrics) WatchFile(name, path string) {
	m.WatchSize(name, func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0 // a missing file takes no space
		}
		return info.Size()
	})
}

// WatchSize exports a size in the same way.
func (m *Metrics) WatchSize(name string, bytes func() int64) {
	m.files = append(m.files, file{name, bytes})
	m.storeSize.WithLabelValues(name)
}

// WatchFree exports the free space on the store's disk at each scrape, if the system reports it.
func (m *Metrics) WatchFree(free func() (bytes int64, known bool)) { m.free = free }

// Incidents counts the open incidents, by kind and severity.
func (m *Metrics) Incidents(open []incident.Incident) {
	type label struct {
		kind     string
		severity incident.Severity
	}
	count := map[label]float64{}
	for i := range open {
		count[label{oneOf(incidentKinds, open[i].Kind), open[i].Severity}]++
	}
	for _, kind := range append(slices.Clip(incidentKinds), other) {
		for _, severity := range []incident.Severity{incident.Warning, incident.Critical} {
			m.incidents.WithLabelValues(kind, string(severity)).Set(count[label{kind, severity}])
		}
	}
}

// Recorded counts rows of market data that were stored or lost.
func (m *Metrics) Recorded(stored, lost int) {
	m.recorded.WithLabelValues("kept").Add(float64(stored))
	m.recorded.WithLabelValues("lost").Add(float64(lost))
}

// WatchBackup exports the time of the last successful backup; zero when there is none.
func (m *Metrics) WatchBackup(last func() time.Time) { m.lastBackup = last }

// WatchPauses sets the source of each market's backoff time, read at each scrape.
func (m *Metrics) WatchPauses(until func(exchange.Market) time.Time) { m.pauses = until }

// Scraped updates the gauges that are read only when metrics are scraped.
func (m *Metrics) Scraped(checks []Check) {
	m.Ready(checks)
	for _, file := range m.files {
		m.storeSize.WithLabelValues(file.name).Set(float64(file.bytes()))
	}
	if m.free != nil {
		if free, known := m.free(); known {
			m.storeFree.WithLabelValues().Set(float64(free))
		}
	}
	if m.lastBackup != nil {
		m.backup.WithLabelValues().Set(timestamp(m.lastBackup()))
	}
	if m.pauses == nil {
		return
	}
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		if m.known.market(market.String()) != other {
			m.backoff.WithLabelValues(market.String(), "budget").Set(timestamp(m.pauses(market)))
		}
	}
}

// timestamp returns a time in seconds; 0 for none.
func timestamp(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return seconds(at.UnixMilli())
}

// Family is one registered family of metrics.
type Family struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Labels []string `json:"labels"`
	Help   string   `json:"help"`
}

// Families lists the registered metrics, in the order of registration. Rules and dashboards are
// checked against it, so that they cannot name a metric that does not exist.
func (m *Metrics) Families() []Family { return slices.Clone(m.families) }

func (m *Metrics) family(kind, name, help string, labels []string) {
	m.families = append(m.families, Family{name, kind, append([]string{}, labels...), help})
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	m.family("gauge", name, help, labels)
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.Registry.MustRegister(g)
	m.vectors = append(m.vectors, g)
	return g
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	m.family("counter", name, help, labels)
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.Registry.MustRegister(c)
	m.vectors = append(m.vectors, c)
	return c
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	m.family("histogram", name, help, labels)
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.Registry.MustRegister(h)
	m.vectors = append(m.vectors, h)
	return h
}
