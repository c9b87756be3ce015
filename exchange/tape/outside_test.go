package tape_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/exchange/tape"
)

func outside(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "outside.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAColumnIsVisibleFromItsTimeOn(t *testing.T) {
	t.Parallel()
	path := outside(t, "time_ms,flow,score\n1000,1.5,\n2000,,7\n3000,-2,8\n")
	columns, err := tape.LoadColumns([]string{path + "=x."}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		atMS  int64
		want  float64
		known bool
	}{
		{"x.flow", 999, 0, false}, {"x.flow", 1000, 1.5, true}, {"x.flow", 2999, 1.5, true}, {"x.flow", 3000, -2, true}, {"x.flow", 9999, -2, true},
		{"x.score", 1999, 0, false}, {"x.score", 2000, 7, true}, {"flow", 3000, 0, false},
	} {
		if have, known := columns.At(c.name, c.atMS); have != c.want || known != c.known {
			t.Errorf("%s at %d: want %v, %v, have %v, %v", c.name, c.atMS, c.want, c.known, have, known)
		}
	}
}

func TestColumnsThatGrowAreReadAgain(t *testing.T) {
	t.Parallel()
	path := outside(t, "time_ms,flow\n1000,1\n")
	columns, err := tape.LoadColumns([]string{path}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("time_ms,flow\n1000,1\n2000,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if have, _ := columns.At("flow", 2000); have != 2 {
		t.Errorf("want the new row, have %v", have)
	}
}

func TestSeriesFromOutsideThatAreWrongAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"time,flow\n1,2\n":                   ":1",
		"time_ms,flow\n2,1\n1,1\n":           ":3",
		"time_ms,flow\n1,x\n":                ":2",
		"time_ms,flow\n1,1\n1,1\n":           ":3",
		"time_ms,flow\nyesterday,1\n":        ":2",
		"time_ms,flow\n1,2,3\n":              ":2",
		"time_ms\n1\n":                       ":1",
		"":                                   ":1",
		"time_ms,flow\n":                     "no rows",
		"time_ms,flow\n1704070800,1\n":       ":2", // seconds: each would be visible from the beginning on
		"time_ms,flow\n1704070800000000,1\n": "milliseconds",
		"time_ms,flow\n1,1\n2,\"1\n,\n":      ":3",
	} {
		if _, err := tape.LoadColumns([]string{outside(t, text)}, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error with %s, have %v", text, want, err)
		}
	}
	for _, text := range []string{"time_ms,strategy,target\n1,a,up\n", "time_ms,strategy\n1,a\n", "time_ms,strategy,target\n2,a,long\n1,a,flat\n",
		"time_ms,strategy,target\n1,a,1.5\n", "time_ms,strategy,target\n1704070800,a,long\n"} {
		if _, err := tape.LoadSignals(outside(t, text)); err == nil {
			t.Errorf("%q: want an error", text)
		}
	}
	rows, err := tape.LoadSignals(outside(t, "\ufefftime_ms, strategy,target\r\n1,a,long\n1,b,short\n2,a,-0.25\n3,a,flat\n4,a,0\n"))
	if err != nil || len(rows) != 5 || rows[1].Side != -1 || rows[2].Side != -1 || rows[2].Share != 0.25 || rows[3].Side != 0 || rows[4].Side != 0 {
		t.Errorf("want five targets, have %+v, %v", rows, err)
	}
}
