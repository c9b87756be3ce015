package research

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/parity"
	"botd/backtest/replay"
	"botd/backtest/report"
	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// comparison pairs a strategy's live trading with a backtest of the same period.
type comparison struct {
	daemon   connect.Flags
	from, to string
	out      string
	lines    int
}

// NewParity returns the command botd parity.
func NewParity() *cobra.Command {
	var b comparison
	command := &cobra.Command{
		Use: "parity STRATEGY", Short: "compare a running strategy with its backtest over the same candles",
		Long: `Backtests a running strategy, with its current file, over the candles that the daemon recorded
since its first fill (or --from), with its market's wallet at that time and the costs of its
backtest block. Each live order is listed next to the corresponding order of the backtest, with
its delay and how much worse its price was. An order without a counterpart means that live trading
and backtest diverged: a halt, a limit, an outage, another version of the strategy, other
parameters.

--out DIR writes the backtest's report with the live equity and fills drawn over it.`,
		Example: "  botd parity trend\n  botd parity trend --from 2026-03-01 --out parity\n  botd parity trend -o json | jq .slippage_pct",
		Args:    shell.One("strategy"),
		RunE:    func(command *cobra.Command, names []string) error { return b.run(command, names[0]) },
	}
	b.daemon.Add(command)
	f := command.Flags()
	f.StringVar(&b.from, "from", "", "start time instead of the first fill, such as 2026-03-01 or 2026-03-01T12:00:00Z")
	f.StringVar(&b.to, "to", "", "end time instead of now")
	f.StringVar(&b.out, "out", "", "directory for the report")
	f.IntVarP(&b.lines, "lines", "n", 20, "maximum number of orders to list, newest first; 0 for all")
	return command
}

func (b *comparison) run(command *cobra.Command, name string) error {
	config, err := connect.LoadValid(command.Context(), b.daemon.Directory)
	if err != nil {
		return err
	}
	strategy := config.Strategy(name)
	if strategy == nil {
		return failure.New(failure.NoInput, "botd status lists them", "no strategy %q is configured", name)
	}
	running, err := b.daemon.Reach(command)
	if err != nil {
		return err
	}
	r := &replay.Replay{Strategy: *strategy, Files: inputs.Files{Limits: &config.Limits,
		Recorded: filepath.Join(config.DataDir, running.Status.Mode, tape.RecordedFolder)}}
	loadWith(command, &r.Files)
	if err := b.read(command, running, r); err != nil {
		return err
	}
	outcome, err := r.Run(command.Context(), func(_ context.Context, run backtest.Config) (*backtest.Result, error) {
		return runColumns(command, run, false)
	})
	if err != nil {
		return err
	}
	if b.out != "" {
		if err := report.WriteDirectory(b.out, outcome.Config, outcome.Result, &report.Live{Answer: outcome.Answer, Fills: outcome.Fills}); err != nil {
			return failure.Wrap(failure.IO, err)
		}
		fmt.Fprintln(command.ErrOrStderr(), "report written to", filepath.Join(b.out, "report.html"))
	}
	return shell.Print(command, outcome.Answer, func(w io.Writer) { b.show(w, outcome.Answer) })
}

// read requests the strategy's trades and the account's state from the daemon.
func (b *comparison) read(command *cobra.Command, running *connect.Running, r *replay.Replay) (err error) {
	if b.from != "" {
		if r.FromMS, err = moment.Parse("--from", b.from); err != nil {
			return err
		}
	}
	if b.to != "" {
		if r.ToMS, err = moment.Parse("--to", b.to); err != nil {
			return err
		}
	}
	name := r.Strategy.Name
	if r.Traded.Fills, err = pages[view.Fill](command, running, "/api/v1/fills", name); err != nil {
		return err
	}
	if r.Traded.Trips, err = pages[view.ClosedPosition](command, running, "/api/v1/trades", name); err != nil {
		return err
	}
	r.Traded.Equity = func(fromMS int64) (series view.EquitySeries, err error) {
		query := url.Values{"from": {strconv.FormatInt(fromMS, 10)}}
		series, _, err = client.Ask[view.EquitySeries](command.Context(), running.Daemon, http.MethodGet, "/api/v1/equity?"+query.Encode(), nil)
		return series, err
	}
	return nil
}

// pages reads all pages of a list for one strategy.
func pages[T any](command *cobra.Command, running *connect.Running, path, strategy string) (all []T, err error) {
	query := url.Values{"strategy": {strategy}, "limit": {"1000"}}
	for {
		page, _, err := client.Ask[struct {
			Items []T    `json:"items"`
			Next  string `json:"next"`
		}](command.Context(), running.Daemon, http.MethodGet, path+"?"+query.Encode(), nil)
		all = append(all, page.Items...)
		if err != nil || page.Next == "" {
			return all, err
		}
		query.Set("after", page.Next)
	}
}

// show prints the orders side by side, and a conclusion in one sentence.
func (b *comparison) show(w io.Writer, a *parity.Parity) {
	pairs := a.Pairs
	if b.lines > 0 && len(pairs) > b.lines {
		fmt.Fprintf(w, "the newest %d of %d orders\n", b.lines, len(pairs))
		pairs = pairs[len(pairs)-b.lines:]
	}
	t := shell.NewTable(w, table.Row{"time (UTC)", "side", "purpose", "quantity live", "backtest", "price live", "backtest", "later", "slippage %", "USDT"})
	for i := range pairs {
		t.AppendRow(pairRow(&pairs[i]))
	}
	t.Render()
	fmt.Fprintln(w, a.Sentence)
	if a.Later > 0 {
		fmt.Fprintf(w, "%d newer live fills are left out: the recorded candles end %s\n", a.Later, shell.Second(a.ToMS))
	}
	fmt.Fprintf(w, "round trips made %+.2f USDT live and %+.2f in the backtest; fees %.2f and %.2f\n", a.LivePNL, a.BacktestPNL, a.LiveFees, a.BacktestFees)
}

func pairRow(p *parity.Pair) table.Row {
	either := cmp.Or(p.Live, p.Backtest)
	side := "sell"
	if either.Buy {
		side = "buy"
	}
	quantity := func(f *parity.Execution) string {
		if f == nil {
			return "none"
		}
		return parity.Digits(f.Quantity)
	}
	price := func(f *parity.Execution) string {
		if f == nil || f.Price == 0 {
			return "-"
		}
		return parity.Digits(f.Price)
	}
	row := table.Row{shell.Second(p.AtMS()), side, either.Purpose, quantity(p.Live), quantity(p.Backtest), price(p.Live), price(p.Backtest)}
	if p.Live == nil || p.Backtest == nil {
		return append(row, "", "", "")
	}
	row = append(row, (time.Duration(p.LaterMS) * time.Millisecond).Round(time.Second).String())
	if !p.Priced {
		return append(row, "-", "-")
	}
	return append(row, fmt.Sprintf("%+.4f", p.Slippage), fmt.Sprintf("%+.4f", p.Cost))
}
