package inputs

import (
	"errors"
	"os"
	"slices"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// candles gives each strategy its file: a given one, or the daemon's record.
func (b *Files) candles(given []*configs.StrategyConfig) (data []string, left []namedFile, err error) {
	data, left, err = assign("--data", b.Data, given, b.Recorded == "")
	if err != nil {
		return nil, nil, err
	}
	for i, c := range given {
		if data[i] != "" {
			continue
		}
		data[i] = tape.Store{Directory: b.Recorded}.Path(c.Market, c.Symbol, c.Interval)
		if _, err := os.Stat(data[i]); errors.Is(err, os.ErrNotExist) {
			return nil, nil, failure.New(
				failure.NoInput,
				"a daemon records what it polls into recorded, in the directory of its mode in data_dir; give --data "+c.Symbol+"=FILE for what it did not",
				"%s: no daemon has recorded %s %s %s into %s",
				c.File,
				c.Market,
				c.Symbol,
				c.Interval,
				b.Recorded,
			)
		}
	}
	return data, left, nil
}

// recordedSignals adds the signals that a daemon recorded, unless signals are given.
func (b *Files) recordedSignals() error {
	if b.Recorded == "" || len(b.Signals) > 0 {
		return nil
	}
	path := tape.Store{Directory: b.Recorded}.SignalsPath()
	switch _, err := os.Stat(path); {
	case err == nil:
		b.Signals, b.foundSignals = []string{path}, true
	case !errors.Is(err, os.ErrNotExist):
		return failure.Wrap(failure.IO, err)
	}
	return nil
}

// recordedRates adds the recorded rates, unless rates are given.
func (b *Files) recordedRates(given []*configs.StrategyConfig) error {
	if b.Recorded == "" || len(b.Funding) > 0 {
		return nil
	}
	for _, c := range given {
		path := tape.Store{Directory: b.Recorded}.FundingPath(c.Symbol)
		if c.Market != exchange.Futures || slices.Contains(b.Funding, path) {
			continue
		}
		switch _, err := os.Stat(path); {
		case err == nil:
			b.Funding = append(b.Funding, path)
		case !errors.Is(err, os.ErrNotExist):
			return failure.Wrap(failure.IO, err)
		}
	}
	return nil
}
