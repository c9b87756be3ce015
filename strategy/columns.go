package strategy

// Columns are external series: numbers that become visible at a time.
type Columns interface {
	// Names returns the names of the series.
	Names() []string
	// At returns the value of a series that is visible at a time. It is unknown before the series'
	// first value.
	At(name string, atMS int64) (value float64, known bool)
}

// ColumnReader is a strategy that reads named columns at the close of its candles.
type ColumnReader interface {
	ReadsColumns() []string
}
