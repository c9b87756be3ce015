package inputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"botd/backtest"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// Reread reads the inputs of a report: of a report.json, or of its directory.
func (b *Files) Reread(path string) (*backtest.Result, backtest.Config, error) {
	var stored backtest.Result
	if stat, err := os.Stat(path); err == nil && stat.IsDir() {
		path = filepath.Join(path, backtest.ReportFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, backtest.Config{}, tape.Failure(err)
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, backtest.Config{}, failure.New(failure.Data, "give the report.json of botd backtest run --out", "%s: %w", path, err)
	}
	if stored.Inputs == nil || len(stored.Inputs.Strategies) == 0 {
		return nil, backtest.Config{}, failure.New(failure.Data, "it was written by another program, or by an older botd",
			"%s does not contain its inputs", path)
	}
	b.elsewhere(stored.Inputs)
	symbols, err := b.Instruments()
	if err != nil {
		return nil, backtest.Config{}, err
	}
	if err := b.outside(); err != nil {
		return nil, backtest.Config{}, err
	}
	given, err := b.written(stored.Inputs, symbols)
	if err != nil {
		return nil, backtest.Config{}, err
	}
	config, err := b.legs(symbols, given, stored.Inputs.Limits)
	if err != nil {
		return nil, backtest.Config{}, err
	}
	for i := range stored.Inputs.Strategies {
		config.Inputs.Strategies[i].File = stored.Inputs.Strategies[i].File
	}
	return &stored, config, nil
}

// elsewhere reads each file from its path in the report, unless another path is given.
func (b *Files) elsewhere(inputs *backtest.Inputs) {
	b.Repair, b.fromMS, b.toMS = inputs.Repair, inputs.FromMS, inputs.ToMS
	if b.Symbols == "" && inputs.Symbols != nil {
		b.Symbols = inputs.Symbols.Path
	}
	for _, file := range inputs.Signals {
		b.Signals = append(b.Signals, file.Path)
	}
	for _, file := range inputs.Columns {
		b.Columns = append(b.Columns, file.Path)
	}
	data, funding, detail, trades := len(b.Data) == 0, len(b.Funding) == 0, len(b.Detail) == 0, len(b.Trades) == 0
	for _, input := range inputs.Strategies {
		if data {
			b.Data = append(b.Data, input.Name+"="+input.Data.Path)
		}
		for _, other := range input.Others {
			if word := other.Symbol + "=" + other.Path; data && !slices.Contains(b.Data, word) {
				b.Data = append(b.Data, word)
			}
		}
		if detail && input.Detail != nil {
			b.Detail = append(b.Detail, input.Name+"="+input.Detail.Path)
		}
		if trades && input.Trades != nil {
			b.Trades = append(b.Trades, input.Name+"="+input.Trades.Path)
		}
	}
	if !funding {
		return
	}
	for _, input := range inputs.Strategies { // if one strategy has any, it has all of them
		if len(input.Funding) == 0 {
			continue
		}
		for _, file := range input.Funding {
			b.Funding = append(b.Funding, file.Path)
		}
		return
	}
}

// written reads the strategies embedded in a report.
func (b *Files) written(inputs *backtest.Inputs, symbols []*exchange.Symbol) (given []*configs.StrategyConfig, err error) {
	directory, err := os.MkdirTemp("", "botd-verify-*")
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	for i, input := range inputs.Strategies {
		file := filepath.Join(directory, strconv.Itoa(i+1), "strategy.yaml")
		if err := errors.Join(writeNew(file, input.YAML), writeScript(filepath.Dir(file), input.Script.Files())); err != nil {
			return nil, failure.Wrap(failure.IO, err)
		}
		c, err := b.loadStrategy(file, symbols)
		if err != nil {
			return nil, err
		}
		given = append(given, c)
	}
	return given, nil
}

// writeScript writes a script and its libraries to the paths that its strategy's file names.
func writeScript(directory string, files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the report's script %q is not next to its strategy", name)
		}
		if err := writeNew(filepath.Join(directory, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeNew(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}
