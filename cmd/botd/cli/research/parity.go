package research

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/parity"
	"botd/backtest/report"
	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// beside is a strategy's live trading and the backtest of the same time.
type beside struct {
	daemon   connect.Flags
	from, to string
	out      string
	lines    int

	running *connect.Running
	given   configs.StrategyConfig
	fills   []parity.Fill
	trips   []view.RoundTrip
	fromMS  int64
	live    report.Live
}

// besideAnswer is what botd parity -o json prints.
type besideAnswer struct {
	Schema   int    `json:"schema"`
	Strategy string `json:"strategy"`
	FromMS   int64  `json:"from_ms"`
	ToMS     int64  `json:"to_ms"` // the end of the recorded candles
	Later    int    `json:"later"` // live orders after that, left out
	*parity.Comparison
	LivePNL      float64 `json:"live_pnl"`     // of the round trips that ended within, net of fees and funding
	BacktestPNL  float64 `json:"backtest_pnl"` // likewise
	LiveFees     float64 `json:"live_fees"`    // of those
	BacktestFees float64 `json:"backtest_fees"`
}

// NewParity returns the command botd parity.
func NewParity() *cobra.Command {
	var b beside
	command := &cobra.Command{
		Use: "parity STRATEGY", Short: "a running strategy beside its backtest over the same candles",
		Long: `Runs a strategy that trades now, as its file says now, over the candles that the daemon recorded
since its first fill (or --from), with the equity it had then and the costs of its backtest
block, and sets each order beside the same one of the backtest: how much later it was, and how
much worse its price. Orders of one side alone mean that live trading and backtest decide
differently: a halt, a limit, an outage, another version of the strategy, other parameters.

--out DIR writes the backtest's report with the live equity and fills drawn over it.`,
		Example: "  botd parity trend\n  botd parity trend --from 2026-03-01 --out parity\n  botd parity trend -o json | jq .slippage_pct",
		Args:    shell.One("strategy"),
		RunE:    func(command *cobra.Command, names []string) error { return b.run(command, names[0]) },
	}
	b.daemon.Add(command)
	f := command.Flags()
	f.StringVar(&b.from, "from", "", "begin here instead of at the first fill, as 2026-03-01 or 2026-03-01T12:00:00Z")
	f.StringVar(&b.to, "to", "", "end here instead of now")
	f.StringVar(&b.out, "out", "", "directory for the report")
	f.IntVarP(&b.lines, "lines", "n", 20, "how many orders are listed, the newest; 0 for all")
	return command
}

func (b *beside) run(command *cobra.Command, name string) error {
	config, err := connect.LoadMode(command.Context(), b.daemon.Directory, "", "")
	if err != nil {
		return err
	}
	strategy := config.Strategy(name)
	if strategy == nil {
		return failure.New(failure.NoInput, "botd status lists them", "no strategy %q is configured", name)
	}
	if b.running, err = b.daemon.Reach(command); err != nil {
		return err
	}
	b.given = *strategy
	if err := b.read(command); err != nil {
		return err
	}
	run, err := b.backtest(command, config)
	if err != nil {
		return err
	}
	result, err := runColumns(command, run, false)
	if err != nil {
		return err
	}
	later := b.after(result.To.UnixMilli())
	if len(b.fills) == 0 {
		return failure.New(failure.NoInput, "ask again when its next candle has closed", "all that %s traded is later than the recorded candles, which end %s",
			name, result.To.UTC().Format(time.DateTime))
	}
	within := 2 * int64(b.given.Interval)
	answer := besideAnswer{Schema: 1, Strategy: name, FromMS: b.fromMS, Later: later, ToMS: result.To.UnixMilli(),
		Comparison: parity.Compare(b.fills, fillsOf(result), within)}
	answer.LivePNL, answer.LiveFees = b.earned(result.To.UnixMilli() + int64(b.given.Interval))
	answer.BacktestPNL, answer.BacktestFees = tripsOf(result)
	if b.out != "" {
		b.live.Comparison = answer.Comparison
		if err := report.WriteBeside(b.out, run, result, &b.live); err != nil {
			return failure.Wrap(failure.IO, err)
		}
		fmt.Fprintln(command.ErrOrStderr(), "report written to", filepath.Join(b.out, "report.html"))
	}
	return shell.Print(command.OutOrStdout(), b.daemon.Output, answer, func(w io.Writer) { b.show(w, &answer) })
}

// read asks the daemon what the strategy traded, and what the account had.
func (b *beside) read(command *cobra.Command) error {
	toMS, err := int64(1<<53), error(nil)
	if b.to != "" {
		if toMS, err = moment.Parse("--to", b.to); err != nil {
			return err
		}
	}
	if b.from != "" {
		if b.fromMS, err = moment.Parse("--from", b.from); err != nil {
			return err
		}
	}
	all, err := pages[view.Fill](command, b.running, "/api/v1/fills", b.given.Name)
	if err != nil {
		return err
	}
	for i := range all {
		f := &all[i]
		if f.AtMS < b.fromMS || f.AtMS >= toMS {
			continue
		}
		fill := parity.Fill{AtMS: f.AtMS, Order: f.ClientOrderID, Buy: f.Side == exchange.Buy.String(), Quantity: number(f.Quantity), Price: number(f.Price),
			Purpose: f.Purpose}
		b.fills = append(b.fills, fill)
	}
	if len(b.fills) == 0 {
		return failure.New(failure.NoInput, "botd fills lists what was traded", "%s has traded nothing in that time: there is nothing to compare",
			b.given.Name)
	}
	slices.SortStableFunc(b.fills, func(x, y parity.Fill) int { return cmp.Compare(x.AtMS, y.AtMS) })
	if step := int64(b.given.Interval); b.fromMS == 0 { // the candle at whose close the first fill was decided
		b.fromMS = b.fills[0].AtMS/step*step - step
	}
	if b.trips, err = pages[view.RoundTrip](command, b.running, "/api/v1/trades", b.given.Name); err != nil {
		return err
	}
	b.price()
	query := url.Values{"from": {strconv.FormatInt(b.fromMS-int64(time.Hour/time.Millisecond), 10)}}
	series, _, err := client.Ask[view.EquitySeries](command.Context(), b.running.Daemon, http.MethodGet, "/api/v1/equity?"+query.Encode(), nil)
	for i := range series.TimeMS {
		if series.TimeMS[i] < toMS {
			b.live.TimeMS, b.live.Equity = append(b.live.TimeMS, series.TimeMS[i]), append(b.live.Equity, number(series.Equity[i]))
		}
	}
	b.live.Fills = b.fills
	return err
}

// after drops the fills that are later than the last recorded candle, which no backtest can have.
func (b *beside) after(endMS int64) (dropped int) {
	before := len(b.fills)
	b.fills = slices.DeleteFunc(b.fills, func(f parity.Fill) bool { return f.AtMS > endMS })
	b.live.Fills = b.fills
	return before - len(b.fills)
}

// pages reads all of a list of one strategy.
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

// price gives fills without a price that of the round trip that they began or ended: futures report none, and where a position
// turns within one reading none is derived.
func (b *beside) price() {
	const apart = 10_000 // fills and round trips are seen by different readings
	near := func(x, y int64) bool { return max(x-y, y-x) <= apart }
	for i := range b.fills {
		f := &b.fills[i]
		for k := range b.trips {
			t := &b.trips[k]
			long, same := t.Side == "LONG", number(t.Quantity) == f.Quantity
			switch {
			case f.Price != 0 || !same:
			case f.Buy == long && near(f.AtMS, t.EnteredMS):
				f.Price = number(t.Entry)
			case f.Buy != long && near(f.AtMS, t.LeftMS):
				f.Price = number(t.Exit)
			}
		}
	}
}

// earned is what the strategy's round trips made that lie within the time, and the fees of that.
func (b *beside) earned(toMS int64) (sum, fees float64) {
	for i := range b.trips {
		if t := &b.trips[i]; t.EnteredMS >= b.fromMS && t.LeftMS <= toMS {
			sum, fees = sum+number(t.PNL), fees+number(t.Fees)
		}
	}
	return sum, fees
}

// backtest is the run over the recorded candles: it is warm at the time from which is compared.
func (b *beside) backtest(command *cobra.Command, config *configs.Config) (run backtest.Config, err error) {
	if at := slices.IndexFunc(b.live.TimeMS, func(ms int64) bool { return ms >= b.fromMS }); at >= 0 {
		if cash, err := exchange.ParseAmount(strconv.FormatFloat(b.live.Equity[at], 'f', 2, 64)); err == nil && cash.Sign() > 0 {
			b.given.Backtest.Cash = cash
		}
	}
	files := inputs.Files{Given: []*configs.StrategyConfig{&b.given}, Limits: &config.Limits,
		Recorded: filepath.Join(config.DataDir, b.running.Status.Mode, tape.RecordedFolder)}
	loadWith(command, &files)
	if run, err = files.Config(); err != nil {
		return run, err
	}
	warm := int64(run.Legs[0].Strategy.Strategy.Warmup()) * int64(b.given.Interval)
	toMS := int64(0)
	if b.to != "" {
		toMS, err = moment.Parse("--to", b.to)
	}
	if err != nil {
		return run, err
	}
	run, err = run.Within(b.fromMS-max(0, warm-int64(b.given.Interval)), toMS)
	return run, failure.Wrap(failure.Data, err)
}

func fillsOf(result *backtest.Result) (fills []parity.Fill) {
	for i := range result.Executions {
		e := &result.Executions[i]
		fills = append(fills, parity.Fill{AtMS: e.TimeMS, Buy: e.Side == exchange.Buy.String(), Quantity: number(e.Quantity), Price: number(e.Price),
			Purpose: e.Purpose})
	}
	return fills
}

func tripsOf(result *backtest.Result) (sum, fees float64) {
	for i := range result.Trips {
		sum, fees = sum+number(result.Trips[i].PNL), fees+number(result.Trips[i].Fees)
	}
	return sum, fees
}

// number reads a figure; one that is missing is 0.
func number(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return f
}

// show prints the orders side by side, and what follows from them in a sentence.
func (b *beside) show(w io.Writer, a *besideAnswer) {
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
	fmt.Fprintln(w, a.Sentence())
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
	quantity := func(f *parity.Fill) string {
		if f == nil {
			return "none"
		}
		return strconv.FormatFloat(f.Quantity, 'g', 8, 64)
	}
	price := func(f *parity.Fill) string {
		if f == nil || f.Price == 0 {
			return "-"
		}
		return strconv.FormatFloat(f.Price, 'g', 8, 64)
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
