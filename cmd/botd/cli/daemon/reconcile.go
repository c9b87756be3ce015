package daemon

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/reconcile/placement"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// NewReconcile returns the command botd reconcile.
func NewReconcile() *cobra.Command {
	var flags connect.Flags
	var dry bool
	command := &cobra.Command{
		Use: "reconcile", Short: "run a round now, and show whether exchange and journal agree", Args: cobra.NoArgs,
		Long: `Makes the running daemon fetch orders and positions now, then shows the latest rounds, the
uncertain placements and the symbols that need a person. With --dry-run it only shows them.
Exit code 1 when something is uncertain or quarantined.`,
		Example: "  botd reconcile\n  botd reconcile --dry-run -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			if !dry {
				if _, err := d.Call(command.Context(), http.MethodPost, "/api/v1/reconcile", nil); err != nil {
					return err
				}
			}
			state, raw, err := client.Ask[view.Reconcile](command.Context(), d, http.MethodGet, "/api/v1/reconcile", nil)
			if err != nil {
				return err
			}
			err = shell.Print(command, raw, func(w io.Writer) { reconcileText(w, &state) })
			if err == nil && (state.Blind || uncertain(&state) || len(state.Quarantines) > 0) {
				return failure.Quiet()
			}
			return err
		},
	}
	flags.Add(command)
	shell.DryRunFlag(command, &dry, "only show")
	command.AddCommand(newReconcileRuns(), newDifferences())
	return command
}

// uncertainState is the state of a placement whose response was lost.
var uncertainState = placement.Uncertain.String()

// uncertain reports whether any placement is uncertain, apart from those just sent.
func uncertain(r *view.Reconcile) bool {
	return slices.ContainsFunc(r.Uncertain, func(o view.Order) bool { return o.State == uncertainState })
}

func reconcileText(w io.Writer, r *view.Reconcile) {
	switch {
	case r.LastMS == 0:
		fmt.Fprintln(w, "no complete round yet")
	case r.Blind:
		fmt.Fprintf(w, "BLIND: the last complete round was %s UTC, %d failed since\n", shell.Second(r.LastMS), r.Failed)
	default:
		fmt.Fprintf(w, "the last complete round was %s UTC\n", shell.Second(r.LastMS))
	}
	for i := range r.Uncertain {
		o := &r.Uncertain[i]
		word := "under way"
		if o.State == uncertainState {
			word = "UNCERTAIN"
		}
		fmt.Fprintf(w, "%s  %s %s %s %s: %s, its outcome is being fetched\n", word, o.ClientOrderID, o.Strategy, o.Purpose, o.Symbol, o.State)
	}
	for i := range r.Quarantines {
		q := &r.Quarantines[i]
		fmt.Fprintf(w, "QUARANTINED  %s %s: %s\n  remedy: botd resolve %s\n", q.Market, q.Symbol, q.Cause, q.Symbol)
	}
	if len(r.Uncertain)+len(r.Quarantines) == 0 && r.LastMS != 0 && !r.Blind {
		fmt.Fprintln(w, "exchange and journal agree")
	}
	shell.WriteTable(w, table.Row{"round (UTC)", "complete", "took", "intents"}, r.Rounds[:min(10, len(r.Rounds))], func(round *view.Round) table.Row {
		return table.Row{shell.Second(round.AtMS), round.Complete, (time.Duration(round.DurationMS) * time.Millisecond).String(), round.Acted}
	})
}

func newReconcileRuns() *cobra.Command {
	var f connect.Filter
	command := connect.ShowFor("runs", "the last rounds", f.Path("/api/v1/reconcile/runs"),
		connect.Rows(table.Row{"time (UTC)", "complete", "took", "sent"}, func(r *view.Round) table.Row {
			complete := "yes"
			if !r.Complete {
				complete = "NO"
			}
			return table.Row{shell.Second(r.AtMS), complete, time.Duration(r.DurationMS) * time.Millisecond, r.Acted}
		}))
	command.Long = "Shows the latest rounds of this run, newest first: whether everything was read, how long\nthat took, and how many intents were sent."
	command.Example = "  botd reconcile runs -n 20\n  botd reconcile runs -o jsonl"
	f.AddLimit(command)
	return command
}

func newDifferences() *cobra.Command {
	var f connect.Filter
	command := connect.ShowFor("differences", "differences between exchange and journal, and how each was resolved",
		f.Path("/api/v1/reconcile/differences"), differencesTable)
	command.Long = `Shows each difference between exchange and journal, newest first, of every run in the journal:
quarantine (a person must decide: botd resolve), adopted (taken over into the journal),
ignored (left alone as foreign), found (an order under one of botd's ids), unexplained (a wallet
change that no fill, fee or funding explains).`
	command.Example = "  botd reconcile differences\n  botd reconcile differences --open -o json"
	f.AddSymbol(command)
	f.AddLimit(command)
	flags := command.Flags()
	flags.StringVar(&f.Kind, "kind", "", "only this kind: quarantine, adopted, ignored, found, unexplained")
	flags.BoolVar(&f.Open, "open", false, "only quarantines that wait for a person")
	return command
}

func differencesTable(w io.Writer, p *client.Page[view.Difference]) {
	shell.WriteTable(w, table.Row{"time (UTC)", "kind", "market", "symbol", "how much", "what", ""}, p.Items, func(d *view.Difference) table.Row {
		state := ""
		if d.Open {
			state = "OPEN"
		} else if d.EndedMS != 0 {
			state = "until " + shell.Second(d.EndedMS)
		}
		return table.Row{shell.Second(d.AtMS), d.Kind, d.Market, d.Symbol, strings.TrimSpace(d.Quantity + d.Amount + " " + d.Asset), d.Text, state}
	})
}
