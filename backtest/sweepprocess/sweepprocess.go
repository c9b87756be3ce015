// Package sweepprocess runs the dashboard's sweeps in their own processes, which never delay trading.
//
// Each process runs this binary as botd sweep, with no secret in its environment, the lowest
// priority and a memory limit, and ends with botd. Apart from the candles, it reads all its
// inputs from the directory of the sweeps.
package sweepprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"botd/backtest/inputs"
	"botd/backtest/runner"
	"botd/backtest/sweeps"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/moment"
	"botd/internal/privatefile"
	"botd/runtime/api"
	"botd/strategy"
)

// MemoryMB bounds the data of a process.
const MemoryMB = 512

// startedFolder holds the files made for a sweep, within the directory of the sweeps.
const startedFolder = ".started"

// Sweeps runs the sweeps of one directory.
type Sweeps struct {
	Runner    *runner.Runner // knows the strategies, the symbols and the files of candles
	Directory string
}

var _ api.Sweeper = (*Sweeps)(nil)

// planned is a sweep request that passed the checks.
type planned struct {
	given    *api.SweepRequest
	strategy *configs.StrategyConfig
	symbols  []*exchange.Symbol // its own, and those whose candles it reads
	others   []string           // SYMBOL=FILE
	path     string             // of the candles
	plan     *sweeps.Plan
}

// Plan implements api.Sweeper.
func (s *Sweeps) Plan(given *api.SweepRequest) ([]string, error) {
	p, err := s.planned(given)
	if err != nil {
		return nil, err
	}
	c := p.strategy
	does := []string{
		fmt.Sprintf("tries settings of %s (%s) on %s %s over %s: %s", c.Name, c.Kind, c.Market, c.Symbol, given.File, strings.Join(given.Vary, ", ")),
		fmt.Sprintf("%s search, ranked by %s, at most %d trials", given.Search, given.Sort, p.trials()),
	}
	if given.Split == "" {
		does = append(does, "the ranking uses all candles: with a split, the candles after it would show whether the ranking persists")
	}
	return append(does, fmt.Sprintf("in its own process with the lowest priority, on half of botd's processors, each for half of the time, "+
		"with at most %d MB", MemoryMB), "its trials are saved as "+given.Name+", each as it ends"), nil
}

// trials returns the maximum number of trials of the sweep.
func (p *planned) trials() int {
	if p.given.Search != sweeps.Grid {
		if p.given.Trials == 0 {
			return sweeps.DefaultTrials
		}
		return p.given.Trials
	}
	all := 1
	for _, axis := range p.plan.Axes() {
		if all *= len(axis.Values); all > api.MaxSweepTries {
			break
		}
	}
	if p.given.Trials > 0 {
		return min(all, p.given.Trials)
	}
	return all
}

// planned completes and validates a request.
func (s *Sweeps) planned(given *api.SweepRequest) (*planned, error) {
	p := &planned{given: given, strategy: s.Runner.Current().Strategy(given.Strategy)}
	if p.strategy == nil {
		return nil, fmt.Errorf("there is no strategy %q", given.Strategy)
	}
	split, err := sweeps.ParseSplit(given.Split)
	if err != nil {
		return nil, plain(err)
	}
	if p.plan, err = sweeps.NewPlan(&sweeps.Spec{Vary: given.Vary, Where: given.Where, Require: given.Require, Search: given.Search, Trials: given.Trials,
		Seed: given.Seed, Sort: given.Sort}, split); err != nil {
		return nil, plain(err)
	}
	for _, axis := range p.plan.Axes() {
		if err := inputs.CheckAxis(p.strategy, axis.Name); err != nil {
			return nil, plain(err)
		}
		if given.Search == sweeps.Grid && len(axis.Values) == 0 {
			return nil, fmt.Errorf("%s: a grid needs values or a step; random and tpe draw from a range", axis.Name)
		}
	}
	if p.trials() > api.MaxSweepTries {
		return nil, fmt.Errorf("more than %d trials: fewer values, or random or tpe with a number of trials; the command line takes more", api.MaxSweepTries)
	}
	for name, text := range map[string]string{"from": given.From, "to": given.To} {
		if text == "" {
			continue
		}
		if _, err := moment.Parse(name, text); err != nil {
			return nil, err
		}
	}
	return p, p.data(s)
}

// plain rewords a command-line error for a page, which has no flags.
func plain(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\nhint:")
	return errors.New(strings.ReplaceAll(text, "--", ""))
}

// data finds the candles and the symbols.
func (p *planned) data(s *Sweeps) error {
	if !slices.ContainsFunc(s.Runner.Choices().Files, func(f api.CandleFile) bool { return f.File == p.given.File }) {
		return fmt.Errorf("file %q is not in the list of files", p.given.File)
	}
	p.path = s.Runner.Path(p.given.File)
	own, found := exchange.FindSymbol(s.Runner.Symbols(), p.strategy.Market, p.strategy.Symbol)
	if !found {
		return fmt.Errorf("the exchange has no %s symbol %s now", p.strategy.Market, p.strategy.Symbol)
	}
	p.symbols = append(p.symbols, own)
	made, err := p.strategy.Build(sim.WithBrackets(own))
	if err != nil {
		return err
	}
	for _, key := range strategy.OthersOf(made) {
		other, found := exchange.FindSymbol(s.Runner.Symbols(), key.Market, key.Name)
		if !found {
			return fmt.Errorf("the exchange has no symbol %s now, whose candles it reads", key)
		}
		file, err := runner.OtherFile(p.given.File, p.path, key, p.strategy.Interval)
		if err != nil {
			return err
		}
		p.symbols, p.others = append(p.symbols, other), append(p.others, key.String()+"="+file)
	}
	return nil
}

// Run implements api.Sweeper.
func (s *Sweeps) Run(ctx context.Context, given *api.SweepRequest) error {
	p, err := s.planned(given)
	if err != nil {
		return err
	}
	file, err := s.strategyFile(p)
	if err != nil {
		return err
	}
	arguments := []string{"sweep", "run", "--strategy", file, "--data", p.path, "--name", given.Name, "--sweeps", s.Directory, "--rest",
		"--search", given.Search, "--seed", strconv.FormatUint(given.Seed, 10), "--sort", given.Sort}
	for _, axis := range given.Vary {
		arguments = append(arguments, "--vary", axis)
	}
	for _, other := range p.others {
		arguments = append(arguments, "--data", other)
	}
	for flag, text := range map[string]string{"--where": given.Where, "--require": given.Require, "--split": given.Split, "--from": given.From,
		"--to": given.To} {
		if text != "" {
			arguments = append(arguments, flag+"="+text)
		}
	}
	if given.Trials > 0 {
		arguments = append(arguments, "--trials", strconv.Itoa(given.Trials))
	}
	if strings.HasPrefix(given.File, tape.RecordedFolder+"/") { // the daemon may be writing its last line
		arguments = append(arguments, "--repair")
	}
	rates := filepath.Join(filepath.Dir(p.path), runner.FundingName)
	if about, err := os.Lstat(rates); err == nil && about.Mode().IsRegular() && p.strategy.Market == exchange.Futures {
		arguments = append(arguments, "--funding", rates)
	}
	symbols, err := s.symbolFile(p)
	if err != nil {
		return err
	}
	if symbols != "" {
		arguments = append(arguments, "--symbols", symbols)
	}
	return perform(ctx, arguments)
}

// Resume implements api.Sweeper.
func (s *Sweeps) Resume(ctx context.Context, name string) error {
	return perform(ctx, []string{"sweep", "resume", "--sweeps", s.Directory, "--rest", "--", name})
}

// Report implements api.Sweeper.
func (s *Sweeps) Report(ctx context.Context, name, job, directory string) error {
	return perform(ctx, []string{"sweep", "trial", "--sweeps", s.Directory, "--rest", "--out", directory, "--", name, job})
}

// Running implements api.Sweeper.
func (s *Sweeps) Running(name string) bool { return sweeps.Running(filepath.Join(s.Directory, name)) }

// Cancel implements api.Sweeper.
func (s *Sweeps) Cancel(name string) (bool, error) {
	return sweeps.Cancel(filepath.Join(s.Directory, name))
}

// strategyFile returns the path of the strategy's file, or of a copy for a built-in example.
func (s *Sweeps) strategyFile(p *planned) (string, error) {
	c := p.strategy
	if about, err := os.Stat(c.File); err == nil && about.Mode().IsRegular() {
		return filepath.Abs(c.File)
	}
	if c.Script.Text != "" || len(c.ColumnFiles) > 0 || len(c.Command) > 0 {
		return "", fmt.Errorf("%s: the file %s is not on this machine", c.Name, c.File)
	}
	return s.write(p.given.Name+".yaml", []byte(c.Effective()))
}

// symbolFile writes the exchange's symbols to a file; it returns no path where they equal the built-in ones.
func (s *Sweeps) symbolFile(p *planned) (string, error) {
	builtIn := sim.DefaultSymbols()
	same := func(own *exchange.Symbol) bool {
		known, found := exchange.FindSymbol(builtIn, own.Market, own.Name)
		return found && reflect.DeepEqual(tape.RecordOf(known), tape.RecordOf(own))
	}
	if !slices.ContainsFunc(p.symbols, func(own *exchange.Symbol) bool { return !same(own) }) {
		return "", nil
	}
	var records []tape.SymbolRecord
	for _, own := range p.symbols {
		records = append(records, tape.RecordOf(own))
	}
	text, err := json.MarshalIndent(records, "", "  ") // JSON is also YAML
	if err != nil {
		return "", err
	}
	return s.write(p.given.Name+".symbols.yaml", text)
}

// write stores a file for a sweep.
func (s *Sweeps) write(name string, text []byte) (string, error) {
	folder, err := filepath.Abs(filepath.Join(s.Directory, startedFolder))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(folder, name)
	return path, privatefile.Write(path, text)
}
