package engine

import (
	"errors"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

const startMS = int64(1_800_000_000_000)

// wanting is a strategy that requests what the test sets.
type wanting struct {
	target exchange.Quantity
	crash  bool
	asked  int
}

func (*wanting) Warmup() int           { return 0 }
func (*wanting) Candle(*strategy.View) {}

func (w *wanting) Decide(_ *strategy.View, plan *strategy.Plan) {
	w.asked++
	if w.crash {
		panic("a bug of the strategy's author")
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: w.target}, "a test")
}

// each is a schedule of one tick per period.
type each int64

func (p each) Next(afterMS int64) int64 { return afterMS - afterMS%int64(p) + int64(p) }

// bench drives an engine manually: it answers reads from its own books, and saves every changing request for
// the test to answer.
type bench struct {
	t        testing.TB
	engine   *Engine
	now      int64
	out      Effects
	records  []record.Record // written by the engine, in order
	placed   []Call          // not answered yet
	recalls  []int64         // of placed calls that must not be sent any more
	notes    []Note
	orders   []exchange.Order
	looks    map[int64]exchange.Order
	position exchange.Quantity
	journal  error // result of the next append
	reads    error // result of every read
	slow     bool  // the disk is slow: an append's answer is saved in late
	late     []Event
}

func newBench(t testing.TB, strategies ...*wanting) *bench {
	t.Helper()
	b := &bench{t: t, now: startMS, looks: map[int64]exchange.Order{}}
	config := Config{Instance: "t", Epoch: 7, Random: "00000", BusyRoundMS: 1000, IdleRoundMS: 15_000, CloseLagMS: 2000, TimeToLiveMS: 5000, Feed: true,
		Bounds: placement.Bounds{WindowMS: 5000, VisibilityMS: 1000, StalenessMS: 1000}}
	for i, s := range strategies {
		name := []string{"BTC-USDT", "ETH-USDT"}[i]
		rules, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: name, Base: name[:3], Quote: "USDT",
			PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
			MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true})
		if err != nil {
			t.Fatal(err)
		}
		rules.Brackets = []exchange.Bracket{{Max: exchange.AmountOf(1_000_000), MaxLeverage: 50}}
		config.Strategies = append(
			config.Strategies,
			StrategyConfig{Name: name, Strategy: s, Symbol: rules, Interval: exchange.Minute1, Schedule: each(1000)},
		)
	}
	var err error
	if b.engine, err = New(config, reconcile.NewTracker(config.Bounds)); err != nil {
		t.Fatal(err)
	}
	b.give(&EventStart{})
	for _, s := range config.Strategies {
		b.give(&EventPrice{Series: s.Symbol.Key(), Last: 50_000e8})
	}
	return b
}

// give passes one event and answers everything but placements.
func (b *bench) give(event Event) {
	queue := []Event{event}
	for len(queue) > 0 {
		b.out.Reset()
		b.engine.Handle(b.now, queue[0], &b.out)
		checkRecalled(b.t, b.engine)
		queue = queue[1:]
		b.notes = append(b.notes, b.out.Notes...)
		b.recalls = append(b.recalls, b.out.Recalls...)
		if len(b.out.Records) > 0 {
			if b.journal == nil {
				b.records = append(b.records, b.out.Records...)
			}
			if done := (&EventJournaled{Err: b.journal}); b.slow {
				b.late = append(b.late, done)
			} else {
				queue = append(queue, done)
			}
		}
		for _, call := range b.out.Calls {
			if call.Request.Operation.Changes() {
				b.placed = append(b.placed, call)
				continue
			}
			queue = append(queue, b.read(call))
		}
	}
}

func (b *bench) read(call Call) Event {
	answer := exchange.Answer{Operation: call.Request.Operation}
	if b.reads != nil {
		return &EventAnswer{CallID: call.ID, Err: b.reads}
	}
	switch call.Request.Operation {
	case exchange.FuturesOpenOrders:
		answer.Orders = exchange.FetchedOf(b.orders)
	case exchange.FuturesOpenPositions:
		answer.Positions = exchange.FetchedOf(
			[]exchange.Position{
				{ID: 1, Symbol: "BTC-USDT", Side: exchange.Long, Remaining: b.position, EntryPrice: exchange.AmountOf(50_000), Leverage: 10},
			},
		)
	case exchange.FuturesLeverages:
		answer.Leverages = exchange.FetchedOf([]exchange.LeverageSetting{{Symbol: "BTC-USDT", Leverage: 10}, {Symbol: "ETH-USDT", Leverage: 10}})
	case exchange.FuturesAccount:
		answer.Account = exchange.MarginAccount{WalletBalance: exchange.AmountOf(10_000), AvailableBalance: exchange.AmountOf(10_000)}
	case exchange.FuturesOrder:
		answer.Order = b.looks[call.Request.OrderID]
	default:
		b.t.Fatalf("a call nobody expected: %s", call.Request.Operation)
	}
	return &EventAnswer{CallID: call.ID, Answer: answer}
}

// pass lets time pass, and wakes the engine at its times.
func (b *bench) pass(ms int64) {
	for until := b.now + ms; ; {
		next := b.engine.NextMS()
		if next > until {
			b.now = until
			return
		}
		b.now = max(b.now, next)
		b.give(&EventWake{})
	}
}

// facts returns the facts of one type among notes.
func facts[F Fact](notes []Note) (all []F) {
	for _, n := range notes {
		if fact, is := n.Fact.(F); is {
			all = append(all, fact)
		}
	}
	return all
}

func TestPlacementIsSentAfterDurableRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t, &wanting{target: 10})
	b.pass(1000)
	if len(b.placed) != 1 {
		t.Fatalf("want one placement, have %+v", b.placed)
	}
	id := b.placed[0].Request.Order.ClientOrderID
	last := b.records[len(b.records)-1]
	if last.Kind() != record.KindSending || last.ClientOrderID != id || b.placed[0].DeadlineMS != last.AtMS+5000 {
		t.Errorf("want the sending record of %s last, with the call's deadline; have %+v", id, last)
	}
	b.pass(60_000)
	if len(b.placed) != 1 {
		t.Errorf("an unanswered placement was sent %d times", len(b.placed))
	}
}

func TestNoPlacementWhileJournalFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, &wanting{target: 10})
	b.journal = errors.New("disk full")
	b.pass(10_000)
	if len(b.placed) != 0 {
		t.Fatalf("sent without a record: %+v", b.placed)
	}
	written := len(b.records)
	b.journal = nil
	b.pass(3_000)
	if len(b.placed) != 1 {
		t.Fatalf("want one placement when the journal is back, have %d", len(b.placed))
	}
	ids := map[string]int{}
	for _, r := range b.records[written:] {
		if r.Kind() == record.KindSending {
			ids[r.ClientOrderID]++
		}
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%s was journalled %d times", id, n)
		}
	}
}

func TestUncertainOutcomeBlocksUntilPositionDecides(t *testing.T) {
	t.Parallel()
	w := &wanting{target: 10}
	b := newBench(t, w)
	b.pass(1000)
	b.give(&EventAnswer{CallID: b.placed[0].ID, Err: &exchange.Uncertain{Reason: "timeout"}})
	w.target = 20
	b.position = 10 // it was accepted and filled
	b.pass(9_000)
	if len(b.placed) != 1 {
		t.Fatalf("sent %d while one is uncertain", len(b.placed))
	}
	b.pass(20_000)
	if len(b.placed) != 2 || b.placed[1].Request.Order.Quantity != 10 {
		t.Fatalf("want the rest of 10 after the fence, have %+v", b.placed[1:])
	}
}

func TestRoundWithoutReadsSendsNoOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, &wanting{target: 10})
	b.reads = &exchange.Unavailable{Reason: "timeout"}
	b.pass(40_000)
	if len(b.placed) != 0 || !b.engine.Blind(bitcoin) || len(facts[NoteBlind](b.notes)) != 1 {
		t.Fatalf(
			"want nothing sent and blind reported once; have %d sent, blind %v reported %d times",
			len(b.placed),
			b.engine.Blind(bitcoin),
			len(facts[NoteBlind](b.notes)),
		)
	}
	b.reads = nil
	b.pass(20_000)
	if len(b.placed) != 1 || b.engine.Blind(bitcoin) {
		t.Fatalf("want it to go on when reads work again, have %d sent", len(b.placed))
	}
}

func TestAPanicStopsThatStrategyOnly(t *testing.T) {
	t.Parallel()
	bad, good := &wanting{crash: true}, &wanting{target: 10}
	b := newBench(t, bad, good)
	b.pass(5_000)
	if bad.asked != 1 || good.asked < 5 || len(facts[NoteStrategyFailed](b.notes)) != 1 {
		t.Errorf(
			"want the bad one asked once and the good one on: have %d and %d, reported %d times",
			bad.asked,
			good.asked,
			len(facts[NoteStrategyFailed](b.notes)),
		)
	}
	if len(b.placed) != 1 || b.placed[0].Request.Order.Symbol != "ETH-USDT" {
		t.Errorf("want the good one's order, have %+v", b.placed)
	}
}

// The figures of such a plan would overflow, and once journalled it would fail every start.
func TestPlanOutOfBoundsStopsOnlyItsStrategy(t *testing.T) {
	t.Parallel()
	bad, good := &wanting{target: 1 << 62}, &wanting{target: 10}
	b := newBench(t, bad, good)
	b.pass(5_000)
	if bad.asked != 1 || good.asked < 5 || len(facts[NoteStrategyFailed](b.notes)) != 1 {
		t.Errorf(
			"want the bad one asked once and the good one on: have %d and %d, reported %d times",
			bad.asked,
			good.asked,
			len(facts[NoteStrategyFailed](b.notes)),
		)
	}
	for _, r := range b.records {
		if p, ok := r.Body.(record.Plan); ok && p.Plan.Target.Quantity == bad.target {
			t.Errorf("want the plan not journalled, have %+v", p.Plan)
		}
	}
}

func TestMissedTicksAreCountedAndSkipped(t *testing.T) {
	t.Parallel()
	w := &wanting{}
	b := newBench(t, w)
	b.pass(1_000)
	before := w.asked
	b.now += 60_000 // the machine was suspended
	b.give(&EventWake{})
	if w.asked != before+1 {
		t.Errorf("want one decision after a sleep, have %d", w.asked-before)
	}
	missed := 0
	for _, fact := range facts[NoteMissed](b.notes) {
		missed += fact.Count
	}
	if missed != 59 {
		t.Errorf("want 59 missed ticks, have %d", missed)
	}
}

func TestAHaltIsSavedAndBlocksEntries(t *testing.T) {
	t.Parallel()
	b := newBench(t, &wanting{target: 10})
	b.give(&EventHalt{Level: record.LevelPause, Reason: "a test"})
	b.pass(20_000)
	if len(b.placed) != 0 {
		t.Fatalf("sent while halted: %+v", b.placed)
	}
	again := reconcile.NewTracker(placement.Bounds{})
	for i := range b.records {
		again.Apply(&b.records[i])
	}
	if have := again.Halted(); have.Level != record.LevelPause || have.Reason != "a test" {
		t.Errorf("after a restart: want halted, have %+v", have)
	}
	b.give(&EventHalt{Reason: "armed"})
	b.pass(20_000)
	if len(b.placed) != 1 {
		t.Errorf("want it to trade again when armed, have %d", len(b.placed))
	}
}

func TestExpiredIntentIsNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, &wanting{target: 10})
	b.engine.config.TimeToLiveMS = -1 // the clock jumped between decision and commit
	b.pass(1_000)
	if len(b.placed) != 0 {
		t.Fatalf("sent after its time to live: %+v", b.placed)
	}
	last := b.records[len(b.records)-1]
	if ended, ok := last.Body.(record.Ended); !ok || ended.State != placement.Expired {
		t.Errorf("want it ended as expired, have %+v", last)
	}
}
