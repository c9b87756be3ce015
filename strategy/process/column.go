package process

import (
	"math"
	"slices"

	"botd/exchange"
	"botd/strategy"
)

// columnRow is what the columns that a strategy reads show at the close of one candle, in the order
// of its hello; null for what is not known yet.
type columnRow []*float64

// newColumnRow reads columns at a time. What is no finite number is not known.
func newColumnRow(columns strategy.Columns, names []string, atMS int64) columnRow {
	row := make(columnRow, len(names))
	for i, name := range names {
		if value, known := columns.At(name, atMS); known && !math.IsNaN(value) && !math.IsInf(value, 0) {
			row[i] = &value
		}
	}
	return row
}

// receivedColumns are the columns of a strategy at the other end: what has come with its candles.
type receivedColumns struct {
	names  []string // that there are
	read   []string // that come
	shown  []columnRow
	given  int       // candles of the message that were given
	atMS   int64     // the close of the newest candle
	values columnRow // at that time
}

// Names returns the names of all columns there are.
func (c *receivedColumns) Names() []string { return c.names }

// At returns what a column shows at the close of the newest candle, the one time that is asked for.
func (c *receivedColumns) At(name string, atMS int64) (value float64, known bool) {
	i := slices.Index(c.read, name)
	if i < 0 || atMS != c.atMS || i >= len(c.values) || c.values[i] == nil {
		return 0, false
	}
	return *c.values[i], true
}

// take takes the rows of a message.
func (c *receivedColumns) take(rows []columnRow) { c.shown, c.given = rows, 0 }

// next goes on to the next candle of the message.
func (c *receivedColumns) next(candle *exchange.Candle, interval exchange.Interval) {
	c.atMS, c.values = candle.OpenMS+int64(interval), nil
	if c.given < len(c.shown) {
		c.values = c.shown[c.given]
	}
	c.given++
}
