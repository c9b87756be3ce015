package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The strategy is halted once, two minutes after its placement's fence.
func TestUndecidablePlacementHaltsItsStrategy(t *testing.T) {
	t.Parallel()
	for after, want := range map[int64]bool{overdueMS: false, overdueMS + 1: true} {
		w := settled(t)
		id := w.sends(placement.Entry)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Uncertain{Reason: "lost"}})
		w.engine.nowMS = w.engine.tracker.Placement(id).Fence(w.engine.tracker.Bounds()) + after
		w.out.Reset()
		guardOverdue(w.engine.base)
		guardOverdue(w.engine.base)
		halt := w.engine.tracker.HaltOf(account.Scope{Strategy: "one"})
		why := "placement " + id + " is uncertain 2 minutes after it could have been decided: no valid snapshot"
		notes := facts[NoteHalt](w.out.Notes)
		if (halt.Level == record.LevelPause && halt.Reason == why) != want || (len(notes) == 1) != want || want && notes[0].Reason != why {
			t.Errorf("%d ms after its fence: want it halted and reported once %t, have %+v, %+v", after, want, halt, notes)
		}
	}
}

// The account stands down once. If a halt is already in force, a symbol whose history alone shows such an order is quarantined instead.
func TestForeignOrderWithPrefixStandsDown(t *testing.T) {
	t.Parallel()
	open := func(w *world) {
		see(w.symbol(), func(o *seen) {
			o.Foreign = []exchange.Order{{ID: 9, ClientOrderID: w.unknownID(), Market: exchange.Futures, Symbol: "BTC-USDT"}}
		})
	}
	ended := func(w *world) { see(w.symbol(), func(o *seen) { o.UnknownEnded = "bt-ended" }) }
	halted := func(level record.HaltLevel) func(w *world) {
		return func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: level, Reason: "news"}})
		}
	}
	for _, c := range []struct {
		name        string
		with        []func(w *world)
		unknown     string // the order because of which it stands down
		quarantined bool
	}{
		{"none", nil, "", false},
		{"one is open", []func(w *world){open}, "bt-zzzzz", false},
		{"one has ended", []func(w *world){ended}, "bt-ended", false},
		{"one is open, under a halt", []func(w *world){open, halted(record.LevelPause)}, "bt-zzzzz", false},
		{"one has ended, under a halt", []func(w *world){ended, halted(record.LevelPause)}, "", true},
		{"one has ended and one is open, under a halt", []func(w *world){ended, open, halted(record.LevelPause)}, "bt-zzzzz", true},
	} {
		w := settled(t)
		for _, with := range c.with {
			with(w)
		}
		w.out.Reset()
		guardPrefix(w.engine.outbox)
		first := w.engine.tracker.Halted().Unknown
		guardPrefix(w.engine.outbox)
		halts := facts[NoteHalt](w.out.Notes)
		if first != c.unknown || (w.symbol().Quarantine() != "") != c.quarantined || (len(halts) == 1) != (c.unknown != "") {
			t.Errorf("%s: want it to stand down for %q, quarantined %t, have %q, %q, %+v", c.name, c.unknown, c.quarantined, first,
				w.symbol().Quarantine(), halts)
		}
		want := "order " + c.unknown + " carries this instance's prefix but is not in the journal: a second botd is running, or an old backup was restored"
		if c.unknown != "" &&
			halts[0].Reason != want {
			t.Errorf("%s: want %q, have %q", c.name, want, halts[0].Reason)
		}
	}
}

func TestContradictionIsReportedAtBeginAndEnd(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.out.Reset()
	var have []string
	for _, why := range []string{"", "a witness", "another", "", ""} {
		see(w.symbol(), func(o *seen) { o.Contradicted = why })
		watchContradicted(w.engine.outbox)
	}
	for _, fact := range facts[NoteContradicted](w.out.Notes) {
		have = append(have, fmt.Sprint(fact.Reason, " ", fact.Ended))
	}
	if strings.Join(have, ", ") != "a witness false,  true" {
		t.Errorf("want its begin and its end, have %q", have)
	}
}

// The liquidation halts only the strategy of its symbol. A halt in force stays unchanged, and in a backtest the backtest handles
// liquidations itself.
func TestALiquidationThatTheLedgerReadsHaltsToo(t *testing.T) {
	t.Parallel()
	row := ledger.Position{ID: 9, Symbol: "BTC-USDT", Liquidated: true, Close: exchange.AmountOf(48_000), Realized: exchange.AmountOf(-40)}
	closed := ledger.Position{ID: 8, Symbol: "BTC-USDT"}
	other := ledger.Position{ID: 9, Symbol: "ETH-USDT", Liquidated: true}
	for _, c := range []struct {
		name     string
		rows     []ledger.Position
		with     func(w *world)
		level    record.HaltLevel
		journals int
		reports  int
	}{
		{"liquidated", []ledger.Position{closed, row}, nil, record.LevelPause, 1, 1},
		{"read twice", []ledger.Position{row, row}, nil, record.LevelPause, 1, 1},
		{"closed", []ledger.Position{closed}, nil, record.LevelNone, 0, 0},
		{"of another symbol", []ledger.Position{other}, nil, record.LevelNone, 1, 1},
		{"halted already", []ledger.Position{row}, func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Halt{Level: record.LevelCancel, Reason: "news"}})
		}, record.LevelCancel, 1, 1},
		{"in a backtest", []ledger.Position{row}, func(w *world) { w.engine.config.Feed = true }, record.LevelNone, 0, 0},
	} {
		w := settled(t)
		if c.with != nil {
			c.with(w)
		}
		w.out.Reset()
		before := len(w.engine.unwritten)
		bookedLiquidations(w.engine.base, c.rows)
		journals := 0
		for _, r := range w.engine.unwritten[before:] {
			if body, is := r.Body.(record.Liquidated); is && body.PositionID == 9 && body.Quantity == 0 {
				journals++
			}
		}
		level := w.engine.tracker.HaltOf(account.Scope{Strategy: "one"}).Level
		if reports := len(facts[NoteLiquidated](w.out.Notes)); level != c.level || journals != c.journals || reports != c.reports {
			t.Errorf("%s: want %s, journalled %d times, reported %d times, have %s, %d, %d", c.name, c.level, c.journals, c.reports, level, journals, reports)
		}
	}
}

// A halt cannot see symbols without a read since it began, uncertain openings, blocked exits, and positions that no strategy trades.
func TestHaltListsBlindSpots(t *testing.T) {
	t.Parallel()
	const cancel, flatten = record.LevelCancel, record.LevelFlatten
	const unlistedEther = "futures ETH-USDT: the position of two is neither seen nor closed, since the exchange did not list the symbol at the start: " +
		"close it on the exchange"
	anothers := func(w *world, order exchange.Order) {
		order.ClientOrderID = w.unknownID()
		see(w.symbol(), func(o *seen) { o.Foreign = []exchange.Order{order} })
	}
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	holdsEther := func(w *world) {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "two", Symbol: ether, Body: record.Assigned{}})
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: ether, Body: record.Adopted{Quantity: 3}})
	}
	for _, c := range []struct {
		name  string
		level record.HaltLevel
		scope account.Scope
		with  func(w *world)
		want  []string
	}{
		{"all is read", flatten, account.Scope{}, func(*world) {}, nil},
		{"a pause needs no sight", record.LevelPause, account.Scope{}, func(w *world) { see(w.symbol(), func(o *seen) { o.Read = false }) }, nil},
		{"not read", cancel, account.Scope{}, func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Read = false
			})
		}, []string{"futures BTC-USDT has not been read since the start"}},
		{"of another strategy", cancel, account.Scope{Strategy: "two"}, func(w *world) { see(w.symbol(), func(o *seen) { o.Read = false }) }, nil},
		{"it cannot be read", cancel, account.Scope{}, func(w *world) {
			w.engine.readHealth.endedMS = 1_000
			w.blindedOn(bitcoin, 1)
		}, []string{"futures BTC-USDT has not been readable since 1970-01-01T00:00:01Z: broken"}},
		{"it was never read, and fails", cancel, account.Scope{}, func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Read = false
			})
			w.blindedOn(bitcoin, 1)
		},
			[]string{"futures BTC-USDT has not been read since the start: broken"}},
		{"not since the halt", cancel, account.Scope{}, func(w *world) { w.engine.legs[0].rounds.readMS = 999 },
			[]string{"futures BTC-USDT has not been read since the halt"}},
		{"as the halt began", cancel, account.Scope{}, func(w *world) { w.engine.legs[0].rounds.readMS = 1_000 }, nil},
		{"the journal fails", cancel, account.Scope{}, func(w *world) { w.engine.journalErr = errFull },
			[]string{"the journal cannot be written, and no order is sent before its record: database or disk is full"}},
		{"an uncertain opening", cancel, account.Scope{}, func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.Entry), Body: record.Uncertain{Reason: "lost"}})
		}, []string{"placement bt- on futures BTC-USDT is uncertain: if it turns out to have opened a position, that is closed too"}},
		{"an opening of another botd", cancel, account.Scope{}, func(w *world) {
			anothers(w, exchange.Order{ID: 9, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy})
		}, []string{"futures BTC-USDT: the BUY order 9 of this instance's prefix is not in the journal, and is not canceled: cancel it on the exchange"}},
		{"its stop", flatten, account.Scope{}, func(w *world) {
			anothers(w, exchange.Order{ID: 9, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, ClosePosition: true})
		}, nil},
		{"an uncertain exit", cancel, account.Scope{}, func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.Exit), Body: record.Uncertain{Reason: "lost"}})
		}, nil},
		{"a rule keeps the exit back", flatten, account.Scope{}, func(w *world) {
			w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
			see(w.symbol(), func(o *seen) { o.Position = 10 })
			w.engine.dispatcher.rejections.isNew("one exit ", "symbol: a test", w.engine.nowMS)
		}, []string{"the exit of futures BTC-USDT is refused by symbol: a test"}},
		{"a rule kept an exit back, and nothing is held", flatten, account.Scope{}, func(w *world) {
			w.engine.dispatcher.rejections.isNew("one exit ", "symbol: a test", w.engine.nowMS)
		}, nil},
		{"its symbol waits for a person", flatten, account.Scope{}, func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}})
		}, nil},
		{"a position that no strategy trades", flatten, account.Scope{}, func(w *world) {
			*reconciletest.Of(w.engine.tracker).OpenPositions = []exchange.Position{{Symbol: "ETH-USDT", Side: exchange.Short, Remaining: 3},
				{Symbol: "BTC-USDT", Remaining: 3}, {Symbol: "SOL-USDT"}}
		}, []string{"futures ETH-USDT: a SHORT position that no strategy trades stays open: close it on the exchange"}},
		{"a position that no strategy trades, and a strategy is halted", flatten, account.Scope{Strategy: "one"}, func(w *world) {
			*reconciletest.Of(w.engine.tracker).OpenPositions = []exchange.Position{{Symbol: "ETH-USDT", Side: exchange.Short, Remaining: 3}}
		}, nil},
		{"a position on a symbol that is not listed", flatten, account.Scope{}, holdsEther, []string{unlistedEther}},
		{"the same, and its strategy is halted", flatten, account.Scope{Strategy: "two"}, holdsEther, []string{unlistedEther}},
		{"the same, and another strategy is halted", flatten, account.Scope{Strategy: "one"}, holdsEther, nil},
		{"the same, and orders are canceled", cancel, account.Scope{}, holdsEther, nil},
		{"the same, and the list of positions shows it", flatten, account.Scope{}, func(w *world) {
			holdsEther(w)
			*reconciletest.Of(w.engine.tracker).OpenPositions = []exchange.Position{{Symbol: "ETH-USDT", Side: exchange.Long, Remaining: 3}}
		}, []string{"futures ETH-USDT: a LONG position that no strategy trades stays open: close it on the exchange"}},
		{"orders on a symbol that is not listed", cancel, account.Scope{Symbol: ether}, func(w *world) {
			w.sendsOn(ether, placement.Entry)
			w.sendsOn(ether, placement.StopLoss)
		}, []string{"futures ETH-USDT: order bt- is neither seen nor canceled: cancel it on the exchange"}},
	} {
		w := settled(t)
		w.engine.legs[0].rounds.readMS = 1_000
		c.with(w)
		have := w.engine.HaltBlind(c.level, c.scope, 1_000)
		for i := range have {
			if before, after, found := strings.Cut(have[i], "bt-"); found {
				_, after, _ = strings.Cut(after, " ")
				have[i] = before + "bt- " + after
			}
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: want %q\nhave %q", c.name, c.want, have)
		}
	}
}

// Accepted exits cover a long or a short position if their quantities add up to it.
func TestAcceptedExitsCoverPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		held  exchange.Quantity
		taken int // accepted exits of ten
		other placement.Purpose
		want  bool
	}{
		{"one of as much", 10, 1, 0, true}, {"one of less", 11, 1, 0, false}, {"two", 20, 2, 0, true}, {"a short one", -10, 1, 0, true},
		{"none", 10, 0, 0, false}, {"a stop is none", 10, 0, placement.StopLoss, false}, {"nothing is held", 0, 0, 0, true},
	} {
		w := settled(t)
		for i := range c.taken {
			w.acknowledged(w.sends(placement.Exit), int64(5+i))
		}
		if c.other != 0 {
			w.acknowledged(w.sends(c.other), 9)
		}
		w.sends(placement.Exit) // an unanswered exit
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: c.held}})
		see(w.symbol(), func(o *seen) { o.Position = c.held })
		if have := w.engine.closingInFlight(w.engine.legs[0]); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// A round reports the quantity filled since the last one, once, and the end with its duration. It also notifies the ledger of
// the trade.
func TestRoundReportsPlacementOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		key           exchange.SymbolKey
		before        exchange.Quantity
		body          record.Body
		quiet         bool
		fills, settle int
	}{
		{"it filled by a step", bitcoin, 3, record.Fill{OrderID: 5, Filled: 4}, false, 1, 0},
		{"it filled no further", bitcoin, 4, record.Fill{OrderID: 5, Filled: 4}, false, 0, 0},
		{"it filled, and nobody looks on", bitcoin, 0, record.Fill{OrderID: 5, Filled: 4}, true, 0, 0},
		{"it ended", bitcoin, 4, record.Ended{OrderID: 5, State: placement.Canceled, Filled: 4}, false, 0, 1},
		{"it filled and ended", coin, 4, record.Ended{OrderID: 5, State: placement.Filled, Filled: 10}, false, 1, 1},
	} {
		w := settled(t)
		w.engine.config.Quiet = c.quiet
		id := w.sendsOn(c.key, placement.Entry)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Fill{OrderID: 5, Filled: c.before}})
		p := w.engine.tracker.Placement(id)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: c.body})
		w.engine.accounting.futures.tradedMS, w.engine.accounting.spot.tradedMS = 1, 1
		w.engine.nowMS += 700
		w.out.Reset()
		w.engine.round.reportPlacement(p, c.before)
		fills, ends := facts[NoteFill](w.out.Notes), facts[NoteSettled](w.out.Notes)
		if len(fills) != c.fills || len(ends) != c.settle || c.fills == 1 && fills[0].Quantity != p.Filled()-c.before || c.settle == 1 &&
			(ends[0].DurationMS != w.engine.nowMS-w.now || ends[0].Filled != p.Filled()) {
			t.Errorf("%s: want %d fills and %d ends, have %+v, %+v", c.name, c.fills, c.settle, fills, ends)
		}
		grew := p.Filled() > c.before
		traded := map[exchange.SymbolKey]int64{bitcoin: w.engine.accounting.futures.tradedMS, coin: w.engine.accounting.spot.tradedMS}
		if (traded[c.key] == w.engine.nowMS) != grew || traded[bitcoin] != 1 && traded[coin] != 1 {
			t.Errorf("%s: want the time of a fill noted %t, have %v", c.name, grew, traded)
		}
	}
}
