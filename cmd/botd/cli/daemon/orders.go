package daemon

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/runtime/view"
)

// NewOrders returns the command botd orders.
func NewOrders() *cobra.Command {
	command := orderList()
	command.AddCommand(newOrderShow(), newOrderCancel(), shell.Alias("list", orderList()))
	return command
}

func orderList() *cobra.Command {
	var f connect.Filter
	command := connect.ShowFor("orders", "working orders, as the daemon knows them; --all includes those that ended",
		f.Path("/api/v1/orders"), connect.Rows(table.Row{"client order id", "order", "strategy", "purpose", "symbol", "side", "type", "state", "price", "stop",
			"quantity", "filled"}, func(o *view.Order) table.Row {
			return table.Row{o.ClientOrderID, o.OrderID, o.Strategy, o.Purpose, o.Symbol, o.Side, o.Type, o.State, unlessNone(o.Price),
				unlessNone(o.StopPrice), quantityOf(o), o.Filled}
		}))
	command.Long = `Shows the orders that botd placed: those in the book, in flight or uncertain, and with
--all also those that ended, newest first. Foreign orders are not included: botd reconcile shows
them.`
	command.Example = "  botd orders\n  botd orders --all --strategy trend -n 20\n  botd orders show bmain-touj3l-2\n  botd orders cancel " +
		"bmain-touj3l-2 --reason \"too near\" --dry-run"
	f.Add(command)
	command.Flags().BoolVar(&f.All, "all", false, "also those that ended")
	return command
}

// unlessNone returns a price, empty for an order without one.
func unlessNone(price string) string {
	if price == "0" {
		return ""
	}
	return price
}

// quantityOf returns an order's quantity; an order that closes the whole position has none.
func quantityOf(o *view.Order) string {
	if o.ClosePosition {
		return "all"
	}
	return quantityOr(o.Quantity, o.QuoteAmount)
}

// quantityOr returns a quantity; a spot market purchase has an amount to spend instead.
func quantityOr(quantity, quoteAmount string) string {
	if quoteAmount != "" {
		return "for " + quoteAmount + " USDT"
	}
	return quantity
}

func newOrderShow() *cobra.Command {
	command := connect.ShowOne("show ID", "one order's life, step by step", "/api/v1/orders/", func(w io.Writer, o *view.OneOrder) {
		fmt.Fprintf(w, "%s  %s  %s %s %s %s on %s, %s", o.ClientOrderID, o.Strategy, o.Purpose, o.Side, o.Type, quantityOf(&o.Order), o.Symbol, o.State)
		if o.OrderID != 0 {
			fmt.Fprintf(w, ", order %d", o.OrderID)
		}
		fmt.Fprintln(w)
		stepTable(w, o.Steps)
	})
	command.Long = "Shows one order with the time of each step: sent, acknowledged, filled, settled, and by what\nevidence. The id is " +
		"botd's (client order id) or the exchange's."
	command.Example = "  botd orders show bmain-touj3l-2\n  botd orders show 17 -o json"
	return command
}

// stepTable prints the steps with the time each took.
func stepTable(w io.Writer, steps []view.Step) {
	t := shell.NewTable(w, table.Row{"time (UTC)", "after", "step", "what"})
	for i, s := range steps {
		after := ""
		if i > 0 {
			after = "+" + (time.Duration(s.AtMS-steps[0].AtMS) * time.Millisecond).String()
		}
		t.AppendRow(table.Row{time.UnixMilli(s.AtMS).UTC().Format("2006-01-02 15:04:05.000"), after, s.Step, s.Text})
	}
	t.Render()
}
