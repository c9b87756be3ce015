package tape

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// column says what stands in a column of the file.
type column uint8

// The columns; what has no name here is skipped.
const (
	skipped column = iota
	openTime
	openPrice
	highPrice
	lowPrice
	closePrice
	volume
	closeTime
	quoteVolume
	trades
	takerBase
	takerQuote
	columnEnd
)

const (
	required = volume     // the columns up to it must be there
	filled   = closePrice // and those up to it have a number in every row
)

// kind is how a column's text is read.
type kind uint8

const (
	whole kind = iota
	price
	real
)

var kinds = [columnEnd]kind{openPrice: price, highPrice: price, lowPrice: price, closePrice: price, volume: real, quoteVolume: real, takerBase: real, takerQuote: real}

var columnNames = [columnEnd]string{"", "open_time_ms", "open", "high", "low", "close", "volume", "close_time_ms", "quote_volume", "trades", "taker_buy_base", "taker_buy_quote"}

// otherNames are those of the header that some of Binance's files have.
var otherNames = map[string]column{"open_time": openTime, "close_time": closeTime, "count": trades, "taker_buy_volume": takerBase, "taker_buy_quote_volume": takerQuote}

// klines are the columns of Binance's kline CSV, which has no header.
var klines = layout{openTime, openPrice, highPrice, lowPrice, closePrice, volume, closeTime, quoteVolume, trades, takerBase, takerQuote, skipped}

// header is how a file written by this package begins.
var header = strings.Join(columnNames[1:], ",")

// layout is what stands in each column, left to right.
type layout []column

func (l layout) has(c column) bool { return slices.Contains(l, c) }

// layoutOf finds the columns by the first line: by its names, or as a kline file
// when it begins with a number, and then it is a row.
func layoutOf(path, line string) (l layout, isRow bool, err error) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "\xef\xbb\xbf"))
	fail := func(column, format string, arguments ...any) (layout, bool, error) {
		return nil, false, &DataError{Path: path, Line: 1, Column: column, What: fmt.Sprintf(format, arguments...), Hint: "the header is: " + header}
	}
	if line == "" {
		return fail("", "the first line is empty")
	}
	names := strings.Split(line, ",")
	if line[0] >= '0' && line[0] <= '9' {
		if len(names) != len(klines) {
			return fail("", "no header, and %d columns where a kline file has %d", len(names), len(klines))
		}
		return klines, true, nil
	}
	for _, name := range names {
		name = strings.Trim(strings.TrimSpace(name), `"`)
		c := column(max(0, slices.Index(columnNames[:], name)))
		if c == skipped {
			c = otherNames[name]
		}
		if c != skipped && l.has(c) {
			return fail(name, "column %s stands twice", columnNames[c])
		}
		l = append(l, c)
	}
	for c := openTime; c <= required; c++ {
		if !l.has(c) {
			if len(names) == 1 && strings.ContainsAny(line, ";\t") {
				return fail("", "no comma stands between the columns (%s)", shorten(line))
			}
			return fail(columnNames[c], "column %s is missing (there are: %s)", columnNames[c], shorten(line))
		}
	}
	return l, false, nil
}

// layoutGiven takes the columns as a person says them; the first line is a row when
// it begins with a number.
func layoutGiven(columns, line string) (l layout, isRow bool, err error) {
	if l, isRow, err = layoutOf("", columns); err != nil || isRow {
		return nil, false, &DataError{What: fmt.Sprintf("the columns %q are none", shorten(columns)), Hint: "write all that are there, left to right, as open_time_ms,open,high,low,close,volume; - is one to pass over"}
	}
	line = strings.TrimPrefix(line, "\xef\xbb\xbf")
	return l, line != "" && line[0] >= '0' && line[0] <= '9', nil
}

// shorten bounds what an error shows of a file, which may hold anything: what a
// terminal would obey is not shown.
func shorten(text string) string {
	const most = 120
	rest := ""
	if len(text) > most {
		text, rest = text[:most], "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, text) + rest
}
