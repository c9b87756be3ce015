package tape

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// column is the meaning of a column of the file.
type column uint8

// The columns. A column without a name here is skipped.
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
	required = volume     // the columns up to this one must exist
	filled   = closePrice // the columns up to this one have a number in every row
)

// kind is the number format of a column.
type kind uint8

const (
	whole kind = iota
	price
	real
)

var kinds = [columnEnd]kind{openPrice: price, highPrice: price, lowPrice: price, closePrice: price, volume: real, quoteVolume: real, takerBase: real,
	takerQuote: real}

var columnNames = [columnEnd]string{"", "open_time_ms", "open", "high", "low", "close", "volume", "close_time_ms", "quote_volume", "trades",
	"taker_buy_base", "taker_buy_quote"}

// otherNames are the names in the header of some Binance files.
var otherNames = map[string]column{"open_time": openTime, "close_time": closeTime, "count": trades, "taker_buy_volume": takerBase,
	"taker_buy_quote_volume": takerQuote}

// klines are the columns of Binance's kline CSV, which has no header.
var klines = layout{openTime, openPrice, highPrice, lowPrice, closePrice, volume, closeTime, quoteVolume, trades, takerBase, takerQuote, skipped}

// header is the header of files that this package writes.
var header = strings.Join(columnNames[1:], ",")

// layout is the meaning of each column, from left to right.
type layout []column

func (l layout) has(c column) bool { return slices.Contains(l, c) }

// layoutOf derives the layout from the first line: from its names, or, if it begins with a number,
// from the layout of kline files. In that case the line is a row.
func layoutOf(path, line string) (l layout, isRow bool, err error) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "\xef\xbb\xbf"))
	fail := func(column, format string, arguments ...any) (layout, bool, error) {
		return nil, false, &DataError{Path: path, Line: 1, Column: column, What: fmt.Sprintf(format, arguments...),
			Hint: "the header is " + header + "; 'botd data import --columns' describes the columns of another file"}
	}
	if line == "" {
		return fail("", "the first line is empty")
	}
	names := strings.Split(line, ",")
	if line[0] >= '0' && line[0] <= '9' {
		if len(names) != len(klines) {
			return fail("", "there is no header, and the order of the %d columns is unknown", len(names))
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
			return fail(name, "column %s appears twice", columnNames[c])
		}
		l = append(l, c)
	}
	for c := openTime; c <= required; c++ {
		if !l.has(c) {
			if len(names) == 1 && strings.ContainsAny(line, ";\t") {
				return fail("", "the columns are not separated by commas (%s)", shorten(line))
			}
			return fail(columnNames[c], "column %s is missing (there are: %s)", columnNames[c], shorten(line))
		}
	}
	return l, false, nil
}

// layoutGiven parses a layout given by the user; the first line is a row when it begins with a
// number.
func layoutGiven(columns, line string) (l layout, isRow bool, err error) {
	if l, isRow, err = layoutOf("", columns); err != nil || isRow {
		return nil, false, &DataError{What: fmt.Sprintf("the columns %q are unknown", shorten(columns)),
			Hint: "list all of them, left to right, as open_time_ms,open,high,low,close,volume; - skips one"}
	}
	line = strings.TrimPrefix(line, "\xef\xbb\xbf")
	return l, line != "" && line[0] >= '0' && line[0] <= '9', nil
}

// shorten bounds the part of arbitrary file content that an error contains, and removes terminal
// control characters.
func shorten(text string) string {
	const maxLength = 120
	rest := ""
	if len(text) > maxLength {
		text, rest = text[:maxLength], "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, text) + rest
}
