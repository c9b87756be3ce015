package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/sweeps"
	"botd/internal/failure"
)

// Coordinator hands a sweep's trials to workers and collects their rows. It is a sweeps.Runner.
type Coordinator struct {
	Log      func(format string, arguments ...any)
	Progress func(line string) // the rate and the workers, every few seconds

	store     *store
	connected *nats.Conn
	server    *Server // in this process, and ends with the sweep; nil for none
	watcher   jetstream.KeyWatcher
	stop      context.CancelFunc // of the watcher
	key       string
	sweep     Sweep
	begun     bool // the server has a record of this attempt
	rows      chan arrival
	known     func(job string) bool // rows of earlier attempts
	arrived   map[string]*arrival   // rows of jobs that are not requested yet
	done      map[string]bool       // jobs that have their row
	workers   map[string]*WorkerStatus
	checks    map[string]*check
	seconds   float64 // of all trials that have ended
	timed     int
	recent    []mark
}

type arrival struct {
	kind, job string
	row       row
}

type mark struct {
	at    time.Time
	ended int
}

// begin announces a sweep to the workers of a server, which is in this process unless in is nil. Rows of an earlier attempt there count.
func begin(ctx context.Context, access Access, in *Server, spec *sweeps.Spec, trials *inputs.Trials, program, version string,
	known func(job string) bool, log func(string, ...any)) (*Coordinator, error) {
	if trials.Base.Kind == "process" {
		return nil, failure.New(failure.Usage, "run it on this machine, without --serve and --on",
			"a strategy's own program is not sent to workers: they run built-in strategies, strategies in their binary, scripts and rules")
	}
	connection, err := access.connect(ctx, "botd sweep "+spec.Name, in)
	if err != nil {
		return nil, err
	}
	c := &Coordinator{Log: log, connected: connection, key: keyOf(spec.Name), rows: make(chan arrival, 256), known: known,
		arrived: map[string]*arrival{}, done: map[string]bool{}, workers: map[string]*WorkerStatus{}, checks: map[string]*check{}, Progress: func(string) {}}
	if c.store, err = open(ctx, connection); err != nil {
		err = failure.Wrap(failure.Unavailable, err)
	} else {
		err = c.announce(ctx, spec, trials, program, version)
	}
	if err != nil {
		connection.Close()
		return nil, err
	}
	return c, nil
}

// announce stores the sweep's inputs and its record, and begins to receive its rows.
func (c *Coordinator) announce(ctx context.Context, spec *sweeps.Spec, trials *inputs.Trials, program, version string) error {
	before, _, err := c.store.sweep(ctx, c.key)
	if err == nil && before.alive(time.Now()) && !hasEnded(before.Host) {
		return failure.New(failure.Temporary, "botd sweep list --on shows it", "the sweep %s is under way on %s", spec.Name, before.Host)
	}
	parts, err := partsOf(trials)
	if err != nil {
		return failure.Wrap(failure.NoInput, err)
	}
	files, sent, err := c.store.upload(ctx, parts)
	if err != nil {
		return err
	}
	// The jobs of an earlier attempt are handed out again, for the current program.
	if err := c.store.jobs.Purge(ctx, jetstream.WithPurgeSubject("botd.jobs.*."+c.key)); err != nil {
		return err
	}
	if _, err := c.store.consumer(ctx, program); err != nil {
		return err
	}
	c.sweep = Sweep{Name: spec.Name, State: Running, Program: program, Version: version, Host: host(), Spec: spec, Files: files}
	if err := c.show(ctx); err != nil {
		return err
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	if c.watcher, err = c.store.rows.Watch(watching, c.key+".>"); err != nil {
		return err
	}
	go c.receive(watching)
	c.Log("%d bytes sent; workers: botd worker --on %s", sent, c.connected.ConnectedUrl())
	return nil
}

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("%s/%d", name, os.Getpid())
}

// hasEnded reports whether a coordinator was a process of this machine that has ended.
func hasEnded(coordinator string) bool {
	machine, pid, _ := strings.Cut(coordinator, "/")
	here, _, _ := strings.Cut(host(), "/")
	number, err := strconv.Atoi(pid)
	return err == nil && machine == here && errors.Is(unix.Kill(number, 0), unix.ESRCH)
}

// receive passes on updates of the watcher.
func (c *Coordinator) receive(ctx context.Context) {
	for entry := range c.watcher.Updates() {
		if entry == nil {
			continue
		}
		words := strings.Split(entry.Key(), ".")
		a := arrival{kind: words[1], job: words[len(words)-1]}
		if entry.Operation() != jetstream.KeyValuePut || json.Unmarshal(entry.Value(), &a.row) != nil {
			continue
		}
		select {
		case c.rows <- a:
		case <-ctx.Done():
			return
		}
	}
}

// show stores the sweep's progress, unless a user has canceled the sweep meanwhile.
func (c *Coordinator) show(ctx context.Context) error {
	found, revision, err := c.store.sweep(ctx, c.key)
	if err == nil && found.State == Canceled && c.begun {
		return sweeps.ErrCanceled
	}
	if err != nil && !errors.Is(err, sweeps.ErrNone) {
		return err
	}
	c.sweep.Updated = time.Now().UTC()
	text, err := json.Marshal(&c.sweep)
	if err != nil {
		return err
	}
	if _, err = c.store.sweeps.Update(ctx, c.key, text, revision); err == nil { // revision 0: the key must not exist
		c.begun = true
	}
	return err
}

// batch is the state of one call of Run.
type batch struct {
	trials map[string][]*backtest.Trial // without a row, by job: two choices may lead to the same job
	queue  []job                        // not handed out
	out    map[string]bool              // handed out, and without a row
	ended  func(*backtest.Trial) error
	latest time.Time // time of the latest arrival
}

// Run hands out trials and calls ended for each row. It returns when every trial has a row.
func (c *Coordinator) Run(ctx context.Context, trials []backtest.Trial, ended func(*backtest.Trial) error) error {
	b := &batch{trials: map[string][]*backtest.Trial{}, out: map[string]bool{}, ended: ended, latest: time.Now()}
	for i := range trials {
		t := &trials[i]
		if b.trials[t.Job] == nil {
			b.queue = append(b.queue, job{Job: t.Job, Choice: t.Params})
		}
		b.trials[t.Job] = append(b.trials[t.Job], t)
	}
	c.sweep.Total += len(trials)
	for _, one := range b.queue {
		if a := c.arrived[one.Job]; a != nil {
			if err := c.handle(ctx, b, a); err != nil {
				return err
			}
		}
	}
	if err := c.fill(ctx, b); err != nil {
		return err
	}
	return c.until(ctx, b, func() bool { return len(b.trials) == 0 })
}

// until handles arrivals until a condition holds.
func (c *Coordinator) until(ctx context.Context, b *batch, done func() bool) error {
	beats := time.NewTicker(time.Second)
	defer beats.Stop()
	shown := time.Now()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case a := <-c.rows:
			b.latest = time.Now()
			if err := c.handle(ctx, b, &a); err != nil {
				return err
			}
		case now := <-beats.C:
			if now.Sub(shown) >= beat/2 || c.timed < 100 {
				shown = now
				if err := c.beat(ctx); err != nil {
					return err
				}
			}
			if err := c.missing(ctx, b, now); err != nil {
				return err
			}
		}
		if err := c.fill(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// handle processes one row.
func (c *Coordinator) handle(ctx context.Context, b *batch, a *arrival) error {
	switch a.kind {
	case "failed":
		_ = c.store.rows.Purge(ctx, c.key+".failed."+a.job) // so that resume tries again
		if b.trials[a.job] == nil {
			return nil // from an earlier attempt
		}
		return fmt.Errorf("worker %s, with %v: %s", a.row.Worker, b.trials[a.job][0].Params, a.row.Failure)
	case "check":
		if a.row.First != nil {
			return compared(a.row.First, &a.row)
		}
		if c.checks[a.job] == nil {
			c.checks[a.job] = &check{}
		}
		c.checks[a.job].second = &a.row
		return c.compare(a.job)
	case "row":
		return c.endTrials(ctx, b, a)
	}
	return nil
}

// endTrials ends the trials of a row. The row of a job that is not requested yet waits.
func (c *Coordinator) endTrials(ctx context.Context, b *batch, a *arrival) error {
	trials := b.trials[a.job]
	if trials == nil {
		if !c.done[a.job] && !c.known(a.job) {
			c.arrived[a.job] = a
		}
		return nil
	}
	var made backtest.Trial
	if err := json.Unmarshal(a.row.Trial, &made); err != nil || made.Job != a.job || made.Seen == nil {
		return fmt.Errorf("worker %s: the row of job %s is not a trial", a.row.Worker, a.job)
	}
	delete(b.trials, a.job)
	delete(b.out, a.job)
	delete(c.arrived, a.job)
	c.done[a.job] = true
	c.seconds, c.timed = c.seconds+a.row.Seconds, c.timed+1
	for _, t := range trials {
		t.Seen, t.Unseen, t.Figures = made.Seen, made.Unseen, made.Figures
		c.sweep.Ended++
		if err := b.ended(t); err != nil {
			return err
		}
	}
	return c.checkOf(ctx, a, made.Params)
}

// fill hands out enough trials to keep the present workers busy.
func (c *Coordinator) fill(ctx context.Context, b *batch) error {
	for len(b.queue) > 0 {
		size := c.batchSize()
		if len(b.out) >= size*max(4, 3*c.slots()) {
			return nil
		}
		// The last messages are small, so that all workers end together.
		size = min(size, max(1, (len(b.queue)+len(b.out))/max(1, 2*c.slots())), len(b.queue))
		jobs := b.queue[:size]
		b.queue = b.queue[size:]
		if sent, err := c.submit(ctx, b, jobs); err != nil || !sent {
			return err
		}
	}
	return nil
}

func (c *Coordinator) submit(ctx context.Context, b *batch, jobs []job) (sent bool, err error) {
	due := make([]job, 0, len(jobs))
	for _, one := range jobs {
		if b.trials[one.Job] != nil {
			due = append(due, one)
		}
	}
	if len(due) == 0 {
		return true, nil
	}
	if sent, err = c.send(ctx, &message{Sweep: c.key, Jobs: due}); err != nil {
		return false, err
	}
	if !sent { // the server is unreachable: the next beat retries
		b.queue = append(due, b.queue...)
		return false, nil
	}
	for _, one := range due {
		b.out[one.Job] = true
	}
	return true, nil
}

// send publishes a message. An unreachable server is no error: a later call sends the message.
func (c *Coordinator) send(ctx context.Context, m *message) (sent bool, err error) {
	text, err := json.Marshal(m)
	if err != nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = c.store.js.Publish(within, subjectOf(c.sweep.Program, c.key), text)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		c.Log("the server does not take work: %v", err)
		return false, nil
	}
	return true, nil
}

// batchSize returns the number of trials per message: some seconds of work, by the duration of ended trials.
func (c *Coordinator) batchSize() int {
	if c.timed < 4 {
		return 1
	}
	each := max(c.seconds/float64(c.timed), 1e-6)
	return min(max(int(batchWork.Seconds()/each), 1), maxBatch, c.timed) // a few at first, until the workers are known
}

func (c *Coordinator) slots() (n int) {
	for _, w := range c.workers {
		if w.Program == c.sweep.Program {
			n += w.Slots
		}
	}
	return n
}

// missing hands out jobs again that no message covers any more: the server may have lost some.
func (c *Coordinator) missing(ctx context.Context, b *batch, now time.Time) error {
	if len(b.trials) == 0 || now.Sub(b.latest) < silent {
		return nil
	}
	b.latest = now
	about, err := c.store.jobs.Info(ctx, jetstream.WithSubjectFilter(subjectOf(c.sweep.Program, c.key)))
	if err != nil {
		c.Log("the server does not answer: %v", err)
		return nil
	}
	if about.State.Subjects[subjectOf(c.sweep.Program, c.key)] > 0 {
		return nil
	}
	again := 0
	for _, key := range slices.Sorted(maps.Keys(b.out)) {
		if entry, err := c.store.rows.Get(ctx, c.key+".row."+key); err == nil {
			a := arrival{kind: "row", job: key}
			if json.Unmarshal(entry.Value(), &a.row) == nil {
				if err := c.handle(ctx, b, &a); err != nil {
					return err
				}
				continue
			}
		}
		b.queue, again = append(b.queue, job{Job: key, Choice: b.trials[key][0].Params}), again+1
		delete(b.out, key)
	}
	if again > 0 {
		c.Log("%d trials without a message are handed out again", again)
	}
	return nil
}

// beat stores the sweep's progress, and reads which workers are alive.
func (c *Coordinator) beat(ctx context.Context) error {
	now := time.Now()
	c.recent = append(c.recent, mark{now, c.sweep.Ended})
	for len(c.recent) > 2 && now.Sub(c.recent[0].at) > time.Minute {
		c.recent = c.recent[1:]
	}
	first := c.recent[0]
	if passed := now.Sub(first.at).Seconds(); passed > 0 {
		c.sweep.Rate = float64(c.sweep.Ended-first.ended) / passed
	}
	within, cancel := context.WithTimeout(ctx, beat)
	defer cancel()
	if err := c.show(within); errors.Is(err, sweeps.ErrCanceled) {
		return err
	}
	for _, one := range c.checks {
		if one.first != nil && one.second == nil && now.Sub(one.requestedAt) > 2*ackWait {
			if err := c.askAgain(ctx, one); err != nil {
				return err
			}
		}
	}
	all, err := c.store.present(within)
	if err != nil {
		return nil // the server is unreachable; the next beat retries
	}
	c.present(all)
	return nil
}

// present reports workers that joined or left.
func (c *Coordinator) present(all map[string]*WorkerStatus) {
	for id, w := range all {
		if before, known := c.workers[id]; !known || before.Refused != w.Refused {
			if w.Program != c.sweep.Program {
				c.Log("worker %s takes no part: %s", w.ID, cmp.Or(w.Refused, "it is botd "+w.Version+" (program "+w.Program[:16]+")"))
			} else if !known {
				c.Log("worker %s: %d at a time", w.ID, w.Slots)
			}
		}
	}
	for id, w := range c.workers {
		if all[id] == nil {
			c.Log("worker %s has ended, or cannot be reached", w.ID)
		}
	}
	c.workers = all
	c.Progress(fmt.Sprintf("%.3g/s, %d at work", c.sweep.Rate, c.slots()))
}

// End ends a sweep on the server with its result or its error. It waits for checks under way.
func (c *Coordinator) End(ctx context.Context, outcome error) error {
	if outcome == nil {
		outcome = c.checksEnd(ctx)
	}
	defer func() {
		c.stop()
		_ = c.watcher.Stop()
		c.connected.Close()
		if c.server != nil {
			c.server.Close()
		}
	}()
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	c.sweep.Finished = new(time.Now().UTC())
	switch {
	case outcome == nil:
		c.sweep.State = Done
	case errors.Is(outcome, sweeps.ErrCanceled):
		c.sweep.State = Canceled
	case ctx.Err() != nil:
		c.sweep.State, c.sweep.Finished = Interrupted, nil
	default:
		c.sweep.State, c.sweep.Reason = Failed, outcome.Error()
	}
	text, err := json.Marshal(&c.sweep)
	if err == nil {
		_, err = c.store.sweeps.Put(after, c.key, text)
	}
	err = errors.Join(err, c.store.jobs.Purge(after, jetstream.WithPurgeSubject("botd.jobs.*."+c.key)))
	if outcome == nil && err != nil {
		c.Log("the server could not record that the sweep has ended: %v", err)
	}
	return outcome
}
