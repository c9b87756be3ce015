package daemon

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/runtime/view"
)

// NewIntents returns the command botd intents.
func NewIntents() *cobra.Command {
	command := intentList()
	command.AddCommand(newIntentShow(), shell.Alias("list", intentList()))
	return command
}

func intentList() *cobra.Command {
	var f connect.Filter
	command := connect.ShowFor("intents", "recent intents and their outcomes", f.Path("/api/v1/intents"),
		connect.Rows(table.Row{"id", "time (UTC)", "strategy", "purpose", "symbol", "side", "quantity", "outcome", "detail"}, func(i *view.Intent) table.Row {
			return table.Row{i.ID, shell.Second(i.AtMS), i.Strategy, i.Purpose, i.Symbol, i.Side, quantityOr(i.Quantity, i.QuoteAmount),
				i.Outcome, i.Detail}
		}))
	command.Long = `Shows the changes that botd derived since its start, newest first, with their outcomes: refused by
a rule, filled, uncertain, and so on. botd intents show ID shows why one was refused.`
	command.Example = "  botd intents --outcome refused\n  botd intents show 12\n  botd intents show bmain-touj3l-2"
	f.Add(command)
	command.Flags().StringVar(&f.Outcome, "outcome", "", "only this outcome: refused, filled, uncertain ...")
	return command
}

func newIntentShow() *cobra.Command {
	command := connect.ShowOne("show ID", "one intent: derived, checked rule by rule, sent, settled", "/api/v1/intents/", func(w io.Writer, i *view.OneIntent) {
		fmt.Fprintf(w, "%s  %s  %s %s %s %s on %s: %s\n", i.ID, i.Strategy, i.Purpose, i.Side, i.Type, quantityOr(i.Quantity, i.QuoteAmount),
			i.Symbol, i.Outcome)
		stepTable(w, i.Steps)
		if len(i.Checks) > 0 {
			ruleTable(w, i.Checks)
		}
	})
	command.Long = "Shows one intent's life: why it was derived, each rule's verdict with value and limit, and\nwhen it was journalled, " +
		"sent, acknowledged and settled. The id is the one in the list, or a client order id."
	command.Example = "  botd intents show 12\n  botd intents show bmain-touj3l-2 -o json"
	return command
}
