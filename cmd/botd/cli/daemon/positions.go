package daemon

import (
	"cmp"
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

// NewPositions returns the command botd positions.
func NewPositions() *cobra.Command {
	command := positionList()
	command.AddCommand(newPositionClose(), newPositionHistory(), shell.Alias("list", positionList()))
	return command
}

func positionList() *cobra.Command {
	command := connect.Show("positions", "open positions", "/api/v1/positions", func(w io.Writer, p *client.Page[view.Position]) {
		t := shell.NewTable(w, table.Row{"strategy", "market", "symbol", "quantity", "entry", "last", "liquidation", "stop", "without stop"})
		for _, r := range p.Items {
			stop := "none"
			if r.Protected {
				stop = "on the exchange"
			}
			t.AppendRow(table.Row{r.Strategy, r.Market, r.Symbol, r.Quantity, asRead(r.Entry), r.Last, asRead(r.LiqPrice), stop,
				time.Duration(r.UnprotectedMS) * time.Millisecond})
		}
		t.Render()
	})
	command.Long = "Shows what each strategy holds by the journal, with the exchange's entry and liquidation price,\nand whether a stop stands on the exchange."
	command.Example = "  botd positions\n  botd positions close BTC-USDT --reason \"news\" --dry-run"
	return command
}

func newPositionHistory() *cobra.Command {
	var f filter
	command := connect.ShowFor("history", "closed positions, foreign ones included", func() string { return f.path("/api/v1/positions/history") },
		func(w io.Writer, p *client.Page[view.EndedPosition]) {
			t := shell.NewTable(w, table.Row{"until (UTC)", "position", "strategy", "market", "symbol", "side", "quantity", "entry", "close", "realised", "by"})
			for i := range p.Items {
				o := &p.Items[i]
				t.AppendRow(table.Row{shell.Second(o.UntilMS), positionText(o.PositionID), cmp.Or(o.Strategy, "(no strategy)"), o.Market, o.Symbol,
					o.Side, o.Quantity, asRead(o.Entry), asRead(o.Exit), asRead(o.Realised), o.Purpose})
			}
			t.Render()
		})
	command.Long = `Shows the positions that are over, the newest first, of every run the journal has: those of
strategies, and those that somebody else opened on the account. realised is the price
difference alone; what a strategy's round trips made net of fees and funding: botd trades.`
	command.Example = "  botd positions history\n  botd positions history --symbol BTC-USDT -o csv"
	f.add(command)
	return command
}

// positionText is the exchange's id of a position; spot has none.
func positionText(id int64) string {
	if id == 0 {
		return "-"
	}
	return strconv.FormatInt(id, 10)
}
