// Package runner runs the dashboard's backtests in the trading process, without delaying it.
package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/parity"
	"botd/backtest/replay"
	"botd/backtest/report"
	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/moment"
	"botd/internal/version"
	"botd/runtime/api"
	"botd/strategy"
	"botd/strategy/library"
)

// Limits of backtests from the dashboard, which run in the trading process.
const (
	MaxCandles    = 1_000_000 // of one run: about 100 MB
	madeUpCandles = 10_000    // default number of candles of a generated market
	maxFills      = 200_000   // of one run
	maxFiles      = 1_000     // in the list
	maxDepth      = 4         // folders below data_dir/candles
	columnRuns    = 3         // of backtest.RunColumns
	studyRuns     = 8         // of backtest.RunStudy: three under other costs, one complete, four on truncated data
	madeUpFrom    = "2024-01-01"
	FundingName   = "funding.csv" // in the folder of recorded candles
)

// Runner runs backtests of the configured strategies while botd trades. One goroutine runs them, and pauses
// for as long as it works.
type Runner struct {
	Current  func() *configs.Config
	Symbols  func() []*exchange.Symbol
	Recorded string // the folder of the daemon's recorded data
	Traded   func(strategy string) replay.Traded
}

// The folders with files of candles, as prefixes of file names.
const (
	storeFolder    = "candles"
	recordedFolder = tape.RecordedFolder
)

// folders returns the paths of these folders.
func (l *Runner) folders() map[string]string {
	return map[string]string{storeFolder: filepath.Join(l.Current().DataDir, "candles"), recordedFolder: l.Recorded}
}

// Path returns the path of a listed file.
func (l *Runner) Path(file string) string {
	folder, name, _ := strings.Cut(file, "/")
	return filepath.Join(l.folders()[folder], filepath.FromSlash(name))
}

// Choices lists the configured strategies, and the files of candles.
func (l *Runner) Choices() api.BacktestChoices {
	out := api.BacktestChoices{MaxCandles: MaxCandles, Files: l.files()}
	config := l.Current()
	for i := range config.Strategies {
		c := &config.Strategies[i]
		one := api.RunnableStrategy{Name: c.Name, Strategy: c.Kind, Market: c.Market.String(), Symbol: c.Symbol, Interval: c.Interval.String(),
			Params: []api.StrategyParameter{}}
		if definition, known := c.Definition(); known {
			for _, p := range definition.Parameters {
				value, given := c.Params[p.Name]
				if !given {
					value = p.Default
				}
				one.Params = append(one.Params, api.StrategyParameter{Name: p.Name, Value: value, Help: p.Help})
			}
		}
		out.Strategies = append(out.Strategies, one)
	}
	return out
}

// files lists the files of candles in both folders. Only listed files are ever opened, so no name leads out of them;
// links are not followed.
func (l *Runner) files() []api.CandleFile {
	files := []api.CandleFile{}
	for _, folder := range []string{recordedFolder, storeFolder} {
		files = candlesBelow(files, folder, l.folders()[folder])
	}
	return files
}

func candlesBelow(files []api.CandleFile, folder, root string) []api.CandleFile {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error { // unreadable files are not listed
		name, outside := filepath.Rel(root, path)
		switch {
		case err != nil || outside != nil:
			return nil
		case len(files) == maxFiles:
			return fs.SkipAll
		case entry.IsDir() && strings.Count(filepath.ToSlash(name), "/") >= maxDepth:
			return fs.SkipDir
		case !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") || entry.Name() == FundingName || !candleFile(name):
			return nil
		}
		about, err := entry.Info()
		if err != nil {
			return nil
		}
		one := api.CandleFile{File: folder + "/" + filepath.ToSlash(name), Bytes: about.Size()}
		if parts := strings.Split(filepath.ToSlash(name), "/"); len(parts) == 3 { // the layout of the store
			stem, _, _ := strings.Cut(parts[2], ".")
			_, bad := exchange.ParseMarket(parts[0])
			if interval, wrong := exchange.ParseInterval(stem); bad == nil && wrong == nil {
				one.Market, one.Symbol, one.Interval = parts[0], parts[1], interval.String()
			}
		}
		files = append(files, one)
		return nil
	})
	return files
}

func candleFile(name string) bool {
	return slices.ContainsFunc([]string{".csv", ".csv.gz", ".csv.zip", ".zip", ".parquet"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// planned is a backtest request that passed the checks.
type planned struct {
	request      *api.BacktestRequest
	strategy     *configs.StrategyConfig
	symbol       *exchange.Symbol
	config       *configs.Config
	symbols      []*exchange.Symbol // known to the exchange
	path         string             // of the file; empty for a generated market
	fromMS, toMS int64              // of a file; 0 for its ends
	candles      int                // of a generated market
}

// Plan describes the run of a request.
func (l *Runner) Plan(request *api.BacktestRequest) ([]string, error) {
	t, err := l.trial(request)
	if err != nil {
		return nil, err
	}
	c := t.strategy
	over := fmt.Sprintf("%d candles of a made-up market (seed %d) from %s", t.candles, request.Seed, moment.Minute(t.fromMS))
	if t.path != "" {
		over = request.File
		if t.fromMS != 0 {
			over += " from " + moment.Minute(t.fromMS)
		}
		if t.toMS != 0 {
			over += " to " + moment.Minute(t.toMS)
		}
	}
	does := []string{fmt.Sprintf("runs %s (%s) on %s %s, %s candles, over %s", c.Name, c.Kind, c.Market, c.Symbol, c.Interval, over)}
	for _, p := range slices.Sorted(maps.Keys(request.Params)) {
		does = append(does, fmt.Sprintf("with %s = %s", p, c.Params[p]))
	}
	does = append(does, fmt.Sprintf("with %s USDT, the account's limits, and the costs of the strategy's backtest block", c.Backtest.Cash),
		fmt.Sprintf("in botd's own process, alongside trading, limited to half a core, one hour, %d candles and %d fills", MaxCandles, maxFills))
	if request.Study {
		does = append(does, "and again under worse conditions: a study of how reliable it is")
	}
	return append(does, "its report is saved as "+request.Name), nil
}

// trial completes and validates a request.
func (l *Runner) trial(request *api.BacktestRequest) (*planned, error) {
	t := &planned{request: request, config: l.Current()}
	given := t.config.Strategy(request.Strategy)
	if given == nil {
		return nil, fmt.Errorf("there is no strategy %q", request.Strategy)
	}
	definition, _ := given.Definition()
	for name := range request.Params {
		if !slices.ContainsFunc(definition.Parameters, func(p strategy.Parameter) bool { return p.Name == name }) {
			return nil, fmt.Errorf("%s takes no parameter %q", given.Kind, name)
		}
	}
	t.strategy = given.With(request.Params)
	t.symbols = l.Symbols()
	symbol, found := exchange.FindSymbol(t.symbols, given.Market, given.Symbol)
	if !found {
		return nil, fmt.Errorf("the exchange has no %s symbol %s now", given.Market, given.Symbol)
	}
	t.symbol = sim.WithBrackets(symbol)
	if _, err := t.strategy.Build(t.symbol); err != nil {
		return nil, err
	}
	return t, t.data(l)
}

// data finds the candles.
func (t *planned) data(l *Runner) (err error) {
	request := t.request
	for _, end := range []struct {
		name, text string
		to         *int64
	}{{"from", request.From, &t.fromMS}, {"to", request.To, &t.toMS}} {
		if end.text == "" {
			continue
		}
		if *end.to, err = moment.Parse(end.name, end.text); err != nil {
			return err
		}
	}
	if t.toMS != 0 && t.toMS <= t.fromMS {
		return fmt.Errorf("to %s is not after from %s", request.To, request.From)
	}
	if request.File != "" {
		if !slices.ContainsFunc(l.files(), func(f api.CandleFile) bool { return f.File == request.File }) {
			return fmt.Errorf("file %q is not in the list of files", request.File)
		}
		t.path = l.Path(request.File)
		return nil
	}
	if t.candles = request.Candles; t.candles == 0 {
		t.candles = madeUpCandles
	}
	switch {
	case t.candles < 1 || t.candles > MaxCandles:
		return fmt.Errorf("candles %d: from 1 to %d", t.candles, MaxCandles)
	case request.To != "":
		return errors.New("to applies to a file: a generated market has the requested number of candles")
	case t.fromMS == 0:
		t.fromMS, err = moment.Parse("from", madeUpFrom)
	}
	return err
}

// Run runs one backtest in three columns and writes its report.
func (l *Runner) Run(ctx context.Context, request *api.BacktestRequest, directory string, progress func(string, float64)) error {
	t, err := l.trial(request)
	if err != nil {
		return err
	}
	// As on the command line, frequent garbage collection costs little, since candles hold no pointers. The memory of
	// a run is released at its end.
	defer debug.FreeOSMemory()
	defer backtest.CollectOften(0)()
	progress("reading", 0)
	recorded, file, err := t.load(func(done, total int64) { progress("reading", 0.02*float64(done)/float64(max(1, total))) })
	if err != nil {
		return err
	}
	config, err := t.backtest(recorded, file)
	if err != nil {
		return err
	}
	defer backtest.CollectOften(config.Candles())()
	p := &pace{rest: backtest.Rest(ctx), progress: progress, phase: "running", runs: columnRuns}
	if request.Study {
		p.runs += studyRuns
	}
	config.Pace = p.step
	result, err := backtest.RunColumns(ctx, config)
	if err != nil {
		return err
	}
	if request.Study {
		p.phase = "study"
		if result.Study, err = backtest.RunStudy(ctx, config, result); err != nil {
			return err
		}
	}
	progress("writing", 0.99)
	return report.WriteDirectory(directory, config, result, nil)
}

// Parity implements api.BacktestRunner.
func (l *Runner) Parity(ctx context.Context, name string, fromMS, toMS int64) (*parity.Parity, error) {
	config := l.Current()
	given := config.Strategy(name)
	if given == nil {
		return nil, fmt.Errorf("there is no strategy %q", name)
	}
	defer debug.FreeOSMemory()
	defer backtest.CollectOften(0)()
	files := inputs.Files{Limits: &config.Limits, Recorded: l.Recorded, Repair: true,
		Options: func() configs.Options { return configs.Options{Symbols: l.bracketed()} },
		Load: func(path string, symbol *exchange.Symbol, interval exchange.Interval, repair bool) (*tape.Tape, error) {
			return tape.LoadCandles(path, symbol, interval, tape.Options{MaxCandles: MaxCandles, Repair: repair})
		}}
	r := &replay.Replay{Strategy: *given, Files: files, FromMS: fromMS, ToMS: toMS, Traded: l.Traded(name)}
	outcome, err := r.Run(ctx, func(ctx context.Context, config backtest.Config) (*backtest.Result, error) {
		p := &pace{rest: backtest.Rest(ctx), progress: func(string, float64) {}, runs: 1}
		config.Pace, config.MaxFills = p.step, maxFills
		return backtest.Run(ctx, config)
	})
	if err != nil {
		return nil, err
	}
	return outcome.Answer, nil
}

// bracketed returns the exchange's symbols, each with margin brackets.
func (l *Runner) bracketed() (all []*exchange.Symbol) {
	for _, symbol := range l.Symbols() {
		all = append(all, sim.WithBrackets(symbol))
	}
	return all
}

// load reads the file, or generates the market.
func (t *planned) load(progress func(done, total int64)) (*tape.Tape, backtest.File, error) {
	if t.path == "" {
		made := &tape.Tape{Symbol: t.symbol, Candles: tape.Generate(t.request.Seed, t.symbol, t.strategy.Interval, t.fromMS, t.candles)}
		sum := sha256.New() // hash of the file that botd data generate would write
		if err := tape.WriteCSV(sum, made.Candles, made.Symbol, nil); err != nil {
			return nil, backtest.File{}, err
		}
		made.SHA256 = hex.EncodeToString(sum.Sum(nil))
		path := fmt.Sprintf("made up: botd data generate --market %s --symbol %s --interval %s --candles %d --seed %d --from %d",
			t.symbol.Market, t.symbol.Name, t.strategy.Interval, t.candles, t.request.Seed, t.fromMS)
		return made, backtest.File{Path: path, SHA256: made.SHA256}, nil
	}
	recorded, err := tape.LoadCandles(t.path, t.symbol, t.strategy.Interval, tape.Options{Progress: progress, MaxCandles: MaxCandles, Repair: t.grows()})
	if err != nil {
		return nil, backtest.File{}, err
	}
	candles := recorded.Candles
	from, _ := slices.BinarySearch(candles.OpenMS, t.fromMS)
	to := candles.Len()
	if t.toMS != 0 {
		to, _ = slices.BinarySearch(candles.OpenMS, t.toMS)
	}
	if from >= to {
		return nil, backtest.File{}, fmt.Errorf("%s has none from %s to %s: it holds %s to %s", t.request.File, t.request.From, t.request.To,
			moment.Minute(candles.OpenMS[0]), moment.Minute(candles.CloseMS(candles.Len()-1)))
	}
	recorded.Candles = candles.Slice(from, to)
	recorded.Holes = slices.DeleteFunc(recorded.Holes, func(h tape.Hole) bool {
		return h.BeforeMS <= candles.OpenMS[from] ||
			h.AfterMS >= candles.OpenMS[to-1]
	})
	return recorded, backtest.File{Path: t.path, SHA256: recorded.SHA256}, nil
}

// grows reports whether the daemon may be writing the file. Its last line may be incomplete.
func (t *planned) grows() bool { return strings.HasPrefix(t.request.File, recordedFolder+"/") }

// funding reads the rates in the folder of the candles, as the daemon records them.
func (t *planned) funding() ([]tape.FundingRow, []backtest.File, error) {
	rates := filepath.Join(filepath.Dir(t.path), FundingName)
	about, err := os.Lstat(rates)
	if t.path == "" || t.symbol.Market != exchange.Futures || err != nil || !about.Mode().IsRegular() {
		return nil, nil, nil
	}
	rows, err := tape.LoadFunding(rates)
	return tape.FundingOf(rows, t.symbol.Name), inputs.FundingFiles([]string{rates}), err
}

// others reads the candles of the other symbols that the strategy reads, from the folder of its own, or generates
// them.
func (t *planned) others(leg *backtest.Leg, input *backtest.Input) error {
	for i, key := range strategy.OthersOf(leg.Strategy.Strategy) {
		symbol, found := exchange.FindSymbol(t.symbols, key.Market, key.Name)
		if !found {
			return fmt.Errorf("the exchange has no symbol %s now, whose candles it reads", key)
		}
		if t.path == "" {
			candles := tape.Generate(t.request.Seed+1+uint64(i), symbol, t.strategy.Interval, t.fromMS, t.candles)
			leg.Strategy.Others = append(leg.Strategy.Others, strategy.Other{Symbol: symbol, Candles: candles})
			continue
		}
		path, err := OtherFile(t.request.File, t.path, key, t.strategy.Interval)
		if err != nil {
			return err
		}
		read, err := tape.LoadCandles(path, symbol, t.strategy.Interval, tape.Options{MaxCandles: MaxCandles, Repair: t.grows()})
		if err != nil {
			return fmt.Errorf("it reads candles of %s: %w", key, err)
		}
		leg.Strategy.Others = append(leg.Strategy.Others, strategy.Other{Symbol: read.Symbol, Candles: read.Candles})
		input.Others = append(input.Others, backtest.OtherFile{Symbol: key.String(), File: backtest.File{Path: path, SHA256: read.SHA256}})
	}
	return nil
}

// OtherFile returns the file of another symbol's candles, next to a listed file of a strategy's own.
func OtherFile(listed, path string, key exchange.SymbolKey, interval exchange.Interval) (string, error) {
	if strings.Count(listed, "/") < 3 { // above it are folders that are not listed
		return "", fmt.Errorf("it reads candles of %s, and %s is in no folder MARKET/SYMBOL next to which they could be", key, listed)
	}
	other := tape.Store{Directory: filepath.Dir(filepath.Dir(filepath.Dir(path)))}.Path(key.Market, key.Name, interval)
	if about, err := os.Lstat(other); err != nil || !about.Mode().IsRegular() {
		return "", fmt.Errorf("it reads candles of %s, and there is no file %s", key, other)
	}
	return other, nil
}

// backtest combines the strategy with its candles.
func (t *planned) backtest(recorded *tape.Tape, file backtest.File) (backtest.Config, error) {
	c, limits := t.strategy, t.config.Limits
	input := backtest.Input{Name: c.Name, File: filepath.ToSlash(c.File), YAML: c.Effective(), Data: file}
	input.Script = backtest.NewScript(c.Script.File, c.Script.Text, c.Script.Libraries)
	leg := backtest.Leg{Kind: c.Kind, Tape: recorded, Plots: library.PlotsOf(c.Kind, c.Script.Text, c.Params),
		Make: func(over *tape.Tape) (strategy.Strategy, error) { return c.Build(over.Symbol) }}
	var err error
	if leg.Strategy, err = engineconfig.Strategy(c, recorded.Symbol); err != nil {
		return backtest.Config{}, err
	}
	if err := t.others(&leg, &input); err != nil {
		return backtest.Config{}, err
	}
	if leg.Funding, input.Funding, err = t.funding(); err != nil {
		return backtest.Config{}, err
	}
	config := backtest.Config{Legs: []backtest.Leg{leg}, Limits: limits, Version: version.Read().Version, InTurn: true, MaxFills: maxFills,
		Inputs: &backtest.Inputs{Limits: limits, AllColumns: true, Repair: t.grows(), Strategies: []backtest.Input{input}}}
	return config, inputs.ShareAccount(&config, []*configs.StrategyConfig{c})
}

// pace makes a run pause for as long as it works, so that it takes half a core at most, and reports its
// progress.
type pace struct {
	rest     func()
	progress func(string, float64)
	phase    string
	begun    int // runs
	runs     int // total
}

func (p *pace) step(done, total int) {
	if done == 0 {
		p.begun++
	}
	p.progress(p.phase, 0.02+0.97*(float64(p.begun-1)+float64(done)/float64(max(1, total)))/float64(p.runs))
	p.rest()
}
