package ops

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Severities of alerts.
const (
	Page   = "page"   // somebody is to look at once, at night too
	Ticket = "ticket" // somebody is to look on the next day
)

// Recording is a figure that Prometheus computes and keeps. Its name is
// level:metric:operation.
type Recording struct{ Name, Expression string }

// Alert is a state that somebody is to look at.
type Alert struct {
	Name       string
	Severity   string
	Expression string
	For        time.Duration
	Summary    string // with the labels of what fired
	Meaning    string
	Action     string
}

// Recordings are all recording rules.
func Recordings() []Recording {
	return []Recording{
		{"instance:botd_exchange_requests:rate5m", `sum by (job, instance, market, outcome) (rate(botd_exchange_requests_total[5m]))`},
		{
			"instance:botd_exchange_errors:ratio5m",
			`sum by (job, instance) (rate(botd_exchange_requests_total{outcome!="ok"}[5m])) / (sum by (job, instance) (rate(botd_exchange_requests_total[5m])) > 0)`,
		},
		{
			"instance:botd_order_settle_seconds:p99_5m",
			`histogram_quantile(0.99, sum by (job, instance, market, le) (rate(botd_order_settle_duration_seconds_bucket[5m])))`,
		},
		{
			"instance:botd_store_write_seconds:p99_5m",
			`histogram_quantile(0.99, sum by (job, instance, le) (rate(botd_store_write_duration_seconds_bucket[5m])))`,
		},
		{"instance:botd_account_equity_usdt:sum", `sum by (job, instance) (botd_account_balance_usdt{field=~"wallet|unrealized"})`},
		{"strategy:botd_fill_notional_usdt:rate1h", `sum by (job, instance, strategy) (rate(botd_fill_notional_usdt_total[1h]))`},
	}
}

// Alerts are all alerts (ops.md, rules, alerts, dashboard): those that page, then
// those that make a ticket.
func Alerts() []Alert {
	return append(pages(), tickets()...)
}

func pages() []Alert {
	return []Alert{
		{"BotdDown", Page, `up{job=~"botd.*"} == 0`, time.Minute, "botd {{ $labels.instance }} does not answer",
			"Prometheus can not scrape botd: the process, its machine or the way to it is down. Stops stand on the exchange; nothing else happens.",
			"Look at the service and its log; start it again. It finds out by itself what became of what was in flight."},
		{"BotdAbsent", Page, `absent(botd_build_info)`, 5 * time.Minute, "no botd is scraped at all",
			"There is no botd among the targets: BotdDown can not tell either.",
			"Look at Prometheus's targets and at the service."},
		{
			"BotdTradingHalted",
			Page,
			`max by (job, instance, reason) (botd_trading_halted) == 1`,
			time.Minute,
			"trading on {{ $labels.instance }} is halted: {{ $labels.reason }}",
			"Nothing opens, or a part of the account does not; exits and stops go on.",
			"botd status tells the cause and the way out; botd rearm ends a halt.",
		},
		{
			"BotdOrderUnsettled",
			Page,
			`time() - (botd_orders_unsettled_oldest_timestamp_seconds > 0) > 60`,
			0,
			"an order on {{ $labels.market }} has not settled for {{ $value | humanizeDuration }}",
			"An order was sent whose state could not be fetched: it may be there or not. Its symbol opens nothing.",
			"botd orders and botd reconcile show it; the exchange's own screen shows what is there. It is never sent again by itself.",
		},
		{
			"BotdReconcileStale",
			Page,
			`time() - botd_reconcile_last_success_timestamp_seconds > 120`,
			time.Minute,
			"orders and positions of {{ $labels.instance }} were last read {{ $value | humanizeDuration }} ago",
			"No complete round for two minutes: botd is blind, and opens nothing.",
			"Look at the exchange's state and at BotdExchangeErrors; botd probe asks it step by step.",
		},
		{
			"BotdDiscrepancyUnresolved",
			Page,
			`botd_reconcile_discrepancies_unresolved > 0`,
			2 * time.Minute,
			"{{ $value }} symbols of {{ $labels.instance }} are not understood",
			"What the exchange tells does not fit what botd did: a person decides.",
			"botd resolve shows the evidence and what each decision would change.",
		},
		{
			"BotdNearLiquidation",
			Page,
			`botd_position_liquidation_distance_ratio < 0.05`,
			0,
			"{{ $labels.symbol }} is {{ $value | humanizePercentage }} from its liquidation",
			"The position is closed by the exchange, with a fee, when the price moves that far.",
			"Add margin, or botd halt --level flatten --symbol.",
		},
		{
			"BotdUnprotectedPosition",
			Page,
			`rate(botd_position_unprotected_seconds_total[2m]) > 0.5`,
			time.Minute,
			"{{ $labels.symbol }} lacks the stop that is wished for it",
			"For more than half of the last two minutes a position had no stop on the exchange though its strategy wishes one.",
			"botd orders and botd intents show why the stop does not stand; place one by hand, or botd halt --level flatten --symbol.",
		},
		{
			"BotdAuthFailing",
			Page,
			`sum by (job, instance, market) (increase(botd_exchange_error_codes_total{code=~"-1022|-2008|-2015"}[5m])) > 0`,
			0,
			"the exchange refuses the key of {{ $labels.instance }}",
			"The key is unknown, not permitted, or its signature is wrong: nothing can be read or closed.",
			"Look at the key on the exchange: expiry, permissions, IP list; then at key_file and secret_file.",
		},
		{"BotdNoLeader", Page, `sum by (job) (botd_leader) == 0`, time.Minute, "no botd of {{ $labels.job }} trades",
			"Every process of the job stands by, or has lost its lease.",
			"Look at the processes and at what they lock; one of them must trade."},
		{"BotdTwoLeaders", Page, `sum by (job) (botd_leader) > 1`, time.Minute, "{{ $value }} processes of {{ $labels.job }} trade at once",
			"Two processes trade one account; or several accounts are scraped as one job, which needs a job each.",
			"Stop one of them at once. botd halts by itself when it finds orders of its own prefix that it did not make."},
	}
}

func tickets() []Alert {
	return []Alert{
		{
			"BotdStrategyStalled",
			Ticket,
			`(time() - botd_strategy_next_cycle_timestamp_seconds > 120) and on (job, instance, strategy) (botd_strategy_state{state="running"} == 1)`,
			5 * time.Minute,
			"{{ $labels.strategy }} should have decided {{ $value | humanizeDuration }} ago",
			"A strategy is due and is not asked: its candles do not come, or the engine does not get on.",
			"botd status; BotdMarketDataStale and BotdExchangeErrors tell more.",
		},
		{"BotdStrategyFailed", Ticket, `botd_strategy_state{state="failed"} == 1`, 0, "{{ $labels.strategy }} has failed",
			"The strategy broke and is stopped; its protection stays on the exchange.",
			"The log has the cause; mend its file, which is taken over as it runs, or close its position with botd halt --level flatten --strategy."},
		{
			"BotdExchangeErrors",
			Ticket,
			`instance:botd_exchange_errors:ratio5m > 0.1`,
			10 * time.Minute,
			"{{ $value | humanizePercentage }} of the requests of {{ $labels.instance }} fail",
			"The exchange, or the way to it, answers badly.",
			"botd probe asks step by step; the exchange's own status page.",
		},
		{
			"BotdRateLimited",
			Ticket,
			`botd_exchange_backoff_until_timestamp_seconds > time() or rate(botd_exchange_throttle_wait_seconds_total[5m]) > 1`,
			5 * time.Minute,
			"requests of {{ $labels.instance }} to {{ $labels.market }} wait for the rate limit",
			"The exchange asks for patience, or the own budget is too small: exits and settling go first.",
			"Lower what strategies ask for (shorter schedules, fewer symbols), or raise exchange.requests_per_second where the exchange allows it.",
		},
		{
			"BotdMarketDataStale",
			Ticket,
			`botd_component_up{component="market_data"} == 0`,
			2 * time.Minute,
			"market data of {{ $labels.instance }} are old",
			"A price or a candle that a strategy needs does not come: nothing opens on it.",
			"botd status names it; the exchange may not trade it any more.",
		},
		{
			"BotdClockSkew",
			Ticket,
			`abs(botd_exchange_clock_offset_seconds) > 5 or on (job, instance) botd_component_up{component="clock"} == 0`,
			10 * time.Minute,
			"the clock of {{ $labels.instance }} is off, or the exchange's can not be read",
			"botd signs by the exchange's time, which it reads each minute; a local clock that is far off makes logs and schedules hard to read.",
			"Look at NTP on the machine.",
		},
		{
			"BotdLimitNearlyReached",
			Ticket,
			`botd_risk_limit_usage_ratio{limit!~"max_leverage|max_data_age|price_collar"} > 0.8`,
			5 * time.Minute,
			"{{ $labels.limit }} of {{ $labels.scope }} is used to {{ $value | humanizePercentage }}",
			"At the limit nothing opens any more; a loss limit closes resting openings too.",
			"botd limits shows use and headroom.",
		},
		{
			"BotdConfigReloadFailed",
			Ticket,
			`botd_config_last_reload_successful == 0`,
			0,
			"the last configuration of {{ $labels.instance }} was refused",
			"botd goes on with the one before.",
			"botd check says all that is wrong, with file and line.",
		},
		{
			"BotdBackupOld",
			Ticket,
			`(time() - botd_store_last_backup_timestamp_seconds > 172800) and on (job, instance) botd_mode_info{mode="live"}`,
			time.Hour,
			"the journal of {{ $labels.instance }} was last copied {{ $value | humanizeDuration }} ago",
			"The journal is what botd must remember; without a copy a broken disk means finding out by hand.",
			"botd backup DIRECTORY, by a timer.",
		},
		{
			"BotdStoreSlow",
			Ticket,
			`instance:botd_store_write_seconds:p99_5m > 0.5 or on (job, instance) sum by (job, instance) (increase(botd_store_errors_total[5m])) > 0`,
			5 * time.Minute,
			"the journal of {{ $labels.instance }} writes slowly, or not at all",
			"Every order waits for its record to be on the disk.",
			"Look at the disk: its room, its health, what else writes to it.",
		},
		{
			"BotdNotificationsFailing",
			Ticket,
			`sum by (job, instance, channel) (increase(botd_notifications_total{result="failed"}[15m])) > 0`,
			0,
			"notices to {{ $labels.channel }} do not arrive",
			"What botd wants to tell does not reach anybody by this channel.",
			"botd notify test; look at the channel's token and at the way to it.",
		},
	}
}

// metricName finds the names of botd's metrics in an expression.
var metricName = regexp.MustCompile(`\b(?:instance|strategy):botd_[a-z0-9_:]+|\bbotd_[a-z0-9_]+`)

// Named returns the names an expression uses that are neither registered nor
// recorded.
func Named(expression string) (unknown []string) {
	known := map[string]bool{}
	for _, f := range NewMetrics("demo", Build{}).Families() {
		known[f.Name] = true
		if f.Kind == "histogram" {
			known[f.Name+"_bucket"], known[f.Name+"_sum"], known[f.Name+"_count"] = true, true, true
		}
	}
	for _, r := range Recordings() {
		known[r.Name] = true
	}
	for _, name := range metricName.FindAllString(expression, -1) {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// RulesYAML writes the rules as Prometheus reads them. A rule that names what is
// not registered is an error.
func RulesYAML() (string, error) {
	var b strings.Builder
	b.WriteString("# Written by `botd ops rules`.\ngroups:\n  - name: botd-recording\n    rules:\n")
	var unknown []error
	check := func(name, expression string) {
		for _, metric := range Named(expression) {
			unknown = append(unknown, fmt.Errorf("rule %s names %s, which is not registered", name, metric))
		}
	}
	for _, r := range Recordings() {
		check(r.Name, r.Expression)
		fmt.Fprintf(&b, "      - record: %s\n        expr: %s\n", r.Name, quoted(r.Expression))
	}
	b.WriteString("  - name: botd-alerts\n    rules:\n")
	for _, a := range Alerts() {
		check(a.Name, a.Expression)
		fmt.Fprintf(&b, "      - alert: %s\n        expr: %s\n", a.Name, quoted(a.Expression))
		if a.For > 0 {
			fmt.Fprintf(&b, "        for: %s\n", prometheusDuration(a.For))
		}
		fmt.Fprintf(
			&b,
			"        labels: {severity: %s}\n        annotations:\n          summary: %s\n          description: %s\n          action: %s\n",
			a.Severity,
			quoted(a.Summary),
			quoted(a.Meaning),
			quoted(a.Action),
		)
	}
	return b.String(), errors.Join(unknown...)
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func prometheusDuration(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
