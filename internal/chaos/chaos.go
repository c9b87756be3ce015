// Package chaos kills the real binary over a failing exchange and judges the outcome by the exchange's own state.
//
// A trial starts a simulated exchange and a daemon as processes, with a recording proxy between them
// that records every placement. The daemon is killed again and again, at random moments or at
// named points, while the exchange drops, delays and refuses requests. Then it is left alone,
// and the position must become exactly the target.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Trial configures one exchange, one daemon, and the faults of both. Binary, Directory and
// Targets are required.
type Trial struct {
	Binary    string // botd
	Directory string // for configuration, data and logs
	Targets   []Target
	Kills     int           // number of kills at random moments
	Every     time.Duration // average time between a start and its kill
	Points    []string      // crash points to die at, one after another; the binary must be built for them (crash.Points)
	Pauses    int           // number of times it is suspended for longer than a placement's time to live, then killed
	Faults    []Fault       // of the exchange, during the kills
	Habits    Habits        // variants of the exchange, with the daemon's profile for them
	Flatten   bool          // once the targets are reached, run botd halt --level flatten, which must leave nothing open
	UntilEnd  bool          // the faults last until the end
	Seed      uint64
	Start     time.Time     // of the exchange's clock; zero is a fixed time, so that a trial is the same at any hour
	Patience  time.Duration // time after the last kill until the targets must be reached
	Progress  func(Event)   // receives the events; nil for none
}

// Target is a quantity that a twap must reach exactly.
type Target struct {
	Name, Market, Symbol, Side string // side: buy, sell
	Quantity                   decimal.Decimal
	Slack                      decimal.Decimal // spot: a remainder below minNotional cannot be bought
	Slices                     int
	EveryMS                    int64
	Leverage                   int  // on futures; 0 is 5
	Stop                       bool // with a stop-loss order, which must be on the exchange at the end
}

func (w *Target) signed() decimal.Decimal {
	if w.Side == "sell" {
		return w.Quantity.Neg()
	}
	return w.Quantity
}

// Event is a step of a trial.
type Event struct {
	At    time.Duration // since the trial began
	What  string        // exchange, start, safe, kill, point, exit, calm, done
	Count int           // number of kills so far
	Text  string
}

// These bound a trial.
const (
	startWithin  = 60 * time.Second // from exec to listening
	pointWithin  = 60 * time.Second // from exec to the point's kill
	exitWithin   = 45 * time.Second // from the stop signal to the end
	pollEvery    = 250 * time.Millisecond
	maxStarts    = 20 // consecutive starts that the daemon gave up because the exchange was unreachable
	firstPatient = 3 * time.Minute
)

// trial is a running Trial.
type trial struct {
	Trial
	began  time.Time
	dice   *rand.Rand
	venue  *venue
	proxy  *recordingProxy
	daemon *daemon
	report *Report
}

// Run runs the trial. An error is a failure of the trial itself; the daemon's faults are
// the report's Problems.
func (t Trial) Run(ctx context.Context) (*Report, error) {
	if t.Patience == 0 {
		t.Patience = firstPatient
	}
	if t.Start.IsZero() {
		t.Start = time.Date(2026, 3, 14, 10, 20, 10, 0, time.UTC)
	}
	if t.Progress == nil {
		t.Progress = func(Event) {}
	}
	run := &trial{Trial: t, began: time.Now(), dice: rand.New(rand.NewPCG(t.Seed, 1)), report: &Report{Schema: 1}}
	err := run.run(ctx)
	run.report.ElapsedS = time.Since(run.began).Seconds()
	return run.report, errors.Join(err, run.close())
}

func (t *trial) progress(what, format string, values ...any) {
	t.Progress(Event{time.Since(t.began), what, t.report.Kills + t.report.PointKills, fmt.Sprintf(format, values...)})
}

func (t *trial) run(ctx context.Context) (err error) {
	if err := os.MkdirAll(t.Directory, 0o700); err != nil {
		return err
	}
	more := []string{"--market", "still", "--start", t.Start.UTC().Format(time.RFC3339)}
	for _, variant := range t.Habits.Variants {
		more = append(more, "--variant", variant)
	}
	if t.venue, err = startVenue(ctx, t.Binary, filepath.Join(t.Directory, "exchange.log"), more...); err != nil {
		return err
	}
	if t.proxy, err = newRecordingProxy(t.venue.address, t.venue.ahead); err != nil {
		return err
	}
	if err := writeConfig(t.Directory, "http://"+t.proxy.address(), &t.Habits, t.Targets); err != nil {
		return err
	}
	t.progress("exchange", "a simulated exchange at http://%s; %d faults; variants %q", t.venue.address, len(t.Faults), t.Habits.Variants)
	if err := t.venue.faults(ctx, t.Faults); err != nil {
		return err
	}
	for _, point := range t.Points {
		if err := t.killAt(ctx, point); err != nil {
			return err
		}
	}
	for range t.Pauses {
		if err := t.pauseOnce(ctx); err != nil {
			return err
		}
	}
	for t.report.Kills < t.Kills {
		if err := t.killOnce(ctx); err != nil {
			return err
		}
	}
	if !t.UntilEnd {
		if err := t.venue.faults(ctx, nil); err != nil {
			return err
		}
	}
	t.progress("calm", "no more kills")
	if err := t.start(ctx, ""); err != nil {
		return err
	}
	if err := t.converge(ctx); err != nil {
		return err
	}
	if t.Flatten {
		if err := t.flatten(ctx); err != nil {
			return err
		}
	}
	return t.judge(ctx)
}

// start starts the daemon, and restarts it, as a supervisor would, if it gave up because the exchange did not
// answer.
func (t *trial) start(ctx context.Context, point string) error {
	for range maxStarts {
		d, err := startDaemon(t.Binary, t.Directory, point)
		if err != nil {
			return err
		}
		t.daemon = d
		t.report.Starts++
		t.progress("start", "start %d", t.report.Starts)
		select {
		case <-d.listening:
			return nil
		case <-d.ended:
			if d.code() == exitUnavailable {
				t.report.GaveUp++
				t.progress("exit", "the exchange did not answer at the start: exit code %d, started again", d.code())
				continue
			}
			return nil // it died as planned, or the caller finds the reason
		case <-time.After(startWithin):
			return fmt.Errorf("the daemon did not start within %s: %s", startWithin, d.lastLines())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("the daemon gave up %d times in a row", maxStarts)
}

// flightWithin bounds the time from a placement's departure to the kill, for kills with a
// placement in flight: before, during and after the exchange accepts it.
const flightWithin = 8 * time.Millisecond

// killOnce starts the daemon and kills it after a random time, in half of the cases
// sooner, as soon as a placement is in flight.
func (t *trial) killOnce(ctx context.Context) error {
	after, how := time.Duration(t.dice.Float64()*2*float64(t.Every)), ""
	flight := time.Duration(t.dice.Float64() * float64(flightWithin))
	if err := t.start(ctx, ""); err != nil {
		return err
	}
	t.proxy.forget()
	arrived := t.proxy.arrived
	if t.dice.IntN(2) == 0 {
		arrived = nil
	}
	began := time.Now()
	select {
	case <-time.After(after):
	case <-arrived:
		time.Sleep(flight)
		t.report.InFlight++
		how = ", " + flight.Round(time.Millisecond/10).String() + " after a placement left"
	case <-t.daemon.ended:
		return fmt.Errorf("the daemon ended by itself with exit code %d: %s", t.daemon.code(), t.daemon.lastLines())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.daemon.kill()
	t.report.Kills++
	t.wasSafe()
	t.progress("kill", "killed after %s%s; %s", time.Since(began).Round(time.Millisecond), how, t.held(ctx))
	return nil
}

// pausedFor exceeds a placement's time to live and the exchange's window.
const pausedFor = 7 * time.Second

// pauseOnce suspends the daemon right after a placement has left, or after a while, as
// swapping or a frozen container would; then it resumes the daemon and kills it.
func (t *trial) pauseOnce(ctx context.Context) error {
	if err := t.start(ctx, ""); err != nil {
		return err
	}
	t.proxy.forget()
	steps := []func() error{t.daemon.freeze, t.daemon.thaw}
	waits := []time.Duration{t.Every, pausedFor, t.Every}
	for i, wait := range waits {
		arrived := t.proxy.arrived
		if i > 0 {
			arrived = nil
		}
		select {
		case <-time.After(wait):
		case <-arrived:
		case <-t.daemon.ended:
			return fmt.Errorf("the daemon ended by itself with exit code %d: %s", t.daemon.code(), t.daemon.lastLines())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if i < len(steps) {
			if err := steps[i](); err != nil {
				return err
			}
		}
	}
	t.daemon.kill()
	t.report.Pauses++
	t.progress("pause", "suspended for %s, resumed and killed; %s", pausedFor, t.held(ctx))
	return nil
}

// killAt starts the daemon, which kills itself at the point.
func (t *trial) killAt(ctx context.Context, point string) error {
	if err := t.start(ctx, point); err != nil {
		return err
	}
	select {
	case <-t.daemon.ended:
	case <-time.After(pointWithin):
		t.daemon.kill()
		t.report.Missed = append(t.report.Missed, point)
		t.progress("point", "%s was never reached", point)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !t.daemon.killed() {
		return fmt.Errorf("the daemon ended by itself with exit code %d instead of dying at %q: %s", t.daemon.code(), point, t.daemon.lastLines())
	}
	t.report.PointKills++
	t.wasSafe()
	t.progress("point", "died %s", point)
	return nil
}

// wasSafe records how long the daemon that just ended took to read orders and positions.
func (t *trial) wasSafe() {
	if took, ok := t.daemon.safeAfter(); ok {
		t.report.safe = append(t.report.safe, took)
		return
	}
	t.report.BeforeSafe++
}

// held returns the filled quantities as text.
func (t *trial) held(ctx context.Context) string {
	state, err := t.venue.state(ctx)
	if err != nil {
		return "the exchange does not answer"
	}
	var text string
	for i := range t.Targets {
		w := &t.Targets[i]
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %s of %s", w.Symbol, state.position(w), w.signed())
	}
	return text
}

// converge waits until the targets are reached and the daemon knows it.
func (t *trial) converge(ctx context.Context) error {
	limit := time.NewTimer(t.Patience)
	defer limit.Stop()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-limit.C:
			t.report.problem("targets not reached %s after the last kill: %s; the daemon reports %s", t.Patience, t.held(ctx), t.daemon.why(ctx))
			return nil
		case <-t.daemon.ended:
			return fmt.Errorf("the daemon ended by itself with exit code %d: %s", t.daemon.code(), t.daemon.lastLines())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		state, err := t.venue.state(ctx)
		if err != nil {
			return err
		}
		if err := t.resolve(ctx); err != nil {
			return err
		}
		if t.reached(state) && t.daemon.settled(ctx, t.Targets) {
			t.progress("done", "targets reached: %s", t.held(ctx))
			return nil
		}
	}
}

// reached reports whether the targets are reached. More than the target ends the wait too,
// since it never shrinks again.
func (t *trial) reached(state *accountState) bool {
	for i := range t.Targets {
		w := &t.Targets[i]
		if state.position(w).Abs().LessThan(w.Quantity.Sub(w.Slack)) || w.Stop && !state.stopIsOpen(w) {
			return false
		}
	}
	return true
}

func (t *trial) close() error {
	var errs []error
	if t.daemon != nil {
		t.daemon.kill()
	}
	if t.proxy != nil {
		errs = append(errs, t.proxy.close())
	}
	if t.venue != nil {
		errs = append(errs, t.venue.stop())
	}
	slices.Sort(t.report.safe)
	t.report.SafeP50S, t.report.SafeP99S = quantile(t.report.safe, 0.50), quantile(t.report.safe, 0.99)
	return errors.Join(errs...)
}

func quantile(sorted []time.Duration, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))].Seconds()
}
