package inputs

import (
	"os"
	"slices"
	"strings"

	"botd/backtest"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/strategy"
)

// namedFile is a file given as NAME=FILE.
type namedFile struct {
	word, name, path string
}

// unclaimed refuses files that belong to no strategy.
func unclaimed(flag string, files []namedFile) error {
	for _, f := range files {
		return failure.Usagef("%s %s: no strategy is named %s, trades it, or reads its candles", flag, f.word, f.name)
	}
	return nil
}

// others gives each strategy the candles of the other symbols that it reads. They come from a file given for the
// symbol, from another strategy that trades it, or from the store.
func (b *Files) others(symbols []*exchange.Symbol, given []*configs.StrategyConfig, config *backtest.Config, files []namedFile) error {
	used := make([]bool, len(files))
	for i := range config.Legs {
		leg, input := &config.Legs[i], &config.Inputs.Strategies[i]
		for _, key := range strategy.OthersOf(leg.Strategy.Strategy) {
			symbol, found := exchange.FindSymbol(symbols, key.Market, key.Name)
			if !found {
				return failure.New(failure.Config, "--symbols FILE gives its ticks", "%s: no symbol %s is known, whose candles it reads", given[i].File, key)
			}
			path := ""
			for at := range files {
				if files[at].name == key.Name || files[at].name == key.String() {
					path, used[at] = files[at].path, true
				}
			}
			if path == "" {
				path = b.otherFile(key, given, config, leg.Strategy.Interval)
			}
			if path == "" {
				return failure.New(failure.NoInput, "give --data "+key.Name+"=FILE with its candles of "+leg.Strategy.Interval.String()+
					"; candles of the store (botd data download) are found there",
					"%s: it reads candles of %s, but there are none", given[i].File, key)
			}
			read, err := b.load(path, symbol, leg.Strategy.Interval)
			if err != nil {
				return err
			}
			leg.Strategy.Others = append(leg.Strategy.Others, strategy.Other{Symbol: read.Symbol, Candles: read.Candles})
			input.Others = append(input.Others, backtest.OtherFile{Symbol: key.String(), File: backtest.File{Path: path, SHA256: read.SHA256}})
		}
	}
	return unclaimed("--data", slices.DeleteFunc(slices.Clone(files), func(f namedFile) bool { return used[slices.Index(files, f)] }))
}

// otherFile returns the path of candles for a symbol without a given file, or an empty string.
func (b *Files) otherFile(key exchange.SymbolKey, given []*configs.StrategyConfig, config *backtest.Config, interval exchange.Interval) string {
	for i, c := range given {
		if c.Market == key.Market && c.Symbol == key.Name && c.Interval == interval {
			return config.Inputs.Strategies[i].Data.Path
		}
	}
	directory := b.Recorded
	if directory == "" && b.Store != nil {
		directory = b.Store()
	}
	if directory == "" {
		return ""
	}
	path := tape.Store{Directory: directory}.Path(key.Market, key.Name, interval)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// resampled converts the candles of other symbols to a longer interval.
func resampled(others []strategy.Other, interval exchange.Interval) (all []strategy.Other, err error) {
	for _, other := range others {
		if other.Candles.Interval != interval {
			if other.Candles, _, err = tape.Resample(other.Candles, interval); err != nil {
				return nil, err
			}
		}
		all = append(all, other)
	}
	return all, nil
}

// cutNamed splits NAME=FILE.
func cutNamed(word string) (f namedFile, named bool) {
	f.word = word
	f.name, f.path, named = strings.Cut(word, "=")
	return f, named
}
