package inputs

import (
	"cmp"
	"slices"
	"strings"

	"botd/backtest"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// outside reads the columns that are given for every strategy.
func (b *Files) outside() error {
	if len(b.Columns) == 0 {
		return nil
	}
	columns, err := tape.LoadColumns(b.Columns, false)
	if err != nil {
		return tape.Failure(err)
	}
	options := b.Options
	b.Options = func() configs.Options {
		all := options()
		all.Columns = columns
		return all
	}
	return nil
}

// columnPath takes FILE=PREFIX apart.
func columnPath(word string) (file, prefix string) {
	file, prefix, _ = strings.Cut(word, "=")
	return file, prefix
}

// signals reads recorded signals for the strategies that take them, and notes all files from outside,
// those that the strategies name too.
func (b *Files) signals(config *backtest.Config, named []string) error {
	for _, path := range b.Signals {
		rows, err := tape.LoadSignals(path)
		if err != nil {
			return tape.Failure(err)
		}
		for i := range rows {
			row := &rows[i]
			if !slices.ContainsFunc(config.Legs, func(l backtest.Leg) bool { return l.Strategy.Name == row.Strategy }) {
				if b.foundSignals {
					continue // the daemon ran others too
				}
				return failure.New(
					failure.Data,
					"the column strategy has the name in the strategy's file",
					"%s: no strategy is named %q",
					path,
					row.Strategy,
				)
			}
			config.Signals = append(config.Signals, backtest.Signal{TimeMS: row.TimeMS, Strategy: row.Strategy, Side: row.Side,
				Share: exchange.Rate(row.Share * float64(exchange.RateOne))})
		}
		config.Inputs.Signals = append(config.Inputs.Signals, backtest.File{Path: path, SHA256: fileSHA(path)})
	}
	for _, path := range append(slices.Clone(b.Columns), named...) {
		file, _ := columnPath(path)
		config.Inputs.Columns = append(config.Inputs.Columns, backtest.File{Path: path, SHA256: fileSHA(file)})
	}
	slices.SortStableFunc(config.Signals, func(a, b backtest.Signal) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
	return nil
}
