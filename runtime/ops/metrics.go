// Package ops metrics, admin API, dashboard, notifications.
//
// It shows what the engine tells: notes become log lines and counters, the
// status becomes gauges and JSON. It decides nothing.
package ops

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"botd/exchange"
	"botd/reconcile"
	"botd/risk"
	"botd/runtime/engine"
)

// Build says which binary runs.
type Build struct{ Version, Revision, Go string }

// Metrics are the families of the catalogue that this part of botd can fill.
// Labels come from closed sets: operations, rules, configured strategies and
// symbols; never from an id, an error's text or an address.
type Metrics struct {
	Registry *prometheus.Registry

	ready, blindness                                            prometheus.Gauge
	halted                                                      *prometheus.GaugeVec
	logEvents, requests, errorCodes, throttle                   *prometheus.CounterVec
	requestSeconds                                              *prometheus.HistogramVec
	clockOffset                                                 prometheus.Gauge
	polls, gaps                                                 *prometheus.CounterVec
	marketUpdate                                                *prometheus.GaugeVec
	cycles                                                      *prometheus.CounterVec
	lastCycle, nextCycle, strategyState                         *prometheus.GaugeVec
	intents, refusals, submitted, closed, fills, fillNotional   *prometheus.CounterVec
	kills                                                       *prometheus.CounterVec
	open                                                        *prometheus.GaugeVec
	unsettled, oldest                                           *prometheus.GaugeVec
	ackSeconds, settleSeconds                                   *prometheus.HistogramVec
	slippage                                                    *prometheus.HistogramVec
	rounds                                                      *prometheus.CounterVec
	roundSeconds                                                *prometheus.HistogramVec
	roundSuccess, discrepancies                                 *prometheus.GaugeVec
	discrepancyKinds                                            *prometheus.CounterVec
	balance, positionValue, positionPNL, liquidation, unguarded *prometheus.GaugeVec
	commitSeconds                                               prometheus.Histogram
	storeErrors                                                 *prometheus.CounterVec
	httpRequests                                                *prometheus.CounterVec
}

var (
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	settleBuckets  = []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 120}
)

// knownCodes are the error codes told apart; every other one counts as other.
var knownCodes = []int{exchange.CodeInvalidSignature, exchange.CodeInvalidTimestamp, exchange.CodeUnknownKey, exchange.CodeNotPermitted,
	exchange.CodeSpotInvalidSymbol, exchange.CodeFuturesInvalidSymbol}

// NewMetrics registers every family on a registry of its own.
func NewMetrics(mode string, build Build) *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.gaugeVec("botd_build_info", "Build of the running binary; always 1.", "version", "revision", "goversion").WithLabelValues(build.Version, build.Revision, build.Go).Set(1)
	m.gaugeVec("botd_mode_info", "Run mode; always 1.", "mode").WithLabelValues(mode).Set(1)
	m.ready = m.gauge("botd_ready", "1 when every readiness check passes.")
	m.blindness = m.gauge("botd_reconcile_blind", "1 while orders and positions can not be read and nothing opens.")
	m.halted = m.gaugeVec("botd_trading_halted", "1 while trading is halted for the reason.", "reason")
	m.logEvents = m.counterVec("botd_log_events_total", "Log events written.", "level")
	m.requests = m.counterVec("botd_exchange_requests_total", "Requests sent to the exchange, by how they ended.", "market", "endpoint", "outcome")
	m.requestSeconds = m.histogramVec("botd_exchange_request_duration_seconds", "Time from send to body read.", requestBuckets, "market", "endpoint")
	m.errorCodes = m.counterVec("botd_exchange_error_codes_total", "Error codes in exchange replies; unknown codes count as other.", "market", "code")
	m.clockOffset = m.gauge("botd_exchange_clock_offset_seconds", "Server time minus local time, halved round trip removed.")
	m.throttle = m.counterVec("botd_exchange_throttle_wait_seconds_total", "Time requests waited for the local rate limiter.", "market", "class")
	m.polls = m.counterVec("botd_market_polls_total", "Market-data polls.", "market", "kind", "result")
	m.gaps = m.counterVec("botd_market_candle_gaps_total", "Missing candles found in a series.", "market")
	m.marketUpdate = m.gaugeVec("botd_market_last_update_timestamp_seconds", "Exchange time of the newest datum held.", "market", "symbol", "kind")
	m.strategyFamilies()
	m.orderFamilies()
	m.accountFamilies()
	return m
}

func (m *Metrics) strategyFamilies() {
	m.strategyState = m.gaugeVec("botd_strategy_state", "1 for the state the strategy is in.", "strategy", "state")
	m.cycles = m.counterVec("botd_strategy_cycles_total", "Strategy cycles by result.", "strategy", "result")
	m.lastCycle = m.gaugeVec("botd_strategy_last_cycle_timestamp_seconds", "Time of the last cycle that ended well.", "strategy")
	m.nextCycle = m.gaugeVec("botd_strategy_next_cycle_timestamp_seconds", "Time the next cycle is due.", "strategy")
	m.intents = m.counterVec("botd_intents_total", "Intents by kind and outcome of the risk layer.", "strategy", "kind", "outcome")
	m.refusals = m.counterVec("botd_risk_rejections_total", "Intents refused, by rule.", "rule")
	m.kills = m.counterVec("botd_kill_switch_engagements_total", "Times the kill switch engaged.", "reason")
	for _, rule := range risk.Rules() {
		m.refusals.WithLabelValues(rule)
	}
}

func (m *Metrics) orderFamilies() {
	m.submitted = m.counterVec("botd_orders_submitted_total", "Orders sent.", "market", "strategy", "type")
	m.closed = m.counterVec("botd_orders_closed_total", "Orders that reached a final state.", "market", "strategy", "status")
	m.open = m.gaugeVec("botd_orders_open", "Orders known to be working.", "market", "strategy")
	m.unsettled = m.gaugeVec("botd_orders_unsettled", "Orders sent whose state has not been fetched yet.", "market")
	m.oldest = m.gaugeVec("botd_orders_unsettled_oldest_timestamp_seconds", "Send time of the oldest unsettled order; 0 when none.", "market")
	m.ackSeconds = m.histogramVec("botd_order_ack_duration_seconds", "Send to acknowledgement.", requestBuckets, "market")
	m.settleSeconds = m.histogramVec("botd_order_settle_duration_seconds", "Send to first fetched state.", settleBuckets, "market")
	m.fills = m.counterVec("botd_fills_total", "Fills recorded.", "market", "strategy", "side")
	m.fillNotional = m.counterVec("botd_fill_notional_usdt_total", "Value filled.", "market", "strategy")
	m.slippage = m.histogramVec("botd_fill_slippage_ratio", "Fill price against decision price, signed so that positive is worse.",
		[]float64{-.01, -.001, -.0001, 0, .0001, .0005, .001, .005, .01, .05}, "market")
	m.rounds = m.counterVec("botd_reconcile_runs_total", "Reconciler passes.", "market", "result")
	m.roundSeconds = m.histogramVec("botd_reconcile_duration_seconds", "Time of one pass.", requestBuckets, "market")
	m.roundSuccess = m.gaugeVec("botd_reconcile_last_success_timestamp_seconds", "Time of the last complete pass.", "market")
	m.discrepancyKinds = m.counterVec("botd_reconcile_discrepancies_total", "Differences between journal and exchange.", "market", "kind")
	m.discrepancies = m.gaugeVec("botd_reconcile_discrepancies_unresolved", "Differences not yet explained.", "market")
}

func (m *Metrics) accountFamilies() {
	m.balance = m.gaugeVec("botd_account_balance_usdt", "Margin account amounts.", "field")
	m.positionValue = m.gaugeVec("botd_position_notional_usdt", "Signed value of the open position.", "symbol")
	m.positionPNL = m.gaugeVec("botd_position_unrealized_pnl_usdt", "Unrealised profit of the open position.", "symbol")
	m.liquidation = m.gaugeVec("botd_position_liquidation_distance_ratio", "Distance from the last price to the liquidation price over the last price.", "symbol")
	m.unguarded = m.gaugeVec("botd_position_unprotected_notional_usdt", "Value of the position not covered by a working stop.", "symbol")
	m.commitSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "botd_store_write_duration_seconds", Help: "Time of one journal commit.", Buckets: requestBuckets})
	m.Registry.MustRegister(m.commitSeconds)
	m.storeErrors = m.counterVec("botd_store_errors_total", "Store errors.", "op")
	m.httpRequests = m.counterVec("botd_http_requests_total", "Requests served by botd.", "handler", "code")
	m.storeErrors.WithLabelValues("append")
}

func (m *Metrics) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.Registry.MustRegister(g)
	return g
}

func (m *Metrics) gaugeVec(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.Registry.MustRegister(g)
	return g
}

func (m *Metrics) counterVec(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.Registry.MustRegister(c)
	return c
}

func (m *Metrics) histogramVec(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.Registry.MustRegister(h)
	return h
}

// Request counts one request to the exchange. The outcome is of a closed set.
func (m *Metrics) Request(operation exchange.Operation, outcome string, code int, took, waited time.Duration) {
	market := operation.Market().String()
	m.requests.WithLabelValues(market, operation.String(), outcome).Inc()
	m.requestSeconds.WithLabelValues(market, operation.String()).Observe(took.Seconds())
	if code != 0 {
		text := "other"
		if slices.Contains(knownCodes, code) {
			text = fmt.Sprint(code)
		}
		m.errorCodes.WithLabelValues(market, text).Inc()
	}
	if waited > 0 {
		m.throttle.WithLabelValues(market, "budget").Add(waited.Seconds())
	}
}

// Clock sets the offset to the exchange's clock.
func (m *Metrics) Clock(offset time.Duration) { m.clockOffset.Set(offset.Seconds()) }

// Commit counts one journal commit.
func (m *Metrics) Commit(took time.Duration, err error) {
	m.commitSeconds.Observe(took.Seconds())
	if err != nil {
		m.storeErrors.WithLabelValues("append").Inc()
	}
}

// Note counts one fact of the engine.
func (m *Metrics) Note(n *engine.Note) {
	market, symbol := "", ""
	if n.Symbol != nil {
		market, symbol = n.Symbol.Market.String(), n.Symbol.Name
	}
	switch n.Kind {
	case engine.NoteCandle:
		m.polls.WithLabelValues(market, "candle", "ok").Inc()
		m.marketUpdate.WithLabelValues(market, symbol, "candle").Set(float64(n.AtMS) / 1000)
	case engine.NoteGap:
		m.gaps.WithLabelValues(market).Add(float64(n.Count))
	case engine.NoteTick:
		m.cycles.WithLabelValues(n.Strategy, "ok").Inc()
	case engine.NoteMissed:
		m.cycles.WithLabelValues(n.Strategy, "missed").Add(float64(n.Count))
	case engine.NoteStrategyFailed:
		m.cycles.WithLabelValues(n.Strategy, "failed").Inc()
	case engine.NoteApproved:
		m.intents.WithLabelValues(n.Strategy, n.Purpose.String(), "approved").Inc()
	case engine.NoteRefusal:
		m.intents.WithLabelValues(n.Strategy, n.Purpose.String(), "refused").Inc()
		m.refusals.WithLabelValues(n.Refusal.Rule).Inc()
	case engine.NotePlaced:
		m.submitted.WithLabelValues(market, n.Strategy, n.Order.Type.String()).Inc()
	case engine.NoteAcknowledged:
		m.ackSeconds.WithLabelValues(market).Observe(float64(n.DurationMS) / 1000)
	case engine.NoteFill:
		m.fill(n, market)
	case engine.NoteSettled, engine.NoteRefused:
		m.closed.WithLabelValues(market, n.Strategy, closedAs(n)).Inc()
		m.settleSeconds.WithLabelValues(market).Observe(float64(n.DurationMS) / 1000)
	case engine.NoteQuarantine:
		m.discrepancyKinds.WithLabelValues(market, "quarantine").Inc()
	case engine.NoteAdopted:
		m.discrepancyKinds.WithLabelValues(market, "adopted").Inc()
	case engine.NoteHalt:
		if !n.OK {
			m.kills.WithLabelValues("operator").Inc()
		}
	case engine.NoteRound:
		m.round(n)
	}
}

func closedAs(n *engine.Note) string {
	if n.Kind == engine.NoteRefused {
		return reconcile.Refused.String()
	}
	return n.State.String()
}

func (m *Metrics) round(n *engine.Note) {
	result := "ok"
	if !n.OK {
		result = "failed"
	} else {
		m.roundSuccess.WithLabelValues("all").Set(float64(n.AtMS) / 1000)
	}
	m.rounds.WithLabelValues("all", result).Inc()
	m.roundSeconds.WithLabelValues("all").Observe(float64(n.DurationMS) / 1000)
}

func (m *Metrics) fill(n *engine.Note, market string) {
	m.fills.WithLabelValues(market, n.Strategy, n.Order.Side.String()).Inc()
	m.fillNotional.WithLabelValues(market, n.Strategy).Add(n.Symbol.Notional(n.Last, n.Quantity).Float())
	if price := n.Price.Float(); price > 0 && n.Last > 0 {
		last := n.Symbol.PriceFloat(n.Last)
		m.slippage.WithLabelValues(market).Observe((price - last) / last * float64(n.Order.Side.Sign()))
	}
}

// Status sets the gauges from a summary of the engine.
func (m *Metrics) Status(s *engine.Status) {
	m.balance.WithLabelValues("wallet").Set(s.Account.WalletBalance.Float())
	m.balance.WithLabelValues("available").Set(s.Account.AvailableBalance.Float())
	m.balance.WithLabelValues("unrealized").Set(s.Account.UnrealizedPNL.Float())
	m.balance.WithLabelValues("margin_used").Set(s.Account.MarginUsed.Float())
	m.balance.WithLabelValues("maintenance").Set(s.Account.MaintenanceMargin.Float())
	m.halted.WithLabelValues("operator").Set(truth(s.Halt.Level != ""))
	m.blindness.Set(truth(s.Blind))
	quarantined := 0.0
	for i := range s.Strategies {
		quarantined += m.strategy(&s.Strategies[i])
	}
	m.discrepancies.WithLabelValues("all").Set(quarantined)
	m.orders(s)
}

var strategyStates = []string{"running", "warming_up", "halted", "quarantined", "latched", "failed"}

func (m *Metrics) strategy(s *engine.StrategyStatus) (quarantined float64) {
	for _, state := range strategyStates {
		m.strategyState.WithLabelValues(s.Name, state).Set(truth(s.State == state))
	}
	if s.TickMS > 0 {
		m.lastCycle.WithLabelValues(s.Name).Set(float64(s.TickMS) / 1000)
	}
	m.nextCycle.WithLabelValues(s.Name).Set(float64(s.NextMS) / 1000)
	value := s.Symbol.Notional(s.Last, s.Position).Float()
	m.positionValue.WithLabelValues(s.Symbol.Name).Set(value)
	m.positionPNL.WithLabelValues(s.Symbol.Name).Set(value - s.EntryPrice.Float()*s.Symbol.QuantityFloat(s.Position))
	if last := s.Symbol.PriceFloat(s.Last); last > 0 && !s.LiqPrice.IsZero() {
		m.liquidation.WithLabelValues(s.Symbol.Name).Set(abs(last-s.LiqPrice.Float()) / last)
	}
	bare := abs(value)
	if s.Protected {
		bare = 0
	}
	m.unguarded.WithLabelValues(s.Symbol.Name).Set(bare)
	return truth(s.State == "quarantined")
}

func (m *Metrics) orders(s *engine.Status) {
	m.open.Reset()
	for _, market := range []string{"futures", "spot"} {
		count, oldest := 0.0, int64(0)
		for i := range s.Live {
			p := &s.Live[i]
			if p.Order.Market.String() != market {
				continue
			}
			m.open.WithLabelValues(market, p.Strategy).Inc()
			if p.State != reconcile.Working {
				count++
				if oldest == 0 || p.SentMS < oldest {
					oldest = p.SentMS
				}
			}
		}
		m.unsettled.WithLabelValues(market).Set(count)
		m.oldest.WithLabelValues(market).Set(float64(oldest) / 1000)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func abs(f float64) float64 { return max(f, -f) }
