package inputs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"botd/backtest"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
)

// outside reads the columns given for every strategy.
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

// signals reads recorded signals for the strategies that take them. It lists all external files in the inputs,
// including those that the strategies name.
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
					continue // the daemon ran other strategies too
				}
				return failure.New(failure.Data, "the column strategy has the name in the strategy's file", "%s: no strategy is named %q", path,
					row.Strategy)
			}
			config.Signals = append(config.Signals, backtest.Signal{TimeMS: row.TimeMS, Strategy: row.Strategy, Side: row.Side,
				Share: exchange.Rate(row.Share * float64(exchange.RateOne))})
		}
		config.Inputs.Signals = append(config.Inputs.Signals, backtest.File{Path: path, SHA256: fileSHA(path)})
	}
	for _, path := range append(slices.Clone(b.Columns), named...) {
		file, _ := tape.ColumnPath(path)
		config.Inputs.Columns = append(config.Inputs.Columns, backtest.File{Path: path, SHA256: fileSHA(file)})
	}
	slices.SortStableFunc(config.Signals, func(a, b backtest.Signal) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
	return nil
}

// columnsElsewhere warns of column files whose rows all lie outside the candles' time.
func columnsElsewhere(config *backtest.Config) error {
	firstMS, lastMS := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range config.Legs {
		c := config.Legs[i].Tape.Candles
		if c.Len() == 0 {
			continue
		}
		firstMS, lastMS = min(firstMS, c.OpenMS[0]), max(lastMS, c.OpenMS[c.Len()-1]+int64(c.Interval))
	}
	for _, file := range config.Inputs.Columns {
		columns, err := tape.LoadColumns([]string{file.Path}, false)
		if err != nil {
			return tape.Failure(err)
		}
		switch beginMS, endMS := columns.Span(); {
		case beginMS > lastMS:
			config.Warnings = append(config.Warnings, backtest.Warning{Code: backtest.ColumnsElsewhere, Text: fmt.Sprintf(
				"%s begins at %s, after the candles' end at %s: no value of it is seen", file.Path, moment.Minute(beginMS), moment.Minute(lastMS))})
		case endMS < firstMS:
			config.Warnings = append(config.Warnings, backtest.Warning{Code: backtest.ColumnsElsewhere, Text: fmt.Sprintf(
				"%s ends at %s, before the candles begin at %s: each of its columns has one value throughout", file.Path,
				moment.Minute(endMS), moment.Minute(firstMS))})
		}
	}
	return nil
}
