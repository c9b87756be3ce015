package backtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange/tape"
)

// maxReport bounds a report.json.
const maxReport = 1 << 30

// Read reads a result that WriteDir wrote. The result is intact when its hash matches its figures: they are unedited,
// and this program reads all of them.
func Read(path string) (result *Result, intact bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxReport))
	if err != nil {
		return nil, false, err
	}
	result = &Result{}
	if err := json.Unmarshal(text, result); err != nil {
		return nil, false, &tape.DataError{Path: path, What: err.Error(), Hint: "give the report.json of botd backtest run --out"}
	}
	if err := result.sound(); err != nil {
		return nil, false, &tape.DataError{Path: path, What: err.Error(), Hint: "give the report.json of botd backtest run --out"}
	}
	again := *result
	if err := again.sign(); err != nil {
		return nil, false, err
	}
	return result, again.ResultSHA256 == result.ResultSHA256, nil
}

// sound returns an error unless all printed figures are valid.
func (r *Result) sound() error {
	if r.Schema != 1 || r.Strategy == "" {
		return errors.New("it is not a result of a backtest")
	}
	amounts := []string{r.InitialEquity, r.FinalEquity, r.TotalFees, r.TotalFunding}
	if r.Expectancy != nil {
		amounts = append(amounts, *r.Expectancy)
	} else if r.RoundTrips > 0 {
		return errors.New("its round trips have no expectancy")
	}
	if r.OpenPosition != nil {
		amounts = append(amounts, r.OpenPosition.EntryPrice)
	}
	for i := range r.Columns {
		amounts = append(amounts, r.Columns[i].FinalEquity, r.Columns[i].TotalFees, r.Columns[i].TotalFunding, r.Columns[i].TotalSlippage)
	}
	for i := range r.BySymbol {
		amounts = append(amounts, r.BySymbol[i].PNL)
	}
	for _, rows := range [][]ReasonRow{r.ByEntry, r.ByExit} {
		for i := range rows {
			amounts = append(amounts, rows[i].PNL)
		}
	}
	for i := range r.Trips {
		amounts = append(amounts, r.Trips[i].PNL, r.Trips[i].Fees)
	}
	for _, amount := range amounts {
		if _, err := decimal.NewFromString(amount); err != nil {
			return fmt.Errorf("%q is not an amount", amount)
		}
	}
	return nil
}

// Periods lists the periods for a breakdown of a result.
var Periods = []string{"day", "week", "month"}

// PeriodRow groups the round trips that ended in one UTC period.
type PeriodRow struct {
	Period     string `json:"period"` // 2026-01-31, 2026-W05, 2026-01
	RoundTrips int    `json:"round_trips"`
	Wins       int    `json:"wins"`
	Losses     int    `json:"losses"`
	PNL        string `json:"pnl"` // net
	Fees       string `json:"fees"`
	Sum        string `json:"sum"` // of the profit so far
}

// Breakdown returns the periods in which round trips ended, in order.
func (r *Result) Breakdown(period string) (rows []PeriodRow) {
	var pnl, fees, sum decimal.Decimal
	trips := slices.Clone(r.Trips)
	slices.SortStableFunc(trips, func(a, b TripRow) int { return cmp.Compare(a.LeftMS, b.LeftMS) })
	for i := range trips {
		trip := &trips[i]
		name := periodOf(period, time.UnixMilli(trip.LeftMS).UTC())
		if len(rows) == 0 || rows[len(rows)-1].Period != name {
			rows = append(rows, PeriodRow{Period: name})
			pnl, fees = decimal.Zero, decimal.Zero
		}
		row, own := &rows[len(rows)-1], decimal.RequireFromString(trip.PNL)
		row.RoundTrips++
		switch own.Sign() {
		case 1:
			row.Wins++
		case -1:
			row.Losses++
		}
		pnl, fees, sum = pnl.Add(own), fees.Add(decimal.RequireFromString(trip.Fees)), sum.Add(own)
		row.PNL, row.Fees, row.Sum = pnl.String(), fees.String(), sum.String()
	}
	return rows
}

func periodOf(period string, at time.Time) string {
	switch period {
	case "month":
		return at.Format("2006-01")
	case "week":
		year, week := at.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	}
	return at.Format("2006-01-02")
}
