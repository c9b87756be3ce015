package script

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"botd/strategy"
	"botd/strategy/indicator"
)

// column implements column(name): an external series. At each candle's close it has the value that
// was visible at that time.
func column(r *call) (starlark.Value, error) {
	var name string
	if err := r.unpack(&name); err != nil {
		return nil, err
	}
	if !r.loading {
		return nil, errors.New("column(...) belongs at the top of the file, where series are defined")
	}
	r.columns = append(r.columns, name)
	return r.derive(r.own(), fmt.Sprintf("column(%q)", name), func(bar *indicator.Bar) float64 {
		if value, known := r.setting.Columns.At(name, bar.OpenMS+int64(r.setting.Interval)); known {
			return value
		}
		return math.NaN()
	}), nil
}

// ReadsColumns returns the names of the columns that the script reads.
func (r *running) ReadsColumns() []string {
	return slices.Compact(slices.Sorted(slices.Values(r.columns)))
}

// checkColumns refuses a column that no file contains.
func (r *running) checkColumns(columns strategy.Columns) error {
	if len(r.columns) == 0 {
		return nil
	}
	if columns == nil {
		return fmt.Errorf("column(%q): there are no columns; name their files under columns in the strategy's file, or with --columns in a backtest",
			r.columns[0])
	}
	for _, name := range r.columns {
		if names := columns.Names(); !slices.Contains(names, name) {
			return fmt.Errorf("column(%q): unknown column (known: %s)", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// rehearsedColumns stands in for all columns in a rehearsal.
type rehearsedColumns struct{}

func (rehearsedColumns) Names() []string                  { return nil }
func (rehearsedColumns) At(string, int64) (float64, bool) { return 1, true }
