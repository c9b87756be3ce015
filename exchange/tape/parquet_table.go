package tape

import (
	"io"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// TableColumn is one column of a table whose columns are known only at run time: numbers, with NaN
// for none, or strings.
type TableColumn struct {
	Name    string
	Numbers []float64
	Texts   []string
}

// WriteTable writes columns of equal length as Parquet, in the order of their names.
func WriteTable(w io.Writer, columns []TableColumn) error {
	columns = slices.Clone(columns)
	slices.SortFunc(columns, func(a, b TableColumn) int { return strings.Compare(a.Name, b.Name) }) // as the format sorts its own groups
	group, rows := parquet.Group{}, 0
	for i := range columns {
		c := &columns[i]
		group[c.Name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		if c.Texts != nil {
			group[c.Name] = parquet.String()
		}
		rows = max(len(c.Numbers), len(c.Texts))
	}
	out := parquet.NewWriter(w, parquet.NewSchema("table", group), parquet.Compression(&parquet.Zstd))
	row := make(parquet.Row, len(columns))
	for r := range rows {
		for i := range columns {
			switch c := &columns[i]; {
			case c.Texts != nil:
				row[i] = parquet.ByteArrayValue([]byte(c.Texts[r])).Level(0, 0, i)
			case math.IsNaN(c.Numbers[r]):
				row[i] = parquet.NullValue().Level(0, 0, i)
			default:
				row[i] = parquet.DoubleValue(c.Numbers[r]).Level(0, 1, i)
			}
		}
		if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return out.Close()
}
