package backtest_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// wantParquetAsCSV expects each Parquet file of a report to have the rows and columns of its CSV: times as
// whole numbers, other numbers as doubles, the rest as text.
func wantParquetAsCSV(t *testing.T, directory string) {
	t.Helper()
	for name, texts := range map[string][]string{
		"fills":  {"side", "fee_asset", "role", "symbol", "purpose"},
		"trades": {"side", "symbol", "strategy", "entry_reason", "exit_purpose", "exit_reason"},
		"equity": nil,
	} {
		text, err := os.Open(filepath.Join(directory, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer text.Close()
		want, err := csv.NewReader(text).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		names, have := parquetRows(t, filepath.Join(directory, name+".parquet"))
		if !slices.Equal(names, want[0]) || len(have) != len(want)-1 {
			t.Errorf("%s.parquet: want %d rows of %q, have %d of %q", name, len(want)-1, want[0], len(have), names)
			continue
		}
		for i, row := range have {
			for j, value := range row {
				wantValue(t, want[i+1][j], value, slices.Contains(texts, names[j]))
			}
		}
	}
}

func wantValue(t *testing.T, want string, have parquet.Value, text bool) {
	t.Helper()
	switch have.Kind() {
	case parquet.ByteArray:
		if !text || have.String() != want {
			t.Errorf("want %q, have the text %q", want, have)
		}
	case parquet.Int64:
		if text || strconv.FormatInt(have.Int64(), 10) != want {
			t.Errorf("want %q, have the whole number %d", want, have.Int64())
		}
	case parquet.Double:
		if number, err := strconv.ParseFloat(want, 64); text || err != nil || number != have.Double() {
			t.Errorf("want %q, have the number %g", want, have.Double())
		}
	default:
		t.Errorf("want %q, have a %s", want, have.Kind())
	}
}

func parquetRows(t *testing.T, path string) (names []string, rows []parquet.Row) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range opened.Schema().Columns() {
		names = append(names, column[0])
	}
	reader := parquet.NewReader(opened)
	defer reader.Close()
	for range opened.NumRows() {
		row := make([]parquet.Row, 1)
		if n, err := reader.ReadRows(row); n != 1 {
			t.Fatal(err)
		}
		rows = append(rows, row[0].Clone())
	}
	return names, rows
}
