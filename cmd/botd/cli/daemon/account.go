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

// NewAccount returns the command botd account.
func NewAccount() *cobra.Command {
	command := connect.Show("account", "balances: wallet, margin, spot balances, equity", "/api/v1/account", func(w io.Writer, a *view.Account) {
		if a.AtMS == 0 {
			fmt.Fprintln(w, "the account has not been read yet")
			return
		}
		t := shell.NewTable(w, table.Row{"what", "USDT"})
		for _, row := range []struct{ name, value string }{
			{"equity of all markets", a.Total}, {"futures equity", a.Equity}, {"futures wallet", a.Wallet}, {"unrealized", a.Unrealized},
			{"available", a.Available}, {"margin used", a.MarginUsed}, {"maintenance margin", a.Maintenance},
		} {
			t.AppendRow(table.Row{row.name, row.value})
		}
		t.Render()
		if len(a.Balances) > 0 {
			t = shell.NewTable(w, table.Row{"spot", "free", "in orders"})
			for _, b := range a.Balances {
				t.AppendRow(table.Row{b.Asset, b.Free, b.Frozen})
			}
			t.Render()
		}
		fmt.Fprintf(w, "read %s UTC\n", shell.Second(a.AtMS))
	})
	command.Long = "Shows both wallets as the daemon last read them: futures with margin and unrealized profit, spot\nwith the amounts " +
		"locked in orders, and the equity of all markets at the last prices."
	command.Example = "  botd account\n  botd account --watch"
	return command
}
