package tape

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// FundingRow is one recorded funding payment.
type FundingRow struct {
	Symbol string
	TimeMS int64 // on the hour: recorded times are often some ms late
	Rate   exchange.Rate
}

const (
	hourMS     = int64(exchange.Hour1)
	lateMS     = 60_000 // a time this close to the hour counts as the hour
	maxFunding = 1 << 28
)

const (
	fundingHeader  = "symbol,funding_time_ms,funding_rate"
	binanceFunding = "calc_time,funding_interval_hours,last_funding_rate" // its files have a single symbol, which they do not name
)

// LoadFunding reads CSV with the header symbol,funding_time_ms,funding_rate, or Binance's, whose
// rows have no symbol; plain, gzip or in a ZIP. Times up to a minute from a full hour are moved to
// it, and rates are rounded to the eight places of a Rate. The rows of each symbol must be in order
// of time.
func LoadFunding(path string) ([]FundingRow, error) {
	data, err := readAll(path)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), []byte{'\n'})
	first := strings.TrimSpace(string(lines[0]))
	if first != fundingHeader && first != binanceFunding {
		return nil, &DataError{Path: path, Line: 1, What: fmt.Sprintf("header is %q", shorten(first)),
			Hint: "it must be " + fundingHeader + ", or Binance's " + binanceFunding}
	}
	rows := make([]FundingRow, 0, len(lines)-1)
	last := map[string]int64{} // by symbol
	for i, line := range lines[1:] {
		row, column, what := fundingRow(line, first == binanceFunding)
		if before, known := last[row.Symbol]; what == "" && known && before >= row.TimeMS {
			column, what = "funding_time_ms", fmt.Sprintf("the time is not after the row above's: %d, %d", row.TimeMS, before)
		}
		if what != "" {
			return nil, &DataError{Path: path, Line: i + 2, Column: column, What: what}
		}
		last[row.Symbol] = row.TimeMS
		rows = append(rows, row)
	}
	return rows, nil
}

func fundingRow(line []byte, binance bool) (row FundingRow, column, what string) {
	fields := split(nil, line)
	if len(fields) != 3 {
		return row, "", fmt.Sprintf("%d columns, the header has 3", len(fields))
	}
	switch {
	case binance:
		fields = [][]byte{nil, fields[0], fields[2]}
	case len(fields[0]) == 0:
		return row, "symbol", "symbol is empty"
	}
	at, ok := wholeOf(fields[1])
	if !ok {
		return row, "funding_time_ms", fmt.Sprintf("funding time %q is not a whole number", shorten(string(fields[1])))
	}
	if late := at % hourMS; late <= lateMS {
		at -= late
	} else if early := hourMS - late; early <= lateMS {
		at += early
	}
	rate, err := decimal.NewFromString(string(fields[2]))
	// The exponent is bounded before it is used in a computation.
	if err != nil || len(fields[2]) > 40 || rate.Exponent() > 0 || rate.Exponent() < -40 || rate.Abs().GreaterThan(decimal.NewFromInt(1)) {
		return row, "funding_rate", fmt.Sprintf("funding rate %q is not a number within -1 and 1", shorten(string(fields[2])))
	}
	units, err := exchange.RateFromDecimal(rate.Round(8))
	if err != nil {
		return row, "funding_rate", err.Error()
	}
	return FundingRow{Symbol: string(fields[0]), TimeMS: at, Rate: units}, "", ""
}

// readAll returns the bytes of a small file, unpacked if it is gzip.
func readAll(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	stream, err := unpack(path, file)
	if err != nil {
		return nil, err
	}
	if closer, ok := stream.(io.Closer); ok {
		defer closer.Close()
	}
	data, err := io.ReadAll(io.LimitReader(stream, maxFunding+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFunding {
		return nil, &DataError{Path: path, What: fmt.Sprintf("the file has more than %d bytes", maxFunding), Hint: "split the file"}
	}
	return data, nil
}
