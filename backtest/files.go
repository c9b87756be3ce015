package backtest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// WriteDir writes report.json, and fills, trades and equity as CSV and as Parquet.
func (r *Result) WriteDir(directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("make the report's directory: %w", err)
	}
	if err := writeFile(filepath.Join(directory, "report.json"), func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}); err != nil {
		return err
	}
	fills := [][]string{{"time_ms", "side", "price", "qty", "fee", "fee_asset", "role", "symbol", "slippage", "purpose"}}
	for _, e := range r.Executions {
		fills = append(fills, []string{ms(e.TimeMS), e.Side, e.Price, e.Quantity, e.Fee, e.FeeAsset, e.Role, e.Symbol, e.Slippage, e.Purpose})
	}
	trips := [][]string{
		{"entered_ms", "left_ms", "side", "qty", "entry_price", "exit_price", "fees", "funding", "pnl", "symbol", "strategy", "slippage",
			"mae_pct", "mfe_pct", "entry_reason", "exit_purpose", "exit_reason"},
	}
	for _, t := range r.Trips {
		trips = append(trips, []string{ms(t.EnteredMS), ms(t.LeftMS), t.Side, t.Quantity, t.Entry, t.Exit, t.Fees, t.Funding, t.PNL, t.Symbol,
			t.Strategy, t.Slippage, share(t.Adverse), share(t.Favourable), t.EntryReason, t.ExitPurpose, t.ExitReason})
	}
	curve := [][]string{{"time_ms", "equity"}}
	for _, p := range r.curve {
		curve = append(curve, []string{ms(p.AtMS), p.Equity.String()})
	}
	for _, file := range []struct {
		name string
		rows [][]string
	}{{"fills.csv", fills}, {"trades.csv", trips}, {"equity.csv", curve}} {
		if err := writeFile(filepath.Join(directory, file.name),
			func(w io.Writer) error { return csv.NewWriter(w).WriteAll(file.rows) }); err != nil {
			return err
		}
	}
	return r.writeParquet(directory)
}

func ms(at int64) string { return strconv.FormatInt(at, 10) }

func share(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return file.Close()
}
