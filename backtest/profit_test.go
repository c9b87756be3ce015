package backtest_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/replay"
	"botd/backtest/report"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/profit"
	"botd/runtime/view"
	"botd/strategy"
	"botd/strategy/library"
)

// booked is a journal whose records make a history.
type booked struct{ history *view.History }

func (b booked) Append(_ context.Context, records []record.Record) error {
	for i := range records {
		b.history.Apply(&records[i])
	}
	return nil
}

// earner is a strategy, the candles that it trades, and its results: live, in a backtest, and compared.
type earner struct {
	symbol  *exchange.Symbol
	candles *exchange.Candles
	files   inputs.Files
	given   *configs.StrategyConfig

	made       profit.Profit // by the ledger of the live run
	trips      []view.ClosedPosition
	fills      []view.Fill
	result     *backtest.Result
	page       string // of the backtest's report
	comparison *replay.Outcome
}

const earning = `name: parity
strategy: sma_cross
market: %s
symbol: BTC-USDT
interval: 1m
size: {equity: 50%%}
params: {fast: 3, slow: 8, mode: %s}
backtest: {cash: 10000, fees: {maker: 0.0002, taker: 0.0005}, funding: 0.1%%}
`

// earn lets it trade across a funding payment, and keep a position at the end.
func earn(t *testing.T, market exchange.Market, mode string, count int) *earner {
	t.Helper()
	time.Sleep(6 * time.Hour)
	e := &earner{symbol: symbol(t, market, "0.1", "0.001")}
	e.candles = wave(e.symbol, time.Now().UnixMilli()+int64(exchange.Minute1), count)
	store := tape.Store{Directory: t.TempDir()}
	if _, err := store.Save(e.symbol, e.candles, false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "parity.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, earning, market, mode), 0o600); err != nil {
		t.Fatal(err)
	}
	options := configs.Options{Registry: strategy.NewRegistry(library.All()...), Symbols: []*exchange.Symbol{e.symbol}}
	given, problems := configs.LoadStrategyWith(path, nil, options)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	e.given, e.files = given, inputs.Files{Recorded: store.Directory, Options: func() configs.Options { return options }, Load: loadCandles}
	files := e.files
	files.Loaded = []*configs.StrategyConfig{e.given}
	config, err := files.Config()
	if err != nil {
		t.Fatal(err)
	}
	e.result = mustRun(t, config)
	var page strings.Builder
	if err := report.Write(&page, e.result, []report.Source{{Symbol: e.symbol, Candles: e.candles}}, nil); err != nil {
		t.Fatal(err)
	}
	e.page = page.String()
	e.trade(t, &config)
	e.follow(t)
	return e
}

func loadCandles(path string, symbol *exchange.Symbol, interval exchange.Interval, _ bool) (*tape.Tape, error) {
	return tape.LoadCandles(path, symbol, interval, tape.Options{})
}

// trade lets the live driver trade, and values the position at the last close, as the backtest does.
func (e *earner) trade(t *testing.T, config *backtest.Config) {
	t.Helper()
	untilMS := e.candles.CloseMS(e.candles.Len() - 1)
	leg, history := &config.Legs[0], view.NewHistory()
	history.Follow(func(exchange.SymbolKey) (*exchange.Symbol, bool) { return e.symbol, true }, func(string, any) {})
	_, status := runBooked(t, e.symbol, e.candles, &story{untilMS: untilMS}, untilMS,
		func(t *testing.T, symbol *exchange.Symbol) engine.StrategyConfig {
			live := leg.Strategy
			live.Symbol = symbol
			var err error
			if live.Strategy, err = leg.Make(leg.Tape); err != nil {
				t.Fatal(err)
			}
			return live
		}, config.Costs.Funding, booked{history})
	status.Strategies[0].Last = e.candles.Close[e.candles.Len()-1]
	e.made = profit.Of(&status)["parity"]
	all := view.Page{Limit: math.MaxInt}
	e.trips, _ = history.RoundTrips(all, func(string, string, string) bool { return true })
	e.fills, _ = history.Fills(all, func(*view.Fill) bool { return true })
}

// follow compares the trades with a backtest, as botd parity does.
func (e *earner) follow(t *testing.T) {
	t.Helper()
	r := &replay.Replay{Strategy: *e.given, Files: e.files, Traded: replay.Traded{Fills: e.fills, Trips: e.trips,
		Equity: func(int64) (view.EquitySeries, error) { return view.EquitySeries{}, nil }}}
	var err error
	if e.comparison, err = r.Run(t.Context(), backtest.Run); err != nil {
		t.Fatal(err)
	}
}

// TestOneProfitInReportAndParity lets a strategy trade over the same candles live and in a backtest, on both markets, with fees, funding
// and, on spot, fees in the bought asset. Realized, unrealized, net, fees and funding of the report, its page and the parity report
// equal those in the live ledger.
func TestOneProfitInReportAndParity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		market exchange.Market
		mode   string
		count  int
	}{{exchange.Futures, "long_short", 200}, {exchange.Spot, "long_only", 191}} {
		t.Run(c.market.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := earn(t, c.market, c.mode, c.count)
				e.wantReport(t)
				e.wantTrips(t)
				e.wantParity(t)
			})
		})
	}
}

// alike expects two figures to be equal to a thousand millionth.
func alike(t *testing.T, what string, want exchange.Amount, have float64) {
	t.Helper()
	if math.Abs(want.Float()-have) > 1e-9*max(1, math.Abs(want.Float())) {
		t.Errorf("%s: want %s, have %v", what, want, have)
	}
}

func (e *earner) wantReport(t *testing.T) {
	t.Helper()
	r, m := e.result, &e.made
	if m.Unrealized.IsZero() || m.Fees.IsZero() || m.Funding.IsZero() != (e.symbol.Market == exchange.Spot) || len(e.trips) < 10 {
		t.Fatalf("want something held, fees, funding and round trips, have %+v and %d", *m, len(e.trips))
	}
	alike(t, "what was made", m.Net.Add(m.Unrealized), number(r.FinalEquity)-number(r.InitialEquity))
	alike(t, "fees", m.Fees, number(r.TotalFees))
	alike(t, "funding", m.Funding, number(r.TotalFunding))
	alike(t, "without costs", m.Realized.Add(m.Unrealized), number(r.Figures.Gross))
	for _, figure := range []exchange.Amount{m.Net.Add(m.Unrealized), m.Realized.Add(m.Unrealized), m.Fees} {
		if want := fmt.Sprintf("%.2f", figure.Float()); !strings.Contains(e.page, want) {
			t.Errorf("want %s on the page", want)
		}
	}
}

// wantTrips compares round trips one by one. If a futures position is reversed while funding is paid, it is unknown to which side
// the payment belongs.
func (e *earner) wantTrips(t *testing.T) {
	t.Helper()
	if len(e.trips) != len(e.result.Trips) {
		t.Fatalf("want %d round trips, have %d", len(e.trips), len(e.result.Trips))
	}
	var realized, funding exchange.Amount
	for i := range e.trips {
		live, tested := &e.trips[len(e.trips)-1-i], &e.result.Trips[i]
		what, gained, paid := fmt.Sprintf("round trip %d: ", i), exchange.MustAmount(live.Realized), exchange.MustAmount(live.Fees)
		alike(t, what+"fees", paid, number(tested.Fees))
		alike(t, what+"net but for funding", gained.Sub(paid), number(tested.PNL)+number(tested.Funding))
		alike(t, what+"net", exchange.MustAmount(live.PNL), number(live.Realized)-number(live.Fees)-number(live.Funding))
		realized, funding = realized.Add(gained), funding.Add(exchange.MustAmount(live.Funding))
	}
	alike(t, "realized by round trips", e.made.Realized, realized.Float())
	alike(t, "funding of round trips", e.made.Funding, funding.Float())
}

func (e *earner) wantParity(t *testing.T) {
	t.Helper()
	answer := e.comparison.Answer
	live, tested := answer.LiveCurve.Profit, answer.Curve.Profit
	made := e.made.Net.Add(e.made.Unrealized).Float()
	for what, have := range map[string]float64{"live": live[len(live)-1], "backtest": tested[len(tested)-1]} {
		if math.Abs(have-made) > 0.005 { // the backtest's figure is rounded
			t.Errorf("the curve of %s ends at %g, want %g", what, have, made)
		}
	}
	var net, fees float64
	for i := range e.trips {
		net, fees = net+number(e.trips[i].PNL), fees+number(e.trips[i].Fees)
	}
	for what, pair := range map[string][2]float64{"net live": {net, answer.LivePNL}, "net": {net, answer.BacktestPNL},
		"fees live": {fees, answer.LiveFees}, "fees": {fees, answer.BacktestFees}} {
		if math.Abs(pair[0]-pair[1]) > 1e-6 {
			t.Errorf("round trips, %s: want %g, have %g", what, pair[0], pair[1])
		}
	}
}
