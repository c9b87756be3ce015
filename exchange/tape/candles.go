package tape

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"botd/exchange"
)

// Columns by their place in a row; -1 is absent.
type layout struct {
	openTime, open, high, low, close, volume   int
	quoteVolume, trades, takerBase, takerQuote int
	columns                                    int
}

var columnNames = []string{"open_time_ms", "open", "high", "low", "close", "volume", "close_time_ms", "quote_volume", "trades", "taker_buy_base", "taker_buy_quote"}

// klineColumns is Binance's kline CSV, which has no header.
const klineColumns = 12

// layoutOf finds the columns: by the header, or as a kline file when the first
// line begins with a number.
func layoutOf(path string, data []byte) (l layout, body []byte, firstLine int, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		end = len(data)
	}
	header := strings.TrimSpace(string(data[:end]))
	if header == "" {
		return l, nil, 0, &DataError{Path: path, Line: 1, What: "the file is empty", Hint: "a header and a row a candle are expected"}
	}
	fields := strings.Split(header, ",")
	if header[0] >= '0' && header[0] <= '9' {
		if len(fields) != klineColumns {
			return l, nil, 0, &DataError{Path: path, Line: 1, What: fmt.Sprintf("no header, and %d columns where a kline file has %d", len(fields), klineColumns),
				Hint: "the header is: " + strings.Join(columnNames, ",")}
		}
		return layout{0, 1, 2, 3, 4, 5, 7, 8, 9, 10, klineColumns}, data, 1, nil
	}
	at := func(name string) int { return slices.Index(fields, name) }
	l = layout{at("open_time_ms"), at("open"), at("high"), at("low"), at("close"), at("volume"), at("quote_volume"), at("trades"), at("taker_buy_base"), at("taker_buy_quote"), len(fields)}
	for _, name := range columnNames[:6] {
		if at(name) < 0 {
			return l, nil, 0, &DataError{Path: path, Line: 1, What: fmt.Sprintf("column %s is missing", name), Hint: "the header is: " + strings.Join(columnNames, ",")}
		}
	}
	if end == len(data) {
		end--
	}
	return l, data[end+1:], 2, nil
}

// placesIn looks at the price columns of the first rows for their decimal places,
// trailing zeros left out.
func placesIn(body []byte, l *layout) int {
	const look = 20_000 // rows; a later row with more places is an error that says so
	most := 0
	var fields [][]byte
	for row := 0; row < look && len(body) > 0; row++ {
		line := body
		if end := bytes.IndexByte(body, '\n'); end >= 0 {
			line, body = body[:end], body[end+1:]
		} else {
			body = nil
		}
		fields = split(fields[:0], line)
		for _, column := range []int{l.open, l.high, l.low, l.close} {
			if column >= len(fields) {
				continue
			}
			if point := bytes.IndexByte(fields[column], '.'); point >= 0 {
				most = max(most, len(bytes.TrimRight(fields[column][point+1:], "0\r")))
			}
		}
	}
	return min(most, exchange.AmountScale)
}

func split(fields [][]byte, line []byte) [][]byte {
	for {
		comma := bytes.IndexByte(line, ',')
		if comma < 0 {
			return append(fields, bytes.TrimRight(line, "\r"))
		}
		fields, line = append(fields, line[:comma]), line[comma+1:]
	}
}

// parser reads rows into columns.
type parser struct {
	path     string
	layout   layout
	symbol   *exchange.Symbol
	options  Options
	interval exchange.Interval
	line     int
	tape     *Tape
	fields   [][]byte
	lines    []int // of each candle, until the interval is known
}

func (p *parser) parse(body []byte) error {
	total := int64(len(body))
	rows := bytes.Count(body, []byte{'\n'}) + 1
	p.reserve(rows)
	for len(body) > 0 {
		line := body
		if end := bytes.IndexByte(body, '\n'); end >= 0 {
			line, body = body[:end], body[end+1:]
		} else {
			body = nil
		}
		if len(line) > 0 && line[0] != '\r' {
			if err := p.row(line); err != nil {
				return err
			}
		}
		p.line++
		if p.options.Progress != nil && p.line&0xffff == 0 {
			p.options.Progress(total-int64(len(body)), total)
		}
	}
	return nil
}

func (p *parser) reserve(rows int) {
	c := p.tape.Candles
	c.OpenMS, c.Volume = make([]int64, 0, rows), make([]float64, 0, rows)
	for _, column := range []*[]exchange.Price{&c.Open, &c.High, &c.Low, &c.Close} {
		*column = make([]exchange.Price, 0, rows)
	}
	p.lines = make([]int, 0, rows)
}

// row reads one line. With Repair a wrong row is dropped and told.
func (p *parser) row(line []byte) error {
	p.fields = split(p.fields[:0], line)
	candle, fault := p.candle()
	if fault == "" {
		fault = p.place(&candle)
	}
	if fault == "" {
		p.append(&candle)
		return nil
	}
	if !p.options.Repair {
		return &DataError{Path: p.path, Line: p.line, What: fault, Hint: "--repair drops rows that are wrong and says which"}
	}
	p.tape.Repaired = append(p.tape.Repaired, fmt.Sprintf("line %d dropped: %s", p.line, fault))
	return nil
}

// candle reads the fields of a row; fault says what is wrong with them.
func (p *parser) candle() (c exchange.Candle, fault string) {
	l := &p.layout
	if len(p.fields) != l.columns {
		return c, fmt.Sprintf("%d columns, the header has %d", len(p.fields), l.columns)
	}
	var ok bool
	if c.OpenMS, ok = integer(p.fields[l.openTime]); !ok {
		return c, fmt.Sprintf("open time %q is not in milliseconds", p.fields[l.openTime])
	}
	if c.OpenMS > 1e14 { // kline files are in microseconds since 2025
		c.OpenMS /= 1000
	}
	for _, price := range []struct {
		into   *exchange.Price
		column int
		name   string
	}{{&c.Open, l.open, "open"}, {&c.High, l.high, "high"}, {&c.Low, l.low, "low"}, {&c.Close, l.close, "close"}} {
		units, good := fixed(p.fields[price.column], p.symbol.PriceScale)
		if !good {
			return c, fmt.Sprintf("%s %q is not a price with at most %d places", price.name, p.fields[price.column], p.symbol.PriceScale)
		}
		*price.into = exchange.Price(units)
	}
	if c.Volume, ok = p.float(l.volume); !ok {
		return c, fmt.Sprintf("volume %q is not a number", p.fields[l.volume])
	}
	if err := c.Plausible(); err != nil {
		return c, "impossible prices: " + err.Error()
	}
	return c, p.optional(&c)
}

// optional reads the columns that may be absent or empty.
func (p *parser) optional(c *exchange.Candle) string {
	l := &p.layout
	for _, field := range []struct {
		into   *float64
		column int
		name   string
	}{{&c.QuoteVolume, l.quoteVolume, "quote_volume"}, {&c.TakerBase, l.takerBase, "taker_buy_base"}, {&c.TakerQuote, l.takerQuote, "taker_buy_quote"}} {
		if field.column < 0 {
			continue
		}
		var ok bool
		if *field.into, ok = p.float(field.column); !ok {
			return fmt.Sprintf("%s %q is not a number", field.name, p.fields[field.column])
		}
	}
	if l.trades >= 0 && len(p.fields[l.trades]) > 0 {
		var ok bool
		if c.Trades, ok = integer(p.fields[l.trades]); !ok {
			return fmt.Sprintf("trades %q is not a whole number", p.fields[l.trades])
		}
	}
	return ""
}

// place checks the row's order; the grid is checked when the interval is known.
func (p *parser) place(c *exchange.Candle) string {
	n := p.tape.Candles.Len()
	if n == 0 {
		return ""
	}
	switch last := p.tape.Candles.OpenMS[n-1]; {
	case c.OpenMS == last:
		return fmt.Sprintf("open time %d stands twice", c.OpenMS)
	case c.OpenMS < last:
		return fmt.Sprintf("open time %d is before the row above (%d): out of order", c.OpenMS, last)
	}
	return ""
}

func (p *parser) append(c *exchange.Candle) {
	columns := p.tape.Candles
	columns.OpenMS = append(columns.OpenMS, c.OpenMS)
	columns.Open, columns.High = append(columns.Open, c.Open), append(columns.High, c.High)
	columns.Low, columns.Close = append(columns.Low, c.Low), append(columns.Close, c.Close)
	columns.Volume = append(columns.Volume, c.Volume)
	if p.layout.quoteVolume >= 0 {
		columns.QuoteVolume = append(columns.QuoteVolume, c.QuoteVolume)
	}
	if p.layout.trades >= 0 {
		columns.Trades = append(columns.Trades, c.Trades)
	}
	if p.layout.takerBase >= 0 && p.layout.takerQuote >= 0 {
		columns.TakerBase, columns.TakerQuote = append(columns.TakerBase, c.TakerBase), append(columns.TakerQuote, c.TakerQuote)
	}
	p.lines = append(p.lines, p.line)
}

// finish finds the interval, checks the grid and finds the holes.
func (p *parser) finish() (*Tape, error) {
	c := p.tape.Candles
	if c.Len() == 0 {
		return nil, &DataError{Path: p.path, What: "no candles", Hint: "a header and a row a candle are expected"}
	}
	if p.interval == 0 {
		interval, err := p.findInterval()
		if err != nil {
			return nil, err
		}
		p.interval = interval
	}
	c.Interval = p.interval
	for i := range c.OpenMS {
		if p.interval.OpenOf(c.OpenMS[i]) != c.OpenMS[i] {
			return nil, &DataError{Path: p.path, Line: p.lines[i], What: fmt.Sprintf("open time %d is off the grid of %s", c.OpenMS[i], p.interval),
				Hint: "is the interval right?"}
		}
		if i == 0 {
			continue
		}
		if missing := (c.OpenMS[i]-c.OpenMS[i-1])/int64(p.interval) - 1; missing > 0 {
			p.tape.Holes = append(p.tape.Holes, Hole{c.OpenMS[i-1], c.OpenMS[i], int(missing)})
		}
	}
	return p.tape, nil
}

// findInterval takes the most frequent distance of the first rows.
func (p *parser) findInterval() (exchange.Interval, error) {
	times := p.tape.Candles.OpenMS
	counts, best := map[int64]int{}, int64(0)
	for i := 1; i < min(len(times), 1000); i++ {
		step := times[i] - times[i-1]
		counts[step]++
		if counts[step] > counts[best] {
			best = step
		}
	}
	if slices.Contains(exchange.Intervals(), exchange.Interval(best)) {
		return exchange.Interval(best), nil
	}
	return 0, &DataError{Path: p.path, What: fmt.Sprintf("rows are %d ms apart, which is no interval", best), Hint: "1m, 5m, 15m, 30m, 1h, 4h, 1d or 1w"}
}

// fixed reads a positive decimal as whole units of 10^-scale; digits beyond the
// scale must be zeros.
func fixed(text []byte, scale int) (units int64, ok bool) {
	if len(text) == 0 || len(text) > 40 {
		return 0, false
	}
	places, point, digits := 0, false, 0
	for _, c := range text {
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			return exotic(text, scale)
		}
		digits++
		if point {
			if places == scale {
				if c != '0' {
					return 0, false
				}
				continue
			}
			places++
		}
		if units > (1<<63-1-9)/10 {
			return 0, false
		}
		units = units*10 + int64(c-'0')
	}
	for ; places < scale; places++ {
		if units > (1<<63-1)/10 {
			return 0, false
		}
		units *= 10
	}
	return units, digits > 0
}

// exotic reads what is no plain decimal, such as 1e-05.
func exotic(text []byte, scale int) (int64, bool) {
	a, err := exchange.ParseAmount(string(text))
	if err != nil || a.Sign() < 0 {
		return 0, false
	}
	plain := a.Decimal().StringFixed(exchange.AmountScale)
	if strings.ContainsAny(plain, "eE") {
		return 0, false
	}
	return fixed([]byte(plain), scale)
}

func integer(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// powers are exact in a float64.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float reads a number; empty is zero. Up to 2^53 digits by 10^22 the quotient
// is the nearest float64; anything else is left to strconv.
func (p *parser) float(column int) (float64, bool) {
	text := p.fields[column]
	if len(text) == 0 {
		return 0, true
	}
	var mantissa uint64
	places, point := 0, false
	for _, c := range text {
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' || mantissa >= 1<<53/10 || places == len(powers)-1 {
			f, err := strconv.ParseFloat(string(text), 64)
			return f, err == nil && !math.IsInf(f, 0)
		}
		mantissa = mantissa*10 + uint64(c-'0')
		if point {
			places++
		}
	}
	return float64(mantissa) / powers[places], len(text) > 1 || !point
}
