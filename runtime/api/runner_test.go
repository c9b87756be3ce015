package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/runtime"
)

// benched is a desk whose backtests run the stub's function, with its directory of reports.
func benched(t *testing.T, run func(context.Context, string, func(string, float64)) error) (*desk, *stub, string) {
	t.Helper()
	bench, reports := &stub{run: run}, filepath.Join(t.TempDir(), "backtests")
	d := newDeskWith(t, func(c *Config) { c.Reports, c.Runner = reports, bench })
	t.Cleanup(d.server.runner.stop)
	return d, bench, reports
}

func (d *desk) runs() (runs []BacktestRun) {
	d.t.Helper()
	var list List[BacktestRun]
	if err := json.Unmarshal([]byte(d.want(200, "/api/v1/backtests/runs")), &list); err != nil {
		d.t.Fatal(err)
	}
	return list.Items
}

func entries(t *testing.T, directory string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

func TestBacktestReportIsListed(t *testing.T) {
	t.Parallel()
	d, _, reports := benched(t, writes)
	code, out, text := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","seed":7,"name":"mine"}`)
	if code != 202 || out.Run == nil || out.Run.State != "running" || out.ID != "mine" {
		t.Fatalf("want it started, have %d %s", code, text)
	}
	d.server.runner.group.Wait()
	if runs := d.runs(); len(runs) != 1 || runs[0].State != "done" || runs[0].Share != 1 || runs[0].EndedMS == 0 ||
		runs[0].Data != "a synthetic market, seed 7" || runs[0].StartedBy != "token" {
		t.Errorf("want it done, have %+v", runs)
	}
	if body := d.want(200, "/api/v1/backtests"); !strings.Contains(body, `"id":"mine"`) {
		t.Errorf("want its report listed, have %s", body)
	}
	if have := entries(t, reports); len(have) != 1 || have[0] != "mine" {
		t.Errorf("want the report alone, have %q", have)
	}
	if a := d.sent[0].Audit; len(d.sent) != 1 || d.sent[0].Event != nil || a.Object != "backtest mine" || a.Action != "POST /api/v1/backtests" ||
		a.Role != "operator" {
		t.Errorf("want it audited, have %+v", d.sent)
	}
	var reported []BacktestRun
	for _, frame := range framesOf(d.server.stream) {
		if topic, data := parseFrame(string(frame)); topic == "backtest" {
			var run BacktestRun
			if err := json.Unmarshal([]byte(data), &run); err != nil {
				t.Fatal(err)
			}
			reported = append(reported, run)
		}
	}
	if len(reported) < 3 || reported[1].Phase != "running" || reported[1].Share != 0.5 || reported[len(reported)-1].State != "done" {
		t.Errorf("want its start, progress and end reported, have %+v", reported)
	}
}

func TestOneBacktestRunsAtATimeAndCanBeCanceled(t *testing.T) {
	t.Parallel()
	d, bench, reports := benched(t, hangs)
	if code, _, text := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"long"}`); code != 202 {
		t.Fatalf("want it started, have %d %s", code, text)
	}
	if code, _, text := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"second"}`); code != 409 || !strings.Contains(text,
		"only one can run") || len(d.sent) != 1 {
		t.Errorf("want a second refused, and not audited as if it ran, have %d %s %+v", code, text, d.sent)
	}
	if code, _, _ := post[Change](d, "/api/v1/backtests/runs/long/cancel", `{}`); code != 200 {
		t.Errorf("want it canceled, have %d", code)
	}
	d.server.runner.group.Wait()
	if runs := d.runs(); runs[0].State != "canceled" || !strings.Contains(runs[0].Error, "by a person") {
		t.Errorf("want it canceled, have %+v", runs)
	}
	if have := entries(t, reports); len(have) != 0 {
		t.Errorf("want nothing left of it, have %q", have)
	}
	if a := d.sent[1].Audit; a.Object != "backtest long" || a.Detail != "cancel" {
		t.Errorf("want the cancel audited, have %+v", a)
	}
	bench.run = writes
	if code, _, text := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"second"}`); code != 202 {
		t.Errorf("want the place free again, have %d %s", code, text)
	}
}

func TestAFaultOfABacktestEndsItAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  func(context.Context, string, func(string, float64)) error
		part string
	}{
		"an error": {func(context.Context, string, func(string, float64)) error {
			return errors.New("candles.csv:7: open above high")
		}, "candles.csv:7"},
		"a panic": {func(context.Context, string, func(string, float64)) error { panic("index out of range") }, "index out of range"},
	} {
		d, _, reports := benched(t, c.run)
		if code, _, _ := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"bad"}`); code != 202 {
			t.Fatalf("%s: want it started, have %d", name, code)
		}
		d.server.runner.group.Wait()
		if runs := d.runs(); runs[0].State != "failed" || !strings.Contains(runs[0].Error, c.part) || len(entries(t, reports)) != 0 {
			t.Errorf("%s: want it reported and nothing left, have %+v %q", name, runs, entries(t, reports))
		}
		if !d.server.runner.claim() {
			t.Errorf("%s: want the place free again", name)
		}
	}
}

func TestABacktestIsRefusedWhereItIsNotPossibleOrNotAllowed(t *testing.T) {
	t.Parallel()
	many := `{"strategy":"trend","params":{`
	for i := range maxParams + 1 {
		many += fmt.Sprintf(`"p%d":"1",`, i)
	}
	many = strings.TrimSuffix(many, ",") + `}}`
	for _, c := range []struct {
		name, body string
		change     func(*http.Request)
		code       int
		part       string
	}{
		{"a viewer", `{"strategy":"trend"}`, bearer(viewerToken), 403, ""},
		{"nobody", `{"strategy":"trend"}`, nil, 401, ""},
		{"from a web page", `{"strategy":"trend"}`, func(r *http.Request) { bearer(testToken)(r); r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, ""},
		{"no strategy", `{}`, bearer(testToken), 400, "strategy is missing"},
		{"an unknown field", `{"strategy":"trend","path":"/etc/passwd"}`, bearer(testToken), 400, "path"},
		{"a name that leads out", `{"strategy":"trend","name":"../../out"}`, bearer(testToken), 400, "name"},
		{"a hidden name", `{"strategy":"trend","name":".hidden"}`, bearer(testToken), 400, "name"},
		{"an absolute name", `{"strategy":"trend","name":"/tmp/x"}`, bearer(testToken), 400, "name"},
		{"a word of the API", `{"strategy":"trend","name":"runs"}`, bearer(testToken), 400, "name"},
		{"a strategy that leads out", `{"strategy":"../x"}`, bearer(testToken), 400, "name"},
		{"a file and a synthetic market", `{"strategy":"trend","file":"a.csv","seed":1}`, bearer(testToken), 400, "synthetic"},
		{"many parameters", many, bearer(testToken), 400, "params"},
		{"a long parameter", `{"strategy":"trend","params":{"fast":"` + strings.Repeat("9", maxParamText+1) + `"}}`, bearer(testToken), 400, "longer"},
		{"too long", `{"strategy":"` + strings.Repeat("x", maxRequest) + `"}`, bearer(testToken), 413, "larger"},
		{"a name that is taken", `{"strategy":"trend","name":"taken"}`, bearer(testToken), 409, "already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, _, reports := benched(t, writes)
			if err := os.MkdirAll(filepath.Join(reports, "taken"), 0o755); err != nil {
				t.Fatal(err)
			}
			code, body := d.ask(http.MethodPost, "/api/v1/backtests", c.body, c.change)
			if code != c.code || !strings.Contains(body, c.part) || len(d.sent) != 0 || len(d.runs()) != 0 || len(entries(t, reports)) != 1 {
				t.Errorf("want %d with %q and nothing run, have %d: %s %+v", c.code, c.part, code, body, d.runs())
			}
		})
	}
}

func TestABacktestThatCannotBeAuditedIsNotRun(t *testing.T) {
	t.Parallel()
	d, _, reports := benched(t, writes)
	for _, failure := range []error{runtime.ErrStopped, runtime.ErrNotDurable} {
		d.fails = failure
		if code, _, text := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"mine"}`); code != 503 || !strings.Contains(text,
			"nothing was done") {
			t.Errorf("%v: want it refused, have %d %s", failure, code, text)
		}
	}
	d.fails = nil
	if len(d.runs()) != 0 || len(entries(t, reports)) != 0 {
		t.Errorf("want nothing run, have %+v", d.runs())
	}
	if code, _, _ := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"mine"}`); code != 202 {
		t.Errorf("want the place free, have %d", code)
	}
}

func TestTooManyReportsAreNotAddedTo(t *testing.T) {
	t.Parallel()
	d, _, reports := benched(t, writes)
	for i := range 500 {
		if err := os.MkdirAll(filepath.Join(reports, fmt.Sprint("r", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, text := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend"}`); code != 409 || !strings.Contains(text, "remove some") {
		t.Errorf("want it refused, have %d %s", code, text)
	}
}

func TestStoppingEndsABacktest(t *testing.T) {
	t.Parallel()
	d, _, reports := benched(t, hangs)
	if code, _, _ := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"long"}`); code != 202 {
		t.Fatalf("want it started, have %d", code)
	}
	d.server.runner.stop()
	if runs := d.runs(); runs[0].State != "canceled" || !strings.Contains(runs[0].Error, "stopped") || len(entries(t, reports)) != 0 {
		t.Errorf("want it ended with nothing left, have %+v", runs)
	}
	if d.server.runner.claim() {
		t.Error("want nothing begin while botd stops")
	}
}

func TestABacktestEndsAtItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, _, _ := benched(t, hangs)
		if code, _, _ := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"long"}`); code != 202 {
			t.Fatalf("want it started, have %d", code)
		}
		d.server.runner.group.Wait() // an hour of virtual time
		if runs := d.runs(); runs[0].State != "canceled" || !strings.Contains(runs[0].Error, "within 1h") {
			t.Errorf("want it ended, have %+v", runs)
		}
	})
}

// The end of serving ends a backtest and the process of a sweep.
func TestShutdownEndsBacktestAndSweep(t *testing.T) {
	t.Parallel()
	stub, bench, reports := &sweeperStub{run: lasts}, &stub{run: hangs}, filepath.Join(t.TempDir(), "backtests")
	d := newDeskWith(t, func(c *Config) {
		c.Reports, c.Runner, c.Sweeps, c.Sweeper = reports, bench, interrupted(t, sweeps(t)), stub
	})
	_, stop := d.serve()
	if code, _, text := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"long"}`); code != 202 {
		t.Fatalf("want it started, have %d %s", code, text)
	}
	if code, _, text := post[SweepStart](d, "/api/v1/sweeps", aSweep); code != 202 {
		t.Fatalf("want it started, have %d %s", code, text)
	}
	stop()
	if runs := d.runs(); len(runs) != 1 || runs[0].State != "canceled" || runs[0].Error != "botd stopped" {
		t.Errorf("want the backtest ended, have %+v", runs)
	}
	if runs := d.sweepRuns(); len(runs) != 1 || runs[0].State != "canceled" || runs[0].Error != "botd stopped" {
		t.Errorf("want the sweep ended, have %+v", runs)
	}
	for path, body := range map[string]string{"/api/v1/backtests": `{"strategy":"trend","name":"late"}`, "/api/v1/sweeps": strings.Replace(aSweep, "mine",
		"late", 1)} {
		if code, _, text := post[BacktestStart](d, path, body); code != 409 {
			t.Errorf("%s: want nothing begun, have %d %s", path, code, text)
		}
	}
}

// Canceling a run that has ended is a conflict, and leaves the run in progress alone.
func TestARunThatHasEndedIsNotCanceled(t *testing.T) {
	t.Parallel()
	first := true
	d, _, reports := benched(t, func(ctx context.Context, directory string, report func(string, float64)) error {
		if first {
			first = false
			return writes(ctx, directory, report)
		}
		return hangs(ctx, directory, report)
	})
	for _, name := range []string{"one", "two"} {
		if code, _, text := post[BacktestStart](d, "/api/v1/backtests", `{"strategy":"trend","name":"`+name+`"}`); code != 202 {
			t.Fatalf("%s: want it started, have %d %s", name, code, text)
		}
		if name == "one" {
			d.server.runner.group.Wait()
		}
	}
	if info, err := os.Stat(filepath.Join(reports, "one")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("its report: want a directory that others may read, have %v, %v", info, err)
	}
	for id, want := range map[string]int{"one": 409, "none": 404} {
		if code, _, text := post[Change](d, "/api/v1/backtests/runs/"+id+"/cancel", ""); code != want {
			t.Errorf("%s: want %d, have %d %s", id, want, code, text)
		}
	}
	if runs := d.runs(); runs[0].State != "running" || runs[1].State != "done" {
		t.Errorf("want the other one running, have %+v", runs)
	}
	if code, out, text := post[Change](d, "/api/v1/backtests/runs/two/cancel", ""); code != 200 ||
		out.Effects[0] != "the backtest two ends, and leaves no report" {
		t.Errorf("want it canceled, have %d %s", code, text)
	}
}

// Progress is also published immediately when a phase or the run ends, and when the next one starts.
func TestProgressIsPublishedFourTimesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &runner{}
		begin := func() { q.runs = append(q.runs, BacktestRun{Phase: "reading"}) }
		report := func(what, phase string, ended, want bool) {
			t.Helper()
			if _, due := q.now(func(run *BacktestRun) {
				if run.Phase = phase; ended {
					run.EndedMS = 1
				}
			}); due != want {
				t.Errorf("%s: want it due %t, have %t", what, want, due)
			}
		}
		begin()
		report("the first", "reading", false, true)
		report("the next", "reading", false, false)
		time.Sleep(250*time.Millisecond - time.Nanosecond)
		report("just before a quarter of a second", "reading", false, false)
		time.Sleep(time.Nanosecond)
		report("after it", "reading", false, true)
		report("another phase", "running", false, true)
		report("the same", "running", false, false)
		report("its end", "", true, true)
		begin()
		report("the next run", "reading", false, true)
		report("the same", "reading", false, false)
		report("an end without a phase of its own", "reading", true, true)
	})
}

// A new run replaces the oldest one in the list, and one runs at a time.
func TestTheNewestTwentyRunsAreListed(t *testing.T) {
	t.Parallel()
	var q single[int]
	for n := range 23 {
		if !q.claim() || q.claim() {
			t.Fatalf("run %d: want the place taken once", n)
		}
		q.begin(&n, time.Hour, nil, func(context.Context) {})
		q.group.Wait()
		q.release()
	}
	if len(q.runs) != 20 || q.runs[0] != 3 || q.runs[19] != 22 {
		t.Errorf("want the newest twenty, have %v", q.runs)
	}
	if q.stop(); q.claim() {
		t.Error("stopped: want nothing begun")
	}
}
