package tape

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"botd/exchange"
)

// Store keeps series as plain CSV files: market/SYMBOL/interval.csv below its directory. A file is
// never partial: it is written under another name, made durable, and renamed.
type Store struct{ Directory string }

// Series is one file of a store.
type Series struct {
	Market   exchange.Market
	Symbol   string
	Interval exchange.Interval
	Path     string
}

// Saved is the result of Save.
type Saved struct {
	Path     string `json:"path"`
	Added    int    `json:"added"`    // new candles
	Same     int    `json:"same"`     // already stored, equal
	Replaced int    `json:"replaced"` // already stored with a difference
	Total    int    `json:"total"`
}

// Path returns the path of a series.
func (s Store) Path(market exchange.Market, symbol string, interval exchange.Interval) string {
	return filepath.Join(s.Directory, market.String(), symbol, interval.String()+".csv")
}

// Load reads a series. The error is fs.ErrNotExist if there is none.
func (s Store) Load(symbol *exchange.Symbol, interval exchange.Interval) (*Tape, error) {
	return LoadCandles(s.Path(symbol.Market, symbol.Name, interval), symbol, interval, Options{})
}

// Save adds candles to their series. If the two differ in a candle, the new one replaces the old
// one if replace is set; otherwise nothing is written and the error names the first difference.
func (s Store) Save(symbol *exchange.Symbol, candles *exchange.Candles, replace bool) (Saved, error) {
	path := s.Path(symbol.Market, symbol.Name, candles.Interval)
	saved := Saved{Path: path}
	old, err := s.Load(symbol, candles.Interval)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		saved.Added, saved.Total = candles.Len(), candles.Len()
		return saved, WriteFile(path, candles, symbol, nil)
	case err != nil:
		return saved, err
	}
	if candles, err = rescaled(candles, old.Symbol.PriceScale-symbol.PriceScale); err != nil {
		return saved, fmt.Errorf("%s: %w", path, err)
	}
	merged := merge(old.Candles, candles, &saved)
	if saved.Replaced > 0 && !replace {
		at := firstDifference(old.Candles, candles)
		return saved, &DataError{Path: path, What: fmt.Sprintf("%d candles differ from the stored ones, the first at %d", saved.Replaced, at),
			Hint: "are symbol, market and interval right? --replace overwrites the stored ones"}
	}
	if saved.Added+saved.Replaced == 0 {
		return saved, nil
	}
	return saved, WriteFile(path, merged, old.Symbol, nil)
}

// rescaled returns the candles with additional decimal places in prices.
func rescaled(c *exchange.Candles, more int) (*exchange.Candles, error) {
	if more <= 0 {
		return c, nil
	}
	factor := exchange.Price(exchange.PowerOf10(more))
	finer := *c
	for _, column := range []*[]exchange.Price{&finer.Open, &finer.High, &finer.Low, &finer.Close} {
		*column = slices.Clone(*column)
		for i, price := range *column {
			if price > math.MaxInt64/factor {
				return nil, fmt.Errorf("price %d has no room for %d more decimal places", price, more)
			}
			(*column)[i] = price * factor
		}
	}
	return &finer, nil
}

// merge merges two series in order of time; b's candle replaces a's.
func merge(a, b *exchange.Candles, saved *Saved) *exchange.Candles {
	merged := &exchange.Candles{Interval: a.Interval}
	for i, k := 0, 0; i < a.Len() || k < b.Len(); {
		switch {
		case k == b.Len() || i < a.Len() && a.OpenMS[i] < b.OpenMS[k]:
			merged.Append(a.At(i))
			i++
		case i == a.Len() || b.OpenMS[k] < a.OpenMS[i]:
			merged.Append(b.At(k))
			saved.Added++
			k++
		default:
			if a.At(i) == b.At(k) {
				saved.Same++
			} else {
				saved.Replaced++
			}
			merged.Append(b.At(k))
			i, k = i+1, k+1
		}
	}
	saved.Total = merged.Len()
	return merged
}

func firstDifference(a, b *exchange.Candles) int64 {
	for k := range b.Len() {
		if i, found := slices.BinarySearch(a.OpenMS, b.OpenMS[k]); found && a.At(i) != b.At(k) {
			return b.OpenMS[k]
		}
	}
	return 0
}

// WriteFile writes candles to a file in the format of its name: .csv, .csv.gz or .parquet. The file
// is never partial: it is written under another name, made durable, and renamed.
func WriteFile(path string, candles *exchange.Candles, symbol *exchange.Symbol, step Step) error {
	var write func(io.Writer) error
	switch {
	case strings.HasSuffix(path, ".parquet"):
		write = func(w io.Writer) error { return WriteParquet(w, candles, symbol, step) }
	case strings.HasSuffix(path, ".gz"):
		write = func(w io.Writer) error {
			packed := gzip.NewWriter(w)
			return errors.Join(WriteCSV(packed, candles, symbol, step), packed.Close())
		}
	case strings.HasSuffix(path, ".csv"):
		write = func(w io.Writer) error { return WriteCSV(w, candles, symbol, step) }
	default:
		return fmt.Errorf("%s: %w\nhint: use a name that ends with .csv, .csv.gz or .parquet", path, ErrFormat)
	}
	return replaceFile(path, write)
}

// ErrFormat means that a file name has none of the known endings.
var ErrFormat = errors.New("unknown format")

// temporary is the prefix of files that are being written.
const temporary = ".writing-"

func replaceFile(path string, write func(io.Writer) error) (err error) {
	directory := filepath.Dir(path)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(directory, temporary+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if err := errors.Join(file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	parent, err := os.Open(directory)
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// List returns every series of the store, by market, symbol and interval.
func (s Store) List() ([]Series, error) {
	var found []Series
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		symbols, err := os.ReadDir(filepath.Join(s.Directory, market.String()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, symbol := range symbols {
			for _, interval := range exchange.Intervals() {
				series := Series{market, symbol.Name(), interval, s.Path(market, symbol.Name(), interval)}
				if _, err := os.Stat(series.Path); err == nil {
					found = append(found, series)
				}
			}
		}
	}
	return found, nil
}

// Coverage returns a map of a series as one line of text, a part of its span per character: # where
// every candle exists, - where none does, + between.
func Coverage(t *Tape, width int) string {
	c := t.Candles
	first, all := c.OpenMS[0], (c.OpenMS[c.Len()-1]-c.OpenMS[0])/int64(c.Interval)+1
	width = int(min(int64(width), all))
	var line strings.Builder
	for i := range int64(width) {
		from, to := first+all*i/int64(width)*int64(c.Interval), first+all*(i+1)/int64(width)*int64(c.Interval)
		a, _ := slices.BinarySearch(c.OpenMS, from)
		b, _ := slices.BinarySearch(c.OpenMS, to)
		switch want := int((to - from) / int64(c.Interval)); {
		case b-a == want:
			line.WriteByte('#')
		case b == a:
			line.WriteByte('-')
		default:
			line.WriteByte('+')
		}
	}
	return line.String()
}
