package daemon

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// TestEachNoteReachesThoseWhoWatch covers a halt, which is shown at once, candles, which are not, and rounds, of which the first complete one ends the start.
func TestEachNoteReachesThoseWhoWatch(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	p := &process{metrics: ops.NewMetrics("demo", ops.Build{}), board: view.NewBoard("demo", "one"), console: console, supervisor: ops.NewSupervisor(),
		trades: &trades{positions: map[string]exchange.Quantity{}, log: console}, machine: idle(t, record.LevelNone), began: time.Now()}
	for _, c := range []struct {
		fact  engine.Fact
		drawn bool   // it may wait
		line  string // begins so; empty for none
	}{
		{engine.NoteRound{}, true, ""},
		{engine.NoteHalt{Reason: "the news"}, false, "error trading.halted "},
		{engine.NoteRound{Complete: true}, true, "info daemon.reconciled "},
		{engine.NoteRound{Complete: true}, true, ""},
		{engine.NoteHalt{Ended: true}, false, "warn trading.armed "},
	} {
		p.drawn = time.Now()
		p.note(&engine.Note{AtMS: 1, Fact: c.fact})
		have := lines()
		if p.drawn.IsZero() == c.drawn || len(have) != map[bool]int{false: 1}[c.line == ""] || len(have) == 1 && !strings.HasPrefix(have[0], c.line) {
			t.Errorf("%T: want it drawn later %t, and %q logged, have drawn at %s, %q", c.fact, c.drawn, c.line, p.drawn, have)
		}
	}
	if !p.reconciled {
		t.Error("want the start over")
	}
}

// TestPositionsAtAStartAreThoseOfTheJournal covers a strategy on futures, one on spot with and one without a booked quantity, and one without a symbol.
func TestPositionsAtAStartAreThoseOfTheJournal(t *testing.T) {
	t.Parallel()
	futures, spot := symbolOf(t, exchange.Futures, "BTC-USDT"), symbolOf(t, exchange.Spot, "BTC-USDT")
	status := &engine.Status{
		Symbols: []engine.SymbolStatus{{Key: futures.Key(), Owner: "trend", Known: -7}, {Key: spot.Key(), Owner: "hold", Known: 9},
			{Key: spot.Key(), Owner: "fresh", Known: 3}},
		Strategies: []engine.StrategyStatus{{Name: "trend", Symbol: futures, Booked: exchange.AmountOf(1)},
			{Name: "hold", Symbol: spot, Booked: exchange.MustAmount("0.00012345678")}, {Name: "fresh", Symbol: spot},
			{Name: "gone", Booked: exchange.AmountOf(1)}},
	}
	have := positionsByStrategy(status)
	want := map[string]exchange.Quantity{"trend": -7, "hold": spot.FloorQuantity(spot.QuantityOf(exchange.MustAmount("0.00012345678"))), "fresh": 3}
	for name, quantity := range want {
		if have[name] != quantity {
			t.Errorf("%s: want %d, have %d", name, quantity, have[name])
		}
	}
	if len(have) != len(want) {
		t.Errorf("want %v, have %v", want, have)
	}
}

// TestAnOutageIsShownWithItsStrategies waits for an exchange while everything is halted.
func TestAnOutageIsShownWithItsStrategies(t *testing.T) {
	t.Parallel()
	strategies := []configs.StrategyConfig{{Name: "trend", Market: exchange.Futures, Symbol: "BTC-USDT"},
		{Name: "hold", Market: exchange.Spot, Symbol: "ETH-USDT"}}
	p := &process{machine: idle(t, record.LevelCancel)}
	if _, plain := p.displayedEngine().(*engine.Engine); !plain {
		t.Errorf("without an outage: want the engine itself, have %T", p.displayedEngine())
	}
	p.outage = &outage{strategies: strategies, since: time.UnixMilli(5_000), cause: "refused"}
	status := p.displayedEngine().Status()
	var scopes []account.Scope
	for _, d := range status.Degraded {
		switch d.State {
		case "waiting":
			if scopes = append(scopes, d.Scope); d.Cause != "refused" || d.SinceMS != 5_000 || d.Remedy == "" {
				t.Errorf("have %+v", d)
			}
		case "halted":
			if !slices.Equal(d.Blind, []string{"the account cannot be seen: refused"}) {
				t.Errorf("want the halt to say what it cannot see, have %q", d.Blind)
			}
		}
	}
	want := []account.Scope{{}, {Strategy: "trend", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}},
		{Strategy: "hold", Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}}}
	if !slices.Equal(scopes, want) || len(status.Degraded) != len(want)+1 {
		t.Errorf("want the account and each strategy waiting, and the halt, have %+v", status.Degraded)
	}
}

// TestAPauseAfterAQuietTimeIsAnotherOne has the second begin when the first has been over for half a minute.
func TestAPauseAfterAQuietTimeIsAnotherOne(t *testing.T) {
	t.Parallel()
	now, until, logged := time.Unix(1_000, 0), time.Time{}, 0
	p := &pauses{warn: func(string, string, ...any) { logged++ }, until: func(market exchange.Market) time.Time {
		if market == exchange.Spot {
			return until
		}
		return time.Time{}
	}}
	for i, c := range []struct {
		after  time.Duration
		paused bool
		since  int64 // 0 for none
	}{{0, false, 0}, {time.Second, true, 1_001}, {30 * time.Second, false, 1_001}, {time.Second + 1, false, 0}, {time.Minute, true, 1_092},
		{30 * time.Second, false, 1_092}} {
		if now = now.Add(c.after); c.paused {
			until = now
		}
		all := p.states(now, now.Unix())
		if len(all) != map[bool]int{false: 1}[c.since == 0] || len(all) == 1 && (all[0].SinceMS != c.since || all[0].Scope.Symbol.Market != exchange.Spot) {
			t.Errorf("%d: want it since %d, have %+v", i, c.since, all)
		}
	}
	if logged != 2 {
		t.Errorf("want each logged, have %d", logged)
	}
}

// rated answers with one next payment.
type rated struct{ nextMS int64 }

func (r rated) ServerNowMS() int64 { return 1_000_000 }

func (r rated) FundingRate(context.Context, string) (exchange.FundingRate, error) {
	return exchange.FundingRate{NextMS: r.nextMS}, nil
}

// TestARateIsRequestedAgainWhenItsPaymentIsNear covers answers without a payment, and payments more than three minutes away.
func TestARateIsRequestedAgainWhenItsPaymentIsNear(t *testing.T) {
	t.Parallel()
	for next, want := range map[int64]time.Duration{0: 30 * time.Second, -5: 30 * time.Second, 1_000_000 + 180_001: time.Millisecond,
		1_000_000 + 3_600_000: 57 * time.Minute} {
		if have := (recording{}).keepRate(t.Context(), rated{next}, "BTC-USDT"); have != want {
			t.Errorf("next payment at %d: want %s, have %s", next, want, have)
		}
	}
}

// TestAJournalThatCannotBeSealedIsReported covers a journal that is closed, and one without a bound, of which nothing is sealed.
func TestAJournalThatCannotBeSealedIsReported(t *testing.T) {
	t.Parallel()
	for mib, want := range map[int]string{0: "", 1: "warn journal.unsealed journal   its oldest records cannot be sealed: "} {
		console, lines := logged(t)
		p := &process{config: &configs.Config{}, console: console, store: opened(t, t.TempDir(), "one")}
		p.config.Retention.JournalMiB = mib
		if err := p.store.Close(); err != nil {
			t.Fatal(err)
		}
		waited := false
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			p.sealJournal(ctx)
			waited = ctx.Err() != nil
		})
		if have := lines(); waited != (mib != 0) || len(have) != min(1, mib) || mib == 1 && (!strings.HasPrefix(have[0], want) ||
			!strings.HasSuffix(have[0], "; they stay in its file, trading is not affected")) {
			t.Errorf("%d MiB: want %q, have %q", mib, want, have)
		}
	}
}
