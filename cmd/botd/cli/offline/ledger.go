package offline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/reconcile/journal"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// ledgerFlags are the flags of botd ledger.
type ledgerFlags struct {
	from            journalFlags
	postings        bool
	strategy, since string
}

// NewLedger returns the command botd ledger.
func NewLedger() *cobra.Command {
	var flags ledgerFlags
	command := &cobra.Command{
		Use: "ledger", Short: "each strategy's profit and costs, in double entry", Args: cobra.NoArgs,
		Long: `Shows the ledger in the journal, also while botd runs: for each strategy and symbol the amounts
bought and sold, realized profit, fees and funding; every ledger account; and unexplained
changes. --postings shows the postings instead, one line for each amount.

Every posting sums to zero in each asset: assets and expenses are positive (wallet, holding, fees,
funding), income and transfers are negative. The wallet is the one that the exchange reported,
so the ledger equals it to the last digit.

On spot, amounts are those of the executions that the exchange reported. On futures an order
carries neither price nor fee: profit is the position's realizedPNL, and the rest of the wallet's
change is fees and funding, allocated by trades and positions; such amounts are marked derived.
Money that arrives or leaves while nothing is traded is booked as transferred. A change that
nothing explains (a deposit during a trade, a correction by the exchange) is booked as
unexplained, and stays visible until botd ledger transfer declares it.`,
		Example: "  botd ledger\n  botd ledger -o json | jq '.unexplained'\n  botd ledger --postings --strategy trend --since 24h -o csv > postings.csv",
		RunE: func(command *cobra.Command, _ []string) error {
			since, err := moment.ParseSince(flags.since)
			if err != nil {
				return err
			}
			store, _, err := flags.from.open(command.Context())
			if err != nil {
				return err
			}
			defer store.Close()
			postings := []postingLine{}
			tracker, err := store.Tracker(command.Context(), func(s *journal.Stored) {
				if lines := postingsOf(s.Body); flags.postings && s.AtMS >= since {
					postings = flags.lines(postings, s, lines)
				}
			})
			if err != nil {
				return journal.Failure(err)
			}
			if err := flags.known(tracker.Ledger()); err != nil {
				return err
			}
			if flags.postings {
				return writePostings(command, postings)
			}
			page := flags.report(tracker.Ledger())
			return shell.Print(command, page, func(w io.Writer) { ledgerTable(w, page) })
		},
	}
	flags.from.add(command)
	f := command.Flags()
	f.BoolVar(&flags.postings, "postings", false, "the postings, one line for each amount")
	f.BoolVar(&flags.postings, "entries", false, "")
	_ = f.MarkDeprecated("entries", "it is --postings now")
	f.StringVar(&flags.strategy, "strategy", "", "only of this strategy")
	f.StringVar(&flags.since, "since", "", "only postings from this time on: 24h, or a time such as 2026-01-31T15:04")
	shell.OutputFlag(command)
	return command
}

// ledgerPage is the output of botd ledger -o json.
type ledgerPage struct {
	Schema int `json:"schema"`
	ledger.Report
}

// Rows returns the accounts.
func (p *ledgerPage) Rows() any { return p.Accounts }

// known rejects a strategy without postings: it may be misspelled.
func (f *ledgerFlags) known(books *ledger.Ledger) error {
	var booked []string
	for _, row := range books.Report().Strategies {
		if !slices.Contains(booked, row.Strategy) {
			booked = append(booked, row.Strategy)
		}
	}
	if f.strategy == "" || slices.Contains(booked, f.strategy) {
		return nil
	}
	return failure.New(failure.Negative, "booked strategies: "+cmp.Or(strings.Join(booked, ", "), "none yet"), "nothing is booked for strategy %q", f.strategy)
}

func (f *ledgerFlags) report(books *ledger.Ledger) *ledgerPage {
	page := &ledgerPage{1, books.Report()}
	if f.strategy != "" {
		page.Strategies = slices.DeleteFunc(page.Strategies, func(r ledger.Row) bool { return r.Strategy != f.strategy })
		page.Accounts = slices.DeleteFunc(page.Accounts, func(r ledger.AccountRow) bool { return r.Strategy != f.strategy })
	}
	return page
}

// postingsOf returns the lines that a record books.
func postingsOf(body record.Body) []ledger.Line {
	switch body := body.(type) {
	case record.Posting:
		return body.Lines
	case record.Transfer:
		return body.Lines()
	}
	return nil
}

// postingLine is one amount of a posting.
type postingLine struct {
	Time     time.Time `json:"time"`
	Sequence int64     `json:"sequence"`
	ledger.AccountRow
}

func (f *ledgerFlags) lines(all []postingLine, s *journal.Stored, lines []ledger.Line) []postingLine {
	for _, l := range lines {
		if f.strategy == "" || f.strategy == l.Strategy {
			all = append(all, postingLine{time.UnixMilli(s.AtMS).UTC(), s.Sequence, ledger.AccountRow{Account: l.Account, Strategy: l.Strategy,
				Market: l.Symbol.Market, Symbol: l.Symbol.Name, Asset: l.Asset, Amount: l.Amount, Derived: l.Derived}})
		}
	}
	return all
}

func writePostings(command *cobra.Command, postings []postingLine) error {
	return shell.Print(command, struct {
		Schema int           `json:"schema"`
		Items  []postingLine `json:"items"`
	}{1, postings}, func(w io.Writer) {
		shell.WriteTable(w, table.Row{"time", "entry", "account", "strategy", "market", "symbol", "asset", "amount", ""},
			postings, func(e *postingLine) table.Row {
				return table.Row{e.Time.Format(time.DateTime), e.Sequence, e.Account.String(), e.Strategy, e.Market.String(), e.Symbol, e.Asset,
					e.Amount, derivedText(e.Derived)}
			})
	})
}

func derivedText(derived bool) string {
	if derived {
		return "derived"
	}
	return ""
}

func ledgerTable(w io.Writer, page *ledgerPage) {
	shell.WriteTable(w, table.Row{"strategy", "market", "symbol", "bought", "sold", "", "realized", "fees", "funding", "net", ""},
		page.Strategies, func(r *ledger.Row) table.Row {
			return table.Row{cmp.Or(r.Strategy, "(no strategy)"), r.Market.String(), r.Symbol, r.Bought, r.Sold, r.Asset, r.Realized, r.Fees,
				r.Funding, r.Net, derivedText(r.Derived)}
		})
	shell.WriteTable(w, table.Row{"account", "strategy", "market", "symbol", "asset", "amount", ""}, page.Accounts, func(r *ledger.AccountRow) table.Row {
		return table.Row{r.Account.String(), r.Strategy, r.Market.String(), r.Symbol, r.Asset, r.Amount, derivedText(r.Derived)}
	})
	for i := range page.Unexplained {
		r := &page.Unexplained[i]
		fmt.Fprintf(w, "UNEXPLAINED: the %s wallet has changed by %s %s beyond what fills, fees and funding explain\n", r.Market, r.Amount, r.Asset)
	}
	for i := range page.Declared {
		r := &page.Declared[i]
		fmt.Fprintf(w, "declared: a transfer of %s %s that has not appeared in the %s wallet yet\n", r.Amount, r.Asset, r.Market)
	}
	if len(page.Unexplained) == 0 {
		fmt.Fprintln(w, "nothing is unexplained")
	}
	booked(w, "futures", page.FuturesMS)
	booked(w, "spot", page.SpotMS)
}

// booked prints the time up to which a market is booked.
func booked(w io.Writer, market string, atMS int64) {
	if atMS != 0 {
		fmt.Fprintf(w, "%s booked up to %s\n", market, time.UnixMilli(atMS).UTC().Format(time.RFC3339))
	}
}
