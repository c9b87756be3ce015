package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"botd/backtest/parity"
	"botd/internal/privatefile"
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var runnerRoutes = []route{
	{id: "backtest_choices", tag: "backtests", method: "GET", path: "/api/v1/backtests/choices", minimum: auth.Viewer,
		endpoint: read(of(runnerOf, (*runner).choices)),
		summary: "The possible inputs of a backtest: the configured strategies, and the files of candles: those that the daemon recorded " +
			"(`recorded/...`) and those in `data_dir/candles` (`candles/...`)."},
	{id: "start_backtest", tag: "backtests", method: "POST", path: "/api/v1/backtests", minimum: auth.Operator, endpoint: order(by(runnerOf, (*runner).start)),
		fails: []int{409},
		summary: "Runs a backtest in this process, in parallel with trading: one at a time, on at most half a core, within an hour, " +
			"of at most `max_candles` candles and 200000 fills. " +
			"The topic `backtest` reports its progress; its report is added to those in `data_dir/backtests`."},
	{id: "backtest_runs", tag: "backtests", method: "GET", path: "/api/v1/backtests/runs", minimum: auth.Viewer, endpoint: all(of(runnerOf, (*runner).started)),
		summary: "The backtests started here since botd started, newest first, at most 20."},
	{id: "cancel_backtest", tag: "backtests", method: "POST", path: "/api/v1/backtests/runs/{id}/cancel", minimum: auth.Operator,
		endpoint: change(by(runnerOf, (*runner).end)), fails: []int{404, 409},
		summary: "Cancels a backtest that is running. It leaves no report."},
}

// Limits of backtests that run alongside trading.
const (
	maxRuns          = 20 // listed, including the running one
	runTimeout       = time.Hour
	progressInterval = 250 * time.Millisecond
	stopTimeout      = 2 * time.Second // when botd stops
	maxParams        = 50
	maxParamText     = 200
)

// BacktestRunner runs backtests in this process. It knows the strategies and the data; the server
// starts one at a time.
type BacktestRunner interface {
	// Choices returns the permitted parameters of a backtest.
	Choices() BacktestChoices
	// Plan lists the steps of a run; an error describes an invalid request.
	Plan(given *BacktestRequest) (does []string, err error)
	// Run runs a backtest, writes its report into a directory, and reports its progress.
	Run(ctx context.Context, given *BacktestRequest, directory string, progress func(phase string, share float64)) error
	// Parity runs a strategy again over the data recorded while it traded, and compares both; 0 means no bound.
	Parity(ctx context.Context, strategy string, fromMS, toMS int64) (*parity.Parity, error)
}

// BacktestChoices are the permitted parameters of a backtest.
type BacktestChoices struct {
	Schema     int                `json:"schema"`
	Strategies []RunnableStrategy `json:"strategies"`
	Files      []CandleFile       `json:"files"`       // the files of candles that the daemon recorded, or that are in data_dir/candles
	MaxCandles int                `json:"max_candles"` // the maximum number of candles of one run
}

// RunnableStrategy is a configured strategy, with the parameters that a run may change.
type RunnableStrategy struct {
	Name     string              `json:"name"`
	Strategy string              `json:"strategy"`
	Market   string              `json:"market"`
	Symbol   string              `json:"symbol"`
	Interval string              `json:"interval"`
	Params   []StrategyParameter `json:"params"`
}

// StrategyParameter is a parameter as it is configured.
type StrategyParameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Help  string `json:"help"`
}

// CandleFile is a file of candles. Market, symbol and interval are empty if its path does not name
// them.
type CandleFile struct {
	File     string `json:"file"`
	Market   string `json:"market"`
	Symbol   string `json:"symbol"`
	Interval string `json:"interval"`
	Bytes    int64  `json:"bytes"`
}

// BacktestRequest is a backtest to run.
type BacktestRequest struct {
	Strategy string            `json:"strategy"`          // the name of a configured strategy
	Params   map[string]string `json:"params,omitempty"`  // the parameters that differ from the configured ones
	File     string            `json:"file,omitempty"`    // one of the choices; without it a synthetic market is generated
	Seed     uint64            `json:"seed,omitempty"`    // the seed of the synthetic market
	Candles  int               `json:"candles,omitempty"` // the number of candles of the synthetic market
	From     string            `json:"from,omitempty"`    // the start of the part of the file that is used: a date or RFC 3339, in UTC
	To       string            `json:"to,omitempty"`
	Study    bool              `json:"study,omitempty"` // whether it also runs again under worse conditions
	Name     string            `json:"name,omitempty"`  // the name of the report
	DryRun   bool              `json:"dry_run,omitempty"`
}

// BacktestRun is a backtest that was started here, and its progress.
type BacktestRun struct {
	ID        string  `json:"id"` // the id of its report
	Strategy  string  `json:"strategy"`
	Data      string  `json:"data"`
	State     string  `json:"state"` // running | done | failed | canceled
	Phase     string  `json:"phase"` // the phase of a running one: reading, running, study, writing
	Share     float64 `json:"share"` // the completed share of the run
	Error     string  `json:"error,omitempty"`
	StartedBy string  `json:"started_by" was:"by"`
	StartedMS int64   `json:"started_ms"`
	EndedMS   int64   `json:"ended_ms"` // 0 while it runs
}

// BacktestStart is the answer to a backtest to run.
type BacktestStart struct {
	Schema  int          `json:"schema"`
	DryRun  bool         `json:"dry_run"`
	ID      string       `json:"id"`
	Effects []string     `json:"effects" was:"does"`
	Run     *BacktestRun `json:"run"` // null when nothing was started
}

// runner serves the backtests of this process: the running one, and earlier ones.
type runner struct {
	controls  controls
	reports   *view.Reports
	engine    BacktestRunner // nil when none are run
	directory string         // of the reports
	partial   string         // the directory of the running backtest
	publish   func(topic string, what any)

	single[BacktestRun]
	reportedAt time.Time // guarded by mu
}

func runnerOf(s *Server) *runner { return &s.runner }

var (
	errCanceled = errors.New("canceled by a person")
	errStopping = errors.New("botd stopped")
	errTimeout  = fmt.Errorf("it did not finish within %s", runTimeout)
)

func (q *runner) choices(*request) (BacktestChoices, error) {
	out := BacktestChoices{}
	if q.engine != nil {
		out = q.engine.Choices()
	}
	out.Schema, out.Strategies, out.Files = 1, view.OrEmpty(out.Strategies), view.OrEmpty(out.Files)
	return out, nil
}

func (q *runner) start(r *request, body *BacktestRequest) (BacktestStart, error) {
	r.dryRun = r.dryRun || body.DryRun
	out := BacktestStart{Schema: 1, DryRun: r.dryRun}
	if q.engine == nil || q.directory == "" {
		return out, notPossible("this botd runs no backtests")
	}
	err := body.check(time.Now())
	if err == nil {
		out.Effects, err = q.engine.Plan(body)
	}
	if err != nil {
		return out, badBody(err.Error())
	}
	if err := q.reports.Room(body.Name); err != nil {
		return out, notPossible(err.Error())
	}
	out.ID, out.Effects = body.Name, view.OrEmpty(out.Effects)
	if r.dryRun {
		return out, nil
	}
	if !q.claim() {
		return out, notPossible("a backtest is running, and only one can run at a time: cancel it, or wait for it")
	}
	run := BacktestRun{ID: body.Name, Strategy: body.Strategy, Data: body.data(), State: "running", Phase: "reading", StartedBy: requester(r.Request).By,
		StartedMS: time.Now().UnixMilli()}
	if err := q.controls.record(r, "backtest "+body.Name, body.Strategy+" over "+run.Data); err != nil {
		q.release()
		return out, err
	}
	q.publish("backtest", run) // before its progress is
	q.begin(&run, runTimeout, errTimeout, func(ctx context.Context) { q.run(ctx, body) })
	out.Run = &run
	return out, nil
}

func (q *runner) end(r *request, _ *nothing) (Change, error) {
	id := r.PathValue("id")
	q.mu.Lock()
	running := slices.ContainsFunc(q.runs, func(run BacktestRun) bool { return run.ID == id && run.EndedMS == 0 })
	known := slices.ContainsFunc(q.runs, func(run BacktestRun) bool { return run.ID == id })
	cancel := q.cancel
	q.mu.Unlock()
	switch {
	case !known:
		return Change{}, notFound("run", id)
	case !running || cancel == nil:
		return Change{}, notPossible("the backtest has ended: there is nothing to cancel")
	}
	out := Change{1, r.dryRun, []string{"the backtest " + id + " ends, and leaves no report"}}
	if r.dryRun {
		return out, nil
	}
	if err := q.controls.record(r, "backtest "+id, "cancel"); err != nil {
		return out, err
	}
	cancel(errCanceled)
	return out, nil
}

// check validates a request against its limits, and names the report if the request does not.
func (b *BacktestRequest) check(now time.Time) error {
	if b.Name == "" {
		b.Name = b.Strategy + "-" + now.UTC().Format("20060102-150405")
	}
	switch {
	case b.Strategy == "":
		return errors.New("strategy is missing: the name of a configured one")
	case !privatefile.IsName(b.Name) || b.Name == "choices" || b.Name == "runs":
		return fmt.Errorf("name %q: want letters, digits, dot, dash and underscore, 100 at most, and not the words choices and runs", b.Name)
	case len(b.Params) > maxParams:
		return fmt.Errorf("%d params exceed the maximum of %d", len(b.Params), maxParams)
	case b.Candles < 0:
		return fmt.Errorf("candles %d: want 1 or more", b.Candles)
	case b.File != "" && (b.Seed != 0 || b.Candles != 0):
		return errors.New("seed and candles are for a synthetic market: give either file or those")
	}
	for name, value := range b.Params {
		if len(name) > maxParamText || len(value) > maxParamText {
			return fmt.Errorf("a parameter's name or value is longer than %d bytes", maxParamText)
		}
	}
	return nil
}

// data names the data of the run.
func (b *BacktestRequest) data() string {
	if b.File != "" {
		return b.File
	}
	return fmt.Sprintf("a synthetic market, seed %d", b.Seed)
}

// now changes the newest run and returns it; due reports that its progress is to be published.
func (q *runner) now(change func(*BacktestRun)) (run BacktestRun, due bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	last := &q.runs[len(q.runs)-1]
	phase := last.Phase
	change(last)
	if due = last.Phase != phase || last.EndedMS != 0 || time.Since(q.reportedAt) >= progressInterval; due {
		q.reportedAt = time.Now()
	}
	if last.EndedMS != 0 {
		q.reportedAt = time.Time{} // the next run reports at once
	}
	return *last, due
}

// run runs the requested backtest and moves its complete report to the others.
func (q *runner) run(ctx context.Context, given *BacktestRequest) {
	err := addReport(q.partial, filepath.Join(q.directory, given.Name), func() error {
		if err := os.MkdirAll(q.partial, 0o755); err != nil {
			return err
		}
		return q.recovered(ctx, given, q.partial)
	})
	run, _ := q.now(func(run *BacktestRun) {
		run.Phase, run.Share, run.EndedMS = "", 1, time.Now().UnixMilli()
		run.State, run.Error = outcome(ctx, err)
	})
	q.release()
	q.publish("backtest", run)
}

// recovered runs a backtest; a panic of a strategy or of botd ends only this run.
func (q *runner) recovered(ctx context.Context, given *BacktestRequest, directory string) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("internal error: %v\n%s", cause, debug.Stack())
		}
	}()
	return q.engine.Run(ctx, given, directory, func(phase string, share float64) {
		if run, due := q.now(func(run *BacktestRun) { run.Phase, run.Share = phase, view.RoundRatio(max(0, min(1, share))) }); due {
			q.publish("backtest", run)
		}
	})
}
