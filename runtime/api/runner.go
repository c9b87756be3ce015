package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// Bounds of backtests that are run beside trading.
const (
	maxRuns      = 20 // kept, with the one under way
	benchWithin  = time.Hour
	tellEvery    = 250 * time.Millisecond
	benchStop    = 2 * time.Second // waited for when botd stops
	maxParams    = 50
	maxParamText = 200
)

// Bench runs backtests in this process. It knows the strategies and the data; the
// server asks it for one at a time.
type Bench interface {
	// Choices are what a backtest may be made of.
	Choices() BacktestChoices
	// Plan says what running would do, or what is wrong with what is asked for.
	Plan(asked *BacktestRequest) (does []string, err error)
	// Run runs it and writes its report into a directory. It tells how far it is.
	Run(ctx context.Context, asked *BacktestRequest, directory string, tell func(phase string, share float64)) error
}

// BacktestChoices are what a backtest may be made of.
type BacktestChoices struct {
	Schema     int             `json:"schema"`
	Strategies []BenchStrategy `json:"strategies"`
	Files      []BenchFile     `json:"files"`       // of candles: recorded by the daemon, or in data_dir/candles
	MaxCandles int             `json:"max_candles"` // of one run
}

// BenchStrategy is a configured strategy, with the parameters that a run may change.
type BenchStrategy struct {
	Name     string       `json:"name"`
	Strategy string       `json:"strategy"`
	Market   string       `json:"market"`
	Symbol   string       `json:"symbol"`
	Interval string       `json:"interval"`
	Params   []BenchParam `json:"params"`
}

// BenchParam is a parameter as it is configured.
type BenchParam struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Help  string `json:"help"`
}

// BenchFile is a file of candles. Market, symbol and interval are empty where its
// place does not tell them.
type BenchFile struct {
	File     string `json:"file"`
	Market   string `json:"market"`
	Symbol   string `json:"symbol"`
	Interval string `json:"interval"`
	Bytes    int64  `json:"bytes"`
}

// BacktestRequest is what POST /api/v1/backtests takes.
type BacktestRequest struct {
	Strategy string            `json:"strategy"`         // the name of a configured one
	Params   map[string]string `json:"params,omitempty"` // instead of the configured ones
	File     string            `json:"file,omitempty"`   // one of the choices; without it a market is made up
	Seed     uint64            `json:"seed,omitempty"`   // of the made-up market
	Candles  int               `json:"candles,omitempty"`
	From     string            `json:"from,omitempty"` // a date or RFC 3339, in UTC; of a file the part that is used
	To       string            `json:"to,omitempty"`
	Study    bool              `json:"study,omitempty"` // also runs again under worse circumstances
	Name     string            `json:"name,omitempty"`  // of the report
	DryRun   bool              `json:"dry_run,omitempty"`
}

// BacktestRun is a backtest that was asked for here, and how far it is.
type BacktestRun struct {
	ID        string  `json:"id"` // of its report
	Strategy  string  `json:"strategy"`
	Data      string  `json:"data"`
	State     string  `json:"state"` // running, done, failed, canceled
	Phase     string  `json:"phase"` // of running: reading, running, study, writing
	Share     float64 `json:"share"` // of the whole that is done
	Error     string  `json:"error,omitempty"`
	By        string  `json:"by"`
	StartedMS int64   `json:"started_ms"`
	EndedMS   int64   `json:"ended_ms"` // 0 while it runs
}

// BacktestStart is the answer to POST /api/v1/backtests.
type BacktestStart struct {
	Schema int          `json:"schema"`
	DryRun bool         `json:"dry_run"`
	ID     string       `json:"id"`
	Does   []string     `json:"does"`
	Run    *BacktestRun `json:"run"` // null when nothing was started
}

// bench is the one backtest under way, and those before it.
type bench struct {
	mu      sync.Mutex    // guards the five below
	runs    []BacktestRun // oldest first
	cancel  context.CancelCauseFunc
	busy    bool // a run is under way, or about to begin
	stopped bool // nothing begins any more
	toldAt  time.Time

	group sync.WaitGroup
}

var (
	errCanceled = errors.New("canceled by a person")
	errStopping = errors.New("botd stopped")
	errLate     = fmt.Errorf("it was not done within %s", benchWithin)
)

// benchChoices serves GET /api/v1/backtests/choices.
func (s *Server) benchChoices(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	out := BacktestChoices{}
	if s.config.Bench != nil {
		out = s.config.Bench.Choices()
	}
	out.Schema, out.Strategies, out.Files = 1, view.OrEmpty(out.Strategies), view.OrEmpty(out.Files)
	answer(w, r, out)
}

// benchRuns serves GET /api/v1/backtests/runs, the newest first.
func (s *Server) benchRuns(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	s.bench.mu.Lock()
	items := slices.Clone(s.bench.runs)
	s.bench.mu.Unlock()
	slices.Reverse(items)
	writeList(w, r, items, "")
}

// startBacktest serves POST /api/v1/backtests.
func (s *Server) startBacktest(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	var asked BacktestRequest
	err := body(r, &asked)
	asked.DryRun = asked.DryRun || dry
	var does []string
	switch {
	case s.config.Bench == nil || s.config.Reports == "":
		problem(w, r, http.StatusConflict, "not_possible", "this botd runs no backtests")
		return
	case err != nil:
	default:
		if err = asked.check(time.Now()); err == nil {
			does, err = s.config.Bench.Plan(&asked)
		}
	}
	if err != nil {
		problemOfBody(w, r, err)
		return
	}
	if err := s.reports.Room(asked.Name); err != nil {
		problem(w, r, http.StatusConflict, "not_possible", err.Error())
		return
	}
	out := BacktestStart{Schema: 1, DryRun: asked.DryRun, ID: asked.Name, Does: view.OrEmpty(does)}
	if asked.DryRun {
		answerAs(w, http.StatusOK, out)
		return
	}
	run := BacktestRun{ID: asked.Name, Strategy: asked.Strategy, Data: asked.data(), State: "running", Phase: "reading", By: who(r).By, StartedMS: time.Now().UnixMilli()}
	if !s.bench.claim() {
		problem(w, r, http.StatusConflict, "not_possible", "a backtest is under way: one runs at a time, beside trading; cancel it, or wait for it")
		return
	}
	if !s.wrote(w, r, audit(r, "backtest "+asked.Name, asked.Strategy+" over "+run.Data)) {
		s.bench.release()
		return
	}
	s.bench.begin(&run, func(ctx context.Context) { s.runBacktest(ctx, &asked) })
	s.stream.Publish("backtest", run)
	out.Run = &run
	answerAs(w, http.StatusAccepted, out)
}

// check bounds what is asked for, and names the report where nobody did.
func (b *BacktestRequest) check(now time.Time) error {
	if b.Name == "" {
		b.Name = b.Strategy + "-" + now.UTC().Format("20060102-150405")
	}
	switch {
	case b.Strategy == "":
		return errors.New("strategy is missing: the name of a configured one")
	case !view.ReportName.MatchString(b.Name) || b.Name == "choices" || b.Name == "runs":
		return fmt.Errorf("name %q: want letters, digits, dot, dash and underscore, 100 at most, and not the words choices and runs", b.Name)
	case len(b.Params) > maxParams:
		return fmt.Errorf("%d params are more than %d", len(b.Params), maxParams)
	case b.File != "" && (b.Seed != 0 || b.Candles != 0):
		return errors.New("seed and candles are of a made-up market: give file, or those")
	}
	for name, value := range b.Params {
		if len(name) > maxParamText || len(value) > maxParamText {
			return fmt.Errorf("a parameter's name or value is longer than %d bytes", maxParamText)
		}
	}
	return nil
}

// data says what it runs over.
func (b *BacktestRequest) data() string {
	if b.File != "" {
		return b.File
	}
	return fmt.Sprintf("a made-up market, seed %d", b.Seed)
}

// wrote has a change journalled that is none of the engine. Nothing is done before.
func (s *Server) wrote(w http.ResponseWriter, r *http.Request, asked *record.Audit) bool {
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	if s.config.Driver.Send(ctx, &engine.EventAudited{Audit: asked}) != nil {
		problem(w, r, http.StatusServiceUnavailable, "stopped", "who asked for it can not be written to the journal now: nothing was done")
		return false
	}
	return true
}

// claim takes the one place, which release gives back.
func (b *bench) claim() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := !b.busy && !b.stopped
	b.busy = b.busy || mine
	return mine
}

func (b *bench) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy, b.cancel = false, nil
}

// begin lets a run go that has claimed the place.
func (b *bench) begin(run *BacktestRun, do func(context.Context)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.runs) == maxRuns {
		b.runs = b.runs[:copy(b.runs, b.runs[1:])]
	}
	b.runs, b.cancel, b.toldAt = append(b.runs, *run), cancel, time.Time{}
	b.group.Go(func() {
		defer cancel(nil)
		limited, stop := context.WithTimeoutCause(ctx, benchWithin, errLate)
		defer stop()
		do(limited)
	})
}

// now changes the newest run and returns it; due says that it is time to tell it.
func (b *bench) now(change func(*BacktestRun)) (run BacktestRun, due bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := &b.runs[len(b.runs)-1]
	phase := last.Phase
	change(last)
	if due = last.Phase != phase || last.EndedMS != 0 || time.Since(b.toldAt) >= tellEvery; due {
		b.toldAt = time.Now()
	}
	return *last, due
}

// stop ends a run, and waits for that a while.
func (b *bench) stop() {
	b.mu.Lock()
	if b.cancel != nil {
		b.cancel(errStopping)
	}
	b.stopped = true
	b.mu.Unlock()
	ended := make(chan struct{})
	go func() { b.group.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(benchStop):
	}
}

// runBacktest runs what was asked for and puts its report among the others as a whole.
func (s *Server) runBacktest(ctx context.Context, asked *BacktestRequest) {
	beside := filepath.Join(s.config.Reports, ".running-"+s.config.Board.Mode()) // one at a time: what an earlier start left is in the way
	err := os.RemoveAll(beside)
	if err == nil {
		err = os.MkdirAll(beside, 0o755)
	}
	if err == nil {
		err = s.runGuarded(ctx, asked, beside)
	}
	if err == nil {
		err = os.Rename(beside, filepath.Join(s.config.Reports, asked.Name))
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(beside))
	}
	run, _ := s.bench.now(func(run *BacktestRun) {
		run.State, run.Phase, run.Share, run.EndedMS = "done", "", 1, time.Now().UnixMilli()
		if err == nil {
			return
		}
		run.State, run.Error = "failed", err.Error()
		if cause := context.Cause(ctx); cause != nil {
			run.State, run.Error = "canceled", cause.Error()
		}
	})
	s.bench.release()
	s.stream.Publish("backtest", run)
}

// runGuarded runs it; a fault of a strategy or of botd ends this run and nothing else.
func (s *Server) runGuarded(ctx context.Context, asked *BacktestRequest, directory string) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("internal error: %v\n%s", cause, debug.Stack())
		}
	}()
	return s.config.Bench.Run(ctx, asked, directory, func(phase string, share float64) {
		if run, due := s.bench.now(func(run *BacktestRun) { run.Phase, run.Share = phase, view.RoundRatio(max(0, min(1, share))) }); due {
			s.stream.Publish("backtest", run)
		}
	})
}

// cancelBacktest serves POST /api/v1/backtests/runs/{id}/cancel.
func (s *Server) cancelBacktest(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	id := r.PathValue("id")
	s.bench.mu.Lock()
	at := slices.IndexFunc(s.bench.runs, func(run BacktestRun) bool { return run.ID == id && run.EndedMS == 0 })
	known := slices.ContainsFunc(s.bench.runs, func(run BacktestRun) bool { return run.ID == id })
	cancel := s.bench.cancel
	s.bench.mu.Unlock()
	switch {
	case !known:
		missing(w, r, "run", id)
		return
	case at < 0 || cancel == nil:
		problem(w, r, http.StatusConflict, "not_possible", "the backtest has ended: there is nothing to cancel")
		return
	}
	out := Change{1, dry, []string{"the backtest " + id + " ends, and leaves no report"}}
	if dry {
		answerAs(w, http.StatusOK, out)
		return
	}
	if s.wrote(w, r, audit(r, "backtest "+id, "cancel")) {
		cancel(errCanceled)
		answerAs(w, http.StatusOK, out)
	}
}
