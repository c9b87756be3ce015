package daemon

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// NewTrades returns the command botd trades.
func NewTrades() *cobra.Command {
	var f connect.Filter
	command := connect.ShowFor("trades", "round trips, net of fees and funding", f.Path("/api/v1/trades"),
		tradeTable)
	command.Long = `Shows each round trip of the strategies, newest first, of every run in the journal: its size,
mean entry and exit prices, what closed it, and its profit net of fees and funding. The total
covers the round trips shown.

A round trip is listed once its amounts are booked (botd ledger). On futures fees and funding are
derived from the wallet (derived); on spot they are as the exchange reported them. One marked
"in part" began before the ledger did, or some of its amounts are unknown.`
	command.Example = "  botd trades --strategy trend\n  botd trades -n 1000 -o csv > trades.csv\n  botd trades -o json | jq '[.items[] | " +
		".pnl | tonumber] | add'"
	f.Add(command)
	return command
}

func tradeTable(w io.Writer, p *client.Page[view.ClosedPosition]) {
	t := shell.NewTable(w, table.Row{"closed (UTC)", "strategy", "market", "symbol", "side", "quantity", "entry", "exit", "held", "by", "realized",
		"fees", "funding", "net", ""})
	t.Signed("net")
	var net decimal.Decimal
	won := 0
	for i := range p.Items {
		r := &p.Items[i]
		var notes []string
		if r.Derived {
			notes = append(notes, "derived")
		}
		if !r.Complete {
			notes = append(notes, "in part")
		}
		made, err := decimal.NewFromString(r.PNL)
		if err == nil && made.IsPositive() {
			won++
		}
		net = net.Add(made)
		held := (time.Duration(r.ClosedMS-r.OpenedMS) * time.Millisecond).Round(time.Second)
		t.AppendRow(table.Row{shell.Second(r.ClosedMS), r.Strategy, r.Market, r.Symbol, r.Side, r.Quantity, asRead(r.EntryPrice), asRead(r.ExitPrice),
			held, r.Purpose,
			asRead(r.Realized), asRead(r.Fees), asRead(r.Funding), withSign(asRead(r.PNL)), strings.Join(notes, ", ")})
	}
	t.Render()
	if n := len(p.Items); n > 0 {
		fmt.Fprintf(w, "%d round trips, %d of them profitable; net %s %s\n", n, won, shell.Amount(w, withSign(asRead(net.String()))), p.Items[0].Asset)
	}
}
