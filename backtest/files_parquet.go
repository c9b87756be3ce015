package backtest

import (
	"fmt"
	"io"
	"strconv"

	"botd/exchange/tape"
)

// The Parquet files have the rows and columns of the CSV files. Numbers are doubles, for analysis; the CSV files have
// every digit.

type fillColumns struct {
	TimeMS   int64   `parquet:"time_ms"`
	Side     string  `parquet:"side,dict"`
	Price    float64 `parquet:"price"`
	Quantity float64 `parquet:"qty"`
	Fee      float64 `parquet:"fee"`
	FeeAsset string  `parquet:"fee_asset,dict"`
	Role     string  `parquet:"role,dict"`
	Symbol   string  `parquet:"symbol,dict"`
	Slippage float64 `parquet:"slippage"`
	Purpose  string  `parquet:"purpose,dict"`
}

type tradeColumns struct {
	EnteredMS   int64   `parquet:"entered_ms"`
	LeftMS      int64   `parquet:"left_ms"`
	Side        string  `parquet:"side,dict"`
	Quantity    float64 `parquet:"qty"`
	Entry       float64 `parquet:"entry_price"`
	Exit        float64 `parquet:"exit_price"`
	Fees        float64 `parquet:"fees"`
	Funding     float64 `parquet:"funding"`
	PNL         float64 `parquet:"pnl"`
	Symbol      string  `parquet:"symbol,dict"`
	Strategy    string  `parquet:"strategy,dict"`
	Slippage    float64 `parquet:"slippage"`
	Adverse     float64 `parquet:"mae_pct"`
	Favorable   float64 `parquet:"mfe_pct"`
	EntryReason string  `parquet:"entry_reason,dict"`
	ExitPurpose string  `parquet:"exit_purpose,dict"`
	ExitReason  string  `parquet:"exit_reason,dict"`
}

type equityColumns struct {
	TimeMS int64   `parquet:"time_ms"`
	Equity float64 `parquet:"equity"`
}

// decimals parses decimals that the result wrote itself.
type decimals struct{ err error }

func (d *decimals) number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("a figure of the result: %w", err)
	}
	return n
}

// parquet returns fills.parquet, trades.parquet and equity.parquet. Like tables, it makes rows while writing.
func (r *Result) parquet() []Output {
	return []Output{{"fills.parquet", columnsOf(r.fillColumns)}, {"trades.parquet", columnsOf(r.tradeColumns)}, {"equity.parquet", columnsOf(r.equityColumns)}}
}

// columnsOf writes rows.
func columnsOf[T any](made func(*decimals) []T) func(io.Writer) error {
	return func(w io.Writer) error {
		var d decimals
		rows := made(&d)
		if d.err != nil {
			return d.err
		}
		return tape.WriteRows(w, rows)
	}
}

func (r *Result) fillColumns(d *decimals) []fillColumns {
	fills := make([]fillColumns, 0, len(r.Executions))
	for _, e := range r.Executions {
		fills = append(fills, fillColumns{e.TimeMS, e.Side, d.number(e.Price), d.number(e.Quantity), d.number(e.Fee), e.FeeAsset, e.Role,
			e.Symbol, d.number(e.Slippage), e.Purpose})
	}
	return fills
}

func (r *Result) tradeColumns(d *decimals) []tradeColumns {
	trades := make([]tradeColumns, 0, len(r.Trips))
	for _, t := range r.Trips {
		trades = append(trades, tradeColumns{t.EnteredMS, t.LeftMS, t.Side, d.number(t.Quantity), d.number(t.Entry), d.number(t.Exit),
			d.number(t.Fees), d.number(t.Funding), d.number(t.PNL), t.Symbol, t.Strategy, d.number(t.Slippage), t.Adverse, t.Favorable,
			t.EntryReason, t.ExitPurpose, t.ExitReason})
	}
	return trades
}

func (r *Result) equityColumns(d *decimals) []equityColumns {
	equity := make([]equityColumns, 0, len(r.curve))
	for _, p := range r.curve {
		equity = append(equity, equityColumns{p.AtMS, d.number(p.Equity.String())})
	}
	return equity
}
