package ops

import (
	"encoding/json"
	"errors"
	"fmt"

	"botd/risk"
	"botd/runtime/incident"
)

// Panel is one panel of the dashboard.
type Panel struct {
	Title string
	Kind  string // stat, timeseries, heatmap, state-timeline, table
	Unit  string // as Grafana names it; empty for none
	Help  string
	Wide  int // width in columns of 24
	Lines []Query
	Steps []Step // colors of a stat, by value
}

// Query is one expression and the legend of its lines.
type Query struct{ Expression, Legend string }

// Step is the color of values from a given one upward.
type Step struct {
	From  float64
	Color string
}

// Row is a row of panels under one title.
type Row struct {
	Title  string
	Panels []Panel
}

// chosen restricts an expression to the selected instances.
const chosen = `job=~"$job", instance=~"$instance"`

var (
	goodIfOne  = []Step{{0, "red"}, {1, "green"}}
	badIfAny   = []Step{{0, "green"}, {1, "red"}}
	badIfSmall = []Step{{0, "red"}, {incident.NearLiquidation, "orange"}, {0.15, "green"}}
	badIfLarge = []Step{{0, "green"}, {risk.NearRatio, "orange"}, {1, "red"}}
	badIfOld   = []Step{{0, "green"}, {60, "orange"}, {120, "red"}}
)

// Rows returns the rows of the dashboard.
func Rows() []Row {
	return []Row{rowState(), rowMoney(), rowOrders(), rowExchange(), rowStrategies(), rowWatching(), rowProcess()}
}

func stat(title, unit, help, expression string, steps []Step) Panel {
	return Panel{title, "stat", unit, help, 3, []Query{{expression, ""}}, steps}
}

func lines(title, unit, help string, wide int, queries ...Query) Panel {
	return Panel{title, "timeseries", unit, help, wide, queries, nil}
}

func rowState() Row {
	return Row{"State", []Panel{
		stat("Ready", "bool_yes_no", "Every readiness check passes.", `min(botd_ready{`+chosen+`})`, goodIfOne),
		stat("Halted", "bool_yes_no", "Trading, or a part of it, is halted.", `max(botd_trading_halted{`+chosen+`})`, badIfAny),
		stat("Equity", "currencyUSD", "Wallet and unrealized profit of the futures account.",
			`sum(botd_account_balance_usdt{`+chosen+`, field=~"wallet|unrealized"})`, nil),
		stat("Unsettled", "none", "Orders sent whose state has not been fetched yet.", `sum(botd_orders_unsettled{`+chosen+`})`, badIfAny),
		stat("Differences", "none", "Symbols on which exchange and journal do not agree.",
			`sum(botd_reconcile_discrepancies_unresolved{`+chosen+`})`, badIfAny),
		stat("Read", "s", "Since orders and positions were last read.",
			`max(time() - botd_reconcile_last_success_timestamp_seconds{`+chosen+`})`, badIfOld),
		stat("Nearest liquidation", "percentunit", "Of the nearest position.",
			`min(botd_position_liquidation_distance_ratio{`+chosen+`})`, badIfSmall),
		stat("Tightest limit", "percentunit", "Highest utilization of any limit.",
			`max(botd_risk_limit_usage_ratio{`+chosen+`, limit!~"`+limitsNear(risk.NearIsUsual)+`"})`, badIfLarge),
	}}
}

func rowMoney() Row {
	return Row{"Money", []Panel{
		lines("Equity of the futures account", "currencyUSD", "Wallet and unrealized profit.", 12,
			Query{`sum by (instance) (botd_account_balance_usdt{` + chosen + `, field=~"wallet|unrealized"})`, "{{instance}}"}),
		lines("Realized by strategy", "currencyUSD", "Less fees and funding, since the strategy began.", 12,
			Query{`botd_strategy_realized_pnl_usdt{` + chosen + `}`, "{{strategy}}"}),
		lines("Positions", "currencyUSD", "Signed value at the last price.", 8,
			Query{`botd_position_notional_usdt{` + chosen + `}`, "{{symbol}}"}),
		lines("Unrealized profit", "currencyUSD", "Of open positions.", 8,
			Query{`botd_position_unrealized_pnl_usdt{` + chosen + `}`, "{{symbol}}"}),
		lines("Fees per hour", "currencyUSD", "", 8,
			Query{`sum by (strategy) (increase(botd_strategy_fees_usdt_total{` + chosen + `}[1h]))`, "{{strategy}}"}),
		lines("Equity of strategies", "currencyUSD", "Each one's part of the equity.", 8,
			Query{`botd_strategy_equity_usdt{` + chosen + `}`, "{{strategy}}"}),
		lines("Traded per hour", "currencyUSD", "Value of fills.", 8,
			Query{`3600 * strategy:botd_fill_notional_usdt:rate1h{` + chosen + `}`, "{{strategy}}"}),
		lines("Assets", "none", "The amounts of the configured assets in both wallets.", 8,
			Query{`sum by (asset) (botd_account_asset_quantity{` + chosen + `})`, "{{asset}}"}),
	}}
}

func rowOrders() Row {
	return Row{"Orders and risk", []Panel{
		{"Settle time", "heatmap", "s", "From sending an order to its first fetched state.", 12,
			[]Query{{`sum by (le) (increase(botd_order_settle_duration_seconds_bucket{` + chosen + `}[$__rate_interval]))`, "{{le}}"}}, nil},
		{"Slippage", "heatmap", "percentunit", "Fill price against the price of the decision; above 0 is worse.", 12,
			[]Query{{`sum by (le) (increase(botd_fill_slippage_ratio_bucket{` + chosen + `}[$__rate_interval]))`, "{{le}}"}}, nil},
		lines("Orders by final status", "cpm", "", 8,
			Query{`sum by (status) (rate(botd_orders_closed_total{` + chosen + `}[$__rate_interval])) * 60`, "{{status}}"}),
		lines("Refusals by rule", "cpm", "Intents that the risk gate refused.", 8,
			Query{`sum by (rule) (rate(botd_risk_rejections_total{` + chosen + `}[$__rate_interval])) * 60 > 0`, "{{rule}}"}),
		lines("Limits in use", "percentunit", "1 is the limit.", 8,
			Query{`botd_risk_limit_usage_ratio{` + chosen + `}`, "{{limit}} {{scope}}"}),
		lines("Intents and orders", "cpm", "Intents of strategies, and the orders that are sent for them.", 8,
			Query{`sum(rate(botd_intents_total{` + chosen + `}[$__rate_interval])) * 60`, "intents"},
			Query{`sum(rate(botd_orders_submitted_total{` + chosen + `}[$__rate_interval])) * 60`, "orders"}),
		lines("Open orders", "none", "", 8, Query{`sum by (market) (botd_orders_open{` + chosen + `})`, "{{market}}"}),
		lines("Acknowledgments and rounds, 99th percentile", "s", "From sending an order to its answer; a whole round.", 8,
			Query{`histogram_quantile(0.99, sum by (le) (rate(botd_order_ack_duration_seconds_bucket{` + chosen + `}[$__rate_interval])))`, "answer"},
			Query{`histogram_quantile(0.99, sum by (le) (rate(botd_reconcile_duration_seconds_bucket{` + chosen + `}[$__rate_interval])))`, "round"}),
	}}
}

func rowExchange() Row {
	return Row{"Exchange and market data", []Panel{
		lines("Requests by outcome", "reqps", "", 8,
			Query{`sum by (outcome) (rate(botd_exchange_requests_total{` + chosen + `}[$__rate_interval]))`, "{{outcome}}"}),
		lines("Request time, 99th percentile", "s", "", 8,
			Query{`histogram_quantile(0.99, sum by (market, le) (rate(botd_exchange_request_duration_seconds_bucket{` + chosen + `}[$__rate_interval])))`,
				"{{market}}"}),
		lines("Age of prices", "s", "", 8,
			Query{`time() - botd_market_last_update_timestamp_seconds{` + chosen + `, kind="price"}`, "{{market}} {{symbol}}"}),
		lines("Candle lag", "s", "", 8,
			Query{`histogram_quantile(0.9, sum by (market, le) (rate(botd_market_candle_lag_seconds_bucket{` + chosen + `}[$__rate_interval])))`,
				"{{market}}"}),
		lines("Error codes", "cpm", "", 8,
			Query{`sum by (code) (rate(botd_exchange_error_codes_total{` + chosen + `}[$__rate_interval])) * 60 > 0`, "{{code}}"}),
		lines("Clock offset", "s", "The exchange's time minus the local one.", 8,
			Query{`botd_exchange_clock_offset_seconds{` + chosen + `}`, "{{instance}}"}),
		lines("Waiting for the rate limit", "s", "Seconds that requests wait, within a second.", 8,
			Query{`sum by (market) (rate(botd_exchange_throttle_wait_seconds_total{` + chosen + `}[$__rate_interval]))`, "{{market}}"}),
		lines("Differences", "none", "Between the exchange's report and the journal, within an hour.", 8,
			Query{`sum by (kind) (increase(botd_reconcile_discrepancies_total{` + chosen + `}[1h])) > 0`, "{{kind}}"}),
		lines("Components down", "none", "Readiness checks that fail.", 8, Query{`botd_component_up{` + chosen + `} == 0`, "{{component}}"}),
	}}
}

func rowStrategies() Row {
	return Row{"Strategies", []Panel{
		{"State", "state-timeline", "", "", 24, []Query{{`(botd_strategy_state{` + chosen + `} == 1) * on (state) group_left () (
    label_replace(vector(1), "state", "running", "", "") or label_replace(vector(2), "state", "warming_up", "", "")
    or label_replace(vector(3), "state", "latched", "", "")
    or label_replace(vector(4), "state", "halted", "", "") or label_replace(vector(5), "state", "quarantined", "", "")
    or label_replace(vector(6), "state", "failed", "", "") or label_replace(vector(7), "state", "unprotected", "", "")
    or label_replace(vector(8), "state", "refused", "", "")
    or label_replace(vector(9), "state", "contradicted", "", "")
    or label_replace(vector(10), "state", "hung", "", ""))`, "{{strategy}}"}}, nil},
		lines("Drawdown", "percentunit", "Drawdown of the strategy's equity from its peak.", 8,
			Query{`botd_strategy_drawdown_ratio{` + chosen + `}`, "{{strategy}}"}),
		lines("Fills a minute", "cpm", "", 8,
			Query{`sum by (strategy) (rate(botd_fills_total{` + chosen + `}[$__rate_interval])) * 60`, "{{strategy}}"}),
		lines("Cycle time, 99th percentile", "s", "", 8,
			Query{`histogram_quantile(0.99, sum by (strategy, le) (rate(botd_strategy_cycle_duration_seconds_bucket{` + chosen +
				`}[$__rate_interval])))`, "{{strategy}}"}),
	}}
}

func rowWatching() Row {
	return Row{"Watching", []Panel{
		stat("Incidents", "none", "Causes for which something does not work: botd incidents lists them.", `sum(botd_incidents_open{`+chosen+`})`, badIfAny),
		stat("Critical", "none", "Of those, what needs a person at once.", `sum(botd_incidents_open{`+chosen+`, severity="critical"})`, badIfAny),
		stat("Unfinished halts", "none", "Halts that have not yet removed everything they cover.", `sum(botd_halts_unfinished{`+chosen+`})`, badIfAny),
		stat("Unexplained", "none", "Changes of wallets that nothing explains.", `sum(abs(botd_ledger_unexplained{`+chosen+`}))`, badIfAny),
		stat("Free disk", "bytes", "On the disk of data_dir.", `min(botd_store_free_bytes{`+chosen+`})`,
			[]Step{{0, "red"}, {1 << 28, "orange"}, {1 << 30, "green"}}),
		stat("Last backup", "s", "Since the journal was backed up.", `max(time() - (botd_store_last_backup_timestamp_seconds{`+chosen+`} > 0))`,
			[]Step{{0, "green"}, {172_800, "orange"}}),
		stat("Clock", "s", "The exchange's clock minus this machine's.", `max(abs(botd_exchange_clock_offset_seconds{`+chosen+`}))`,
			[]Step{{0, "green"}, {5, "orange"}}),
		stat("Trading", "none", "Processes that trade: one for each account.", `sum(botd_leader{`+chosen+`})`, goodIfOne),
		lines("Incidents", "none", "By kind.", 8, Query{`sum by (kind) (botd_incidents_open{` + chosen + `}) > 0`, "{{kind}}"}),
		lines("Seconds without a stop", "s", "Positions whose strategy desires one, within an hour.", 8,
			Query{`sum by (symbol) (increase(botd_position_unprotected_seconds_total{` + chosen + `}[1h]))`, "{{symbol}}"}),
		lines("Value without a stop", "currencyUSD", "Of positions, whether their strategies desire one or not.", 8,
			Query{`botd_position_unprotected_notional_usdt{` + chosen + `} > 0`, "{{symbol}}"}),
		lines("Objectives", "percentunit", "Complete rounds, decided ticks, time with the desired stops: within an hour.", 8,
			Query{`slo:botd_rounds:ratio1h{` + chosen + `}`, "rounds"}, Query{`slo:botd_decisions:ratio1h{` + chosen + `}`, "decisions"},
			Query{`slo:botd_protection:ratio1h{` + chosen + `}`, "protection"}),
		lines("Messages", "none", "Notifications, heartbeats, Telegram and signals that failed, within an hour.", 8,
			Query{`sum by (channel) (increase(botd_notifications_total{` + chosen + `, result!="sent"}[1h]))`, "{{channel}}"},
			Query{`sum(increase(botd_heartbeats_total{` + chosen + `, result!="sent"}[1h]))`, "heartbeat"},
			Query{`sum(increase(botd_telegram_messages_total{` + chosen + `, result=~"unread|unsent"}[1h]))`, "Telegram"},
			Query{`sum(increase(botd_signals_total{` + chosen + `, result!~"taken|repeated"}[1h]))`, "signals"}),
		lines("Missed and missing", "none", "Ticks that passed without a decision, and candles that the exchange left out, within an hour.", 8,
			Query{`sum by (strategy) (increase(botd_strategy_cycles_total{` + chosen + `, result="missed"}[1h]))`, "{{strategy}}"},
			Query{`sum by (market) (increase(botd_market_candle_gaps_total{` + chosen + `}[1h]))`, "candles {{market}}"}),
	}}
}

func rowProcess() Row {
	return Row{"Process", []Panel{
		lines("Journal commit time, 99th percentile", "s", "", 6,
			Query{`histogram_quantile(0.99, sum by (instance, le) (rate(botd_store_write_duration_seconds_bucket{` + chosen +
				`}[$__rate_interval])))`, "{{instance}}"}),
		lines("Size of the store", "bytes", "", 6, Query{`botd_store_size_bytes{` + chosen + `}`, "{{file}}"}),
		lines("Log lines", "cpm", "", 6,
			Query{`sum by (level) (rate(botd_log_events_total{` + chosen + `}[$__rate_interval])) * 60`, "{{level}}"}),
		lines("Event streams and requests", "none", "", 6,
			Query{`botd_sse_clients{` + chosen + `}`, "streams"}, Query{`sum(rate(botd_http_requests_total{` + chosen + `}[$__rate_interval]))`,
				"requests per second"}),
		lines("Failed writes", "none", "Of the store, within an hour.", 12,
			Query{`sum by (instance) (increase(botd_store_errors_total{` + chosen + `}[1h]))`, "{{instance}}"}),
		lines("Time of the API, 99th percentile", "s", "", 12,
			Query{`histogram_quantile(0.99, sum by (le) (rate(botd_http_request_duration_seconds_bucket{` + chosen + `}[$__rate_interval])))`, "request"}),
	}}
}

// eventQueries returns the events drawn over every panel.
func eventQueries() []Query {
	return []Query{
		{`changes(botd_trading_halted{` + chosen + `}[1m]) > 0 and botd_trading_halted{` + chosen + `} == 1`, "Halts"},
		{`changes(process_start_time_seconds{` + chosen + `}[1m]) > 0`, "Restarts"},
	}
}

const datasource = "${datasource}"

// DashboardJSON returns the dashboard in Grafana's import format. A panel that names an
// unregistered metric is an error.
func DashboardJSON() ([]byte, error) {
	var unknown []error
	check := func(where, expression string) string {
		for _, metric := range Named(expression) {
			unknown = append(unknown, fmt.Errorf("panel %s names %s, which is not registered", where, metric))
		}
		return expression
	}
	var panels []map[string]any
	y := 0
	for _, row := range Rows() {
		panels = append(panels, map[string]any{"id": len(panels) + 1, "type": "row", "title": row.Title, "collapsed": false,
			"gridPos": grid(0, y, 24, 1), "panels": []any{}})
		y++
		x, height := 0, 0
		for i := range row.Panels {
			p := &row.Panels[i]
			high := 8
			if p.Kind == "stat" {
				high = 4
			}
			if x+p.Wide > 24 {
				x, y, height = 0, y+height, 0
			}
			height = max(height, high)
			for _, q := range p.Lines {
				check(p.Title, q.Expression)
			}
			panels = append(panels, p.json(len(panels)+1, grid(x, y, p.Wide, high)))
			x += p.Wide
		}
		y += height
	}
	var annotations []map[string]any
	for i, a := range eventQueries() {
		annotations = append(annotations, map[string]any{"name": a.Legend, "datasource": source(), "enable": true,
			"expr": check(a.Legend, a.Expression), "iconColor": []string{"red", "blue"}[i], "titleFormat": a.Legend, "textFormat": "{{instance}} {{reason}}"})
	}
	text, err := json.MarshalIndent(map[string]any{
		"title": "botd", "uid": "botd-overview", "tags": []string{"botd"}, "schemaVersion": 39, "version": 1, "editable": true, "graphTooltip": 1,
		"refresh": "30s",
		"time":    map[string]string{"from": "now-6h", "to": "now"}, "timezone": "utc", "panels": panels,
		"annotations": map[string]any{"list": annotations}, "templating": map[string]any{"list": variables()},
	}, "", "  ")
	return append(text, '\n'), errors.Join(append(unknown, err)...)
}

func variables() []map[string]any {
	labeled := func(name, query string) map[string]any {
		return map[string]any{"name": name, "type": "query", "datasource": source(), "query": map[string]any{"query": query, "refId": name},
			"refresh": 2, "includeAll": true, "multi": true, "allValue": ".*",
			"current": map[string]any{"text": "All", "value": "$__all"}, "sort": 1}
	}
	return []map[string]any{
		{"name": "datasource", "type": "datasource", "query": "prometheus", "current": map[string]any{}},
		labeled("job", "label_values(botd_build_info, job)"),
		labeled("instance", `label_values(botd_build_info{job=~"$job"}, instance)`),
	}
}

func source() map[string]string { return map[string]string{"type": "prometheus", "uid": datasource} }

func grid(x, y, wide, high int) map[string]int {
	return map[string]int{"x": x, "y": y, "w": wide, "h": high}
}

// stateWords maps the numbers of the state timeline to words.
var stateWords = []struct{ word, color string }{{"running", "green"}, {"warming up", "blue"}, {"latched", "yellow"}, {"halted", "orange"},
	{"quarantined", "purple"}, {"failed", "red"}, {"unprotected", "dark-red"}, {"refused", "dark-orange"},
	{"contradicted", "purple"}, {"hung", "red"}}

func (p *Panel) json(id int, at map[string]int) map[string]any {
	var targets []map[string]any
	for i, q := range p.Lines {
		target := map[string]any{"refId": string(rune('A' + i)), "datasource": source(), "expr": q.Expression, "legendFormat": q.Legend, "range": true}
		if p.Kind == "heatmap" {
			target["format"] = "heatmap"
		}
		if p.Kind == "stat" {
			target["instant"], target["range"] = true, false
		}
		targets = append(targets, target)
	}
	defaults := map[string]any{"unit": p.Unit}
	if p.Steps != nil {
		steps := []map[string]any{}
		for i, s := range p.Steps {
			step := map[string]any{"color": s.Color, "value": s.From}
			if i == 0 {
				step["value"] = nil
			}
			steps = append(steps, step)
		}
		defaults["thresholds"], defaults["color"] = map[string]any{"mode": "absolute", "steps": steps}, map[string]string{"mode": "thresholds"}
	}
	options := map[string]any{}
	switch p.Kind {
	case "stat":
		options = map[string]any{"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}}, "colorMode": "value", "graphMode": "area",
			"textMode": "value"}
	case "heatmap":
		options = map[string]any{"calculate": false, "yAxis": map[string]any{"unit": p.Unit}, "color": map[string]any{"mode": "scheme", "scheme": "Blues"}}
	case "state-timeline":
		mappings := map[string]any{}
		for i, s := range stateWords {
			mappings[fmt.Sprint(i+1)] = map[string]any{"text": s.word, "color": s.color, "index": i}
		}
		defaults["mappings"] = []map[string]any{{"type": "value", "options": mappings}}
	case "timeseries":
		defaults["custom"] = map[string]any{"lineWidth": 1, "fillOpacity": 10, "showPoints": "never"}
		options = map[string]any{"tooltip": map[string]string{"mode": "multi", "sort": "desc"},
			"legend": map[string]string{"displayMode": "list", "placement": "bottom"}}
	}
	return map[string]any{"id": id, "type": p.Kind, "title": p.Title, "description": p.Help, "gridPos": at, "datasource": source(), "targets": targets,
		"fieldConfig": map[string]any{"defaults": defaults, "overrides": []any{}}, "options": options}
}
