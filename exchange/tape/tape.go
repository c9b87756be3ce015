// Package tape recorded market data: files in, columns in memory, holes found.
//
// Candles come as CSV with a header (columns by name, in any order), or as
// Binance's kline CSV without one; plain or gzip. What is wrong with a file is a
// DataError with the line, the header being line 1.
package tape

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"botd/exchange"
)

// Tape is one series of recorded candles.
type Tape struct {
	Symbol   *exchange.Symbol // with the scales the data needs
	Candles  *exchange.Candles
	Holes    []Hole
	SHA256   string   // of the file's bytes as they are on disk
	Repaired []string // what Repair dropped
}

// Hole is a run of candles that are not in the file. Holes are reported, never filled.
type Hole struct {
	AfterMS  int64 // open time of the candle before
	BeforeMS int64 // open time of the candle after
	Missing  int
}

// Options say how to read a file.
type Options struct {
	Repair   bool                    // drop rows that are wrong instead of failing
	Progress func(done, total int64) // bytes; called now and then, nil for none
}

// DataError is what is wrong with a recorded file, and where.
type DataError struct {
	Path string
	Line int // the header is line 1; 0 for the file as a whole
	What string
	Hint string
}

// Error returns path:line: what, and the hint on a line of its own.
func (e *DataError) Error() string {
	text := e.Path
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	text += ": " + e.What
	if e.Hint != "" {
		text += "\nhint: " + e.Hint
	}
	return text
}

// maxFile bounds what is read into memory.
const maxFile = 8 << 30

// read returns a file's bytes, unpacked when they are gzip, and the hash of the file itself.
func read(path string) (data []byte, hash string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if info.Size() > maxFile {
		return nil, "", &DataError{Path: path, What: fmt.Sprintf("%d bytes are more than %d", info.Size(), int64(maxFile)), Hint: "split the file"}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(raw)
	hash = hex.EncodeToString(sum[:])
	if !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		return raw, hash, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(raw))
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(unpacked, maxFile))
	}
	if err != nil {
		return nil, "", &DataError{Path: path, What: "the gzip stream is broken: " + err.Error(), Hint: "was the download complete?"}
	}
	return data, hash, nil
}

// LoadCandles reads one series. The interval is found from the data when it is
// given as zero. The tape's symbol has as many places as the data needs.
func LoadCandles(path string, symbol *exchange.Symbol, interval exchange.Interval, options Options) (*Tape, error) {
	data, hash, err := read(path)
	if err != nil {
		return nil, err
	}
	layout, body, firstLine, err := layoutOf(path, data)
	if err != nil {
		return nil, err
	}
	finer, err := symbol.WithScales(placesIn(body, &layout), 0)
	if err != nil {
		return nil, &DataError{Path: path, What: err.Error()}
	}
	p := parser{path: path, layout: layout, symbol: finer, options: options, line: firstLine, interval: interval,
		tape: &Tape{Symbol: finer, SHA256: hash, Candles: &exchange.Candles{}}}
	if err := p.parse(body); err != nil {
		return nil, err
	}
	return p.finish()
}
