package backtest

import (
	"math"

	"botd/exchange"
)

// SymbolRow is one leg's part of the result.
type SymbolRow struct {
	Symbol     string  `json:"symbol"`
	Market     string  `json:"market"`
	Name       string  `json:"name"`
	Strategy   string  `json:"strategy"`
	Interval   string  `json:"interval"`
	Candles    int     `json:"candles"`
	Fills      int     `json:"fills"`
	RoundTrips int     `json:"round_trips"`
	Wins       int     `json:"wins"`
	PNL        string  `json:"pnl"` // of its round trips, net
	Fees       string  `json:"fees"`
	Funding    string  `json:"funding"`
	Exposure   float64 `json:"exposure_pct"`
	DataSHA256 string  `json:"data_sha256"`
}

// ReasonRow groups the round trips that began or ended for one reason.
type ReasonRow struct {
	Reason     string `json:"reason"`
	RoundTrips int    `json:"round_trips"`
	Wins       int    `json:"wins"`
	PNL        string `json:"pnl"`
}

func (r *run) bySymbol() []SymbolRow {
	rows := make([]SymbolRow, len(r.legs))
	for i := range r.legs {
		leg := &r.legs[i]
		row := SymbolRow{Symbol: leg.symbol.Name, Market: leg.symbol.Market.String(), Name: leg.config.Strategy.Name, Strategy: leg.config.Kind,
			Interval: leg.candles.Interval.String(), Candles: leg.candles.Len(), Fills: leg.held.fills,
			Exposure: 100 * float64(leg.held.slots) / float64(leg.candles.Len()), DataSHA256: leg.config.Tape.SHA256}
		var pnl, fees, funding exchange.Amount
		for j := range r.ledger.trips {
			t := &r.ledger.trips[j]
			if int(t.leg) != i {
				continue
			}
			row.RoundTrips++
			if t.PNL.Sign() > 0 {
				row.Wins++
			}
			pnl, fees, funding = pnl.Add(t.PNL), fees.Add(t.Fees), funding.Add(t.Funding)
		}
		row.PNL, row.Fees, row.Funding = pnl.String(), fees.String(), funding.String()
		rows[i] = row
	}
	return rows
}

func (l *measurement) entryReason(t *Trip) string { return l.tags[t.entry].why }
func (l *measurement) exitReason(t *Trip) string  { return l.tags[t.exit].purpose }

// byReason groups the round trips, in the order in which the reasons first occurred.
func (r *run) byReason(reason func(*Trip) string) []ReasonRow {
	rows, sums, at := []ReasonRow{}, []exchange.Amount{}, map[string]int{}
	for i := range r.ledger.trips {
		t := &r.ledger.trips[i]
		n, known := at[reason(t)]
		if !known {
			n = len(rows)
			at[reason(t)] = n
			rows, sums = append(rows, ReasonRow{Reason: reason(t)}), append(sums, exchange.Amount{})
		}
		rows[n].RoundTrips++
		if t.PNL.Sign() > 0 {
			rows[n].Wins++
		}
		sums[n] = sums[n].Add(t.PNL)
	}
	for i := range rows {
		rows[i].PNL = sums[i].String()
	}
	return rows
}

// count summarizes the round trips.
func (r *Result) count(run *run) {
	var won, lost float64
	var total exchange.Amount
	for i := range run.ledger.trips {
		t := &run.ledger.trips[i]
		total = total.Add(t.PNL)
		if t.PNL.Sign() > 0 {
			r.Wins++
			won += t.PNL.Float()
		} else {
			lost -= t.PNL.Float()
		}
	}
	if lost > 0 {
		r.ProfitFactor = finite(won / lost)
	}
	if n := len(run.ledger.trips); n > 0 {
		r.Expectancy = new(total.Div(int64(n)).Decimal().Round(8).String())
	}
}

// rounded rounds to four places, enough for a displayed share.
func rounded(f float64) float64 { return math.Round(f*1e4) / 1e4 }

// breakEven returns the total slippage, as a percentage of the price, that would have consumed the whole profit on
// takers' fills. Where size follows equity, an early loss also shrinks later sizes, so equity falls by a factor per
// fill.
func (r *run) breakEven() *float64 {
	l := &r.ledger
	profit := l.equity.Sub(l.initial).Float()
	if profit <= 0 || l.takerValue.Sign() <= 0 || l.initial.Sign() <= 0 {
		return nil
	}
	already := l.slipped.Float() / l.takerValue.Float()
	shares := true
	for i := range r.legs {
		shares = shares && r.legs[i].config.Strategy.Size.Equity != 0
	}
	if shares && l.load > 0 {
		return finite(float64(100 * (already + math.Log(l.equity.Float()/l.initial.Float())/l.load)))
	}
	return finite(float64(100 * (already + profit/l.takerValue.Float())))
}
