package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"botd/internal/privatefile"
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var sweepRoutes = []route{
	{id: "sweeps", tag: "backtests", method: "GET", path: "/api/v1/sweeps", minimum: auth.Viewer, endpoint: all(of(sweepsOf, (*sweepRuns).saved)),
		summary: "Named sweeps in `data_dir/sweeps`, from `botd sweep run --name NAME` and started here, newest first, at most 100."},
	{id: "start_sweep", tag: "backtests", method: "POST", path: "/api/v1/sweeps", minimum: auth.Operator, endpoint: order(by(sweepsOf, (*sweepRuns).start)),
		fails: []int{409},
		summary: "Starts a sweep of a configured strategy, as `botd sweep run` in a process of its own: with the lowest priority, on half of botd's " +
			"processors at most and each of them half of the time, with a bound on its memory. One process at a time, for a day at most, and at most " +
			"10000 trials."},
	{id: "sweep_runs", tag: "backtests", method: "GET", path: "/api/v1/sweeps/runs", minimum: auth.Viewer, endpoint: all(of(sweepsOf, (*sweepRuns).started)),
		summary: "The sweeps and reports of trials that were started here since botd started, newest first, at most 20."},
	{id: "sweep_page", tag: "backtests", method: "GET", path: "/api/v1/sweeps/{id}/report", minimum: auth.Viewer,
		endpoint: raw("text/html", func(s *Server, w http.ResponseWriter, r *request) error { return s.sweeping.page(w, r) }), fails: []int{404},
		summary: "The page of a sweep that has ended or was interrupted, in a sandbox like the page of a report; only the dashboard may show it in a frame."},
	{id: "resume_sweep", tag: "backtests", method: "POST", path: "/api/v1/sweeps/{id}/resume", minimum: auth.Operator,
		endpoint: order(by(sweepsOf, (*sweepRuns).resume)),
		fails:    []int{404, 409},
		summary:  "Runs the missing trials of a sweep, under the same bounds as a sweep that is started here."},
	{id: "cancel_sweep", tag: "backtests", method: "POST", path: "/api/v1/sweeps/{id}/cancel", minimum: auth.Operator,
		endpoint: change(by(sweepsOf, (*sweepRuns).end)), fails: []int{404, 409},
		summary: "Cancels a running sweep, started here or on the command line of this machine. Finished trials are saved, and resume runs the rest."},
	{id: "report_trial", tag: "backtests", method: "POST", path: "/api/v1/sweeps/{id}/trials/{job}/report", minimum: auth.Operator,
		endpoint: order(by(sweepsOf, (*sweepRuns).reportTrial)), fails: []int{404, 409},
		summary: "Runs one trial of a sweep again over all the candles, in a process of its own as a sweep, and adds its report to those in " +
			"`data_dir/backtests`. A report that already exists is answered at once. `job` is the trial's `job_sha256`."},
}

// Limits of sweeps that are started here.
const (
	sweepTimeout  = 24 * time.Hour
	MaxSweepTries = 10_000 // trials of one
	maxVary       = 20
	maxSweepText  = 500
)

var jobName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Sweeper runs sweeps outside this process; the server starts one at a time. Each run lasts until the
// process or the context ends.
type Sweeper interface {
	// Plan lists the steps of a sweep; an error describes an invalid request.
	Plan(given *SweepRequest) (does []string, err error)
	Run(ctx context.Context, given *SweepRequest) error
	Resume(ctx context.Context, name string) error
	// Report runs one trial again and writes its report into a directory.
	Report(ctx context.Context, name, job, directory string) error
	// Running reports whether any process of this machine runs a sweep; Cancel requests that process to
	// end.
	Running(name string) bool
	Cancel(name string) (running bool, err error)
}

// SweepRequest is a sweep to run, in the form of the flags of botd sweep run.
type SweepRequest struct {
	Strategy string   `json:"strategy"`          // the name of a configured strategy
	Vary     []string `json:"vary"`              // NAME=VALUE,VALUE or NAME=FROM..TO..STEP of a parameter, or of a key of the strategy's file
	Where    string   `json:"where,omitempty"`   // a condition of the parameters, such as "fast < slow"
	Search   string   `json:"search,omitempty"`  // grid, random or tpe; grid by default
	Trials   int      `json:"trials,omitempty"`  // the maximum number of trials
	Seed     uint64   `json:"seed,omitempty"`    // the seed of random and tpe; 1 by default
	Sort     string   `json:"sort,omitempty"`    // the figure to sort by; sharpe by default
	Require  string   `json:"require,omitempty"` // a condition of the results, such as "trades >= 30"
	Split    string   `json:"split,omitempty"`   // the share of the data that chooses the best, such as "70%"; the rest only validates
	File     string   `json:"file"`              // one of the choices of backtests
	From     string   `json:"from,omitempty"`    // a date or RFC 3339, in UTC
	To       string   `json:"to,omitempty"`
	Name     string   `json:"name,omitempty"`
	DryRun   bool     `json:"dry_run,omitempty"`
}

// SweepRun is a process that was started here for a sweep, with its outcome.
type SweepRun struct {
	Sweep     string `json:"sweep"`
	Kind      string `json:"kind"`             // run | resume | report
	Job       string `json:"job,omitempty"`    // the trial of a report
	Report    string `json:"report,omitempty"` // the name of the report among those of backtests
	State     string `json:"state"`            // running | done | failed | canceled
	Error     string `json:"error,omitempty"`
	StartedBy string `json:"started_by" was:"by"`
	StartedMS int64  `json:"started_ms"`
	EndedMS   int64  `json:"ended_ms"` // 0 while it runs
}

// SweepStart is the answer to a request that runs a sweep or a trial's report.
type SweepStart struct {
	Schema  int       `json:"schema"`
	DryRun  bool      `json:"dry_run"`
	ID      string    `json:"id"` // the name of the sweep, or of the report of a trial
	Effects []string  `json:"effects" was:"does"`
	Run     *SweepRun `json:"run"` // null when nothing was started
}

// sweepRuns serves the sweeps: the running process, earlier ones, and their saved results.
type sweepRuns struct {
	config   *Config
	controls controls
	reports  *view.Reports

	single[SweepRun]
}

func sweepsOf(s *Server) *sweepRuns { return &s.sweeping }

func (q *sweepRuns) saved(*request) ([]view.Sweep, error) {
	running := func(string) bool { return false }
	if q.config.Sweeper != nil {
		running = q.config.Sweeper.Running
	}
	return view.Sweeps(q.config.Sweeps, running)
}

// framedPolicy is pagePolicy for a page that the dashboard shows in a frame.
const framedPolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

func (q *sweepRuns) page(w http.ResponseWriter, r *request) error {
	content, err := view.SweepPage(q.config.Sweeps, r.PathValue("id"))
	if err != nil {
		return notFound("page of the sweep", r.PathValue("id"))
	}
	w.Header().Set("Content-Security-Policy", framedPolicy)
	w.Header().Set("X-Frame-Options", "SAMEORIGIN")
	page(w, "text/html; charset=utf-8", string(content))
	return nil
}

func (q *sweepRuns) start(r *request, body *SweepRequest) (SweepStart, error) {
	r.dryRun = r.dryRun || body.DryRun
	out := SweepStart{Schema: 1, DryRun: r.dryRun}
	if err := q.possible(); err != nil {
		return out, err
	}
	err := body.check(time.Now())
	if err == nil {
		out.Effects, err = q.config.Sweeper.Plan(body)
	}
	if err != nil {
		return out, badBody(err.Error())
	}
	if found, err := view.SweepNames(q.config.Sweeps); err != nil || slices.Contains(found, body.Name) {
		return out, notPossible(view.Taken("sweep", body.Name).Error())
	}
	out.ID = body.Name
	run := SweepRun{Sweep: body.Name, Kind: "run"}
	return out, q.launch(r, &out, run, body.Strategy+" over "+body.File, func(ctx context.Context) error { return q.config.Sweeper.Run(ctx, body) })
}

func (q *sweepRuns) resume(r *request, _ *nothing) (SweepStart, error) {
	name := r.PathValue("id")
	out := SweepStart{Schema: 1, DryRun: r.dryRun, ID: name, Effects: []string{"the trials that " + name + " is missing will run"}}
	if err := q.known(name); err != nil {
		return out, err
	}
	if q.config.Sweeper.Running(name) {
		return out, notPossible("the sweep is running")
	}
	return out, q.launch(r, &out, SweepRun{Sweep: name, Kind: "resume"}, "resume", func(ctx context.Context) error {
		return q.config.Sweeper.Resume(ctx, name)
	})
}

func (q *sweepRuns) reportTrial(r *request, _ *nothing) (SweepStart, error) {
	name, job := r.PathValue("id"), r.PathValue("job")
	out := SweepStart{Schema: 1, DryRun: r.dryRun, ID: fmt.Sprintf("%.80s-%.12s", name, job)}
	if err := q.known(name); err != nil {
		return out, err
	}
	if !jobName.MatchString(job) {
		return out, notFound("trial", job)
	}
	if _, err := q.reports.One(out.ID); err == nil {
		out.Effects = []string{"the report " + out.ID + " is there"}
		return out, nil
	}
	if err := q.reports.Room(out.ID); err != nil {
		return out, notPossible(err.Error())
	}
	out.Effects = []string{"the trial runs again over all the candles; its report is added as " + out.ID}
	partial := filepath.Join(q.config.Reports, ".trial-"+q.config.Board.Mode())
	return out, q.launch(r, &out, SweepRun{Sweep: name, Kind: "report", Job: job, Report: out.ID}, "report of the trial "+job, func(ctx context.Context) error {
		return addReport(partial, filepath.Join(q.config.Reports, out.ID), func() error { return q.config.Sweeper.Report(ctx, name, job, partial) })
	})
}

func (q *sweepRuns) end(r *request, _ *nothing) (Change, error) {
	name := r.PathValue("id")
	if err := q.known(name); err != nil {
		return Change{}, err
	}
	cancel := q.running(name)
	if cancel == nil && !q.config.Sweeper.Running(name) {
		return Change{}, notPossible("the sweep is not running: there is nothing to cancel")
	}
	out := Change{1, r.dryRun, []string{"the sweep " + name + " ends; finished trials are saved"}}
	if r.dryRun {
		return out, nil
	}
	if err := q.controls.record(r, "sweep "+name, "cancel"); err != nil {
		return out, err
	}
	if cancel != nil {
		cancel(errCanceled)
		return out, nil
	}
	if _, err := q.config.Sweeper.Cancel(name); err != nil {
		return out, notPossible(err.Error())
	}
	return out, nil
}

// possible returns an error if this botd cannot start processes.
func (q *sweepRuns) possible() error {
	if q.config.Sweeper == nil || q.config.Sweeps == "" || q.config.Reports == "" {
		return notPossible("this botd runs no sweeps: botd sweep run does, on the command line")
	}
	return nil
}

// known returns an error for an unknown name.
func (q *sweepRuns) known(name string) error {
	if err := q.possible(); err != nil {
		return err
	}
	if !view.SweepKnown(q.config.Sweeps, name) {
		return notFound("sweep", name)
	}
	return nil
}

// launch journals the sender and starts a run, unless the request is a dry run.
func (q *sweepRuns) launch(r *request, out *SweepStart, run SweepRun, detail string, do func(context.Context) error) error {
	if r.dryRun {
		return nil
	}
	if !q.claim() {
		return notPossible("a sweep process is running, and only one can run at a time: cancel it, or wait for it")
	}
	run.State, run.StartedBy, run.StartedMS = "running", requester(r.Request).By, time.Now().UnixMilli()
	if err := q.controls.record(r, "sweep "+run.Sweep, detail); err != nil {
		q.release()
		return err
	}
	q.begin(&run, sweepTimeout, errors.New("it did not finish within a day"), func(ctx context.Context) { q.ended(ctx, do(ctx)) })
	out.Run = &run
	return nil
}

// check validates a request against its limits, and sets its defaults.
func (b *SweepRequest) check(now time.Time) error {
	b.Name = cmp.Or(b.Name, b.Strategy+"-"+now.UTC().Format("20060102-150405"))
	b.Search, b.Sort, b.Seed = cmp.Or(b.Search, "grid"), cmp.Or(b.Sort, "sharpe"), max(1, b.Seed)
	texts := append([]string{b.Where, b.Search, b.Sort, b.Require, b.Split, b.From, b.To, b.File}, b.Vary...)
	switch {
	case b.Strategy == "":
		return errors.New("strategy is missing: the name of a configured one")
	case b.File == "":
		return errors.New("file is missing: recorded candles")
	case len(b.Vary) == 0:
		return errors.New("vary is missing: NAME=VALUE,VALUE or NAME=FROM..TO..STEP")
	case len(b.Vary) > maxVary:
		return fmt.Errorf("%d axes exceed the maximum of %d", len(b.Vary), maxVary)
	case slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxSweepText }):
		return fmt.Errorf("a text is longer than %d bytes", maxSweepText)
	case b.Trials < 0 || b.Trials > MaxSweepTries:
		return fmt.Errorf("trials %d: from 1 to %d", b.Trials, MaxSweepTries)
	case !privatefile.IsName(b.Name) || b.Name == "runs":
		return fmt.Errorf("name %q: want letters, digits, dot, dash and underscore, 100 at most, and not the word runs", b.Name)
	}
	return nil
}

// ended records how the newest run ended, and frees the slot.
func (q *sweepRuns) ended(ctx context.Context, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	last := &q.runs[len(q.runs)-1]
	last.EndedMS = time.Now().UnixMilli()
	last.State, last.Error = outcome(ctx, err)
	q.busy, q.cancel = false, nil
}

// running returns the cancel function of a sweep that runs here; nil for none.
func (q *sweepRuns) running(name string) context.CancelCauseFunc {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.runs) == 0 {
		return nil
	}
	if last := &q.runs[len(q.runs)-1]; last.Sweep != name || last.EndedMS != 0 {
		return nil
	}
	return q.cancel
}
