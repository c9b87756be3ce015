package daemon

import (
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/runtime/view"
)

// NewFills returns the command botd fills.
func NewFills() *cobra.Command {
	var f connect.Filter
	command := connect.ShowFor("fills", "fills, newest first", f.Path("/api/v1/fills"),
		connect.Rows(table.Row{"time (UTC)", "strategy", "purpose", "market", "symbol", "side", "quantity", "price", "fee",
			"client order id"}, func(o *view.Fill) table.Row {
			return table.Row{shell.Second(o.AtMS), o.Strategy, o.Purpose, o.Market, o.Symbol, o.Side, o.Quantity, priceOf(o), feeOf(o),
				o.ClientOrderID}
		}))
	command.Long = `Shows what was filled between two polls of an order: when it was seen, how much, the order's mean
price so far, and the fee. The exchange reports neither price nor fee of a fill on futures: there
botd derives them from two readings of the position and the wallet, a few seconds later, and
marks them with ~. It covers every run in the journal.`
	command.Example = "  botd fills --strategy trend\n  botd fills -n 1000 -o csv > fills.csv"
	f.Add(command)
	command.Flags().StringVar(&f.Order, "order", "", "only fills of this order, by its client order id")
	return command
}

// priceOf formats a fill's price: ~ marks a derived price, and an unknown one is empty.
func priceOf(o *view.Fill) string {
	switch price := asRead(o.Price); {
	case price == "-":
		return ""
	case o.Derived:
		return "~" + price
	default:
		return price
	}
}

func feeOf(o *view.Fill) string {
	switch {
	case o.Fee == "":
		return ""
	case o.Derived:
		return "~" + asRead(o.Fee) + " " + o.FeeAsset
	}
	return asRead(o.Fee) + " " + o.FeeAsset
}
