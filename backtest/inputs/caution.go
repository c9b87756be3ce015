package inputs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"botd/backtest"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
)

// cautions returns the warnings of botd check about a strategy's file.
func (b *Files) cautions(file string, symbols []*exchange.Symbol) (all []backtest.Warning) {
	settings := b.Options()
	settings.Symbols = symbols
	for _, p := range configs.StrategyWarnings(file, settings) {
		p.Severity = configs.Error // the report has its own word for it
		all = append(all, backtest.Warning{Code: backtest.Configured, Text: p.String()})
	}
	return all
}

// mismatch warns of a file whose name contains a symbol other than the traded one.
func mismatch(path string, symbol *exchange.Symbol, known []*exchange.Symbol) (w backtest.Warning, found bool) {
	words := strings.FieldsFunc(strings.ToUpper(filepath.Base(path)), func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	name := strings.Join(words, "")
	if strings.Contains(name, symbol.Base+symbol.Quote) || strings.Contains(name, symbol.Base+"USD") || slices.Contains(words, symbol.Base) {
		return w, false
	}
	for _, other := range known {
		if other.Base != symbol.Base && (strings.Contains(name, other.Base+other.Quote) || slices.Contains(words, other.Base)) {
			return otherSymbol(path, symbol, other.Name), true
		}
	}
	for i, word := range words {
		base, quoted := strings.CutSuffix(word, symbol.Quote)
		if quoted && base == "" && i > 0 {
			base = words[i-1]
		}
		if quoted && base != "" {
			return otherSymbol(path, symbol, base+"-"+symbol.Quote), true
		}
	}
	return w, false
}

func otherSymbol(path string, symbol *exchange.Symbol, other string) backtest.Warning {
	return backtest.Warning{Code: backtest.DataMismatch, Text: fmt.Sprintf("%s has the name of %s, but %s trades on it", path, other, symbol.Name)}
}

// finer finds shorter candles in the store for a strategy that decides between closes: the shortest interval that
// overlaps the given candles.
func (b *Files) finer(c *configs.StrategyConfig, recorded *tape.Tape) (path string, err error) {
	if c.Schedule.Candle() || recorded.Candles.Len() == 0 {
		return "", nil
	}
	directory := b.Recorded
	if directory == "" && b.Store != nil {
		directory = b.Store()
	}
	if directory == "" {
		return "", nil
	}
	list, err := tape.Store{Directory: directory}.List()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	best := c.Interval
	for _, series := range list {
		if series.Market != c.Market || series.Symbol != c.Symbol || series.Interval >= best || c.Interval%series.Interval != 0 {
			continue
		}
		if _, err := os.Stat(series.Path); err == nil {
			best, path = series.Interval, series.Path
		}
	}
	return path, nil
}
