package process

import (
	"math"
	"slices"

	"botd/exchange"
	"botd/strategy"
)

// columnRow holds the values of a strategy's columns at the close of one candle, in the order of
// its hello; null for unknown values.
type columnRow []*float64

// newColumnRow reads columns at a time. Values that are not finite numbers are unknown.
func newColumnRow(columns strategy.Columns, names []string, atMS int64) columnRow {
	row := make(columnRow, len(names))
	for i, name := range names {
		if value, known := columns.At(name, atMS); known && !math.IsNaN(value) && !math.IsInf(value, 0) {
			row[i] = &value
		}
	}
	return row
}

// receivedColumns holds the columns on the strategy's end, as received with its candles.
type receivedColumns struct {
	names  []string // all columns
	read   []string // columns sent to the strategy
	rows   []columnRow
	given  int       // number of candles of the message already passed on
	atMS   int64     // the close of the newest candle
	values columnRow // at that time
}

// Names returns the names of all columns.
func (c *receivedColumns) Names() []string { return c.names }

// At returns the value of a column at the close of the newest candle, the only time available.
func (c *receivedColumns) At(name string, atMS int64) (value float64, known bool) {
	i := slices.Index(c.read, name)
	if i < 0 || atMS != c.atMS || i >= len(c.values) || c.values[i] == nil {
		return 0, false
	}
	return *c.values[i], true
}

// store stores the rows of a message.
func (c *receivedColumns) store(rows []columnRow) { c.rows, c.given = rows, 0 }

// next advances to the next candle of the message.
func (c *receivedColumns) next(candle *exchange.Candle, interval exchange.Interval) {
	c.atMS, c.values = candle.OpenMS+int64(interval), nil
	if c.given < len(c.rows) {
		c.values = c.rows[c.given]
	}
	c.given++
}
