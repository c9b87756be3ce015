package daemon

import (
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/internal/failure"
	"botd/runtime/api"
)

type transferFlags struct {
	connect.Flags
	api.TransferRequest
}

// NewLedgerTransfer returns the command botd ledger transfer.
func NewLedgerTransfer() *cobra.Command {
	var flags transferFlags
	command := &cobra.Command{
		Use: "transfer", Short: "book a deposit or withdrawal that botd did not recognize", Args: cobra.NoArgs,
		Long: `Books money that came into a wallet from outside or, with a negative amount, left it. The
running daemon recognizes most transfers automatically (log event ledger.transfer). It cannot when
there was a trade, or funding was due, at the same moment: the change is then unexplained
(botd ledger), counts as a gain or loss, and may block entries.

A transfer explains such a change, even one still to come: the next change of that wallet, up to
the amount, is attributed to it. Daily loss, drawdown and results exclude it, and the breach of a
limit that only the transfer caused ends. The journal records who declared it. To correct a
mistake, book the opposite amount.`,
		Example: `  botd ledger transfer --market futures --asset USDT --amount 5000
  botd ledger transfer --market spot --asset USDT --amount -250.5 --note "to the cold wallet" --dry-run`,
		RunE: func(command *cobra.Command, _ []string) error { return flags.declare(command) },
	}
	f := command.Flags()
	f.StringVar(&flags.Market, "market", "", "futures or spot")
	f.StringVar(&flags.Asset, "asset", "", "USDT, or an asset that a strategy trades on spot")
	f.StringVar(&flags.Amount, "amount", "", "amount received; negative for an amount withdrawn")
	f.StringVar(&flags.Note, "note", "", "why, for the journal")
	f.StringVar(&flags.Strategy, "strategy", "", "futures: the strategy whose result included it, if several strategies trade there")
	shell.DryRunFlag(command, &flags.DryRun, "show what would change, and change nothing")
	flags.Add(command)
	return command
}

func (f *transferFlags) declare(command *cobra.Command) error {
	for _, one := range []struct{ flag, value string }{{"market", f.Market}, {"asset", f.Asset}, {"amount", f.Amount}} {
		if one.value == "" {
			return failure.Usagef("botd ledger transfer needs --%s", one.flag)
		}
	}
	if _, err := exchange.ParseMarket(f.Market); err != nil {
		return failure.Usagef("--market: %v", err)
	}
	if _, err := strconv.ParseFloat(f.Amount, 64); err != nil {
		return failure.Usagef("--amount %s: want a number such as 5000 or -250.5", f.Amount)
	}
	return f.Send(command, http.MethodPost, "/api/v1/ledger/transfer", f.TransferRequest)
}
