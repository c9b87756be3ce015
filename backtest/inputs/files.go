// Package inputs reads a backtest's inputs: strategies, candles, funding rates, symbols.
package inputs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"botd/backtest"
	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/internal/version"
	"botd/risk"
	"botd/strategy"
	"botd/strategy/library"
)

// Files are the inputs of a backtest.
type Files struct {
	Loaded                []*configs.StrategyConfig // strategies that are loaded already
	Limits                *risk.Limits              // of the account; nil for none
	StrategyFiles         []string
	Directory             string
	Data, Funding, Detail []string
	Symbols               string
	Signals, Columns      []string // external series
	Trades                []string // recorded trades
	Recorded              string
	foundSignals          bool // the signals are those in Recorded
	Repair                bool
	From, To              string // the part of the candles; empty for all
	fromMS, toMS          int64
	Override              map[string]string // keys of the strategies' files with overriding values

	Options func() configs.Options // options for reading strategies
	Load    Loader
	Store   func() string // the directory of the candle store, which may hold finer candles; nil for none
}

// Loader reads a file of candles.
type Loader func(path string, symbol *exchange.Symbol, interval exchange.Interval, repair bool) (*tape.Tape, error)

// times parses the requested part of the candles.
func (b *Files) times() (err error) {
	if b.From != "" {
		if b.fromMS, err = moment.Parse("--from", b.From); err != nil {
			return err
		}
	}
	if b.To != "" {
		if b.toMS, err = moment.Parse("--to", b.To); err != nil {
			return err
		}
		if b.toMS <= b.fromMS {
			return failure.Usagef("--to %s is not after --from %s", b.To, b.From)
		}
	}
	return nil
}

// Config reads strategies, symbols, candles and funding.
func (b *Files) Config() (backtest.Config, error) {
	if len(b.StrategyFiles) == 0 && b.Directory == "" && len(b.Loaded) == 0 || len(b.Data) == 0 && b.Recorded == "" {
		return backtest.Config{}, failure.Usagef("a backtest needs -s STRATEGY.yaml and --data FILE, or --recorded DIR")
	}
	if err := b.times(); err != nil {
		return backtest.Config{}, err
	}
	symbols, err := b.Instruments()
	if err != nil {
		return backtest.Config{}, err
	}
	if err := b.outside(); err != nil {
		return backtest.Config{}, err
	}
	given, limits, err := b.Strategies(symbols)
	if err != nil {
		return backtest.Config{}, err
	}
	return b.legs(symbols, given, limits)
}

// Strategies loads the strategies. From a directory it also loads the account's limits.
func (b *Files) Strategies(symbols []*exchange.Symbol) ([]*configs.StrategyConfig, risk.Limits, error) {
	given, limits := slices.Clone(b.Loaded), risk.Limits{}
	if b.Limits != nil {
		limits = *b.Limits
	}
	if b.Directory != "" {
		settings := b.Options()
		settings.Symbols = symbols
		config, problems := configs.LoadDirectory(b.Directory, settings)
		if err := problems.Err(); err != nil {
			return nil, limits, failure.New(failure.Config, "", "%s", problems.String())
		}
		for i := range config.Strategies {
			given = append(given, &config.Strategies[i])
		}
		limits = config.Limits
	}
	for _, file := range b.StrategyFiles {
		c, err := b.loadStrategy(file, symbols)
		if err != nil {
			return nil, limits, err
		}
		given = append(given, c)
	}
	return given, limits, nil
}

func (b *Files) loadStrategy(file string, symbols []*exchange.Symbol) (*configs.StrategyConfig, error) {
	settings := b.Options()
	settings.Symbols = symbols
	c, problems := configs.LoadStrategyWith(file, b.Override, settings)
	if err := problems.Err(); err != nil {
		code := failure.Config
		if _, missing := os.Stat(file); errors.Is(missing, os.ErrNotExist) {
			code = failure.NoInput
		}
		return nil, failure.New(code, "", "%s", problems.String())
	}
	return c, nil
}

// assigned holds the files of each strategy: candles, finer candles and trades. It also holds the files whose candles
// belong to no strategy's own symbol.
type assigned struct {
	data, detail, trades []string
	others               []namedFile
}

// assigned gives each strategy its candles, its finer candles and its trades.
func (b *Files) assigned(given []*configs.StrategyConfig) (a assigned, err error) {
	if a.data, a.others, err = b.candles(given); err != nil {
		return a, err
	}
	for _, kind := range []struct {
		flag  string
		files []string
		into  *[]string
	}{{"--detail", b.Detail, &a.detail}, {"--trades", b.Trades, &a.trades}} {
		own, left, err := assign(kind.flag, kind.files, given, false)
		if err == nil {
			err = unclaimed(kind.flag, left)
		}
		if err != nil {
			return a, err
		}
		*kind.into = own
	}
	return a, nil
}

// legs combines each strategy with its files.
func (b *Files) legs(symbols []*exchange.Symbol, given []*configs.StrategyConfig, limits risk.Limits) (backtest.Config, error) {
	config := backtest.Config{Limits: limits, Version: version.Read().Version, Inputs: &backtest.Inputs{Repair: b.Repair, Limits: limits}}
	files, err := b.assigned(given)
	if err != nil {
		return config, err
	}
	mustBe := len(b.Funding) > 0 // recorded rates may begin later, or cover only some symbols
	if err := b.recordedRates(given); err != nil {
		return config, err
	}
	rows, err := b.rates(len(given) > 1)
	if err != nil {
		return config, err
	}
	if b.Symbols != "" {
		config.Inputs.Symbols = &backtest.File{Path: b.Symbols, SHA256: fileSHA(b.Symbols)}
	}
	for i, c := range given {
		if first := slices.IndexFunc(given, func(o *configs.StrategyConfig) bool { return o.Market == c.Market && o.Symbol == c.Symbol }); first < i {
			return config, failure.New(failure.Config, "as live, one strategy trades a symbol of a market; run them one by one",
				"%s and %s both trade %s %s", given[first].File, c.File, c.Market, c.Symbol)
		}
		leg, input, err := b.leg(symbols, c, files.data[i], files.detail[i], files.trades[i])
		if err != nil {
			return config, err
		}
		if c.Market == exchange.Futures && (len(rows) > 0 || mustBe) {
			leg.Funding = tape.FundingOf(rows, c.Symbol)
			if len(leg.Funding) == 0 && mustBe {
				return config, failure.New(failure.Data, "is it the right file?", "%s holds no funding rates of %s", strings.Join(b.Funding, ", "), c.Symbol)
			}
			input.Funding = FundingFiles(b.Funding)
		}
		if w, found := mismatch(files.data[i], leg.Tape.Symbol, symbols); found {
			config.Warnings = append(config.Warnings, w)
		}
		if leg.Detail != nil && files.detail[i] == "" {
			config.Warnings = append(config.Warnings, backtest.Warning{Code: backtest.DetailFound, Text: fmt.Sprintf(
				"%s decides between closes: the candles of %s in %s are its detail", c.Name, leg.Detail.Candles.Interval, input.Detail.Path)})
		}
		config.Warnings = append(config.Warnings, b.cautions(c.File, symbols)...)
		config.Legs, config.Inputs.Strategies = append(config.Legs, leg), append(config.Inputs.Strategies, input)
	}
	if err := b.others(symbols, given, &config, files.others); err != nil {
		return config, err
	}
	if err := ShareAccount(&config, given); err != nil {
		return config, err
	}
	var named []string
	for _, c := range given {
		named = append(named, c.ColumnPaths...)
	}
	if err := b.recordedSignals(); err != nil {
		return config, err
	}
	if err := b.signals(&config, named); err != nil {
		return config, err
	}
	config.Inputs.FromMS, config.Inputs.ToMS = b.fromMS, b.toMS
	if config, err = config.Within(b.fromMS, b.toMS); err != nil {
		return config, failure.Wrap(failure.Data, err)
	}
	return config, columnsElsewhere(&config)
}

// leg loads one strategy's candles.
func (b *Files) leg(symbols []*exchange.Symbol, c *configs.StrategyConfig, data, detail, trades string) (leg backtest.Leg, input backtest.Input, err error) {
	symbol, found := exchange.FindSymbol(symbols, c.Market, c.Symbol)
	if !found {
		return leg, input, failure.New(failure.Config, "--symbols FILE gives its ticks", "%s: no %s symbol %s is known", c.File, c.Market, c.Symbol)
	}
	recorded, err := b.load(data, symbol, c.Interval)
	if err != nil {
		return leg, input, err
	}
	leg = backtest.Leg{Kind: c.Kind, Tape: recorded, Plots: library.PlotsOf(c.Kind, c.Script.Text, c.Params)}
	input = backtest.Input{Name: c.Name, File: filepath.ToSlash(c.File), YAML: c.Effective(),
		Data: backtest.File{Path: data, SHA256: recorded.SHA256}}
	input.Script = backtest.NewScript(c.Script.File, c.Script.Text, c.Script.Libraries)
	if detail == "" {
		if detail, err = b.finer(c, recorded); err != nil {
			return leg, input, failure.Wrap(failure.IO, err)
		}
	}
	if detail != "" {
		if leg.Detail, err = b.Load(detail, recorded.Symbol, 0, b.Repair); err != nil {
			return leg, input, err
		}
		input.Detail = &backtest.File{Path: detail, SHA256: leg.Detail.SHA256}
		if leg.Detail.Symbol.PriceScale > recorded.Symbol.PriceScale { // load again with as many decimal places
			if leg.Tape, err = b.load(data, leg.Detail.Symbol, c.Interval); err != nil {
				return leg, input, err
			}
		}
	}
	if trades != "" {
		if leg.Trades, err = tape.LoadTrades(trades, leg.Tape.Symbol); err != nil {
			return leg, input, tape.Failure(err)
		}
		input.Trades = &backtest.File{Path: trades, SHA256: fileSHA(trades)}
	}
	leg.Strategy, err = engineconfig.Strategy(c, leg.Tape.Symbol)
	leg.Make = func(over *tape.Tape) (strategy.Strategy, error) { return c.Build(over.Symbol) }
	return leg, input, err
}

// load reads candles of an interval, or builds them from a file of finer ones.
func (b *Files) load(path string, symbol *exchange.Symbol, interval exchange.Interval) (*tape.Tape, error) {
	recorded, err := b.Load(path, symbol, interval, b.Repair)
	var wrong *tape.DataError
	if !errors.As(err, &wrong) || wrong.Finer == 0 {
		return recorded, err
	}
	if recorded, err = b.Load(path, symbol, wrong.Finer, b.Repair); err != nil {
		return nil, err
	}
	return longer(recorded, interval)
}

// longer returns the candles of a longer interval.
func longer(fine *tape.Tape, interval exchange.Interval) (*tape.Tape, error) {
	made, _, err := tape.Resample(fine.Candles, interval)
	if err != nil {
		return nil, failure.Wrap(failure.Data, err)
	}
	all := *fine
	all.Candles, all.Finer = made, cmp.Or(fine.Finer, fine.Candles.Interval)
	return &all, nil
}

// ShareAccount copies the settings of the one account from the strategies, which must agree.
func ShareAccount(config *backtest.Config, given []*configs.StrategyConfig) error {
	first := given[0].Backtest
	config.Cash, config.RiskFree = first.Cash, first.RiskFree
	config.Costs = backtest.Costs{Slippage: first.Slippage, Impact: first.Impact, VolumeCap: first.VolumeCap, LatencyMS: first.LatencyMS,
		Path: pathOrders[first.Path], Through: first.Resting == "through", Queue: first.Queue, Funding: first.Funding}
	fees, hashes := map[exchange.Market]backtest.Fees{}, ""
	for _, c := range given {
		own := c.Backtest
		hashes += c.Hash() + "\n"
		its := backtest.Fees{Maker: own.Maker, Taker: own.Taker}
		of, known := fees[c.Market]
		own.Maker, own.Taker = first.Maker, first.Taker
		if own != first || known && of != its {
			return failure.New(failure.Config, "give every strategy the same backtest block",
				"%s: its backtest block differs from %s's, but there is only one account", c.File, given[0].File)
		}
		fees[c.Market] = its
	}
	config.Costs.Futures, config.Costs.Spot = fees[exchange.Futures], fees[exchange.Spot]
	config.ConfigSHA256 = given[0].Hash()
	if len(given) > 1 || config.Limits != (risk.Limits{}) {
		sum := sha256.Sum256([]byte(hashes + fmt.Sprintf("%+v", config.Limits)))
		config.ConfigSHA256 = hex.EncodeToString(sum[:])
	}
	return nil
}

var pathOrders = map[string]sim.PathOrder{"worst": sim.Worst, "direction": sim.ByDirection, "low_first": sim.LowFirst, "high_first": sim.HighFirst,
	"best": sim.Best}

// assign gives each strategy its file: FILE by order, or SYMBOL=FILE, or NAME=FILE. It also returns the named files
// that belong to no strategy.
func assign(flag string, files []string, given []*configs.StrategyConfig, all bool) (own []string, left []namedFile, err error) {
	own = make([]string, len(given))
	plain := 0
	for _, word := range files {
		file, named := cutNamed(word)
		if _, err := os.Stat(word); err == nil || !named {
			if plain >= len(given) {
				return nil, nil, failure.Usagef("%s %s: there are more files than strategies (%d)", flag, word, len(given))
			}
			own[plain] = word
			plain++
			continue
		}
		used := false
		for i, c := range given {
			if c.Name == file.name || c.Symbol == file.name {
				own[i], used = file.path, true
			}
		}
		if !used {
			left = append(left, file)
		}
	}
	for i, c := range given {
		if own[i] == "" && all {
			return nil, nil, failure.Usagef("%s: strategy %s (%s) has no candles; give %s %s=FILE", flag, c.Name, c.Symbol, flag, c.Name)
		}
	}
	return own, left, nil
}

func (b *Files) Instruments() ([]*exchange.Symbol, error) {
	if b.Symbols == "" {
		return b.Options().Symbols, nil
	}
	return Symbols(b.Symbols)
}

// Symbols reads a file of symbol records, for both markets.
func Symbols(path string) ([]*exchange.Symbol, error) {
	given, err := tape.LoadSymbols(path)
	if err != nil {
		return nil, tape.Failure(err)
	}
	for i := range given {
		given[i] = sim.WithBrackets(given[i])
	}
	return given, nil
}

// rates reads all funding files.
func (b *Files) rates(several bool) ([]tape.FundingRow, error) {
	var all []tape.FundingRow
	for _, path := range b.Funding {
		rows, err := tape.LoadFunding(path)
		if err != nil {
			return nil, tape.Failure(err)
		}
		if len(rows) > 0 && rows[0].Symbol == "" && several {
			return nil, failure.New(failure.Data, "botd data funding import "+path+" --symbol SYMBOL puts it where its symbol is known",
				"%s does not name its symbol, and several symbols are traded", path)
		}
		all = append(all, rows...)
	}
	return all, nil
}

func FundingFiles(paths []string) []backtest.File {
	var files []backtest.File
	for _, path := range paths {
		files = append(files, backtest.File{Path: path, SHA256: fileSHA(path)})
	}
	return files
}

// fileSHA returns the SHA-256 of a file that was just read, or an empty string if the file is missing.
func fileSHA(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
