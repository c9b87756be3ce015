// Package tape reads recorded market data from files into columns and finds the gaps in it.
//
// Candles come as CSV with a header (columns by name, in any order), as Binance's kline CSV without
// one, or in a layout that package foreign reads; plain, gzip or alone in a ZIP archive; or as
// Parquet. An invalid file is a DataError with the line, the header being line 1 (Parquet's first
// row being line 2).
package tape

import (
	"fmt"
	"os"

	"botd/exchange"
)

// Tape is one series of recorded candles.
type Tape struct {
	Symbol   *exchange.Symbol // with the scales that the data need
	Candles  *exchange.Candles
	Holes    []Hole
	SHA256   string            // of the file's bytes on disk
	Repaired []string          // rows that Repair dropped, one sentence each, at most maxRepaired plus one with the number of the others
	Warnings []string          // unusual but valid data
	Finer    exchange.Interval // interval of the file's candles if the tape is built from finer ones; 0 otherwise
}

// Hole is a run of missing candles. Holes are reported, never filled.
type Hole struct {
	AfterMS  int64 // open time of the candle before
	BeforeMS int64 // open time of the candle after
	Missing  int
}

// Options configure reading.
type Options struct {
	Repair     bool                    // drop wrong rows instead of failing
	Progress   func(done, total int64) // bytes of the file; called from time to time, nil for none
	Cache      *Cache                  // cache of parsed files; nil for none
	MaxCandles int                     // more is an error; 0 for as many as fit
	Columns    string                  // the meaning of each column, in the form of a header, overriding the file's first line
}

// DataError is an error in a recorded file, with its position.
type DataError struct {
	Path   string
	Line   int    // the header is line 1; 0 for the file as a whole
	Column string // name of the column or key at fault, if any
	What   string
	Hint   string
	Finer  exchange.Interval // interval of the file's finer candles from which the requested ones can be built; 0 otherwise
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

// Bounds of the input.
const (
	maxFile     = 8 << 30     // bytes on disk
	maxUnpacked = 32 << 30    // bytes of CSV
	maxCandles  = 100_000_000 // 190 years of minutes
	maxRepaired = 1_000       // sentences
)

// LoadCandles reads one series. A zero interval is detected from the data. The tape's symbol has as
// many decimal places as the data require; prices in Candles are in its units, not in the given
// symbol's.
func LoadCandles(path string, symbol *exchange.Symbol, interval exchange.Interval, options Options) (*Tape, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, &DataError{Path: path, What: fmt.Sprintf("%d bytes are more than %d", info.Size(), int64(maxFile)), Hint: "split the file"}
	}
	if options.Columns != "" {
		options.Cache = nil // it identifies files only by their content
	}
	source := request{path: path, size: info.Size(), scale: symbol.PriceScale, interval: interval, repair: options.Repair}
	if cached := options.Cache.load(&source, symbol); cached != nil {
		if options.Progress != nil {
			options.Progress(info.Size(), info.Size())
		}
		return cached, nil
	}
	// A later row may have more decimal places than all rows before it. The file is then read again
	// with a finer scale, at most once per place.
	for {
		p := &parser{path: path, symbol: symbol, options: options, given: interval, size: info.Size()}
		finer, err := p.load()
		if err != nil {
			return nil, err
		}
		if finer == 0 {
			options.Cache.save(&source, p.tape)
			return p.tape, nil
		}
		if symbol, err = symbol.WithScales(finer, 0); err != nil {
			return nil, &DataError{Path: path, Line: p.line, What: err.Error(), Hint: "prices have more decimal places than fit with the symbol's quantityTick"}
		}
	}
}
