package ops

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Recording is a recording rule of Prometheus. Its name is level:metric:operation.
type Recording struct{ Name, Expression string }

// Recordings returns all recording rules.
func Recordings() []Recording {
	return []Recording{
		{"instance:botd_exchange_requests:rate5m", `sum by (job, instance, market, outcome) (rate(botd_exchange_requests_total[5m]))`},
		{
			"instance:botd_exchange_errors:ratio5m",
			`sum by (job, instance) (rate(botd_exchange_requests_total{outcome!~"ok|rate_limited"}[5m]))` +
				` / (sum by (job, instance) (rate(botd_exchange_requests_total[5m])) > 0)`,
		},
		{
			"instance:botd_order_settle_seconds:p99_5m",
			`histogram_quantile(0.99, sum by (job, instance, market, le) (rate(botd_order_settle_duration_seconds_bucket[5m])))`,
		},
		{
			"instance:botd_store_write_seconds:p99_5m",
			`histogram_quantile(0.99, sum by (job, instance, le) (rate(botd_store_write_duration_seconds_bucket[5m])))`,
		},
		{
			"market:botd_fill_slippage:mean1h",
			`sum by (job, instance, market) (rate(botd_fill_slippage_ratio_sum[1h]))` +
				` / (sum by (job, instance, market) (rate(botd_fill_slippage_ratio_count[1h])) > 0)`,
		},
		objective("rounds", "1h"), objective("rounds", "30d"), objective("decisions", "1h"), objective("decisions", "30d"),
		objective("protection", "1h"), objective("protection", "30d"),
		{"instance:botd_account_equity_usdt:sum", `sum by (job, instance) (botd_account_balance_usdt{field=~"wallet|unrealized"})`},
		{"strategy:botd_fill_notional_usdt:rate1h", `sum by (job, instance, strategy) (rate(botd_fill_notional_usdt_total[1h]))`},
	}
}

// objective returns a service level over a window: the share of rounds that were complete, of ticks that were decided, or of the time in which a
// desired stop rested.
func objective(of, window string) Recording {
	share := map[string]string{
		"rounds": `sum by (job, instance) (increase(botd_reconcile_runs_total{result="ok"}[W])) / ` +
			`(sum by (job, instance) (increase(botd_reconcile_runs_total[W])) > 0)`,
		"decisions": `sum by (job, instance) (increase(botd_strategy_cycles_total{result="ok"}[W])) / ` +
			`(sum by (job, instance) (increase(botd_strategy_cycles_total[W])) > 0)`,
		"protection": `1 - clamp_max(max by (job, instance) (rate(botd_position_unprotected_seconds_total[W])), 1)`,
	}[of]
	return Recording{"slo:botd_" + of + ":ratio" + window, `label_replace(` + strings.ReplaceAll(share, "[W]", "["+window+"]") +
		`, "objective", "` + of + `", "", "")`}
}

// metricName matches the names of botd's metrics in an expression.
var metricName = regexp.MustCompile(`\b(?:instance|strategy|market|slo):botd_[a-z0-9_:]+|\bbotd_[a-z0-9_]+`)

// Named returns the names in an expression that are neither registered metrics nor recorded rules.
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

// runbook is the address of the alerts' sections in the documents that come with botd.
const runbook = "docs/operations.md#"

// RulesYAML writes the rules in Prometheus's format. A rule that names an unregistered metric is an
// error.
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
		fmt.Fprintf(&b, "        labels: {severity: %s}\n        annotations:\n", a.Severity)
		fmt.Fprintf(&b, "          summary: %s\n          description: %s\n          action: %s\n          runbook_url: %s\n", quoted(a.Summary),
			quoted(a.Meaning), quoted(a.Action), quoted(runbook+strings.ToLower(a.Name)))
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
