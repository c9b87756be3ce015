package venue

import (
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
)

// candleJSON is one candle.
type candleJSON struct {
	OpenTimeMS int64  `json:"open_time_ms"`
	Open       string `json:"open"`
	High       string `json:"high"`
	Low        string `json:"low"`
	Close      string `json:"close"`
	Volume     string `json:"volume"`
	Closed     bool   `json:"closed"` // false for the current candle
}

type candlesFlags struct {
	publicFlags
	interval string
	limit    int
}

// NewCandles returns the command botd candles.
func NewCandles() *cobra.Command {
	var flags candlesFlags
	command := &cobra.Command{
		Use: "candles SYMBOL", Short: "the newest candles of a symbol", Args: shell.One("SYMBOL, as BTC-USDT"),
		Long: `Shows the newest candles of a symbol on a venue, oldest first, including the forming candle.

-o csv writes them as botd records candles (open_time_ms,open,high,low,close,volume,...),
only closed ones, so that a backtest can read them. For long spans: botd data download.`,
		Example: "  botd candles BTC-USDT --interval 1h --limit 24\n  botd candles ETH-USDT --market spot --base-url https://VENUE -o csv > eth.csv",
		RunE:    func(command *cobra.Command, names []string) error { return showCandles(command, &flags, names[0]) },
	}
	flags.add(command, "futures")
	command.Flags().StringVar(&flags.interval, "interval", "1m", "1m, 5m, 15m, 30m, 1h, 4h, 1d or 1w (spot: no 30m, no 1w)")
	command.Flags().IntVar(&flags.limit, "limit", 20,
		fmt.Sprintf("maximum number of candles; futures up to %d, spot up to %d", exchange.FuturesCandlesPage, exchange.SpotCandlesPage))
	shell.OutputFlag(command)
	return command
}

func (f *candlesFlags) request(nowMS int64, symbol *exchange.Symbol) (exchange.Request, error) {
	request := exchange.Request{Operation: exchange.FuturesCandles.On(symbol.Market), Symbol: symbol.Name, Limit: f.limit}
	most := exchange.CandlesPage(symbol.Market)
	var err error
	if request.Interval, err = exchange.ParseInterval(f.interval); err != nil {
		return request, failure.Usagef("--interval: %v", err)
	}
	if f.limit < 1 || f.limit > most {
		return request, failure.Usagef("--limit %d: from 1 to %d\nhint: botd data download fetches more", f.limit, most)
	}
	if symbol.Market == exchange.Spot { // spot requires both (interface, Spot public)
		request.EndMS = nowMS
		request.StartMS = request.Interval.OpenOf(nowMS) - int64(f.limit-1)*int64(request.Interval)
	}
	return request, nil
}

func showCandles(command *cobra.Command, flags *candlesFlags, name string) error {
	venue, err := flags.open(command)
	if err != nil {
		return err
	}
	symbol, err := venue.Find(flags.market, name)
	if err != nil {
		return err
	}
	request, err := flags.request(venue.NowMS(), symbol)
	if err != nil {
		return err
	}
	answer, err := venue.Ask(command.Context(), request)
	if err != nil {
		return err
	}
	candles, closed := answer.Candles, answer.Candles.Len()
	for closed > 0 && candles.CloseMS(closed-1) > venue.NowMS() {
		closed--
	}
	if shell.Output(command) == "csv" {
		if err := shell.RefuseShape(command.OutOrStdout(), "csv"); err != nil {
			return err
		}
		return failure.Wrap(failure.IO, tape.WriteCSV(command.OutOrStdout(), candles.Slice(0, closed), symbol, nil))
	}
	rows := make([]candleJSON, candles.Len())
	for i := range rows {
		c := candles.At(i)
		rows[i] = candleJSON{c.OpenMS, symbol.PriceDecimal(c.Open).String(), symbol.PriceDecimal(c.High).String(), symbol.PriceDecimal(c.Low).String(),
			symbol.PriceDecimal(c.Close).String(), strconv.FormatFloat(c.Volume, 'f', -1, 64), i < closed}
	}
	return shell.Print(command, rows, func(w io.Writer) { candlesTable(w, symbol, rows) })
}

func candlesTable(w io.Writer, symbol *exchange.Symbol, rows []candleJSON) {
	shell.WriteTable(w, table.Row{"open (UTC)", "open", "high", "low", "close", "volume " + symbol.Base, ""}, rows, func(r *candleJSON) table.Row {
		note := ""
		if !r.Closed {
			note = "under way"
		}
		return table.Row{moment.Minute(r.OpenTimeMS), r.Open, r.High, r.Low, r.Close, r.Volume, note}
	})
	if len(rows) == 0 {
		fmt.Fprintf(w, "no candles of %s\n", symbol.Key())
	}
}
