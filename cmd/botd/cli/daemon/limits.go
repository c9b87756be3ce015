package daemon

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// NewLimits returns the command botd limits.
func NewLimits() *cobra.Command {
	command := connect.Show("limits", "every limit with its utilization and headroom", "/api/v1/risk/limits", func(w io.Writer, p *client.Page[view.Limit]) {
		shell.WriteTable(w, table.Row{"scope", "rule", "value", "limit", "headroom", "utilization", "state", "since", "remedy"},
			p.Items, func(l *view.Limit) table.Row {
				since := ""
				if l.Since != nil {
					since = l.Since.Format(time.DateTime)
				}
				out := l.Remedy
				if l.Until != nil {
					out += ", " + l.Until.Format(time.DateTime)
				}
				return table.Row{l.Scope, l.Rule, l.Value, l.Limit, l.Headroom, percentText(l.Ratio), l.State, since, out}
			})
		for _, l := range p.Items {
			if l.Reason != "" {
				fmt.Fprintf(w, "%s %s since %s: %s\n", l.Scope, l.Rule, l.Since.Format(time.RFC3339), l.Reason)
			}
			if l.Set != nil {
				fmt.Fprintf(w, "%s %s set to %s by %s at %s: %s\n", l.Scope, l.Rule, l.Set.Value, l.Set.SetBy, l.Set.At.Format(time.RFC3339), l.Set.Reason)
			}
		}
	})
	command.Long = `Shows each limit of the account, of its markets and symbols, and of each strategy: the
value in use, the limit and the headroom. Resting, in-flight and uncertain orders count at
their worst case.

States: ok; near (80 % in use); full (nothing more fits); breached (entries
are blocked: by a daily loss until the next UTC day, by a drawdown until botd rearm, by a
losing streak until its cool-down is over); unknown (a figure has not been read yet, so entries
are refused). docs/risk.md describes what each limit counts, what a breach does and how it ends.
botd limits set tightens a limit while botd runs.`
	command.Example = `  botd limits
  botd limits set max_daily_loss=1% --reason "economic data tonight"
  botd limits -o json | jq '.items[] | select(.state != "ok")'`
	command.AddCommand(newLimitsSet(), newLimitsReset())
	return command
}

func percentText(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(ratio*100), 'f', 1, 64) + " %"
}
