package daemon

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/shopspring/decimal"
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
		t := shell.NewTable(w, table.Row{"strategy", "symbol", "position", "entry", "last", "profit USDT", "%", "stop", "liquidation", "age"})
		t.Signed("profit USDT", "%")
		t.Spare("age", "entry", "strategy", "last", "%")
		total := decimal.Decimal{}
		for i := range p.Items {
			r := &p.Items[i]
			if made, err := decimal.NewFromString(r.Profit); err == nil {
				total = total.Add(made)
			}
			t.AppendRow(table.Row{cmp.Or(r.Strategy, "(no strategy)"), r.Symbol + " " + r.Market, positionOf(r.Quantity),
				rounded(r.EntryPrice, placesOf(r.Last)), lastPrice(r), gain(r.Profit), percent(r.ProfitRatio), stopText(r),
				rounded(r.LiqPrice, placesOf(r.Last)) + away(r.Distance), age(r.SinceMS, time.Now().UnixMilli())})
		}
		t.Render()
		for i := range p.Items {
			for _, one := range []*view.Degraded{p.Items[i].Unread, p.Items[i].Contradiction} {
				if one != nil {
					showDegraded(w, []view.Degraded{*one})
				}
			}
		}
		if len(p.Items) > 1 {
			fmt.Fprintf(w, "%d positions, profit %s USDT\n", len(p.Items), shell.Amount(w, gain(total.String())))
		}
	})
	command.Long = `Shows each open position: its side and size, its average entry price, its profit net of
fees and funding since it was opened, in USDT and as a percentage of its value at entry (without
leverage), the stop on the exchange and the liquidation price with their distance from the last
price, and its age. Prices are rounded to the symbol's tick; -o json has every digit.`
	command.Example = "  botd positions\n  botd positions --watch\n  botd positions close BTC-USDT --reason \"news\" --dry-run"
	return command
}

// lastPrice returns the last price of a position; "-" if it has none.
func lastPrice(r *view.Position) string {
	if r.Quantity == "" {
		return "-"
	}
	return r.Last
}

func newPositionHistory() *cobra.Command {
	var f connect.Filter
	command := connect.ShowFor("history", "closed positions, foreign ones included", f.Path("/api/v1/positions/history"),
		func(w io.Writer, p *client.Page[view.ClosedPosition]) {
			t := shell.NewTable(w, table.Row{"closed (UTC)", "position", "strategy", "market", "symbol", "side", "quantity", "entry", "close",
				"net", "fees, funding", "by"})
			t.Signed("net")
			for i := range p.Items {
				o := &p.Items[i]
				t.AppendRow(table.Row{shell.Second(o.ClosedMS), positionText(o.PositionID), cmp.Or(o.Strategy, "(no strategy)"), o.Market, o.Symbol,
					o.Side, o.Quantity, asRead(o.EntryPrice), asRead(o.ExitPrice), gain(o.PNL) + partly(o.Complete), costs(o.Fees, o.Funding), o.Purpose})
			}
			t.Render()
		})
	command.Long = `Shows closed positions, newest first, of every run in the journal: those of strategies, and
foreign ones on the account. net is the price difference less fees and funding; "partly" marks
a position for which some of the amounts are unknown.`
	command.Example = "  botd positions history\n  botd positions history --symbol BTC-USDT -o csv"
	f.Add(command)
	return command
}

// stopText returns the nearest stop on the exchange, or the time since which one is missing.
func stopText(p *view.Position) string {
	switch {
	case p.StopPrice != "":
		return p.StopPrice + away(p.StopDistance)
	case p.Protected:
		return "on the exchange"
	case p.UnprotectedMS > 0:
		return "MISSING for " + (time.Duration(p.UnprotectedMS) * time.Millisecond).Round(time.Second).String()
	}
	return "none"
}

// positionText returns the exchange's id of a position; spot has none.
func positionText(id int64) string {
	if id == 0 {
		return "-"
	}
	return strconv.FormatInt(id, 10)
}

// partly marks an incomplete amount.
func partly(whole bool) string {
	if whole {
		return ""
	}
	return " partly"
}

// costs returns the fees and the funding paid, together.
func costs(fees, funding string) string {
	paid, err := decimal.NewFromString(fees)
	more, err2 := decimal.NewFromString(funding)
	if err != nil || err2 != nil {
		return "-"
	}
	return paid.Add(more).StringFixed(2)
}
