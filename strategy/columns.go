package strategy

// Columns are series from outside: numbers that are visible from a time on.
type Columns interface {
	// Names returns the names of the series.
	Names() []string
	// At returns the value of a series that is visible at a time; not known before its first one.
	At(name string, atMS int64) (value float64, known bool)
}

// ColumnReader is a strategy that reads some of its columns, each at the close of its candles.
type ColumnReader interface {
	ReadsColumns() []string
}
