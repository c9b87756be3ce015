package resultstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"botd/backtest"
	"botd/backtest/resultstore"
)

func TestTrialsAreRowsOfParquet(t *testing.T) {
	t.Parallel()
	sharpe, profit := 1.25, -3.5
	sweep := &resultstore.Sweep{Trials: []backtest.Trial{
		{Job: "aa", Params: map[string]string{"fast": "5", "interval": "1h"}, Seen: &backtest.Column{}, Figures: map[string]*float64{"sharpe": &sharpe},
			Unseen: &backtest.Column{Profit: &profit, FinalEquity: "9650.5", Sharpe: &sharpe, MaxDrawdown: 4.5, RoundTrips: 12}},
		{Job: "bb", Params: map[string]string{"fast": "10.5", "interval": "4h"}, Seen: &backtest.Column{}, Figures: map[string]*float64{"sharpe": nil}},
	}}
	directory := t.TempDir()
	if err := sweep.WriteTrials(directory); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Job      string   `parquet:"job_sha256"`
		Fast     *float64 `parquet:"params.fast"`
		Interval string   `parquet:"params.interval"`
		Sharpe   *float64 `parquet:"sharpe"`
		Equity   *float64 `parquet:"unseen_final_equity"`
		Unseen   *float64 `parquet:"unseen_sharpe"`
		Fall     *float64 `parquet:"unseen_max_drawdown_pct"`
		Trades   *float64 `parquet:"unseen_trades"`
		Profit   *float64 `parquet:"unseen_profit_pct"`
	}
	file, err := os.Open(filepath.Join(directory, resultstore.TrialsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("want it private, have %v, %v", info.Mode(), err)
	}
	whole, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]parquet.Kind{"params.fast": parquet.Double, "params.interval": parquet.ByteArray, "sharpe": parquet.Double} {
		if column := whole.Root().Column(name); column == nil || column.Type().Kind() != want {
			t.Errorf("%s: want a column of %v, have %v", name, want, column)
		}
	}
	if none := (&resultstore.Sweep{}).WriteTrials(directory + "/none"); none == nil {
		t.Error("no directory: want an error")
	}
	rows := make([]row, 2)
	reader := parquet.NewGenericReader[row](file)
	defer reader.Close()
	if n, _ := reader.Read(rows); n != 2 {
		t.Fatalf("want 2 rows, have %d", n)
	}
	a, b := rows[0], rows[1]
	if a.Job != "aa" || *a.Fast != 5 || a.Interval != "1h" || *a.Sharpe != sharpe || *a.Equity != 9650.5 || *a.Profit != profit || *a.Unseen != sharpe ||
		*a.Fall != 4.5 || *a.Trades != 12 {
		t.Errorf("want the first trial, have %+v", a)
	}
	if b.Job != "bb" || *b.Fast != 10.5 || b.Interval != "4h" || b.Sharpe != nil || b.Equity != nil {
		t.Errorf("want the second trial, have %+v", b)
	}
}
