package daemon

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/reconcile/record"
	"botd/runtime/view"
)

// maxHoldings bounds the assets in a line.
const maxHoldings = 5

func holdings(all []view.Holding) string {
	var parts []string
	for i, one := range all {
		if i == maxHoldings {
			parts = append(parts, fmt.Sprintf("%d more assets", len(all)-i))
			break
		}
		parts = append(parts, one.Quantity+" "+one.Asset)
	}
	return strings.Join(parts, ", ")
}

// NewStatus returns the command botd status.
func NewStatus() *cobra.Command {
	command := connect.Show("status", "state of the running daemon", "/api/v1/status", func(w io.Writer, s *view.Status) {
		state := "ready"
		if !s.Ready {
			state = "NOT READY"
		}
		if s.Halted != record.LevelNone {
			state += ", HALTED (" + s.Halted.String() + "): " + s.Reason
		}
		fmt.Fprintf(w, "botd %s  %s  up %s  %s\n", s.Mode, s.Instance, time.Duration(s.UptimeS)*time.Second, state)
		fmt.Fprintf(w, "equity %s USDT  today %s (%s)  drawdown %s  available %s  positions %d  orders %d  unsettled %d\n",
			rounded(view.TextOf(s.Equity), 2), shell.Amount(w, gain(view.TextOf(s.Today.Change))), percent(s.Today.ChangeRatio),
			strings.TrimPrefix(percent(s.Today.DrawdownRatio), "+"), rounded(s.Available, 2),
			s.Positions, s.Open, s.Unsettled)
		if len(s.Uncounted) > 0 {
			fmt.Fprintf(w, "not included: %s in the spot wallet that botd did not buy\n", holdings(s.Uncounted))
		}
		if s.Unclean {
			fmt.Fprintf(w, "the previous run did not stop cleanly (found at the start, %s)\n", s.Started.Format(time.DateTime))
		}
		showDegraded(w, s.Degraded)
		showOtherIncidents(w, s)
		showLaneUse(w, s.LaneUse)
		t := shell.NewTable(w, table.Row{"strategy", "state", "symbol", "position", "last", "unrealized", "%", "age", "profit USDT", "why"})
		t.Signed("unrealized", "%", "profit USDT")
		t.Spare("why", "age", "last", "%", "state")
		for i := range s.Strategies {
			t.AppendRow(strategyRow(&s.Strategies[i], s.Time.UnixMilli()))
		}
		t.Render()
	})
	command.Long = `Shows the state of the running daemon: readiness, equity, the day's change and the drawdown from
its peak; each declared state that blocks openings, with its cause, start time and remedy
(docs/concepts.md); and for each strategy its position, the position's profit at the last price in
USDT and as a percentage of its value at entry, its age, and the strategy's total profit since it
began, net of fees and funding. Amounts are rounded; -o json has every digit.`
	command.Example = "  botd status\n  botd status --watch\n  botd status -o json | jq -r .ready"
	return command
}

func strategyRow(r *view.Strategy, nowMS int64) table.Row {
	held, open, share := positionOf(r.Position), "-", "-"
	if held != "flat" {
		open, share = gain(r.Unrealized), percent(&r.Return)
	}
	return table.Row{r.Name, r.State, r.Symbol + " " + r.Market, held, r.Last, open, share, age(r.SinceMS, nowMS), gain(r.Profit),
		strings.Trim(r.StateReason+"; "+r.PlanReason, "; ")}
}

// showLaneUse prints the last use of the kill switch without the engine.
func showLaneUse(w io.Writer, use *view.LaneUse) {
	if use == nil {
		return
	}
	text := fmt.Sprintf("the kill switch acted without the engine at %s (%s, by %s): %d orders", use.Since.Format(time.DateTime), use.Level,
		use.RequestedBy, use.Orders)
	if use.DoneAfterMS > 0 {
		text += fmt.Sprintf(", nothing left after %s", time.Duration(use.DoneAfterMS)*time.Millisecond)
	}
	if use.Active {
		text += "; the engine is not answering yet"
	} else {
		text += fmt.Sprintf("; the engine took over after %s", time.Duration(use.TookMS)*time.Millisecond)
	}
	fmt.Fprintln(w, text)
}

// showDegraded prints each declared state with the event that ends it.
func showDegraded(w io.Writer, all []view.Degraded) {
	for i := range all {
		d := &all[i]
		of := strings.TrimSpace(d.Strategy + " " + d.Symbol)
		if d.Scope == "market" {
			of = "market " + d.Market
		}
		if of == "" {
			of = "account"
		}
		fmt.Fprintf(w, "%s (%s) since %s: %s\n  remedy: %s%s\n", strings.ToUpper(d.State), of, d.Since.Format(time.DateTime), d.Cause, d.Remedy, until(d))
		if d.Doing != "" {
			fmt.Fprintf(w, "  in progress: %s\n", d.Doing)
		}
	}
}

// showOtherIncidents prints the open incidents whose states do not block openings.
func showOtherIncidents(w io.Writer, s *view.Status) {
	for i := range s.Incidents {
		one := &s.Incidents[i]
		if one.InForce && !slices.ContainsFunc(s.Degraded, func(d view.Degraded) bool { return d.State == one.Kind }) {
			showIncident(w, one)
		}
	}
}

// until returns the time at which a state ends automatically, if that is known.
func until(d *view.Degraded) string {
	if d.Until == nil {
		return ""
	}
	return ", at " + d.Until.UTC().Format(time.DateTime)
}
