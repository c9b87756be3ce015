package research

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/plural"
)

// These bound a walk-forward test.
const (
	maxWindows = 200
	maxTrain   = 50
)

// walkResult is the output of botd sweep walk.
type walkResult struct {
	Schema   int    `json:"schema"`
	Strategy string `json:"strategy"`
	Symbol   string `json:"symbol"`
	Interval string `json:"interval"`
	Candles  int    `json:"candles"`
	Sort     string `json:"sort"`
	Train    int    `json:"train"`   // parts for the selection, per traded part
	Purge    int    `json:"purge"`   // candles between them that do not take part in the selection
	Embargo  int    `json:"embargo"` // candles of the traded part that are not traded
	Trials   int    `json:"trials"`
	backtest.Walked
	Windows    []backtest.Window `json:"windows"`
	Refused    int               `json:"refused"` // selected parameter sets that the strategy rejects
	Reason     string            `json:"refused_why"`
	DataSHA256 string            `json:"data_sha256"`
	Elapsed    float64           `json:"elapsed_s"`
}

func (r *walkResult) Rows() any { return r.Windows }

func newSweepWalk() *cobra.Command {
	var flags sweepFlags
	windows, train, purge, embargo := 0, 0, 0, 0
	command := &cobra.Command{
		Use: "walk", Short: "walk-forward analysis: choose on one window, trade the next", Args: cobra.NoArgs,
		Long: `Runs a walk-forward test. The candles are divided into equal parts. The combinations of --vary are
ranked over the first --train parts, and the best one trades the next, unseen part; then the window
moves forward by one part. With --require, a part before which no combination fulfills it is not
traded. The result of all unseen parts together is the out-of-sample result of the selection procedure.
Strategies warm up within each part: make the parts much longer than the slowest average needs.
--vary takes any key, as in botd sweep run: intervals and costs too.
--purge and --embargo leave candles out on both sides of each cut, so that training and test data
share no trade and no look-ahead.

Efficiency is the daily profit of the unseen parts as a share of that of the training parts:
near 1 the selection holds up, near 0 it was fitted to the past.`,
		Example: "  botd sweep walk -s trend.yaml --data candles.csv --vary fast=5..20..5 --vary slow=30,50,100\n  botd sweep walk -s " +
			"trend.yaml --data candles.csv --vary fast=5,10 --require 'trades >= 30' --windows 12 --train 4 -o csv",
		RunE: func(command *cobra.Command, _ []string) error {
			if windows < 1 || windows > maxWindows || train < 1 || train > maxTrain {
				return failure.Usagef("--windows %d --train %d: from 1 to %d windows, of 1 to %d parts", windows, train, maxWindows, maxTrain)
			}
			if purge < 0 || embargo < 0 {
				return failure.Usagef("--purge %d --embargo %d: a number of candles", purge, embargo)
			}
			return flags.walk(command, windows, train, purge, embargo)
		},
	}
	flags.add(command)
	f := command.Flags()
	f.StringVar(&flags.spec.Require, "require", "",
		"condition on figures of the training parts, such as 'trades >= 30'; only combinations that fulfill it are chosen")
	f.IntVar(&windows, "windows", 6, "number of parts that are traded unseen")
	f.IntVar(&train, "train", 3, "number of training parts before each")
	f.IntVar(&purge, "purge", 0, "number of candles left out of training before each traded part: the length of a trade, or a signal's look-ahead")
	f.IntVar(&embargo, "embargo", 0, "number of candles at the beginning of each traded part that are not traded")
	return command
}

func (f *sweepFlags) walk(command *cobra.Command, windows, train, purge, embargo int) error {
	began := time.Now()
	f.spec.Search = sweeps.Grid
	plan, made, err := sweeps.Prepare(&f.spec, &f.files)
	if err != nil {
		return err
	}
	made.Config.PurgeMS, made.Config.EmbargoMS = int64(purge)*int64(made.Base.Interval), int64(embargo)*int64(made.Base.Interval)
	trials, refused, why, err := plan.Grid(made)
	if err != nil {
		return err
	}
	bar := shell.NewProgress(command, windows*len(trials), "trials")
	walked, err := backtest.Walk(command.Context(), made.Config, trials, windows, train, plan.Choose, bar.Set)
	bar.End()
	if err != nil {
		return tape.Failure(err)
	}
	recorded := made.Config.Legs[0].Tape
	result := &walkResult{Schema: 1, Strategy: made.Base.Name, Symbol: made.Base.Symbol, Interval: made.Base.Interval.String(),
		Candles: recorded.Candles.Len(), Sort: f.spec.Sort, Train: train, Purge: purge, Embargo: embargo,
		Trials: len(trials), Walked: backtest.Sum(walked), Windows: walked, Refused: refused, Reason: why, DataSHA256: recorded.SHA256,
		Elapsed: time.Since(began).Seconds()}
	return shell.Print(command, result, func(w io.Writer) { walkTable(w, result) })
}

func walkTable(w io.Writer, r *walkResult) {
	fmt.Fprintf(w, "%s on %s %s, %d candles: %s of %s, each chosen by %s over the %d parts before it\n", r.Strategy, r.Symbol, r.Interval, r.Candles,
		plural.Of(len(r.Windows), "window"), plural.Of(r.Trials, "trial"), r.Sort, r.Train)
	chose := func(one backtest.Window) bool { return one.Unseen != nil }
	var names []string
	if at := slices.IndexFunc(r.Windows, chose); at >= 0 {
		names = slices.Sorted(maps.Keys(r.Windows[at].Params))
	}
	header := table.Row{"traded from (UTC)", "to"}
	for _, name := range names {
		header = append(header, name)
	}
	header = append(header, "profit % seen", "unseen", "sharpe seen", "unseen", "drawdown % unseen", "trips unseen")
	ended := slices.ContainsFunc(r.Windows, func(one backtest.Window) bool { return chose(one) && one.Unseen.EndedBy != nil })
	if ended {
		header = append(header, "unseen ended by")
	}
	t := shell.NewTable(w, header)
	for i := range r.Windows {
		one := &r.Windows[i]
		row := table.Row{one.Split.Format(time.DateTime), one.To.Format(time.DateTime)}
		if !chose(*one) {
			t.AppendRow(append(row, "not traded: no combination fulfills --require"))
			continue
		}
		for _, name := range names {
			row = append(row, one.Params[name])
		}
		row = append(row, floatText(one.Seen.Profit), floatText(one.Unseen.Profit), floatText(one.Seen.Sharpe), floatText(one.Unseen.Sharpe),
			fmt.Sprintf("%.2f", one.Unseen.MaxDrawdown), one.Unseen.RoundTrips)
		if ended {
			row = append(row, one.Unseen.EndedBy.Short())
		}
		t.AppendRow(row)
	}
	t.Render()
	fmt.Fprintf(w, "unseen parts in sequence: %s %%; %d of %d profitable; efficiency %s; %s\n", floatText(r.Profit), r.Profitable, len(r.Windows),
		floatText(r.Efficiency), plural.Of(r.Choices, "different choice"))
	if r.Refused > 0 {
		fmt.Fprintf(w, "%s left out, refused by the strategy; the first, %s\n", plural.Of(r.Refused, "choice"), r.Reason)
	}
}
