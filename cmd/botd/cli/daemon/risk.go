package daemon

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/risk"
	"botd/runtime/view"
)

// NewRisk returns the command botd risk.
func NewRisk() *cobra.Command {
	return shell.Group("risk", "refused intents and limits",
		"Shows the intents that the rules refused, and each limit with its utilization.", "  botd risk rejections --rule max_position",
		newRejections(), shell.Alias("limits", NewLimits()), shell.Alias("halt", NewHalt()), shell.Alias("rearm", NewRearm()))
}

func newRejections() *cobra.Command {
	var f connect.Filter
	command := connect.ShowFor("rejections", "intents that a rule refused, newest first",
		f.Path("/api/v1/risk/rejections"), connect.Rows(table.Row{"time (UTC)", "rule", "strategy", "symbol", "intended", "value", "limit", "hint", "intent"},
			func(r *view.Refusal) table.Row {
				return table.Row{shell.Second(r.AtMS), r.Rule, r.Strategy, r.Symbol,
					strings.Join(strings.Fields(r.Purpose+" "+r.Side+" "+r.Quantity), " "), r.Value, r.Limit, r.Hint, r.Intent}
			}))
	command.Long = `Shows each intent that a rule refused since the daemon's start, with the value it would have
reached, the limit, and a hint. Identical refusals are shown once.
botd intents show INTENT shows the verdict of every rule. docs/risk.md lists the rules.`
	command.Example = "  botd risk rejections\n  botd risk rejections --rule max_position --strategy trend -o json"
	f.Add(command)
	command.Flags().StringVar(&f.Rule, "rule", "", "only this rule")
	shell.CompleteWith(command, "rule", risk.Rules()...)
	return command
}
