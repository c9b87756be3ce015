package daemon

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/reconcile/account"
	"botd/runtime/api"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

type resolveFlags struct {
	connect.Flags
	api.ResolveRequest
	adopt, ignore bool
}

// NewResolve returns the command botd resolve.
func NewResolve() *cobra.Command {
	var flags resolveFlags
	command := &cobra.Command{
		Use: "resolve [SYMBOL]", Short: "decide how to end a quarantine", Args: cobra.MaximumNArgs(1),
		Long: `A symbol is quarantined when the exchange's report contradicts botd's own actions: nothing
opens there until a person decides. Without a symbol this lists the quarantines; with one it
shows the evidence, and what each decision would change:

  --adopt    the difference becomes botd's: the symbol's strategy manages the whole position
  --ignore   the difference stays foreign; botd leaves it alone and keeps trading

The decision is written to the journal. It sends nothing to the exchange.`,
		Example: `  botd resolve
  botd resolve BTC-USDT
  botd resolve BTC-USDT --adopt --reason "I bought 0.01 manually; the strategy may manage it"`,
		RunE: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 1 {
				flags.Symbol = arguments[0]
			}
			switch {
			case flags.adopt && flags.ignore:
				return failure.Usagef("--adopt and --ignore are mutually exclusive")
			case flags.adopt || flags.ignore:
				return flags.decide(command)
			case flags.Reason != "" || flags.DryRun:
				return failure.Usagef("resolve needs --adopt or --ignore to decide; without them it lists quarantines, and takes no --reason or --dry-run")
			}
			return flags.show(command)
		},
	}
	command.Flags().BoolVar(&flags.adopt, "adopt", false, "adopt the difference as botd's")
	command.Flags().BoolVar(&flags.ignore, "ignore", false, "leave the difference alone, as foreign")
	connect.ReasonFlag(command, &flags.Reason)
	command.Flags().StringVar(&flags.Market, "market", "", "futures or spot, for a symbol that is quarantined in both")
	shell.DryRunFlag(command, &flags.DryRun, "show what would change, and change nothing")
	flags.Add(command)
	return command
}

func (f *resolveFlags) decide(command *cobra.Command) error {
	if f.Symbol == "" {
		return failure.Usagef("which symbol? botd resolve lists those that are quarantined")
	}
	if err := connect.CheckReason(command, f.Reason, f.DryRun); err != nil {
		return err
	}
	f.Decision = "ignore"
	if f.adopt {
		f.Decision = "adopt"
	}
	d, err := f.Reach(command)
	if err != nil {
		return err
	}
	out, raw, err := connect.Post[api.ResolveAnswer](command, d, "/api/v1/reconcile/resolve", f.ResolveRequest)
	if err != nil {
		return err
	}
	return shell.Print(command, raw, func(w io.Writer) {
		for _, line := range out.Changes {
			fmt.Fprintln(w, "  "+line)
		}
		if out.DryRun {
			fmt.Fprintln(w, "nothing was changed (--dry-run)")
			return
		}
		fmt.Fprintf(w, "resolved: %s %s, %s (%s)\n", out.Market, out.Symbol, out.Decision, out.Reason)
	})
}

// show lists the quarantined symbols; for one symbol it shows all evidence. A symbol that is not quarantined is a negative result.
func (f *resolveFlags) show(command *cobra.Command) error {
	d, err := f.Daemon(command.Context())
	if err != nil {
		return err
	}
	page, _, err := client.Ask[client.Page[view.Quarantine]](command.Context(), d, http.MethodGet, "/api/v1/reconcile/quarantines", nil)
	if err != nil {
		return err
	}
	matching := []view.Quarantine{}
	for _, q := range page.Items {
		if f.Symbol == "" || q.Symbol == f.Symbol && (f.Market == "" || q.Market == f.Market) {
			matching = append(matching, q)
		}
	}
	if f.Symbol != "" && len(matching) == 0 {
		return failure.New(failure.Negative, "botd resolve lists those that are", "%w", account.NotQuarantined(f.Symbol))
	}
	return shell.Print(command, api.Items(matching), func(w io.Writer) {
		if len(matching) == 0 {
			fmt.Fprintln(w, "nothing is quarantined")
		}
		for i := range matching {
			showQuarantine(w, &matching[i])
		}
	})
}

func showQuarantine(w io.Writer, q *view.Quarantine) {
	fmt.Fprintf(w, "%s %s", q.Market, q.Symbol)
	if q.Strategy != "" {
		fmt.Fprintf(w, " (strategy %s)", q.Strategy)
	}
	fmt.Fprintf(w, ", quarantined since %s\n  cause: %s\n", q.Since.Format(time.DateTime), q.Cause)
	fmt.Fprintf(w, "  position on the exchange %s; explained by botd's fills %s; left to others %s; unexplained %s\n", q.Position,
		q.Explained, q.Ignored, q.Difference)
	if len(q.Uncertain)+len(q.Orders) > 0 {
		t := shell.NewTable(w, table.Row{"what", "order", "client order id", "side", "type", "quantity", "filled", "price", "stop"})
		for _, p := range q.Uncertain {
			t.AppendRow(table.Row{"uncertain outcome", p.OrderID, p.ClientOrderID, p.Side, p.Type, p.Quantity, p.Filled, p.Price, p.StopPrice})
		}
		for _, o := range q.Orders {
			t.AppendRow(table.Row{"not in the journal", o.OrderID, o.ClientOrderID, o.Side, o.Type, o.Quantity, o.Filled, o.Price, o.StopPrice})
		}
		t.Render()
	}
	if q.Blocked != "" {
		fmt.Fprintf(w, "  it cannot be resolved now: %s\n", q.Blocked)
		return
	}
	for _, way := range []struct {
		flag  string
		lines []string
	}{{"--adopt", q.Adopt}, {"--ignore", q.Ignore}} {
		fmt.Fprintf(w, "  botd resolve %s %s --reason TEXT\n", q.Symbol, way.flag)
		for _, line := range way.lines {
			fmt.Fprintln(w, "    "+line)
		}
	}
}
