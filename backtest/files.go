package backtest

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// ReportFile is the name of a result in a report's directory.
const ReportFile = "report.json"

// Output is a file of a report's directory.
type Output struct {
	Name  string
	Write func(io.Writer) error
}

// WriteDir writes report.json, fills, trades and equity as CSV and as Parquet, and any further files. It writes all
// files before it renames one, so a full disk leaves an earlier report intact.
func (r *Result) WriteDir(directory string, more ...Output) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("make the report's directory: %w", err)
	}
	files := slices.Concat(r.tables(), r.parquet(), more, []Output{{ReportFile, r.writeJSON}}) // a directory with this file is listed as a report
	if err := replace(directory, files); err != nil {
		for _, file := range files {
			err = errors.Join(err, remove(filepath.Join(directory, file.Name+partial)))
		}
		return err
	}
	return nil
}

func replace(directory string, files []Output) error {
	for _, file := range files {
		if err := writeFile(filepath.Join(directory, file.Name+partial), file.Write); err != nil {
			return err
		}
	}
	for _, file := range files {
		path := filepath.Join(directory, file.Name)
		if err := os.Rename(path+partial, path); err != nil {
			return err
		}
	}
	return nil
}

// partial ends the name of a file that is being written.
const partial = ".partial"

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// tables returns fills.csv, trades.csv and equity.csv. It makes rows while writing: the rows of a curve would exceed
// the rest of a report.
func (r *Result) tables() []Output {
	return []Output{{"fills.csv", csvOf(r.fillRows)}, {"trades.csv", csvOf(r.tripRows)}, {"equity.csv", csvOf(r.curveRows)}}
}

// csvOf writes rows.
func csvOf(rows iter.Seq[[]string]) func(io.Writer) error {
	return func(w io.Writer) error {
		table := csv.NewWriter(w)
		for row := range rows {
			if err := table.Write(row); err != nil {
				return err
			}
		}
		table.Flush()
		return table.Error()
	}
}

func (r *Result) fillRows(yield func([]string) bool) {
	going := yield([]string{"time_ms", "side", "price", "qty", "fee", "fee_asset", "role", "symbol", "slippage", "purpose"})
	for i := 0; going && i < len(r.Executions); i++ {
		e := &r.Executions[i]
		going = yield([]string{ms(e.TimeMS), e.Side, e.Price, e.Quantity, e.Fee, e.FeeAsset, e.Role, e.Symbol, e.Slippage, e.Purpose})
	}
}

func (r *Result) tripRows(yield func([]string) bool) {
	going := yield([]string{"entered_ms", "left_ms", "side", "qty", "entry_price", "exit_price", "fees", "funding", "pnl", "symbol", "strategy", "slippage",
		"mae_pct", "mfe_pct", "entry_reason", "exit_purpose", "exit_reason"})
	for i := 0; going && i < len(r.Trips); i++ {
		t := &r.Trips[i]
		going = yield([]string{ms(t.EnteredMS), ms(t.LeftMS), t.Side, t.Quantity, t.Entry, t.Exit, t.Fees, t.Funding, t.PNL, t.Symbol,
			t.Strategy, t.Slippage, floatText(t.Adverse), floatText(t.Favorable), t.EntryReason, t.ExitPurpose, t.ExitReason})
	}
}

func (r *Result) curveRows(yield func([]string) bool) {
	row := []string{"time_ms", "equity"}
	going := yield(row)
	for i := 0; going && i < len(r.curve); i++ {
		row[0], row[1] = ms(r.curve[i].AtMS), r.curve[i].Equity.String()
		going = yield(row)
	}
}

func ms(at int64) string { return strconv.FormatInt(at, 10) }

func floatText(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<16)
	if err := cmp.Or(write(out), out.Flush()); err != nil {
		file.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return file.Close()
}
