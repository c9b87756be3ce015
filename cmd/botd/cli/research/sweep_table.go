package research

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"botd/backtest"
	"botd/backtest/saved"
	"botd/cmd/botd/cli/shell"
	"botd/internal/plural"
)

// sweepShown bounds the trials in the table.
const sweepShown = 20

// paretoTable shows the trials that no other trial beats in every objective.
func paretoTable(w io.Writer, front *saved.Front, names []string) {
	if front == nil {
		return
	}
	header := table.Row{}
	for _, name := range slices.Concat(names, front.Objectives) {
		header = append(header, name)
	}
	t := shell.NewTable(w, header)
	for i := range front.Trials[:min(sweepShown, len(front.Trials))] {
		row := table.Row{}
		for _, name := range names {
			row = append(row, front.Trials[i].Params[name])
		}
		for _, value := range front.Trials[i].Values {
			row = append(row, fmt.Sprintf("%.4g", value))
		}
		t.AppendRow(row)
	}
	t.Render()
	fmt.Fprintf(w, "%s that no other one beats in all of %s\n", plural.Of(len(front.Trials), "trial"), strings.Join(front.Objectives, ", "))
}

func sweepTable(w io.Writer, r *saved.Sweep) {
	fmt.Fprintf(w, "%s on %s %s, %d candles: %s, ranked by %s\n", r.Strategy, r.Symbol, r.Interval, r.Candles, plural.Of(len(r.Trials), "trial"), r.Sort)
	if r.Split != nil {
		fmt.Fprintf(w, "ranked on the candles before %s; the columns named unseen cover those after it\n", r.Split.Format(time.DateTime))
	}
	names := slices.Sorted(maps.Keys(r.Trials[0].Params))
	header := table.Row{}
	for _, name := range names {
		header = append(header, name)
	}
	header = append(header, "profit %", "sharpe", "drawdown %", "trips")
	ended := slices.ContainsFunc(r.Trials, func(t backtest.Trial) bool { return t.Seen.EndedBy != nil })
	lacking := slices.ContainsFunc(r.Trials, func(t backtest.Trial) bool { return len(t.Seen.NotTraded) > 0 })
	endedUnseen := slices.ContainsFunc(r.Trials, func(t backtest.Trial) bool { return t.Unseen != nil && t.Unseen.EndedBy != nil })
	if ended {
		header = append(header, "ended by")
	}
	if lacking {
		header = append(header, "not traded")
	}
	if r.Split != nil {
		header = append(header, "unseen profit %", "unseen sharpe", "unseen drawdown %")
	}
	if endedUnseen {
		header = append(header, "unseen ended by")
	}
	t := shell.NewTable(w, header)
	for i := range r.Trials[:min(sweepShown, len(r.Trials))] {
		trial, row := &r.Trials[i], table.Row{}
		for _, name := range names {
			row = append(row, trial.Params[name])
		}
		row = append(row, floatText(trial.Seen.Profit), floatText(trial.Seen.Sharpe), fmt.Sprintf("%.2f", trial.Seen.MaxDrawdown), trial.Seen.RoundTrips)
		if ended {
			row = append(row, trial.Seen.EndedBy.Short())
		}
		if lacking {
			row = append(row, backtest.ShortOf(trial.Seen.NotTraded))
		}
		if trial.Unseen != nil {
			row = append(row, floatText(trial.Unseen.Profit), floatText(trial.Unseen.Sharpe), fmt.Sprintf("%.2f", trial.Unseen.MaxDrawdown))
		}
		if endedUnseen && trial.Unseen != nil {
			row = append(row, trial.Unseen.EndedBy.Short())
		}
		t.AppendRow(row)
	}
	t.Render()
	if more := len(r.Trials) - sweepShown; more > 0 {
		fmt.Fprintf(w, "and %d more: -o csv has all\n", more)
	}
	paretoTable(w, r.Pareto, names)
	sweepNotes(w, r)
}

// sweepNotes writes the lines below a sweep's table.
func sweepNotes(w io.Writer, r *saved.Sweep) {
	if r.Short > 0 {
		fmt.Fprintf(w, "%s do not fulfill %s and are ranked last\n", plural.Of(r.Short, "trial"), r.Require)
	}
	if r.Reused > 0 {
		fmt.Fprintf(w, "%s had ended before and were not run again\n", plural.Of(r.Reused, "trial"))
	}
	if r.Refused > 0 {
		fmt.Fprintf(w, "%s left out, refused by the strategy; the first: %s\n", plural.Of(r.Refused, "choice"), r.Reason)
	}
	if line := r.ByEngine(); line != "" {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, r.Verdict())
	for _, warning := range r.Warnings {
		fmt.Fprintln(w, "warning:", warning)
	}
	if r.Split == nil && r.Best() != nil {
		fmt.Fprintln(w, "warning: the best of many, on the candles that chose it; --split 70% holds some back")
	}
}
