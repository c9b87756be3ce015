package tryout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/backtest/inputs"
	"botd/backtest/resultstore"
	"botd/backtest/sweeps"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// Try is one strategy on one file of candles.
type Try struct {
	Data   string // the candles
	Symbol string // empty for the one in the name of Data, or else that of the strategy's file
	Out    string // directory of everything that is written
	Read   func(symbol *exchange.Symbol) (*tape.Tape, error)
	Files  inputs.Files // with its functions; Prepare sets the rest

	Guessed []string // what the files do not contain, as a person reads it

	strategy string // the file to run
	recorded *tape.Tape
}

func (t *Try) guess(format string, arguments ...any) {
	t.Guessed = append(t.Guessed, fmt.Sprintf(format, arguments...))
}

// Prepare finds the strategy, reads the candles, and sets the files of the backtest.
func (t *Try) Prepare(file string) error {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	t.Out = cmp.Or(t.Out, filepath.Join("try", name))
	if err := os.MkdirAll(t.Out, 0o700); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	if t.strategy = file; filepath.Ext(file) == ".star" {
		if err := t.wrap(file, name); err != nil {
			return err
		}
	}
	var head struct{ Market, Symbol, Interval string }
	text, err := os.ReadFile(t.strategy)
	if err != nil {
		return failure.Wrap(failure.NoInput, err)
	}
	_ = yaml.Unmarshal(text, &head) // loading the file reports its errors with their lines
	switch found := symbolOf(t.Data); {
	case t.Symbol != "":
	case found != "":
		t.Symbol = found
		t.guess("the file's name contains %s", found)
	default:
		t.Symbol = head.Symbol
		t.guess("the file's name contains no symbol: botd uses %s, from the strategy's file; --symbol sets another", head.Symbol)
	}
	instrument, err := inputs.Instrument(cmp.Or(head.Market, "futures"), t.Symbol)
	if err != nil {
		return err
	}
	if t.recorded, err = t.Read(instrument); err != nil {
		return err
	}
	return t.convert(instrument, head.Symbol, head.Interval)
}

// wrap writes a strategy file for a script, with a copy of the script next to it.
func (t *Try) wrap(script, name string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return failure.Wrap(failure.NoInput, err)
	}
	copied := filepath.Join(t.Out, filepath.Base(script))
	t.strategy = filepath.Join(t.Out, "strategy.yaml")
	symbol := cmp.Or(t.Symbol, symbolOf(t.Data), "BTC-USDT")
	made := fmt.Sprintf("name: %s\nstrategy: script\nfile: %s\nmarket: futures\nsymbol: %s\ninterval: 1h\nleverage: 1\nsize: {equity: 50%%}\n",
		name, filepath.Base(script), symbol)
	t.guess("the script has no strategy file: it trades futures with 50 %% of equity at leverage 1 (%s)", t.strategy)
	return failure.Wrap(failure.IO, errors.Join(os.WriteFile(copied, text, 0o600), os.WriteFile(t.strategy, []byte(made), 0o600)))
}

// convert converts the candles to the symbol and the interval of the strategy, and writes them in botd's own layout.
func (t *Try) convert(instrument *exchange.Symbol, symbol, interval string) error {
	if t.recorded.Candles.Len() == 0 {
		return failure.New(failure.Data, "", "%s has no candles", t.Data)
	}
	t.guess("%d candles of %s in %s", t.recorded.Candles.Len(), t.recorded.Candles.Interval, filepath.Base(t.Data))
	t.Files.Override = map[string]string{}
	if t.Symbol != symbol {
		t.Files.Override["symbol"] = t.Symbol
		t.guess("the strategy's file has %s: it runs on %s", symbol, t.Symbol)
	}
	if err := t.resample(interval); err != nil {
		return err
	}
	if _, known := exchange.FindSymbol(sim.DefaultSymbols(), instrument.Market, t.Symbol); !known {
		ticks := ticksOf(t.recorded)
		t.guess("botd does not know %s: it assumes a price tick of %s, a quantity step of %s and a minimum notional of 5 USDT", t.Symbol,
			ticks.Price, ticks.Quantity)
		t.Files.Symbols = filepath.Join(t.Out, "symbols.yaml")
		if err := os.WriteFile(t.Files.Symbols, []byte(ticks.record(t.Symbol)), 0o600); err != nil {
			return failure.Wrap(failure.IO, err)
		}
	}
	candles := filepath.Join(t.Out, "candles.csv.gz")
	t.Files.StrategyFiles, t.Files.Data = []string{t.strategy}, []string{candles}
	return failure.Wrap(failure.IO, tape.WriteFile(candles, t.recorded.Candles, t.recorded.Symbol, func(int, int) error { return nil }))
}

// resample converts finer candles to the strategy's interval, and otherwise tries the strategy on the existing interval.
func (t *Try) resample(interval string) error {
	have := t.recorded.Candles.Interval
	want, err := exchange.ParseInterval(interval)
	switch {
	case err != nil || want == have:
		return nil
	case want > have && want%have == 0:
		coarse, _, err := tape.Resample(t.recorded.Candles, want)
		if err != nil {
			return failure.Wrap(failure.Data, err)
		}
		t.recorded.Candles = coarse
		t.guess("the strategy decides on %s: they were aggregated to %d such candles", want, coarse.Len())
	default:
		t.Files.Override["interval"] = have.String()
		t.guess("the strategy's file has %s: it runs on %s", want, have)
	}
	return nil
}

// Neighbors tries parameter values near the given ones; nil for a strategy without numbers.
func (t *Try) Neighbors(ctx context.Context) (*resultstore.Sweep, error) {
	given, err := t.given()
	if err != nil {
		return nil, err
	}
	definition, known := given.Definition()
	if !known {
		return nil, nil
	}
	spec := sweeps.Spec{Search: sweeps.Grid, Sort: "profit", Vary: vary(definition.Parameters, given.Params)}
	if len(spec.Vary) == 0 {
		t.guess("no settings were varied: it has no numeric parameters")
		return nil, nil
	}
	plan, trials, err := sweeps.Prepare(&spec, new(t.Files))
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx, trials, plan.Here(trials), nil, func(int, int) {})
}

// given is the tried strategy.
func (t *Try) given() (*configs.StrategyConfig, error) {
	symbols, err := t.Files.Instruments()
	if err != nil {
		return nil, err
	}
	given, _, err := t.Files.Strategies(symbols)
	if err != nil {
		return nil, err
	}
	return given[0], nil
}
