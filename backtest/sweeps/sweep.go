// Package sweeps searches for a strategy's settings, trial by trial, and resumes interrupted sweeps.
//
// The trials depend only on the specification, the seed and the results. With one core or
// many, in one run or resumed, the rows and their hash are the same.
package sweeps

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/resultstore"
	"botd/backtest/search"
	"botd/exchange"
	"botd/internal/failure"
)

// The search methods.
const (
	Grid   = "grid"
	Random = "random"
	TPE    = "tpe"
)

// Searches returns the names of the search methods.
func Searches() []string { return []string{Grid, Random, TPE} }

// DefaultTrials is the number of trials of a search without a natural end.
const DefaultTrials = 100

// ErrCanceled reports that a user canceled the sweep.
var ErrCanceled = errors.New("canceled")

// Plan is a sweep that is ready to run.
type Plan struct {
	spec      *Spec
	space     search.Space
	require   *search.Expression // nil for none
	objective func(*backtest.Trial) float64
	pareto    []func(*backtest.Trial) float64
	split     exchange.Rate
	stop      backtest.StopWhen
}

// NewPlan validates a sweep's specification.
func NewPlan(spec *Spec, split exchange.Rate) (*Plan, error) {
	p := &Plan{spec: spec, split: split}
	if len(spec.Vary) == 0 {
		return nil, failure.Usagef("botd sweep run needs --vary NAME=VALUE,VALUE: botd strategy show KIND lists a strategy's parameters")
	}
	var names []string
	for _, text := range spec.Vary {
		axis, err := search.ParseAxis(text)
		if err != nil {
			return nil, failure.Usagef("--vary %s: %w", text, err)
		}
		if slices.Contains(names, axis.Name) {
			return nil, failure.Usagef("--vary %s: %s is varied twice", text, axis.Name)
		}
		names = append(names, axis.Name)
		p.space.Axes = append(p.space.Axes, axis)
	}
	if !slices.Contains(Searches(), spec.Search) {
		return nil, failure.Usagef("--search %s: there is %s", spec.Search, strings.Join(Searches(), ", "))
	}
	if spec.Trials < 0 || spec.Trials > search.MaxValues {
		return nil, failure.Usagef("--trials %d: from 1 to %d", spec.Trials, search.MaxValues)
	}
	if spec.Where != "" {
		where, err := search.ParseExpression(spec.Where, names)
		if err != nil {
			return nil, failure.Usagef("--where %w", err)
		}
		p.space.Where = where.Allows
	}
	var err error
	if p.stop, err = backtest.ParseStopWhen(spec.Stop); err != nil {
		return nil, failure.Usagef("--stop-when %w", err)
	}
	return p, p.aims()
}

// aims parses the objective and the requirement.
func (p *Plan) aims() (err error) {
	if p.spec.Require != "" {
		if p.require, err = search.ParseExpression(p.spec.Require, backtest.FigureNames()); err != nil {
			return failure.Usagef("--require %w", err)
		}
	}
	if p.objective, err = objectiveOf("--sort", p.spec.Sort); err != nil {
		return err
	}
	if len(p.spec.Pareto) == 1 {
		return failure.Usagef("--pareto %s: one objective is --sort; give two or more", p.spec.Pareto[0])
	}
	for _, text := range p.spec.Pareto {
		objective, err := objectiveOf("--pareto", text)
		if err != nil {
			return err
		}
		p.pareto = append(p.pareto, objective)
	}
	return nil
}

// objectiveOf parses the name of a ranking, or an expression.
func objectiveOf(flag, text string) (func(*backtest.Trial) float64, error) {
	if objective, known := backtest.Ranking(text); known {
		return objective, nil
	}
	formula, err := search.ParseExpression(text, backtest.FigureNames())
	if err != nil {
		return nil, failure.Usagef("%s %s: there is %s, or an expression of figures: %w", flag, text, strings.Join(backtest.Rankings(), ", "), err)
	}
	return func(t *backtest.Trial) float64 { return formula.Number(t.Figures) }, nil
}

// ParseSplit parses the share of the candles that chooses, as 70%; 0 for all.
func ParseSplit(text string) (split exchange.Rate, err error) {
	if text == "" {
		return 0, nil
	}
	share, err := decimal.NewFromString(strings.TrimSuffix(text, "%"))
	if strings.HasSuffix(text, "%") {
		share = share.Shift(-2)
	}
	if err == nil {
		split, err = exchange.RateFromDecimal(share)
	}
	if err != nil || split <= 0 || split >= exchange.RateOne {
		return 0, failure.Usagef("--split %s: a share of the candles, 70%%", text)
	}
	return split, nil
}

// front returns the trials that no other trial beats. It omits unranked trials, which miss the requirement.
func (p *Plan) front(ranked []backtest.Trial) *resultstore.Front {
	if len(p.pareto) == 0 {
		return nil
	}
	front := &resultstore.Front{Objectives: p.spec.Pareto, Trials: []resultstore.FrontTrial{}}
	values := make([][]float64, len(ranked))
	for i := range ranked {
		for _, objective := range p.pareto {
			values[i] = append(values[i], objective(&ranked[i]))
		}
		if math.IsNaN(p.reached(&ranked[i])) || slices.ContainsFunc(values[i], math.IsNaN) {
			values[i] = nil
		}
	}
	for i := range ranked {
		if values[i] != nil && !slices.ContainsFunc(values, func(other []float64) bool { return beats(other, values[i]) }) {
			front.Trials = append(front.Trials, resultstore.FrontTrial{Params: ranked[i].Params, Job: ranked[i].Job, Values: values[i]})
		}
	}
	return front
}

// beats reports whether a is as good as b everywhere and better somewhere.
func beats(a, b []float64) bool {
	better := false
	for i := range a {
		if a[i] < b[i] {
			return false
		}
		better = better || a[i] > b[i]
	}
	return better
}

// Grid returns the trials of every combination, for a walk forward, and the number of choices that the strategy
// rejects.
func (p *Plan) Grid(trials *inputs.Trials) (all []backtest.Trial, refused int, why string, err error) {
	choices, err := p.space.Grid()
	if err != nil {
		return nil, 0, "", failure.Usagef("--vary: %w", err)
	}
	for _, choice := range choices {
		trial, no, err := trials.Trial(choice)
		if err != nil {
			return nil, 0, "", err
		}
		if no != "" {
			refused, why = refused+1, cmp.Or(why, no)
			continue
		}
		all = append(all, trial)
	}
	if len(all) == 0 {
		return nil, refused, why, p.noneFits(trials, why)
	}
	return all, refused, why, nil
}

func (p *Plan) noneFits(trials *inputs.Trials, why string) error {
	if why == "" {
		return failure.Usagef("--where %s allows no choice", p.spec.Where)
	}
	return failure.New(failure.Usage, "botd strategy show "+trials.Base.Kind+" shows the bounds of each", "every choice is refused; the first, %s", why)
}

// Rank sorts trials by the plan's objective, the best first.
func (p *Plan) Rank(trials []backtest.Trial) { backtest.Rank(trials, p.reached) }

// Choose ranks the trials and returns the best. It returns nil if even that misses the requirement or ended early.
func (p *Plan) Choose(trials []backtest.Trial) *backtest.Trial {
	p.Rank(trials)
	if best := &trials[0]; !p.short(best) && !best.Seen.StoppedEarly() {
		return best
	}
	return nil
}

// Axes returns the varied settings.
func (p *Plan) Axes() []search.Axis { return p.space.Axes }

// StopWhen ends trials early.
func (p *Plan) StopWhen() backtest.StopWhen { return p.stop }

// reached returns a trial's objective, or NaN if it misses the requirement or ended early.
func (p *Plan) reached(t *backtest.Trial) float64 {
	if p.short(t) || t.Seen.StoppedEarly() {
		return math.NaN()
	}
	return p.objective(t)
}

// short reports whether a trial misses the requirement.
func (p *Plan) short(t *backtest.Trial) bool { return p.require != nil && !p.require.Holds(t.Figures) }

// Runner runs trials; ended is called for each as it ends, one at a time, in any order. Its error ends the run.
type Runner interface {
	Run(ctx context.Context, trials []backtest.Trial, ended func(*backtest.Trial) error) error
}

// Here returns the runner that runs trials in this process, several at a time.
func (p *Plan) Here(trials *inputs.Trials) Runner { return here{config: trials.Config, split: p.split} }

type here struct {
	config backtest.Config
	split  exchange.Rate
}

func (h here) Run(ctx context.Context, trials []backtest.Trial, ended func(*backtest.Trial) error) error {
	_, err := backtest.Sweep(ctx, h.config, trials, h.split, func(_ int, t *backtest.Trial) error { return ended(t) })
	return err
}

// run is a plan in progress.
type run struct {
	*Plan
	trials   *inputs.Trials
	runner   Runner
	log      *Log // nil for a sweep that is not stored
	progress func(done, total int)

	splitMS int64
	ended   []backtest.Trial
	tried   []search.Tried
	refused int
	why     string
	reused  int
}

// Run runs the missing trials of a plan, and returns the whole result. The log may be nil.
func (p *Plan) Run(ctx context.Context, trials *inputs.Trials, runner Runner, log *Log, progress func(done, total int)) (*resultstore.Sweep, error) {
	began := time.Now()
	r := &run{Plan: p, trials: trials, runner: runner, log: log, progress: progress}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	if len(r.ended) == 0 {
		return nil, p.noneFits(trials, r.why)
	}
	return r.result(time.Since(began)), nil
}

func (r *run) all(ctx context.Context) (err error) {
	if r.splitMS, err = r.trials.Config.SplitAt(r.split); err != nil {
		return err
	}
	if r.spec.Search == Grid {
		choices, err := r.space.Grid()
		if err != nil {
			return failure.Usagef("--vary: %w", err)
		}
		if r.spec.Trials > 0 {
			choices = choices[:min(r.spec.Trials, len(choices))]
		}
		return r.batch(ctx, choices, len(choices))
	}
	total := r.spec.Trials
	total = cmp.Or(total, DefaultTrials)
	for batch := 0; len(r.tried) < total; batch++ {
		n := min(search.Batch, total-len(r.tried))
		propose := r.space.Random
		if r.spec.Search == TPE {
			propose = r.space.TPE
		}
		choices, err := propose(r.spec.Seed, batch, n, r.tried)
		if err != nil {
			return failure.Usagef("--where %w", err)
		}
		if len(choices) == 0 {
			return nil // the space is exhausted
		}
		if err := r.batch(ctx, choices, total); err != nil {
			return err
		}
	}
	return nil
}

// batch runs the choices that the log lacks.
func (r *run) batch(ctx context.Context, choices []search.Choice, total int) error {
	var missing []backtest.Trial
	var before []backtest.Trial
	for _, choice := range choices {
		trial, refused, err := r.trials.Trial(choice)
		if err != nil {
			return err
		}
		if refused != "" {
			if r.refused++; r.why == "" {
				r.why = refused
			}
			r.tried = append(r.tried, search.Tried{Choice: choice, Objective: math.NaN()})
			continue
		}
		if r.log != nil {
			if had, known := r.log.ended[trial.Job]; known {
				before = append(before, had)
				continue
			}
		}
		missing = append(missing, trial)
	}
	r.reused += len(before)
	done := len(r.ended) + len(before) + r.refused
	if err := r.report(done, total); err != nil {
		return err
	}
	n := 0
	err := r.runner.Run(ctx, missing, func(t *backtest.Trial) error {
		n++
		if r.log == nil {
			return r.report(done+n, total)
		}
		if err := errors.Join(r.log.Append(t), r.report(done+n, total)); err != nil {
			return err
		}
		if r.log.Canceled() {
			return ErrCanceled
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, trials := range [][]backtest.Trial{before, missing} {
		for i := range trials {
			r.ended = append(r.ended, trials[i])
			r.tried = append(r.tried, search.Tried{Choice: trials[i].Params, Objective: r.reached(&trials[i])})
		}
	}
	return nil
}

// report publishes the sweep's progress.
func (r *run) report(done, total int) error {
	if r.progress != nil {
		r.progress(done, total)
	}
	if r.log == nil {
		return nil
	}
	return r.log.Progress(done, total)
}

// result combines the trials. Interruptions do not change it.
func (r *run) result(elapsed time.Duration) *resultstore.Sweep {
	slices.SortFunc(r.ended, func(a, b backtest.Trial) int { return strings.Compare(a.Job, b.Job) })
	hash := sha256.New()
	for i := range r.ended {
		t := &r.ended[i]
		fmt.Fprint(hash, t.Job, " ", t.Seen.ResultSHA256)
		if t.Unseen != nil {
			fmt.Fprint(hash, " ", t.Unseen.ResultSHA256)
		}
		fmt.Fprintln(hash)
	}
	r.spec.describe(r.trials)
	result := r.summary(r.ended)
	result.Refused, result.Reason, result.Reused = r.refused, r.why, r.reused
	result.SHA256, result.Elapsed = hex.EncodeToString(hash.Sum(nil)), elapsed.Seconds()
	if r.splitMS != 0 {
		result.Split = new(time.UnixMilli(r.splitMS).UTC())
	}
	return result
}

// summary ranks trials and describes their sweep.
func (p *Plan) summary(trials []backtest.Trial) *resultstore.Sweep {
	title := p.spec.Title
	result := &resultstore.Sweep{Schema: 1, Strategy: title.Strategy, Symbol: title.Symbol, Interval: title.Interval, Candles: title.Candles,
		Sort: p.spec.Sort, Search: p.spec.Search, Require: p.spec.Require, Trials: trials, DataSHA256: title.DataSHA256, Warnings: title.Warnings}
	for i := range trials {
		if p.short(&trials[i]) && !trials[i].Seen.StoppedEarly() {
			result.Short++
		}
		if math.IsNaN(p.reached(&trials[i])) {
			result.Unranked++
		}
	}
	p.Rank(result.Trials)
	result.Conclude()
	result.Pareto = p.front(result.Trials)
	return result
}

// SoFar returns the result of the trials that have ended so far.
func SoFar(spec *Spec, trials []backtest.Trial) (*resultstore.Sweep, error) {
	p, err := NewPlan(spec, 0)
	if err != nil {
		return nil, err
	}
	return p.summary(trials), nil
}
