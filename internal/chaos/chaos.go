// Package chaos kills the real binary over a failing exchange and judges the outcome by the exchange's own state.
//
// A trial starts a simulated exchange and a daemon as processes, with a witness
// between them that sees every placement's bytes. The daemon is killed again and
// again, at random or at named points, while the exchange drops, delays and
// refuses; then it is left alone, and everything must be exactly as wished.
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

// Trial is one exchange, one daemon, and what is done to them. Binary, Directory
// and Wishes are needed.
type Trial struct {
	Binary    string // botd
	Directory string // configuration, data and logs go here
	Wishes    []Wish
	Kills     int           // at random moments
	Every     time.Duration // between a start and its kill, on average
	Points    []string      // and once at each of these, by a binary that knows them (see Points)
	Pauses    int           // and so often it is stopped for longer than a placement may live, before it is killed
	Faults    []Fault       // of the exchange, while it is killed
	Lasting   bool          // the faults go on to the end
	Seed      uint64
	Start     time.Time     // where the exchange's clock starts; zero is a time of its own, so that a trial is the same at any hour
	Patience  time.Duration // after the last kill, until everything must be as wished
	Tell      func(Event)   // progress; nil for none
}

// Wish is a quantity that a twap is to reach, exactly.
type Wish struct {
	Name, Market, Symbol, Side string // side: buy, sell
	Quantity                   decimal.Decimal
	Slack                      decimal.Decimal // spot: a rest below minNotional can not be bought
	Slices                     int
	EveryMS                    int64
	Stop                       bool // with a stop-loss on the exchange, which must stand at the end
}

func (w *Wish) signed() decimal.Decimal {
	if w.Side == "sell" {
		return w.Quantity.Neg()
	}
	return w.Quantity
}

// Event is one thing to tell.
type Event struct {
	At    time.Duration // since the trial began
	What  string        // exchange, start, safe, kill, point, gone, calm, done
	Count int           // of the kill
	Text  string
}

// bounds of a trial's patience.
const (
	startWithin  = 60 * time.Second // from exec to listening
	pointWithin  = 60 * time.Second // from exec to the point's kill
	exitWithin   = 45 * time.Second // from the stop signal to the end
	lookEvery    = 250 * time.Millisecond
	mostStarts   = 20 // in a row that the daemon itself gave up, the exchange being unreachable
	firstPatient = 3 * time.Minute
)

// trial is a Trial under way.
type trial struct {
	Trial
	began   time.Time
	dice    *rand.Rand
	venue   *venue
	witness *witness
	daemon  *daemon
	report  *Report
}

// Run runs the trial. An error is one of the machinery; what the daemon did wrong
// is in the report's Problems.
func (t Trial) Run(ctx context.Context) (*Report, error) {
	if t.Patience == 0 {
		t.Patience = firstPatient
	}
	if t.Start.IsZero() {
		t.Start = time.Date(2026, 3, 14, 10, 20, 10, 0, time.UTC)
	}
	if t.Tell == nil {
		t.Tell = func(Event) {}
	}
	run := &trial{Trial: t, began: time.Now(), dice: rand.New(rand.NewPCG(t.Seed, 1)), report: &Report{Schema: 1}}
	err := run.run(ctx)
	run.report.ElapsedS = time.Since(run.began).Seconds()
	return run.report, errors.Join(err, run.close())
}

func (t *trial) tell(what, format string, values ...any) {
	t.Tell(Event{time.Since(t.began), what, t.report.Kills + t.report.PointKills, fmt.Sprintf(format, values...)})
}

func (t *trial) run(ctx context.Context) (err error) {
	if err := os.MkdirAll(t.Directory, 0o700); err != nil {
		return err
	}
	if t.venue, err = startVenue(ctx, t.Binary, filepath.Join(t.Directory, "exchange.log"), t.Start); err != nil {
		return err
	}
	if t.witness, err = newWitness(t.venue.address, t.venue.ahead); err != nil {
		return err
	}
	if err := writeConfig(t.Directory, "http://"+t.witness.address(), t.Wishes); err != nil {
		return err
	}
	t.tell("exchange", "a simulated exchange at http://%s; %d faults", t.venue.address, len(t.Faults))
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
	if !t.Lasting {
		if err := t.venue.faults(ctx, nil); err != nil {
			return err
		}
	}
	t.tell("calm", "no more kills")
	if err := t.start(ctx, ""); err != nil {
		return err
	}
	if err := t.converge(ctx); err != nil {
		return err
	}
	return t.judge(ctx)
}

// start starts the daemon, again where it gave up by itself since the exchange
// did not answer, as a supervisor would.
func (t *trial) start(ctx context.Context, point string) error {
	for range mostStarts {
		d, err := startDaemon(t.Binary, t.Directory, point)
		if err != nil {
			return err
		}
		t.daemon = d
		t.report.Starts++
		t.tell("start", "start %d", t.report.Starts)
		select {
		case <-d.listening:
			return nil
		case <-d.ended:
			if d.code() == exitUnavailable {
				t.report.GaveUp++
				t.tell("gone", "the exchange did not answer at the start: exit code %d, started again", d.code())
				continue
			}
			return nil // it died where it was to, or of something the caller finds
		case <-time.After(startWithin):
			return fmt.Errorf("the daemon did not start within %s: %s", startWithin, d.lastLines())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("the daemon gave up %d times in a row", mostStarts)
}

// flightWithin is how long after a placement left the daemon it is killed, when it
// is to die with one in flight: before, during and after the exchange takes it.
const flightWithin = 8 * time.Millisecond

// killOnce starts the daemon and kills it after a random while, every other time
// sooner, when a placement is in flight.
func (t *trial) killOnce(ctx context.Context) error {
	after, how := time.Duration(t.dice.Float64()*2*float64(t.Every)), ""
	flight := time.Duration(t.dice.Float64() * float64(flightWithin))
	if err := t.start(ctx, ""); err != nil {
		return err
	}
	t.witness.forget()
	arrived := t.witness.arrived
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
	t.tell("kill", "killed after %s%s; %s", time.Since(began).Round(time.Millisecond), how, t.held(ctx))
	return nil
}

// pausedFor is longer than a placement's time to live and the exchange's window.
const pausedFor = 7 * time.Second

// pauseOnce stops the daemon right after a placement left, or when none comes, as
// a machine that swaps or a container that is frozen does, lets it go on for a
// while, and kills it.
func (t *trial) pauseOnce(ctx context.Context) error {
	if err := t.start(ctx, ""); err != nil {
		return err
	}
	t.witness.forget()
	steps := []func() error{t.daemon.freeze, t.daemon.thaw}
	waits := []time.Duration{t.Every, pausedFor, t.Every}
	for i, wait := range waits {
		arrived := t.witness.arrived
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
	t.tell("pause", "stood still for %s, went on and was killed; %s", pausedFor, t.held(ctx))
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
		t.tell("point", "%s never came", point)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !t.daemon.killed() {
		return fmt.Errorf("the daemon ended by itself with exit code %d instead of dying at %q: %s", t.daemon.code(), point, t.daemon.lastLines())
	}
	t.report.PointKills++
	t.wasSafe()
	t.tell("point", "died %s", point)
	return nil
}

// wasSafe notes how long the daemon that just ended took to know where it stands.
func (t *trial) wasSafe() {
	if took, ok := t.daemon.safeAfter(); ok {
		t.report.safe = append(t.report.safe, took)
		return
	}
	t.report.BeforeSafe++
}

// held says in words what the exchange has filled.
func (t *trial) held(ctx context.Context) string {
	truth, err := t.venue.truth(ctx)
	if err != nil {
		return "the exchange can not be asked"
	}
	var text string
	for i := range t.Wishes {
		w := &t.Wishes[i]
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %s of %s", w.Symbol, truth.position(w), w.signed())
	}
	return text
}

// converge waits until the exchange holds what is wished, and the daemon knows it.
func (t *trial) converge(ctx context.Context) error {
	limit := time.NewTimer(t.Patience)
	defer limit.Stop()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-limit.C:
			t.report.problem("not as wished %s after the last kill: %s; the daemon says %s", t.Patience, t.held(ctx), t.daemon.why(ctx))
			return nil
		case <-t.daemon.ended:
			return fmt.Errorf("the daemon ended by itself with exit code %d: %s", t.daemon.code(), t.daemon.lastLines())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		truth, err := t.venue.truth(ctx)
		if err != nil {
			return err
		}
		if t.reached(truth) && t.daemon.settled(ctx, t.Wishes) {
			t.tell("done", "as wished: %s", t.held(ctx))
			return nil
		}
	}
}

// reached reports whether the exchange holds what is wished; more of it will never
// go away again, so it ends the wait too.
func (t *trial) reached(truth *truth) bool {
	for i := range t.Wishes {
		w := &t.Wishes[i]
		if truth.position(w).Abs().LessThan(w.Quantity.Sub(w.Slack)) || w.Stop && !truth.stopStands(w) {
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
	if t.witness != nil {
		errs = append(errs, t.witness.close())
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
