package tape

import (
	"bytes"
	"fmt"
	"slices"

	"botd/exchange"
)

// parser parses rows into columns.
type parser struct {
	path    string
	symbol  *exchange.Symbol
	options Options
	given   exchange.Interval // 0: detect it
	size    int64

	layout   layout
	interval int64
	unknown  error // error of the interval detection, reported if no row is wrong by itself
	line     int   // number of the current row
	step     int   // distance to the line of the next row
	n        int   // candles so far
	total    int   // rows of the file; 0 if unknown
	lastMS   int64
	dropped  int
	noVolume int
	closesMS int64 // the last row's own close time
	row      row   // the current row
	fields   [][]byte
	candles  *exchange.Candles
	tape     *Tape
}

// load parses the file. If the symbol's scale is too small, it returns the required number of
// decimal places, and the caller must read the file again.
func (p *parser) load() (finer int, err error) {
	feed, err := newFeed(p.path, p.size, p.options.Columns, p.symbol.PriceScale)
	if err != nil {
		return 0, err
	}
	defer feed.close()
	for part := range feed.blocks {
		data := part.data
		if p.tape == nil {
			p.total = part.total
			if data, finer, err = p.begin(data, feed); err != nil || finer > 0 {
				return finer, err
			}
		}
		if part.batch != nil {
			finer, err = p.batch(part.batch)
		} else {
			finer, err = p.rows(data)
		}
		if err != nil || finer > 0 {
			return finer, err
		}
		if p.n > p.maximum() {
			return 0, &DataError{Path: p.path, What: fmt.Sprintf("the file has more than %d candles", p.maximum()), Hint: "split the file"}
		}
		if p.unknown != nil && p.n > 0 {
			return 0, p.unknown
		}
		if p.options.Progress != nil {
			p.options.Progress(part.done, p.size)
		}
		if part.batch != nil {
			part.batch.release()
		} else {
			feed.release(part.data)
		}
	}
	if feed.err != nil {
		return 0, feed.err
	}
	return 0, p.finish(feed.sha)
}

// begin processes the first block, which determines columns, scale and interval.
func (p *parser) begin(data []byte, feed *feed) (body []byte, finer int, err error) {
	end := bytes.IndexByte(data, '\n')
	var isRow bool
	if feed.given == "" {
		p.layout, isRow, err = layoutOf(p.path, string(data[:end]))
	} else {
		p.layout, isRow, err = layoutGiven(feed.given, string(data[:end]))
	}
	if err != nil {
		return nil, 0, err
	}
	p.line, p.step, body = 1, feed.origin.Step, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !isRow {
		p.line, body = feed.origin.First, data[end+1:]
	}
	glance := p.preview(body)
	if glance.places > p.symbol.PriceScale {
		return nil, glance.places, nil
	}
	interval, err := glance.interval(p.path, p.given)
	if p.unknown = err; err != nil {
		interval = 1
	}
	p.interval = int64(interval)
	p.candles = &exchange.Candles{Interval: interval}
	p.tape = &Tape{Symbol: p.symbol, Candles: p.candles}
	return body, 0, nil
}

// maximum returns the largest permitted number of candles.
func (p *parser) maximum() int {
	if p.options.MaxCandles > 0 {
		return min(maxCandles, p.options.MaxCandles)
	}
	return maxCandles
}

// reserve makes room for more candles, and initially for as many as the file's size suggests. A block may have lines
// that are no candles.
func (p *parser) reserve(rows int, bytes int) {
	more := rows
	if p.n == 0 && bytes > 0 {
		more = min(maxCandles, int(float64(rows)*float64(p.size)/float64(bytes)*1.02)+1)
	}
	if p.n == 0 && p.total > 0 {
		more = min(p.maximum(), p.total)
	}
	c := p.candles
	c.OpenMS = extended(c.OpenMS, p.n, rows, more)
	c.Open, c.High = extended(c.Open, p.n, rows, more), extended(c.High, p.n, rows, more)
	c.Low, c.Close = extended(c.Low, p.n, rows, more), extended(c.Close, p.n, rows, more)
	c.Volume = extended(c.Volume, p.n, rows, more)
	for _, column := range []*[]float64{&c.QuoteVolume, &c.TakerBase, &c.TakerQuote} {
		if *column != nil {
			*column = extended(*column, p.n, rows, more)
		}
	}
	if c.Trades != nil {
		c.Trades = extended(c.Trades, p.n, rows, more)
	}
}

// extended returns the column, cut to n, with rows zeros appended and capacity for more.
func extended[T any](column []T, n, rows, more int) []T {
	if cap(column) < n+rows {
		column = slices.Grow(column[:n], max(rows, more))
	}
	return column[:n+rows]
}

// rows parses a block.
func (p *parser) rows(data []byte) (finer int, err error) {
	p.reserve(bytes.Count(data, []byte{'\n'}), len(data))
	padded := data[:len(data)+padding]
	for i := 0; i < len(data); {
		if next := p.fast(padded, i); next > 0 {
			i = next
			p.line += p.step
			continue
		}
		end := i + bytes.IndexByte(data[i:], '\n')
		if finer, err = p.slow(data[i:end], data[end+1:]); err != nil || finer > 0 {
			return finer, err
		}
		i = end + 1
		p.line += p.step
	}
	return 0, nil
}

// row holds the numbers of a line by column; missing columns stay zero.
type row struct {
	whole [columnEnd]int64 // times, prices in units, trades
	real  [columnEnd]float64
}

// fast parses a regular row and returns the position of the next one. For anything else, valid or
// not, it returns 0 and leaves it to slow.
func (p *parser) fast(data []byte, i int) (next int) {
	row, last := &p.row, len(p.layout)-1
	for k, c := range p.layout {
		switch {
		case c == skipped:
			for data[i] != ',' && data[i] >= ' ' {
				i++
			}
		case data[i] == ',' || data[i] < ' ':
			if c <= filled {
				return 0
			}
			row.whole[c], row.real[c] = 0, 0
		default:
			mantissa, places, end := scan(data, i)
			if end < 0 {
				return 0
			}
			switch kinds[c] {
			case price:
				var ok bool
				if row.whole[c], ok = units(mantissa, places, p.symbol.PriceScale); !ok {
					return 0
				}
			case whole:
				if row.whole[c] = int64(mantissa); places > 0 {
					return 0
				}
			case real:
				row.real[c] = float(mantissa, places)
			}
			i = end
		}
		if k < last {
			if data[i] != ',' {
				return 0
			}
			i++
		}
	}
	if data[i] == '\r' {
		i++
	}
	if data[i] != '\n' || !p.next() {
		return 0
	}
	p.keep()
	return i + 1
}

// next reports whether the row is the direct successor of the last candle, with plausible prices.
// The first row, gaps and faults are left to slow.
func (p *parser) next() bool {
	v := &p.row.whole
	if v[openTime] >= microseconds && v[openTime]%1000 == 0 {
		v[openTime] /= 1000
	}
	low, high := v[lowPrice], v[highPrice]
	return v[openTime] == p.lastMS+p.interval && p.n > 0 && low > 0 &&
		low <= v[openPrice] && v[openPrice] <= high && low <= v[closePrice] && v[closePrice] <= high
}

// keep stores the row in the columns, in which reserve made room.
func (p *parser) keep() {
	v, real, columns, n := &p.row.whole, &p.row.real, p.candles, p.n
	columns.OpenMS[n] = v[openTime]
	columns.Open[n], columns.High[n] = exchange.Price(v[openPrice]), exchange.Price(v[highPrice])
	columns.Low[n], columns.Close[n] = exchange.Price(v[lowPrice]), exchange.Price(v[closePrice])
	columns.Volume[n] = real[volume]
	if real[volume] == 0 {
		p.noVolume++
	}
	if real[quoteVolume] != 0 || columns.QuoteVolume != nil {
		optional(&columns.QuoteVolume, columns.Volume)[n] = real[quoteVolume]
	}
	if real[takerBase] != 0 || real[takerQuote] != 0 || columns.TakerBase != nil {
		optional(&columns.TakerBase, columns.Volume)[n] = real[takerBase]
		optional(&columns.TakerQuote, columns.Volume)[n] = real[takerQuote]
	}
	if v[trades] != 0 || columns.Trades != nil {
		optional(&columns.Trades, columns.OpenMS)[n] = v[trades]
	}
	p.n, p.lastMS, p.closesMS = n+1, v[openTime], v[closeTime]
}

// optional returns an optional column, extended to the length of the other. A column with only
// empty fields stays empty.
func optional[T any](column *[]T, other []T) []T {
	if *column == nil {
		*column = make([]T, len(other), cap(other))
	}
	return *column
}

// finish cuts the columns to their length and adds warnings.
func (p *parser) finish(sha string) error {
	if p.tape == nil {
		return &DataError{Path: p.path, Line: 1, What: "the file is empty", Hint: "expected a header and one row a candle"}
	}
	if p.n == 0 {
		return &DataError{Path: p.path, What: "no candles", Hint: "expected a header and one row a candle"}
	}
	p.reserve(0, 0)
	t := p.tape
	t.SHA256 = sha
	if more := p.dropped - maxRepaired; more > 0 {
		t.Repaired = append(t.Repaired, fmt.Sprintf("and %d more rows", more))
	}
	if p.noVolume > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d of %d candles have no volume", p.noVolume, p.n))
	}
	if closes := milliseconds(p.closesMS); closes > 0 && closes < p.lastMS+p.interval-1 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("the last candle closes at %d, %d ms before its interval ends: it may have been incomplete",
			closes, p.lastMS+p.interval-closes))
	}
	return nil
}

// seconds: a smaller time would be in 1970 if it were in milliseconds.
const seconds = 31_536_000_000

// microseconds: a larger time is in microseconds, as in kline files since 2025. In milliseconds it
// is the year 5138.
const microseconds = 100_000_000_000_000

// milliseconds returns a time that may be in microseconds.
func milliseconds(time int64) int64 {
	if time >= microseconds {
		return time / 1000
	}
	return time
}
