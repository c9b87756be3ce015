// Package tape reads recorded market data from files into columns and finds the gaps in it.
//
// Candles come as CSV with a header (columns by name, in any order), or as
// Binance's kline CSV without one; plain, gzip or alone in a ZIP archive; or as
// Parquet. What is wrong with a file is a DataError with the line, the header
// being line 1 (Parquet's first row being line 2).
package tape

import (
	"fmt"
	"os"

	"botd/exchange"
)

// Tape is one series of recorded candles.
type Tape struct {
	Symbol   *exchange.Symbol // with the scales the data needs
	Candles  *exchange.Candles
	Holes    []Hole
	SHA256   string   // of the file's bytes as they are on disk
	Repaired []string // what Repair dropped, a sentence a row, at most maxRepaired and one that says how many more
	Warnings []string // what is odd about the data, though not wrong
}

// Hole is a run of candles that are not in the file. Holes are reported, never filled.
type Hole struct {
	AfterMS  int64 // open time of the candle before
	BeforeMS int64 // open time of the candle after
	Missing  int
}

// Options say how to read a file.
type Options struct {
	Repair     bool                    // drop rows that are wrong instead of failing
	Progress   func(done, total int64) // bytes of the file; called now and then, nil for none
	Cache      *Cache                  // of files parsed before; nil for none
	MaxCandles int                     // candles read; more is an error. 0 for as many as can be held
	Columns    string                  // what stands in each column, as a header would say it, whatever the file's first line says
}

// DataError is what is wrong with a recorded file, and where.
type DataError struct {
	Path   string
	Line   int    // the header is line 1; 0 for the file as a whole
	Column string // the column's or key's name, where one is to blame
	What   string
	Hint   string
}

// Error returns path:line: what, and the hint on a line of its own.
func (e *DataError) Error() string {
	text := e.Path
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	if text != "" {
		text += ": "
	}
	text += e.What
	if e.Hint != "" {
		text += "\nhint: " + e.Hint
	}
	return text
}

// Bounds of what is read.
const (
	maxFile     = 8 << 30     // bytes on disk
	maxUnpacked = 32 << 30    // bytes of CSV
	maxCandles  = 100_000_000 // 190 years of minutes
	maxRepaired = 1_000       // sentences kept
)

// LoadCandles reads one series. The interval is found from the data when it is
// given as zero. The tape's symbol has as many places as the data needs: prices
// in Candles are in its units, not the given symbol's.
func LoadCandles(path string, symbol *exchange.Symbol, interval exchange.Interval, options Options) (*Tape, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, &DataError{Path: path, What: fmt.Sprintf("%d bytes are more than %d", info.Size(), int64(maxFile)), Hint: "split the file"}
	}
	if options.Columns != "" {
		options.Cache = nil // it knows files by their content alone
	}
	asked := request{path: path, size: info.Size(), scale: symbol.PriceScale, interval: interval, repair: options.Repair}
	if cached := options.Cache.load(&asked, symbol); cached != nil {
		if options.Progress != nil {
			options.Progress(info.Size(), info.Size())
		}
		return cached, nil
	}
	// A later row may have more places than all rows before it: then the file
	// is read again with a finer scale, which happens at most once a place.
	for {
		p := &parser{path: path, symbol: symbol, options: options, asked: interval, size: info.Size()}
		finer, err := p.load()
		if err != nil {
			return nil, err
		}
		if finer == 0 {
			options.Cache.save(&asked, p.tape)
			return p.tape, nil
		}
		if symbol, err = symbol.WithScales(finer, 0); err != nil {
			return nil, &DataError{Path: path, Line: p.line, What: err.Error(), Hint: "prices have more decimal places than can be held beside the symbol's quantityTick"}
		}
	}
}
