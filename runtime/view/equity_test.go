package view

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/runtime/engine"
)

func at(minute int64, equity int64) point {
	return point{minute * sampleMS, exchange.AmountOf(equity), exchange.AmountOf(equity), exchange.Amount{}}
}

func TestEquityOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "equity.csv")
	for run, equity := range []int64{10_000, 10_100} {
		e, err := OpenEquity(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.points) != 2*run {
			t.Errorf("run %d: want %d points, have %d", run, 2*run, len(e.points))
		}
		for i := range int64(2) {
			p := at(int64(run)*10+i, equity)
			for range 3 { // the first of each minute counts
				if err := e.sample(p); err != nil {
					t.Fatal(err)
				}
				p.atMS, p.equity = p.atMS+1, exchange.AmountOf(1)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(file, "999999999999,10,10,1") // cut by a crash, in its last number
		file.Close()
	}
	e, err := OpenEquity(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.Series(0, 1<<60, 0)
	if have := fmt.Sprint(s.TimeMS, s.Equity); have != "[0 60000 600000 660000] [10000 10000 10100 10100]" {
		t.Errorf("have %s", have)
	}
	if s := e.Series(60_000, 660_000, 0); len(s.TimeMS) != 2 {
		t.Errorf("from 60000 until 660000: want 2 points, have %v", s.TimeMS)
	}
	if s := e.Series(0, 1<<60, 600_000); fmt.Sprint(s.TimeMS) != "[60000 660000]" {
		t.Errorf("in steps of ten minutes: want the last of each, have %v", s.TimeMS)
	}
	if _, err := OpenEquity(filepath.Join(path, "nowhere")); err == nil || !strings.Contains(err.Error(), "equity") {
		t.Errorf("an impossible file: want it named, have %v", err)
	}
}

func TestOldEquityHasOnePointAnHour(t *testing.T) {
	t.Parallel()
	e := NewEquity()
	const days = 30
	for minute := range int64(days * 24 * 60) {
		e.points = append(e.points, at(minute, 1))
	}
	e.thin()
	if want, have := (days-7)*24+7*24*60, len(e.points); want != have && want+1 != have {
		t.Errorf("points: want about %d, have %d", want, have)
	}
	if s := e.Series(0, 1<<60, 0); len(s.TimeMS) > maxEquities+1 || s.TimeMS[len(s.TimeMS)-1] != e.points[len(e.points)-1].atMS {
		t.Errorf("an answer: want at most %d points, the last one in it, have %d", maxEquities, len(s.TimeMS))
	}
}

func TestEquityIsSampledFromTheBoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, board := NewEquity(), NewBoard("demo", "main")
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.Keep(t.Context(), board, func(err error) { t.Error(err) })
		}()
		time.Sleep(2 * time.Second) // nothing is known yet
		if have := len(e.Series(0, 1<<60, 0).TimeMS); have != 0 {
			t.Errorf("before anything is known: want no point, have %d", have)
		}
		for i := range int64(5) {
			board.Show(engine.Status{NowMS: 1_700_000_100_000 + i*30_000, Total: exchange.AmountOf(100 + i), TotalKnown: true})
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if have := len(e.Series(0, 1<<60, 0).TimeMS); have < 2 || have > 4 {
			t.Errorf("within two and a half minutes: want 3 points, have %d", have)
		}
	})
}

func TestTheFileOfEquityIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "equity.csv")
	lines := func() int {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	const minutes = int64(60 * 24 * 60) // two months
	var text strings.Builder
	for i := range minutes {
		p := at(i, 10_000+i)
		text.WriteString(p.line())
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for run := range int64(2) { // first as it was before it was bounded, then as it was left
		e, err := OpenEquity(path)
		if err != nil {
			t.Fatal(err)
		}
		week, before := int(fineMS/sampleMS), int((minutes-fineMS/sampleMS)/60)
		if have := lines(); len(e.points) < week+before-2 || have > len(e.points)+1 {
			t.Errorf("run %d: want a week of minutes and the hours before, %d points, and no other lines; have %d points, %d lines", run, week+before,
				len(e.points),
				have)
		}
		last := e.points[len(e.points)-1]
		if want := 10_000 + minutes + run - 1; last.equity != exchange.AmountOf(want) {
			t.Errorf("run %d: the last point: want %d, have %s", run, want, last.equity)
		}
		if err := e.sample(at(minutes+run, 10_000+minutes+run)); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	e, err := OpenEquity(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	most := 0
	for i := range 2 * minutes { // and while it runs
		if err := e.sample(at(minutes+10+i, 1)); err != nil {
			t.Fatal(err)
		}
		most = max(most, e.lines)
	}
	if bound := maxCoarse + 3*int(fineMS/sampleMS) + maxStale; most > bound || lines() != e.lines || e.lines < int(fineMS/sampleMS) {
		t.Errorf("want at most %d lines ever, have had %d; want as many in the file as are known, have %d and %d", bound, most, lines(), e.lines)
	}
}
