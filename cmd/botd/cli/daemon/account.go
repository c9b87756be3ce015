package daemon

import (
	"cmp"
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
		shell.WriteTable(w, table.Row{"what", "USDT"}, [][2]string{
			{"equity of all markets", cmp.Or(view.TextOf(a.Total), "-")}, {"futures equity", a.Equity}, {"futures wallet", a.Wallet},
			{"unrealized", a.Unrealized}, {"available", a.Available}, {"margin used", a.MarginUsed}, {"maintenance margin", a.Maintenance},
		}, func(row *[2]string) table.Row { return table.Row{row[0], row[1]} })
		if len(a.Balances) > 0 {
			shell.WriteTable(w, table.Row{"spot", "free", "in orders"}, a.Balances, func(b *view.Balance) table.Row {
				return table.Row{b.Asset, b.Free, b.Frozen}
			})
		}
		fmt.Fprintf(w, "read %s UTC\n", shell.Second(a.AtMS))
	})
	command.Long = "Shows both wallets as the daemon last read them: futures with margin and unrealized profit, spot\nwith the amounts " +
		"locked in orders, and the equity of all markets at the last prices."
	command.Example = "  botd account\n  botd account --watch"
	return command
}
