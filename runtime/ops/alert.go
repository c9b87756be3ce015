package ops

import (
	"fmt"
	"strings"
	"time"

	"botd/risk"
	"botd/runtime/incident"
)

// Severities of alerts.
const (
	Page   = "page"   // needs a person at once, at night too
	Ticket = "ticket" // needs a person on the next working day
	None   = "none"   // needs no action: the alert that always fires
)

// unless suppresses an alert while a wider alert of the same botd fires for the same cause, so that there is one page per cause.
func unless(alerts string) string {
	return ` unless on (job, instance) ALERTS{alertname=~"` + alerts + `", alertstate="firing"}`
}

// unlessRecently extends unless by a window after the end of the wider alert: an alert that counts over a window would otherwise fire after the
// recovery.
func unlessRecently(alerts, window string) string {
	return ` unless on (job, instance) max_over_time(ALERTS{alertname=~"` + alerts + `", alertstate="firing"}[` + window + `])`
}

// outage matches the alerts for an exchange, or a botd, that cannot be reached.
const outage = "BotdReconcileStale|BotdDown|BotdAuthFailing"

// diskLow is the condition that the disk has little room left.
var diskLow = fmt.Sprintf(`botd_store_free_bytes < %d`, incident.LowDiskBytes)

// limitsNear returns a regular expression of the limits for which a utilization near the limit has the given meaning.
func limitsNear(meaning risk.Near) string {
	var names []string
	for _, limit := range risk.Table() {
		if limit.Near == meaning {
			names = append(names, limit.Name)
		}
	}
	return strings.Join(names, "|")
}

// Alert is an alerting rule of Prometheus.
type Alert struct {
	Name       string
	Severity   string
	Expression string
	For        time.Duration
	Summary    string // with the labels of the series that fired
	Meaning    string
	Action     string
}

// Alerts returns all alerting rules: those that page, then those that open a ticket.
func Alerts() []Alert { return alerts }

var alerts = []Alert{
	{"BotdDown", Page, `up{job=~"botd.*"} == 0`, time.Minute,
		"botd {{ $labels.instance }} does not answer",
		"Prometheus cannot scrape botd: the process, its machine or the network is down. Stops stay on the exchange; nothing else happens.",
		"Look at the service and its log, and start it again. It settles automatically what was in flight."},
	{"BotdAbsent", Page, `absent(botd_build_info) unless on () up{job=~"botd.*"} == 0`, 5 * time.Minute,
		"no botd is scraped at all",
		"Prometheus has no botd among its targets, so BotdDown cannot fire either.",
		"Look at Prometheus's targets and at the service."},
	{"BotdTradingHalted", Page, `max by (job, instance, reason) (botd_trading_halted{reason=~"kill_switch|standing_down|limit|journal|waiting"}) == 1` +
		` or max by (job, instance, reason) (botd_trading_halted{reason="disk"}) == 1 unless on (job, instance) ` + diskLow, time.Minute,
		"trading on {{ $labels.instance }} is halted: {{ $labels.reason }}",
		"Nothing opens in the whole account; exits and stops continue.",
		"botd status shows the cause and the remedy; botd rearm ends a halt."},
	{"BotdHaltUnfinished", Page, `botd_halts_unfinished > 0` + unless(outage+"|BotdIntentRefused|BotdOrderUnsettled"),
		incident.UnfinishedAfterMS * time.Millisecond,
		"a halt of {{ $labels.instance }} has not removed everything it covers",
		"A halt to cancel or to flatten is in force, and orders or a position that it covers are still there.",
		"botd status lists what is still open and the reason; close it on the exchange's own page if that lasts."},
	{"BotdOrderUnsettled", Page,
		fmt.Sprintf(`time() - (botd_orders_unsettled_oldest_timestamp_seconds > 0) > %d`, incident.UnsettledAfterMS/1000) + unless(outage), 0,
		"an order on {{ $labels.market }} has not settled for {{ $value | humanizeDuration }}",
		"An order was sent and its state could not be fetched: it may exist or not. Its symbol opens nothing.",
		"See botd orders, botd reconcile and the exchange's own screen. The order is never sent again automatically."},
	{"BotdReconcileStale", Page, `(max by (job, instance) (botd_trading_halted{reason=~"blind|market_blind|symbol_blind"}) == 1` +
		` or max by (job, instance) (time() - (botd_reconcile_last_success_timestamp_seconds > 0)) > 120)` + unless("BotdAuthFailing"), time.Minute,
		"orders and positions of {{ $labels.instance }} cannot be read",
		"No complete round: botd is blind for the account, a market or a symbol, and opens nothing there.",
		"Look at the exchange's status and at BotdExchangeErrors; botd probe examines the exchange step by step."},
	{"BotdDiscrepancyUnresolved", Page, `botd_reconcile_discrepancies_unresolved > 0`, 2 * time.Minute,
		"{{ $value }} symbols of {{ $labels.instance }} are quarantined",
		"The exchange's report contradicts what botd did: a person decides.",
		"botd resolve shows the evidence and what each decision would change."},
	{"BotdNearLiquidation", Page, fmt.Sprintf(`botd_position_liquidation_distance_ratio < %g`, incident.NearLiquidation), 0,
		"{{ $labels.symbol }} is {{ $value | humanizePercentage }} from its liquidation",
		"If the price moves that far, the exchange closes the position and charges a fee.",
		"Add margin, or botd halt --level flatten --symbol."},
	{"BotdUnprotectedPosition", Page,
		`time() - (botd_position_unprotected_since_timestamp_seconds > 0) > 15 or rate(botd_position_unprotected_seconds_total[2m]) > 0.5`, 0,
		"{{ $labels.symbol }} lacks the stop of its strategy",
		"For more than 15 seconds, or half of the last two minutes, a position had no stop on the exchange although its strategy sets one.",
		"botd status names the cause in the exchange's words; place a stop manually, or botd halt --level flatten --symbol."},
	{"BotdIntentRefused", Page, `max by (job, instance) (botd_trading_halted{reason="refused"}) == 1`, time.Minute,
		"the exchange refuses what a strategy of {{ $labels.instance }} needs",
		"An order, a cancel or a leverage is refused repeatedly; botd retries it at growing intervals.",
		"botd status and botd explain STRATEGY show the exchange's code and text."},
	{"BotdAuthFailing", Page, `sum by (job, instance) (increase(botd_exchange_error_codes_total{code=~"-1022|-2008|-2015"}[5m])) > 0`, 0,
		"the exchange refuses the key of {{ $labels.instance }}",
		"The key is unknown or not permitted, or its signature is wrong: nothing can be read or closed.",
		"Look at the key on the exchange (expiry, permissions, IP list), then at key_file and secret_file."},
	{"BotdDiskLow", Page, diskLow, time.Minute,
		"the disk of {{ $labels.instance }} has {{ $value | humanize1024 }}B left",
		"Less than 256 MiB are free. When the disk is full, nothing opens; exits have a reserve in the journal.",
		"Free space on the disk of data_dir: old backups and reports, recorded/ and decisions/ while botd is stopped."},
	{"BotdTwoLeaders", Page, `sum by (job) (botd_leader) > 1`, time.Minute,
		"{{ $value }} processes of {{ $labels.job }} trade at once",
		"Two processes trade one account; or several accounts are scraped as one job, where each needs its own.",
		"Stop one of them at once. botd halts by itself when it finds orders with its prefix that it did not place."},

	{"BotdWatchdog", None, `vector(1)`, 0,
		"the rules are evaluated",
		"Always fires, so that the path to a person can be monitored: a service that stops receiving it raises the alarm.",
		"Send it from Alertmanager to a dead-man's service; see Heartbeat for one without Prometheus."},
	{"BotdPartHalted", Ticket, `max by (job, instance, reason) (` +
		`botd_trading_halted{reason=~"strategy_halted|symbol_halted|strategy_limit|foreign"}) == 1` +
		` or max by (job, instance, reason) (botd_trading_halted{reason="breaker"}) == 1` +
		unlessRecently(outage+"|BotdRateLimited|BotdOrderUnsettled|BotdIntentRefused", "15m"), 10 * time.Minute,
		"a part of {{ $labels.instance }} is halted: {{ $labels.reason }}",
		"Nothing opens there; exits and stops continue.",
		"botd status shows the cause and the remedy; botd rearm --strategy or --symbol ends a halt."},
	{"BotdPositionWithoutStop", Ticket, `(botd_position_unprotected_notional_usdt > 0)` +
		` and on (job, instance, symbol) (botd_position_liquidation_distance_ratio > 0)` +
		` and on (job, instance, symbol) (botd_position_unprotected_since_timestamp_seconds == 0)` +
		` and on (job, instance) (botd_mode_info{mode="live"} == 1)`, 15 * time.Minute,
		"{{ $labels.symbol }} has a position that may be liquidated, and its strategy sets no stop",
		"Nothing on the exchange closes it when the price moves against it, and nothing does while botd is down.",
		"Give its strategy a stop (protect: {stop_loss: ...}), or accept it and silence this alert for the symbol."},
	{"BotdStrategyStalled", Ticket, `(time() - botd_strategy_next_cycle_timestamp_seconds > 120)` +
		` and on (job, instance, strategy) (botd_strategy_state{state="running"} == 1)` +
		unless(outage+"|BotdMarketDataStale"), 5 * time.Minute,
		"{{ $labels.strategy }} should have decided {{ $value | humanizeDuration }} ago",
		"A strategy is due and has not decided: its candles do not arrive, or the engine is stuck.",
		"botd status; BotdMarketDataStale and BotdExchangeErrors narrow it down."},
	{"BotdStrategyFailed", Ticket, `botd_strategy_state{state="failed"} == 1`, 0,
		"{{ $labels.strategy }} has failed",
		"The strategy failed (a panic, an error in its script) and is stopped; its protection stays on the exchange.",
		"The log has the cause. Correct its file, which is reloaded at once, or close its position with botd halt --level flatten --strategy."},
	{"BotdStrategyHung", Ticket, `botd_strategy_state{state="hung"} == 1`, 0,
		"{{ $labels.strategy }} does not answer",
		"The strategy exceeded its deadline, or its process ended. Nothing opens for it; its protection stays on the exchange.",
		"botd status has the cause. Correct its file, which is reloaded at once, or close its position with botd halt --level flatten --strategy."},
	{"BotdExchangeErrors", Ticket, `instance:botd_exchange_errors:ratio5m > 0.1` + unlessRecently(outage, "15m"), 10 * time.Minute,
		"{{ $value | humanizePercentage }} of the requests of {{ $labels.instance }} fail",
		"The exchange, or the network to it, has errors.",
		"botd probe examines the exchange step by step; see the exchange's own status page."},
	{"BotdRateLimited", Ticket, `sum by (job, instance) (botd_incidents_open{kind="rate_limited"}) > 0` +
		` or sum by (job, instance) (rate(botd_exchange_requests_total{outcome="rate_limited"}[5m])) > 0.05` +
		` or sum by (job, instance) (rate(botd_exchange_throttle_wait_seconds_total[5m])) > 1`, 3 * time.Minute,
		"requests of {{ $labels.instance }} wait for the rate limit",
		"The exchange limits the rate, or the configured budget is too small: exits and settling go first.",
		"Make fewer requests (longer schedules, fewer symbols), or raise exchange.requests_per_second if the exchange allows it."},
	{"BotdMarketDataStale", Ticket, `botd_component_up{component="market_data"} == 0` + unless(outage), 2 * time.Minute,
		"market data of {{ $labels.instance }} are stale",
		"A price or a candle that a strategy needs does not arrive: nothing opens on it.",
		"botd status names it; the exchange may have stopped trading it."},
	{"BotdClockSkew", Ticket, `abs(botd_exchange_clock_offset_seconds) > 5` +
		` or on (job, instance) botd_component_up{component="clock"} == 0` + // in an outage no clock can be read; without a clock the outage comes later
		` unless on (job, instance) ALERTS{alertname=~"` + outage + `", alertstate="firing"} offset 20m`, 10 * time.Minute,
		"the clock of {{ $labels.instance }} is off, or the exchange's clock cannot be read",
		"botd signs with the exchange's time, which it reads each minute; a local clock that is far off makes logs and schedules hard to read.",
		"Check NTP on the machine."},
	{"BotdLimitNearlyReached", Ticket,
		`botd_risk_limit_usage_ratio{limit=~"` + limitsNear(risk.NearAlerts) + `"} > ` + fmt.Sprint(risk.NearRatio),
		5 * time.Minute,
		"{{ $labels.limit }} of {{ $labels.scope }} is at {{ $value | humanizePercentage }} of its limit",
		"At the limit nothing opens; a loss limit also cancels resting openings.",
		"botd limits shows utilization and headroom."},
	{"BotdLedgerDifference", Ticket, `sum by (job, instance) (botd_incidents_open{kind="ledger"}) > 0`, 0,
		"a wallet of {{ $labels.instance }} changed and nothing explains it",
		"No fill, fee or funding explains a change of the wallet; it counts as a gain or a loss.",
		"botd incidents names the amount; compare botd ledger with the exchange; a deposit or a withdrawal: botd ledger transfer."},
	{"BotdRestartLoop", Ticket, `changes(process_start_time_seconds{job=~"botd.*"}[30m]) > 2`, 0,
		"{{ $labels.instance }} has started {{ $value }} times in half an hour",
		"botd ends repeatedly; each start first determines what the previous run left open.",
		"journalctl -u botd shows why it ends, and with which exit code."},
	{"BotdTicksMissed", Ticket, `increase(botd_strategy_cycles_total{result="missed"}[15m]) > 3` +
		unlessRecently(outage+"|BotdMarketDataStale|BotdRestartLoop|BotdStrategyHung", "20m"), 0,
		"{{ $labels.strategy }} missed {{ $value | humanize }} ticks",
		"Its ticks passed while botd was busy, stopped or without candles; botd does not repeat them.",
		"Look at the machine's load and at BotdMarketDataStale; a longer schedule needs less."},
	{"BotdCandlesMissing", Ticket, `sum by (job, instance, market) (increase(botd_market_candle_gaps_total[1h])) > 5` + unlessRecently(outage, "1h"), 0,
		"{{ $value | humanize }} candles of {{ $labels.market }} are missing within an hour",
		"The exchange omitted candles that strategies decide on; indicators skip them.",
		"See the exchange's own chart; botd logs --event market.gap names the symbols. A longer interval has fewer gaps in a quiet market."},
	{"BotdSlippageHigh", Ticket, `market:botd_fill_slippage:mean1h > 0.005 and on (job, instance, market)` +
		` sum by (job, instance, market) (increase(botd_fill_slippage_ratio_count[1h])) > 3`, 0,
		"market orders on {{ $labels.market }} fill {{ $value | humanizePercentage }} worse than decided",
		"The mean over an hour. The books are thin, the orders are too large, or orders are delayed.",
		"botd fills shows them; check the symbol's depth, and see entry: for patient orders."},
	{"BotdObjectiveMissed", Ticket, `(slo:botd_rounds:ratio1h < 0.95 or slo:botd_decisions:ratio1h < 0.95 or slo:botd_protection:ratio1h < 0.99)` +
		unlessRecently(outage+"|BotdUnprotectedPosition|BotdRateLimited|BotdMarketDataStale|BotdStrategyHung|BotdTicksMissed|BotdExchangeErrors", "90m"),
		15 * time.Minute,
		"{{ $labels.objective }}: only {{ $value | humanizePercentage }} within an hour",
		"The share of complete rounds, of ticks with a decision, or of time with the stops in place is below its objective.",
		"The alerts that fire with it name the cause. If there is none, check the machine's load and botd status."},
	{"BotdTelegramFailing", Ticket, `sum by (job, instance) (increase(botd_telegram_messages_total{result=~"unread|unsent"}[15m])) > 3`, 5 * time.Minute,
		"{{ $labels.instance }} cannot read or answer commands from Telegram",
		"A halt by phone does not arrive; trading is not affected.",
		"botd logs --event telegram.failed has the cause: the token, the network, or Telegram itself."},
	{"BotdSignalsFailing", Ticket, `sum by (job, instance) (increase(botd_signals_total{result=~"unavailable|malformed|wrong_token"}[15m])) > 3`, 0,
		"signals to {{ $labels.instance }} are not accepted",
		"The sender uses a wrong token or a wrong form, or the engine does not answer: strategies keep their last target.",
		"botd logs --event signal.refused; docs/signals.md has the form of a message."},
	{"BotdConfigReloadFailed", Ticket, `botd_config_last_reload_successful == 0`, 0,
		"the last configuration of {{ $labels.instance }} was refused",
		"botd continues with the previous one.",
		"botd check lists every error with file and line."},
	{"BotdBackupOld", Ticket, `(time() - (botd_store_last_backup_timestamp_seconds != 0) > 172800` +
		` or botd_store_last_backup_timestamp_seconds == 0 and botd_store_last_backup_timestamp_seconds offset 2d == 0)` +
		` and on (job, instance) botd_mode_info{mode="live"}`, time.Hour,
		"the journal of {{ $labels.instance }} has no backup of the last two days",
		"The journal is botd's memory; without a backup, a broken disk means resolving every position manually.",
		"Run botd backup DIRECTORY from a timer."},
	{"BotdStoreSlow", Ticket, `(instance:botd_store_write_seconds:p99_5m > 0.5` +
		` or on (job, instance) sum by (job, instance) (increase(botd_store_errors_total[5m])) > 0)` +
		` unless on (job, instance) max_over_time(botd_trading_halted{reason=~"journal|disk"}[10m]) == 1`, 5 * time.Minute,
		"the journal of {{ $labels.instance }} writes slowly, or not at all",
		"Every order waits until its record is on disk.",
		"Look at the disk: free space, health, and what else writes to it."},
	{"BotdNotificationsFailing", Ticket, `sum by (job, instance, channel) (increase(botd_notifications_total{result="failed"}[15m])) > 0` +
		` or sum by (job, instance) (increase(botd_heartbeats_total{result="failed"}[15m])) > 3`, 0,
		"notifications to {{ $labels.channel }} (without a channel: the heartbeat) do not arrive",
		"botd's messages do not reach anyone on this channel.",
		"botd notify test; look at the channel's token and the network."},
}
