package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/internal/disk/sqlitefault"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/strategy"
)

// binding is that of every journal here.
var binding = journal.Binding{Mode: "demo", URL: "embedded", KeyFingerprint: "f", Instance: "main"}

// disked is the simulated exchange and a SQLite journal on a disk that can fail. A record that it has
// appended is durable when its placement may leave.
type disked struct {
	*memory
	path    string
	store   *journal.Journal
	appends int
	tearAt  int       // the append whose sync fails; 0 for none
	full    [2]int64  // period in which the disk is full
	lengths []int     // of the batches
	last    time.Time // of the last placement
}

// Append appends to the real journal.
func (d *disked) Append(ctx context.Context, records []record.Record) error {
	time.Sleep(5 * time.Millisecond)
	faults := sqlitefault.In(filepath.Dir(d.path))
	now := time.Now().UnixMilli()
	faults.Full(d.full[0] <= now && now < d.full[1])
	if d.appends++; d.appends == d.tearAt {
		faults.FailSync()
	}
	if err := d.store.Append(ctx, records); err != nil {
		return err
	}
	d.lengths = append(d.lengths, len(records))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.records = append(d.records, records...)
	return nil
}

func newDisked(t *testing.T) *disked {
	t.Helper()
	if err := sqlitefault.Register(); err != nil {
		t.Fatal(err)
	}
	return &disked{memory: newMemory(t), path: filepath.Join(t.TempDir(), "journal.db")}
}

// trades runs an engine over the journal until the context or the journal ends.
func (d *disked) trades(decide func(*strategy.View, *strategy.Plan), takes time.Duration) error {
	d.t.Helper()
	var err error
	d.store, err = journal.Open(d.t.Context(), d.path, binding, journal.Options{Reserve: -1, Layer: sqlitefault.Layer})
	if err != nil {
		d.t.Fatal(err)
	}
	defer d.store.Close()
	tracker := reconcile.NewTracker(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000})
	if err := d.store.Replay(d.t.Context(), func(r *record.Record) error { tracker.Apply(r); return nil }); err != nil {
		d.t.Fatal(err)
	}
	machine, err := engine.New(engine.Config{
		Instance: "test", Epoch: tracker.Epoch() + 1, Random: "00000", Bounds: tracker.Bounds(), BusyRoundMS: 1_000, IdleRoundMS: 15_000, CloseLagMS: 2_000,
		TimeToLiveMS: 5_000, Ledger: true,
		Strategies: []engine.StrategyConfig{{Name: "one", Strategy: decider(decide), Symbol: d.symbol(), Interval: exchange.Minute1,
			Leverage: 10, Schedule: eachSecond{}}},
	}, tracker)
	if err != nil {
		d.t.Fatal(err)
	}
	driver := New(Config{Machine: machine, Venue: d, Journal: d, Clock: bubbleClock{}})
	ctx, cancel := context.WithTimeoutCause(d.t.Context(), takes, errInterrupted)
	defer cancel()
	return driver.Run(ctx)
}

// Do notes the times of placements.
func (d *disked) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	if request.Operation.Places() {
		d.last = time.Now()
	}
	return d.memory.Do(ctx, request)
}

type decider func(*strategy.View, *strategy.Plan)

func (decider) Warmup() int                                       { return 0 }
func (decider) Candle(*strategy.View)                             {}
func (d decider) Decide(view *strategy.View, plan *strategy.Plan) { d(view, plan) }

type eachSecond struct{}

func (eachSecond) Next(afterMS int64) int64 { return (afterMS/1_000 + 1) * 1_000 }

// sound expects the journal on the disk to be complete, with a record for each sent order, and none sent
// twice.
func (d *disked) sound() {
	d.t.Helper()
	reader, err := journal.Read(d.t.Context(), d.path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer reader.Close()
	if report, err := reader.Verify(d.t.Context()); err != nil || len(report.Problems) > 0 || report.Records == 0 {
		d.t.Errorf("want the journal sound, have %+v, %v", report, err)
	}
	sent := slices.Clone(d.placed)
	slices.Sort(sent)
	if len(slices.Compact(sent)) != len(d.placed) {
		d.t.Errorf("an order was sent twice: %v", d.placed)
	}
}

// TestFullDiskPausesPlacements keeps the disk of a real journal full for two minutes, in which
// a strategy requests entries and exits.
func TestFullDiskPausesPlacements(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisked(t)
		step, began := d.symbol().QuantityTick, time.Now()
		since := func() time.Duration { return time.Since(began) }
		d.full = [2]int64{began.Add(time.Minute).UnixMilli(), began.Add(3 * time.Minute).UnixMilli()}
		during := 0
		err := d.trades(func(_ *strategy.View, plan *strategy.Plan) {
			quantity := exchange.Quantity(since()/(10*time.Second)) * step // one step more every ten seconds
			if since() > 150*time.Second {
				quantity = 0
			}
			if since() > time.Minute+time.Second && since() < 3*time.Minute && d.last.After(began.Add(time.Minute+time.Second)) {
				during++
			}
			plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}, "a test")
		}, 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if during > 0 || len(d.placed) < 6 {
			t.Errorf("want nothing sent while the disk was full, and something before: %v", d.placed)
		}
		if most := slices.Max(d.lengths); most > 200 {
			t.Errorf("facts queued without bound: a batch of %d", most)
		}
		d.holds(0)
		d.sound()
	})
}

// TestFailedSyncEndsRunAndNextStartReportsIt fails the sync of each append in turn under the real
// journal. The run ends, and the next one reaches the position exactly, whatever part of the torn batch
// exists.
func TestFailedSyncEndsRunAndNextStartReportsIt(t *testing.T) {
	t.Parallel()
	for tearAt := 1; tearAt <= 14; tearAt++ {
		synctest.Test(t, func(t *testing.T) {
			d := newDisked(t)
			d.tearAt = tearAt
			step := d.symbol().QuantityTick
			began := time.Now()
			slicewise := func(_ *strategy.View, plan *strategy.Plan) {
				slices := min(3, exchange.Quantity(time.Since(began)/(5*time.Second)))
				plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 2 * slices * step}, "a test")
			}
			err := d.trades(slicewise, 2*time.Minute)
			if !errors.Is(err, journal.ErrBroken) {
				t.Fatalf("append %d: want %v, have %v", tearAt, journal.ErrBroken, err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("append %d: the run went on for %s", tearAt, took)
			}
			d.records = nil // what is on the disk counts
			d.store, err = journal.Open(t.Context(), d.path, binding, journal.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := d.store.Replay(t.Context(), func(r *record.Record) error { d.records = append(d.records, *r); return nil }); err != nil {
				t.Fatal(err)
			}
			if err := d.store.Close(); err != nil {
				t.Fatal(err)
			}
			if err := d.trades(slicewise, 3*time.Minute); err != nil {
				t.Fatal(err)
			}
			d.holds(6 * step)
			d.sound()
			if t.Failed() {
				t.Fatalf("the sync of append %d failed", tearAt)
			}
		})
	}
}
