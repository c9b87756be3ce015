package backtest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

var update = flag.Bool("update", false, "write testdata/samples again")

// manyPlaces are the numbers that compilers for other processors may round differently in their last digit.
var manyPlaces = regexp.MustCompile(`\d+\.\d{7,}`)

// wantSample compares a text with the recorded one. What is right about it is the other tests' matter: this notices a change.
func wantSample(t *testing.T, name, text string) {
	t.Helper()
	text = manyPlaces.ReplaceAllStringFunc(text, func(digits string) string {
		number, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatFloat(number, 'f', 6, 64)
	})
	path := filepath.Join("testdata", "samples", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, have := strings.Split(string(recorded), "\n"), strings.Split(text, "\n")
	for i := range max(len(want), len(have)) {
		if i >= len(want) || i >= len(have) || want[i] != have[i] {
			t.Fatalf("%s:%d: want\n%s\nhave\n%s\n-update writes the results of now: they differ from those of earlier versions", path, i+1,
				lineAt(want, i), lineAt(have, i))
		}
	}
}

// digest shortens what is long: equal texts alone have the same.
func digest(values ...any) string {
	hash := fnv.New32a()
	fmt.Fprint(hash, values...)
	return fmt.Sprintf("%08x", hash.Sum32())
}

// summary is a run in a line: money, counts, and digests of the executions and the round trips.
func summary(r *backtest.Result) string {
	return fmt.Sprintf("%s, equity %s, fees %s, funding %s, slippage %s, %d fills %s, %d trips %s, "+
		"orders %+v, liquidated %d, not traded %+v, ended %t, fall %.6f",
		r.Machine, r.FinalEquity, r.TotalFees, r.TotalFunding, r.TotalSlippage, r.Fills, digest(r.Executions), r.RoundTrips, digest(r.Trips), r.Orders,
		r.Liquidations, r.NotTraded, r.EndedBy != nil, r.MaxDrawdown)
}

// whole is everything that a report says, but for what differs between runs and programs, and with digests of the longest lists.
func whole(t *testing.T, r *backtest.Result) string {
	t.Helper()
	same := *r
	same.Elapsed, same.Speed, same.Version, same.ResultSHA256, same.DataSHA256, same.ConfigSHA256 = 0, 0, "", "", "", ""
	same.Executions, same.Trips, same.Figures.Rolling = r.Executions[:min(3, len(r.Executions))], r.Trips[:min(3, len(r.Trips))], nil
	same.Columns = nil
	for i := range r.Columns {
		one := r.Columns[i]
		one.ResultSHA256 = ""
		same.Columns = append(same.Columns, one)
	}
	text, err := json.MarshalIndent(&same, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	same.Table(&table, false)
	return summary(r) + "\n" + string(text) + "\n" + table.String()
}

// TestDrawnRunsReportAsBefore has a run of each kind of market with everything that its report says.
func TestDrawnRunsReportAsBefore(t *testing.T) {
	t.Parallel()
	for _, i := range []int{2, 5, 7} {
		wantSample(t, fmt.Sprintf("run%d.txt", i), whole(t, mustRun(t, weathers[i].config(t, 30))))
	}
}

// TestDrawnRunsEndAsBefore has more of them in a line each.
func TestDrawnRunsEndAsBefore(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i, w := range weathers {
		r := mustRun(t, w.config(t, 31))
		fmt.Fprintf(&text, "%d: %s\n  %s\n  %+v\n  %s\n", i, w, summary(r), r.Warnings, strings.Join(r.Assumptions, "; "))
	}
	wantSample(t, "runs.txt", text.String())
}

// TestRunsOfTargetsEndAsBefore has the direct machine and the engine trade targets.
func TestRunsOfTargetsEndAsBefore(t *testing.T) {
	t.Parallel()
	wantSample(t, "targets.txt", machined(t, twin, 8))
}

// TestRunsOfOrdersEndAsBefore has both rest orders in the book.
func TestRunsOfOrdersEndAsBefore(t *testing.T) {
	t.Parallel()
	wantSample(t, "orders.txt", machined(t, rung, 5))
}

func machined[S interface{ saw() uint64 }](t *testing.T, draw func(testing.TB, uint64) (backtest.Config, *[]S), runs uint64) string {
	t.Helper()
	var text strings.Builder
	for seed := range runs {
		config, made := draw(t, 500+seed)
		fmt.Fprintf(&text, "%d: %s, saw %x\n", seed, summary(mustRun(t, config)), (*made)[len(*made)-1].saw())
		fmt.Fprintf(&text, "  %s, saw %x\n", summary(mustRun(t, backtest.ByEngine(config))), (*made)[len(*made)-1].saw())
	}
	return text.String()
}

// TestColumnsAndSweepsEndAsBefore: the columns of costs, the trials of a sweep on both sides of a split, and the windows of a walk.
func TestColumnsAndSweepsEndAsBefore(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, i := range []int{1, 10} {
		config := weathers[i].config(t, 32)
		script := config.Legs[0].Strategy.Strategy.(*scripted)
		config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return &scripted{targets: script.targets}, nil }
		r, err := backtest.RunColumns(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(whole(t, r))
	}
	config := weathers[0].config(t, 33)
	script := config.Legs[0].Strategy.Strategy.(*scripted)
	trial := func(name string, from int) backtest.Trial {
		other := config.Legs[0]
		other.Strategy.Strategy = nil
		other.Make = func(*tape.Tape) (strategy.Strategy, error) { return &scripted{targets: script.targets[from:]}, nil }
		return backtest.Trial{Params: map[string]string{"from": name}, Leg: other}
	}
	trials := []backtest.Trial{trial("0", 0), trial("7", 7), trial("100", 100)}
	config.PurgeMS, config.EmbargoMS = 3*int64(exchange.Minute15), 5*int64(exchange.Minute15)
	column := func(c *backtest.Column) string {
		one := *c
		one.ResultSHA256 = ""
		body, err := json.Marshal(&one)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	for _, split := range []exchange.Rate{0, exchange.RateOne * 7 / 10} {
		splitMS, err := backtest.Sweep(t.Context(), config, trials, split, nil)
		if err != nil {
			t.Fatal(err)
		}
		lucky, known := backtest.LuckySharpe(trials)
		fmt.Fprintf(&text, "split at %d, luck %.6f %t\n", splitMS, lucky, known)
		for i := range trials {
			figures, err := json.Marshal(trials[i].Figures)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%s %s\n", column(trials[i].Seen), figures)
			if trials[i].Unseen != nil {
				fmt.Fprintf(&text, "  unseen %s\n", column(trials[i].Unseen))
			}
		}
	}
	best := func(all []backtest.Trial) *backtest.Trial { return &all[1] }
	windows, err := backtest.Walk(t.Context(), config, trials, 3, 2, best, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range windows {
		fmt.Fprintf(&text, "window %s %s %s %v\n  %s\n  %s\n", w.From, w.Split, w.To, w.Params, column(w.Seen), column(w.Unseen))
	}
	sum, err := json.Marshal(backtest.Sum(windows))
	if err != nil {
		t.Fatal(err)
	}
	text.Write(append(sum, '\n'))
	wantSample(t, "sweeps.txt", text.String())
}
