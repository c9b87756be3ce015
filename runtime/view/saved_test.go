package view

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/exchange"
)

// folder writes files below a directory.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	directory := t.TempDir()
	for name, text := range files {
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

const sweepSpecText = `{"started":"2026-11-01T10:00:00Z","vary":["fast=1..9"],"search":"grid","sort":"sharpe",
	"title":{"strategy":"ma_cross","symbol":"BTC-USDT","interval":"1h","candles":4000,"data_sha256":"aa"}}`

// TestWhatTheListOfSweepsShows covers sweeps that run, were interrupted and have ended, one without a folder, and files of others.
func TestWhatTheListOfSweepsShows(t *testing.T) {
	t.Parallel()
	directory := folder(t, map[string]string{
		"going/sweep.json": sweepSpecText, "going/progress.json": `{"done":3,"total":9}`,
		"broken/sweep.json":    strings.Replace(sweepSpecText, "11-01", "11-02", 1),
		"finished/sweep.json":  strings.Replace(sweepSpecText, "11-01", "11-03", 1),
		"finished/report.html": "<p>page</p>", "finished/progress.json": `{"done":9,"total":9}`, "finished.json": "{}",
		"finished/summary.json": `{"name":"other","verdict":"luck","best":{"fast":"5"},"sharpe":1.5,"unseen_sharpe":-0.5,"trials":9,"refused":1,
		"sharpe_by_luck":1.4}`,
		"alone.json": `{"strategy":"grid","symbol":"ETH-USDT","trials":[{"Params":{"step":"2"},"Seen":{"Sharpe":2},"Unseen":{"Sharpe":1}},
		{"Params":{"step":"3"}}]}`,
		"unseen.json":        `{"strategy":"grid","trials":[{"Params":{"step":"2"}}]}`,
		"other.json":         `{"hello":"world"}`,
		"empty.json":         `{"strategy":"grid","trials":[]}`,
		"no-choice.json":     `{"strategy":"grid","trials":[{"Seen":{"Sharpe":2}}]}`,
		"spec/sweep.json":    `{`,
		".hidden/sweep.json": sweepSpecText,
	})
	old := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"alone.json", "unseen.json"} {
		if err := os.Chtimes(filepath.Join(directory, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Sweeps(directory, func(name string) bool { return name == "going" || name == "finished" })
	if err != nil {
		t.Fatal(err)
	}
	shows(t, "sweeps", all, `[{"name":"finished","at":"2026-11-03T10:00:00Z","state":"done","done":9,"total":9,"page":true,"verdict":"luck","best":{"fast":"5"},
		"sharpe":1.5,"out_of_sample_sharpe":-0.5,"trials":9,"refused":1,"expected_max_sharpe":1.4},
		{"name":"broken","state":"interrupted","done":0,"total":0,"page":false,"best":{}},
		{"name":"going","state":"running","done":3,"total":9,"vary":["fast=1..9"],"search":"grid","sort":"sharpe","strategy":"ma_cross","symbol":"BTC-USDT",
		"interval":"1h","candles":4000,"data_sha256":"aa"},
		{"name":"alone","at":"2026-10-01T00:00:00Z","state":"done","done":2,"total":2,"trials":2,"vary":[],"best":{"step":"2"},"sharpe":2,"unseen_sharpe":1,
		"strategy":"grid"},
		{"name":"unseen","sharpe":null,"out_of_sample_sharpe":null}]`)
	names, err := SweepNames(directory)
	if want := "alone broken empty finished going no-choice other spec unseen"; err != nil || strings.Join(names, " ") != want {
		t.Errorf("want %s once each, have %v, %v", want, names, err)
	}
	for name, want := range map[string]bool{"going": true, "finished": true, "alone": false, ".hidden": false, "../x": false, "nothing": false} {
		if have := SweepKnown(directory, name); have != want {
			t.Errorf("%s: want it resumable %t, have %t", name, want, have)
		}
	}
	if page, err := SweepPage(directory, "finished"); string(page) != "<p>page</p>" || err != nil {
		t.Errorf("want the page, have %q, %v", page, err)
	}
	for _, name := range []string{"going", ".hidden", "../finished", ""} {
		if page, err := SweepPage(directory, name); err == nil {
			t.Errorf("%q: want no page, have %q", name, page)
		}
	}
}

// TestNoDirectoryOfSweepsOrReportsIsNoFault covers a directory that is not configured, and one that does not exist yet.
func TestNoDirectoryOfSweepsOrReportsIsNoFault(t *testing.T) {
	t.Parallel()
	file := filepath.Join(folder(t, map[string]string{"file": "x"}), "file")
	for directory, fails := range map[string]bool{"": false, filepath.Join(t.TempDir(), "later"): false, file: true} {
		sweeps, err := Sweeps(directory, nil)
		if (err != nil) != fails || len(sweeps) != 0 || !fails && sweeps == nil {
			t.Errorf("%q: want no sweeps, and an error %t; have %v, %v", directory, fails, sweeps, err)
		}
		if SweepKnown(directory, "x") {
			t.Errorf("%q: want no sweep known", directory)
		}
		reports := NewReports(directory)
		if list, err := reports.List(); err != nil || list == nil || len(list) != 0 {
			t.Errorf("%q: want no reports, have %v, %v", directory, list, err)
		}
		if _, err := reports.One("x"); err == nil {
			t.Errorf("%q: want no report", directory)
		}
		if err := reports.Room("x"); directory != "" && (err != nil) != fails {
			t.Errorf("%q: want room %t, have %v", directory, !fails, err)
		}
	}
	if _, err := SweepPage(filepath.Join(t.TempDir(), "later"), "x"); !errors.Is(err, errNoSweep) {
		t.Errorf("want no such sweep, have %v", err)
	}
}

// TestALargeListOfSweepsIsCut uses a hundred and one sweeps.
func TestALargeListOfSweepsIsCut(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for n := range 101 {
		files[fmt.Sprintf("s%03d/sweep.json", n)] = fmt.Sprintf(`{"started":"2026-11-01T10:%02d:%02dZ"}`, n/60, n%60)
	}
	all, err := Sweeps(folder(t, files), func(string) bool { return false })
	if err != nil || len(all) != 100 || all[0].Name != "s100" || all[99].Name != "s001" {
		t.Errorf("want the newest hundred, have %d from %s to %s", len(all), all[0].Name, all[len(all)-1].Name)
	}
}

const reportText = `{"schema":1,"strategy":"ma_cross","name":"trend","market":"futures","symbol":"BTC-USDT","interval":"1h","candles":4343,"round_trips":28,
		"wins":7,
	"initial_equity":"10000","final_equity":"11731.87","max_drawdown_pct":26.5,"sharpe":null,"warnings":[{"text":"few trips"},{"text":"costs"}],
	"assumptions":["next open"],"inputs":{"strategies":[{"yaml":"name: trend"},{"yaml":"name: grid"}]},"result_sha256":"cc"}`

func TestWhatAReportShows(t *testing.T) {
	t.Parallel()
	directory := folder(t, map[string]string{
		"new/report.json": reportText, "new/report.html": "<p>page</p>", "new/equity.csv": "time_ms,equity\n1000,10000,9\nhalf a line\n3000,11731.87\n",
		"ancient/report.json": strings.Replace(reportText, `[{"text":"few trips"},{"text":"costs"}]`, `["few"]`, 1),
		"other/report.json":   `{"hello":"world"}`, "wrong/report.json": `{"strategy":"x","warnings":[7]}`, "list/report.json": `{"strategy":"x",
		"warnings":{}}`,
		"cut/report.json": `{"strategy":`, ".hidden/report.json": reportText, "empty/x": "",
	})
	old := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(directory, "ancient", "report.json"), old, old); err != nil {
		t.Fatal(err)
	}
	reports := NewReports(directory)
	for range 2 { // read, and from the cache
		all, err := reports.List()
		if err != nil {
			t.Fatal(err)
		}
		shows(t, "reports", all, `[{"id":"new","name":"trend","strategy":"ma_cross","market":"futures","symbol":"BTC-USDT","interval":"1h","candles":4343,
		"round_trips":28,
			"wins":7,"initial_equity":"10000","final_equity":"11731.87","max_drawdown_pct":26.5,"sharpe":null,"expectancy":null,"warnings":["few trips",
		"costs"],
			"page":true,"result_sha256":"cc"},{"id":"ancient","at":"2026-10-01T00:00:00Z","warnings":["few"],"page":false}]`)
	}
	one, err := reports.One("new")
	if err != nil {
		t.Fatal(err)
	}
	shows(t, "one", one, `{"schema":1,"id":"new","assumptions":["next open"],"config":["name: trend","name: grid"],"time_ms":[1000,3000],"equity":["10000",
		"11731.87"]}`)
	for _, id := range []string{"other", "wrong", "list", "cut", ".hidden", "../new", "nothing"} {
		if _, err := reports.One(id); !errors.Is(err, errNoReport) {
			t.Errorf("%s: want no such report, have %v", id, err)
		}
	}
	if page, err := reports.Page("new"); string(page) != "<p>page</p>" || err != nil {
		t.Errorf("want the page, have %q, %v", page, err)
	}
	for _, id := range []string{"ancient", ".hidden", "../new"} {
		if _, err := reports.Page(id); !errors.Is(err, errNoReport) {
			t.Errorf("%s: want no page, have %v", id, err)
		}
	}
	if err := os.WriteFile(filepath.Join(directory, "ancient", "report.json"), []byte(strings.Replace(reportText, "28", "29", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if one, err := reports.One("ancient"); err != nil || one.RoundTrips != 29 {
		t.Errorf("want the changed file read again, have %d, %v", one.RoundTrips, err)
	}
	if err := reports.Room("new"); err == nil || err.Error() != `report "new" already exists: choose another name` {
		t.Errorf("want no room for another of that name, have %v", err)
	}
	if err := reports.Room("newer"); err != nil {
		t.Errorf("want room for another name, have %v", err)
	}
}

// TestACurveIsThinned uses curves around the bound of a thousand points; the first and the last point stay.
func TestACurveIsThinned(t *testing.T) {
	t.Parallel()
	for points, want := range map[int]string{0: "0", 1: "1 0-0", 998: "998 0-997", 999: "500 0-998", 2_000: "668 0-1999"} {
		text := "time_ms,equity\n"
		for n := range points {
			text += fmt.Sprintf("%d,%d\n", n, n)
		}
		times, equity := curve([]byte(text))
		have := fmt.Sprint(len(times))
		if len(times) > 0 {
			have += fmt.Sprintf(" %d-%s", times[0], equity[len(equity)-1])
		}
		if have != want || len(times) != len(equity) {
			t.Errorf("%d points: want %s, have %s", points, want, have)
		}
	}
}

// TestWhatASampleStores covers points within a minute, and what a client that follows receives.
func TestWhatASampleStores(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "equity.csv")
	e, err := OpenEquity(path)
	if err != nil {
		t.Fatal(err)
	}
	var last any
	e.Follow(func(_ string, content any) { last = content })
	for _, atMS := range []int64{59_999, 60_000, 119_999, 120_000, 119_000} {
		if err := e.sample(point{atMS, exchange.AmountOf(3), exchange.AmountOf(2), exchange.AmountOf(1)}); err != nil {
			t.Fatal(err)
		}
	}
	shows(t, "the newest", last, `{"at_ms":119000,"equity":"3","wallet":"2","unrealized":"1"}`)
	shows(t, "the first of each minute", e.Series(0, 1<<60, 0),
		`{"schema":1,"step_ms":60000,"time_ms":[59999,60000,120000],"equity":["3","3","3"],"wallet":["2","2","2"],"unrealized":["1","1","1"],"marks":[]}`)
	shows(t, "none of them", e.Series(120_001, 5, 0), `{"time_ms":[],"equity":[]}`)
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if want := "59999,3,2,1\n60000,3,2,1\n120000,3,2,1\n"; string(text) != want || err != nil {
		t.Errorf("want %q in the file, have %q, %v", want, text, err)
	}
	damaged := want3 + "60000,9,9,9\nx,1,1,1\n180000,1,1\n240000,1,x,1\n300000,4,2,1\n360000,5"
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err = OpenEquity(path); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	shows(t, "lines that are none are left out", e.Series(0, 1<<60, 0), `{"time_ms":[59999,60000,120000,300000],"equity":["3","3","3","4"]}`)
	if e.lines != 8 {
		t.Errorf("want 8 whole lines in the file, have %d", e.lines)
	}
}

const want3 = "59999,3,2,1\n60000,3,2,1\n120000,3,2,1\n"
