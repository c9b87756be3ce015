package tape

import (
	"bytes"
	"fmt"
	"slices"

	"botd/exchange"
)

// fault is an error in a row.
type fault struct {
	column column
	what   string
	hint   string
}

func wrong(c column, format string, arguments ...any) *fault {
	return &fault{column: c, what: fmt.Sprintf(format, arguments...)}
}

// slow parses a row carefully: it handles other number formats, gaps and all faults. With Repair it
// drops and reports a wrong row. If the scale is too small, it returns the required number of
// decimal places.
func (p *parser) slow(line, below []byte) (finer int, err error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return 0, nil
	}
	p.fields = split(p.fields[:0], line)
	finer, wrong := p.read()
	if finer > 0 && p.symbol.PriceScale < finer {
		return finer, nil
	}
	if wrong == nil {
		wrong = p.place(below)
	}
	if wrong == nil {
		p.keep()
		return 0, nil
	}
	if !p.options.Repair {
		if wrong.hint == "" {
			wrong.hint = "--repair drops wrong rows and lists them"
		}
		return 0, &DataError{Path: p.path, Line: p.line, Column: columnNames[wrong.column], What: wrong.what, Hint: wrong.hint}
	}
	if p.dropped++; p.dropped <= maxRepaired {
		p.tape.Repaired = append(p.tape.Repaired, fmt.Sprintf("line %d dropped: %s", p.line, wrong.what))
	}
	return 0, nil
}

// split splits a line at its commas, without blanks and quotes around the fields.
func split(fields [][]byte, line []byte) [][]byte {
	for field := range bytes.SplitSeq(line, []byte{','}) {
		field = bytes.TrimSpace(field)
		if n := len(field); n > 1 && field[0] == '"' && field[n-1] == '"' {
			field = field[1 : n-1]
		}
		fields = append(fields, field)
	}
	return fields
}

// read parses the fields as numbers.
func (p *parser) read() (finer int, f *fault) {
	if have, want := len(p.fields), len(p.layout); have != want {
		return 0, wrong(skipped, "%d columns, the header has %d", have, want)
	}
	for k, c := range p.layout {
		text := p.fields[k]
		if c == skipped {
			continue
		}
		p.row.whole[c], p.row.real[c] = 0, 0
		if len(text) == 0 {
			if c <= filled {
				return 0, wrong(c, "%s is empty", columnNames[c])
			}
			continue
		}
		var ok bool
		switch kinds[c] {
		case whole:
			p.row.whole[c], ok = wholeOf(text)
		case price:
			var more int
			p.row.whole[c], more, ok = priceOf(text, p.symbol.PriceScale)
			finer = max(finer, more)
		case real:
			p.row.real[c], ok = floatOf(text)
		}
		if !ok {
			return 0, wrong(c, "%s %q is not %s", columnNames[c], shorten(string(text)), kinds[c])
		}
	}
	return finer, p.plausible()
}

// String describes the expected content of a column.
func (k kind) String() string {
	switch k {
	case whole:
		return "a whole number"
	case price:
		return "a price"
	}
	return "a number"
}

// plausible checks the numbers of the row against each other.
func (p *parser) plausible() *fault {
	v, real := &p.row.whole, &p.row.real
	units := func(c column) exchange.Price { return exchange.Price(v[c]) }
	show := func(c column) string { return p.symbol.PriceDecimal(units(c)).String() }
	low, high := v[lowPrice], v[highPrice]
	switch {
	case low <= 0:
		return wrong(lowPrice, "impossible prices: low %s is not above zero", show(lowPrice))
	case high < low:
		return wrong(highPrice, "impossible prices: high is below low (%s, %s)", show(highPrice), show(lowPrice))
	}
	for _, c := range []column{openPrice, closePrice} {
		if v[c] < low || v[c] > high {
			return wrong(c, "impossible prices: %s is outside low..high (%s; %s..%s)", columnNames[c], show(c), show(lowPrice), show(highPrice))
		}
	}
	for _, c := range []column{volume, quoteVolume, takerBase, takerQuote} {
		if real[c] < 0 {
			return wrong(c, "%s %v is below zero", columnNames[c], real[c])
		}
	}
	return nil
}

// place checks the row's time against the grid and the previous row, and records a gap.
func (p *parser) place(below []byte) *fault {
	at, interval := p.row.whole[openTime], exchange.Interval(p.interval)
	if at >= microseconds {
		if at%1000 != 0 {
			return p.offGrid(at)
		}
		at /= 1000
		p.row.whole[openTime] = at
	}
	switch {
	case interval.OpenOf(at) != at:
		return p.offGrid(at)
	case p.n == 0:
		return nil
	case at == p.lastMS:
		return wrong(openTime, "open time %d appears twice", at)
	case at < p.lastMS:
		return wrong(openTime, "open time %d is before the row above (%d): out of order", at, p.lastMS)
	}
	missing := (at-p.lastMS)/p.interval - 1
	if missing == 0 {
		return nil
	}
	// When rows are dropped, a single time far in the future must not drop all rows after it.
	if next, ok := p.timeOf(below); p.options.Repair && ok && next > p.lastMS && next < at {
		return wrong(openTime, "open time %d is after the row below (%d): out of order", at, next)
	}
	p.tape.Holes = append(p.tape.Holes, Hole{p.lastMS, at, int(missing)})
	return nil
}

func (p *parser) offGrid(at int64) *fault {
	f := wrong(openTime, "open time %d is off the grid of %s", at, exchange.Interval(p.interval))
	if exchange.Interval(p.interval) == exchange.Week1 {
		f.what += ": weeks begin on Monday at 00:00 UTC"
	}
	if f.hint = "is the interval right? --repair drops rows that are off the grid"; at > 0 && at < seconds {
		f.hint = "open times are in milliseconds, and these look like seconds"
	}
	return f
}

// timeOf reads the open time of the next row, if the block has one.
func (p *parser) timeOf(below []byte) (int64, bool) {
	end := bytes.IndexByte(below, '\n')
	if end < 0 {
		return 0, false
	}
	fields := split(nil, below[:end])
	if len(fields) != len(p.layout) {
		return 0, false
	}
	at, ok := wholeOf(fields[slices.Index(p.layout, openTime)])
	return milliseconds(at), ok
}
