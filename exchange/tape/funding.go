package tape

import (
	"bytes"
	"fmt"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// FundingRow is one recorded funding payment.
type FundingRow struct {
	Symbol string
	TimeMS int64 // on the hour: recorded stamps are often some ms late
	Rate   exchange.Rate
}

const (
	hourMS = int64(exchange.Hour1)
	lateMS = 60_000 // a stamp this close to the hour is the hour's
)

// LoadFunding reads CSV with the header symbol,funding_time_ms,funding_rate.
func LoadFunding(path string) ([]FundingRow, error) {
	data, _, err := read(path)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimRight(data, "\r\n"), []byte{'\n'})
	if header := string(bytes.TrimSpace(lines[0])); header != "symbol,funding_time_ms,funding_rate" {
		return nil, &DataError{Path: path, Line: 1, What: fmt.Sprintf("header is %q", header), Hint: "it must be symbol,funding_time_ms,funding_rate"}
	}
	rows := make([]FundingRow, 0, len(lines)-1)
	for i, line := range lines[1:] {
		row, fault := fundingRow(line)
		if fault == "" && len(rows) > 0 && rows[len(rows)-1].Symbol == row.Symbol && rows[len(rows)-1].TimeMS >= row.TimeMS {
			fault = "the time is not after the row above's"
		}
		if fault != "" {
			return nil, &DataError{Path: path, Line: i + 2, What: fault}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func fundingRow(line []byte) (row FundingRow, fault string) {
	fields := split(nil, line)
	if len(fields) != 3 || len(fields[0]) == 0 {
		return row, fmt.Sprintf("%d columns, the header has 3", len(fields))
	}
	at, ok := integer(fields[1])
	if !ok {
		return row, fmt.Sprintf("funding time %q is not in milliseconds", fields[1])
	}
	if late := at % hourMS; late <= lateMS {
		at -= late
	} else if early := hourMS - late; early <= lateMS {
		at += early
	}
	rate, err := decimal.NewFromString(string(fields[2]))
	if err != nil || rate.Abs().GreaterThan(decimal.NewFromInt(1)) {
		return row, fmt.Sprintf("funding rate %q is not a number within -1..1", fields[2])
	}
	units, err := exchange.RateFromDecimal(rate.Round(8))
	if err != nil {
		return row, err.Error()
	}
	return FundingRow{Symbol: string(fields[0]), TimeMS: at, Rate: units}, ""
}
