package daemon

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// NewFills returns the command botd fills.
func NewFills() *cobra.Command {
	var f filter
	command := connect.ShowFor("fills", "fills, newest first", func() string { return f.path("/api/v1/fills") },
		func(w io.Writer, p *client.Page[view.Fill]) {
			t := shell.NewTable(w, table.Row{"time (UTC)", "strategy", "purpose", "market", "symbol", "side", "quantity", "price", "client order id"})
			for _, i := range p.Items {
				price := i.Price
				if price == "0" {
					price = "" // the exchange reported none
				}
				t.AppendRow(table.Row{shell.Second(i.AtMS), i.Strategy, i.Purpose, i.Market, i.Symbol, i.Side, i.Quantity, price, i.ClientOrderID})
			}
			t.Render()
		})
	command.Long = "Shows what was filled between two polls of an order: when it was seen, how much, and the\norder's mean price so far " +
		"where the exchange reports one. Covers every run in the journal."
	command.Example = "  botd fills --strategy trend\n  botd fills -n 1000 -o csv > fills.csv"
	f.add(command)
	command.Flags().StringVar(&f.order, "order", "", "of one order alone, by its client order id")
	return command
}
