package tape

import (
	"io"

	"botd/exchange"
)

// RoundTrip writes a file of columns and reads it back.
func RoundTrip(path string, t *Tape) (*exchange.Candles, error) {
	if err := replaceFile(path, func(w io.Writer) error { return writeColumns(w, t) }); err != nil {
		return nil, err
	}
	s, err := readColumns(path)
	if err != nil {
		return nil, err
	}
	return s.candles, nil
}

// ParquetAsCSV returns the CSV equivalent of a Parquet file.
func ParquetAsCSV(path string) (io.ReadCloser, error) { return parquetAsCSV(path) }
