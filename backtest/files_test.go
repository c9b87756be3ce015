package backtest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"botd/backtest"
)

// The rows of a report are written one by one, in the text that an encoder of the whole result makes.
func TestAReportHasTheTextOfAnEncoder(t *testing.T) {
	t.Parallel()
	whole := mustRun(t, weathers[0].config(t, 1))
	if len(whole.Executions) < 20 || len(whole.Trips) < 10 {
		t.Fatalf("want rows, have %d and %d", len(whole.Executions), len(whole.Trips))
	}
	whole.Executions[0].Symbol = "<&>\u2028"
	whole.Executions[1].Purpose = "\x7f\xff\x00 \\ \"quoted\""
	whole.Trips[0].Symbol, whole.Trips[0].ExitReason = "\tA-USDT", "\n"
	whole.Trips[1].Adverse, whole.Trips[1].Favorable = 1e-7, -1e21
	one, empty, none := *whole, *whole, *whole
	one.Executions, one.Trips = whole.Executions[:1], whole.Trips[:1]
	empty.Executions, empty.Trips = []backtest.Execution{}, []backtest.TripRow{}
	none.Executions, none.Trips = nil, nil
	for _, result := range []*backtest.Result{whole, &one, &empty, &none} {
		directory := t.TempDir()
		if err := result.WriteDir(directory); err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join(directory, backtest.ReportFile))
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(result); err != nil {
			t.Fatal(err)
		}
		if err != nil || !bytes.Equal(have, want.Bytes()) {
			t.Errorf("%d and %d rows: want %d bytes, have %d (%v)", len(result.Executions), len(result.Trips), want.Len(), len(have), err)
		}
	}
}
