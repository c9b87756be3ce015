package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

var (
	wholeMarket = exchange.SymbolKey{Market: exchange.Futures}
	wholeSpot   = exchange.SymbolKey{Market: exchange.Spot}
	account0    = exchange.SymbolKey{}
)

// emptyBase is the base of an engine without strategies, at a time.
func emptyBase(nowMS int64) *base {
	tracker := reconcile.NewTracker(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000})
	tracker.Track(bitcoin)
	b := &base{legBySymbol: map[exchange.SymbolKey]*leg{}, outbox: newOutbox(tracker)}
	b.nowMS, b.out = nowMS, &Effects{}
	return b
}

// reads returns the health of reads, just after a round.
func reads(b *base) *readHealth {
	return &readHealth{outbox: b.outbox, readingMS: never, endedMS: b.nowMS, soundMS: b.nowMS}
}

// notes returns the reported facts in short form.
func (b *base) notes() (all []string) {
	for _, note := range b.out.Notes {
		switch fact := note.Fact.(type) {
		case NoteBlind:
			all = append(all, fmt.Sprintf("blind %s: %s, over %t", fact.Of, fact.Reason, fact.Ended))
		case NoteFetchFailed:
			all = append(all, fmt.Sprintf("failed %s: %d", fact.What, fact.Count))
		case NoteIntentRefused:
			all = append(all, fmt.Sprintf("refused %s, over %t", fact.Purpose, fact.Ended))
		}
	}
	return all
}

// Nothing opens after three failed rounds in a row, or after 30 s, on the symbol, the market or the account of the failed reads.
func TestFailedReadsBlockOpenings(t *testing.T) {
	t.Parallel()
	const nowMS = 1_000_000
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		of     exchange.SymbolKey
		rounds int
		late   bool  // the reads are late, not failed
		lastMS int64 // from the last read to now
		want   string
		wide   bool // a whole market or the account
	}{
		{"a symbol, three rounds", bitcoin, 3, false, 0, "bitcoin", false},
		{"a symbol, two rounds", bitcoin, 2, false, 0, "", false},
		{"a symbol, for 30 s", bitcoin, 1, false, 30_000, "", false},
		{"a symbol, for longer", bitcoin, 1, false, 30_001, "bitcoin", false},
		{"a symbol whose read is late, three rounds", bitcoin, 3, true, 0, "", false},
		{"a symbol whose read is late, for longer than 30 s", bitcoin, 1, true, 30_001, "bitcoin", false},
		{"a market, three rounds", wholeMarket, 3, false, 0, "bitcoin ether", true},
		{"the other market", wholeSpot, 3, false, 0, "coin", true},
		{"the account, three rounds", account0, 3, false, 0, "bitcoin ether coin", true},
		{"the account, two rounds", account0, 2, false, 0, "", false},
	} {
		b := emptyBase(nowMS)
		s := reads(b)
		for range c.rounds {
			if c.late {
				s.countReads(nil, []failure{{c.of, broken}}, true)
			} else {
				s.countReads([]failure{{c.of, broken}}, nil, true)
			}
		}
		b.nowMS += c.lastMS
		var have []string
		for _, one := range []struct {
			name string
			key  exchange.SymbolKey
		}{{"bitcoin", bitcoin}, {"ether", ether}, {"coin", coin}} {
			if s.Blind(one.key) {
				have = append(have, one.name)
			}
			if covers := c.of == account0 || c.of == one.key || c.of.Name == "" && c.of.Market == one.key.Market; s.incomplete(one.key) != covers {
				t.Errorf("%s: want %s not read whole %t", c.name, one.name, covers)
			} else if rounds := map[bool]int{true: c.rounds}[covers && !c.late]; s.failing(one.key) != rounds {
				t.Errorf("%s: want %s failing for %d rounds, have %d", c.name, one.name, rounds, s.failing(one.key))
			} else if why, seenMS := s.cause(one.key); (why == "broken") != covers || (seenMS == nowMS) != covers {
				t.Errorf("%s: want the cause for %s %t, have %q since %d", c.name, one.name, covers, why, seenMS)
			}
		}
		if strings.Join(have, " ") != c.want || s.accountOrMarketBlind() != c.wide {
			t.Errorf("%s: want %q, wide %t, have %q, %t", c.name, c.want, c.wide, have, s.accountOrMarketBlind())
		}
		if states := s.degraded(); len(states) != map[bool]int{true: 1}[c.want != ""] {
			t.Errorf("%s: want it declared, have %+v", c.name, states)
		} else if len(states) == 1 && (states[0].Scope.Symbol != c.of || states[0].Cause != "broken" || states[0].SinceMS != nowMS) {
			t.Errorf("%s: want what is blind declared, since the last read, have %+v", c.name, states[0])
		}
		worst := c.rounds
		if c.late {
			worst = 0
		}
		if s.worst() != worst {
			t.Errorf("%s: want %d rounds failed, have %d", c.name, worst, s.worst())
		}
	}
}

// A hanging round counts as blindness of everything after 30 s, since the last complete round, or since its
// start if none was complete.
func TestARoundThatHangs(t *testing.T) {
	t.Parallel()
	b := emptyBase(1_000_000)
	s := reads(b)
	s.readingMS = b.nowMS
	for afterMS, want := range map[int64]bool{30_000: false, 30_001: true} {
		b.nowMS = 1_000_000 + afterMS
		if s.Blind(bitcoin) != want || s.accountOrMarketBlind() != want || (len(s.degraded()) == 1) != want {
			t.Errorf("after %d ms: want blind %t, have %t, %+v", afterMS, want, s.Blind(bitcoin), s.degraded())
		}
	}
	b.nowMS = 1_000_000 + 30_001
	if state := s.degraded()[0]; state.SinceMS != 1_000_000 || state.Cause != "no answer for 30 s" || state.Remedy == "" {
		t.Errorf("want it declared since the last complete round, have %+v", state)
	}
	s.soundMS = 0
	if state := s.degraded()[0]; state.SinceMS != 1_000_000 {
		t.Errorf("want it declared since the round began where none was complete, have %+v", state)
	}
	s.countReads([]failure{{bitcoin, errors.New("broken")}}, nil, false)
	if len(s.degraded()) != 1 || s.degraded()[0].Scope.Symbol != bitcoin {
		t.Errorf("want the failing read named instead, have %+v", s.degraded())
	}
}

// A domain without a failure in the round was read, as far as the round got. A symbol was read only if its market was.
func TestRoundReadHealth(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	of := func(keys ...exchange.SymbolKey) (all []failure) {
		for _, key := range keys {
			all = append(all, failure{key, broken})
		}
		return all
	}
	for _, c := range []struct {
		name           string
		failures, late []failure
		finished       bool
		want           string // unread domains, consecutive failed rounds, whether the last complete round is this one
	}{
		{"all was read", nil, nil, true, " 0 true"},
		{"it did not get so far", nil, nil, false, "BTC-USDT futures 0 true"},
		{"the symbol failed once more", of(bitcoin), nil, true, "BTC-USDT futures 0 true"},
		{"the symbol is late", nil, of(bitcoin), true, "BTC-USDT futures 0 true"},
		{"another symbol failed", of(ether), nil, true, "ETH-USDT futures 0 true"},
		{"its market failed", of(wholeMarket), nil, true, " futures, BTC-USDT futures 3 false"},
		{"its market is late", nil, of(wholeMarket), true, " futures, BTC-USDT futures 2 false"},
		{"the other market failed", of(wholeSpot), nil, true, " spot 3 false"},
	} {
		b := emptyBase(1_000_000)
		s := reads(b)
		s.countReads(of(bitcoin), nil, true)
		s.failed = 2
		b.nowMS += 5_000
		s.countReads(c.failures, c.late, c.finished)
		var domains []string
		for _, d := range s.domains {
			domains = append(domains, d.key.Name+" "+d.key.Market.String())
		}
		if have := fmt.Sprintf("%s %d %t", strings.Join(domains, ", "), s.failed, s.soundMS == b.nowMS); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		if (s.endedMS == b.nowMS) != c.finished {
			t.Errorf("%s: want its end noted %t, have %d", c.name, c.finished, s.endedMS)
		}
	}
}

// When blindness ends, an intent that the exchange has refused is sent again soon.
func TestBlindnessIsReportedOnceAndEnds(t *testing.T) {
	t.Parallel()
	b := emptyBase(1_000_000)
	s := reads(b)
	for range 4 {
		s.countReads([]failure{{bitcoin, errors.New("broken")}}, nil, true)
		s.watch()
	}
	b.nowMS += 5_000
	if sighted := s.countReads(nil, nil, true); !slices.Equal(sighted, []exchange.SymbolKey{bitcoin}) {
		t.Errorf("want what was refused on %s sent again now, have %v", bitcoin, sighted)
	}
	want := []string{"failed BTC-USDT futures: 1", "failed BTC-USDT futures: 2", "failed BTC-USDT futures: 3", "blind BTC-USDT futures: broken, over false",
		"blind BTC-USDT futures: broken, over true"}
	have := b.notes()
	for i := range have {
		have[i] = strings.ReplaceAll(have[i], bitcoin.String(), "BTC-USDT futures")
	}
	if strings.Join(have, "; ") != strings.Join(want, "; ") {
		t.Errorf("want %q\nhave %q", want, have)
	}
	for range 5 {
		s.countReads([]failure{{account0, errors.New("broken")}}, nil, true)
	}
	if have := b.notes(); len(have) != len(want)+5 {
		t.Errorf("want each round reported that does not read the account, have %q", have[len(want):])
	}
}

// A reduction waits a second, doubled up to a minute; an opening five seconds, doubled up to five minutes. A rejected key and a wrong
// time have other waits.
func TestRefusedIntentBackoff(t *testing.T) {
	t.Parallel()
	exit := attempt{strategy: "one", symbol: bitcoin, purpose: placement.Exit}
	entry := attempt{strategy: "one", symbol: bitcoin, purpose: placement.Entry}
	leverage := attempt{strategy: "one", symbol: bitcoin, purpose: placement.Leverage}
	for _, c := range []struct {
		name         string
		of           attempt
		code         int
		unauthorized bool
		want         []int64 // seconds, after each refusal
	}{
		{"an exit", exit, 7, false, []int64{1, 2, 4, 8, 16, 32, 60, 60}},
		{"an entry", entry, 7, false, []int64{5, 10, 20, 40, 80, 160, 300, 300}},
		{"the leverage", leverage, 7, false, []int64{5, 10, 20}},
		{"an entry under a key that is not accepted", entry, 7, true, []int64{30, 60, 120, 240, 300}},
		{"an exit under a key that is not accepted", exit, 7, true, []int64{1, 2}},
		{"an entry at a wrong time", entry, exchange.CodeInvalidTimestamp, false, []int64{1, 2, 4, 8, 15, 15}},
	} {
		b := emptyBase(1_000_000)
		all := &backoffs{outbox: b.outbox}
		intent := reconcile.Intent{Strategy: "one", Purpose: c.of.purpose}
		intent.Order.Market, intent.Order.Symbol = bitcoin.Market, bitcoin.Name
		if all.holds(&intent) {
			t.Errorf("%s: want nothing held back before it was refused", c.name)
		}
		for i, seconds := range c.want {
			all.refused(c.of, c.code, "no", c.unauthorized)
			if until := all.of(c.of).untilMS; until != b.nowMS+seconds*1_000 {
				t.Errorf("%s: refusal %d: want %d s, have %d ms", c.name, i+1, seconds, until-b.nowMS)
			}
			b.nowMS = all.of(c.of).untilMS - 1
			if !all.holds(&intent) || all.of(c.of).derivedMS != b.nowMS {
				t.Errorf("%s: want it held back until then, and noted that it is wanted", c.name)
			}
			if b.nowMS++; all.holds(&intent) {
				t.Errorf("%s: want it sent then", c.name)
			}
		}
	}
	b := emptyBase(1_000_000)
	all := &backoffs{outbox: b.outbox}
	for code := range 40 { // each code is counted separately, up to sixteen
		all.refused(exit, 100+code, "no", false)
	}
	if one := all.of(exit); one.refused != 40 || len(one.codes) != 17 || one.codes[0] != 24 || one.sinceMS != 1_000_000 {
		t.Errorf("want 16 codes and the rest as one, have %d refusals, %v", one.refused, one.codes)
	}
}

// An intent that is refused more than eight times at one moment of a backtest waits; otherwise that moment would never end.
func TestBacktestRetriesAtOneMomentAreBounded(t *testing.T) {
	t.Parallel()
	b := emptyBase(1_000_000)
	all := &backoffs{outbox: b.outbox, feed: true}
	exit := attempt{strategy: "one", symbol: coin, purpose: placement.Exit}
	for i := range 9 {
		all.refused(exit, 7, "no", false)
		if waits := all.of(exit) != nil; waits != (i == 8) {
			t.Errorf("refusal %d: want it to wait %t", i+1, i == 8)
		}
	}
	b.nowMS++
	all.all = nil
	all.refused(exit, 7, "no", false)
	other := exit
	other.key = "another"
	for range 8 {
		all.refused(other, 7, "no", false)
	}
	if len(all.all) != 0 {
		t.Errorf("want another moment and another intent counted again, have %+v", all.all)
	}
}

// A state is declared after three consecutive refusals of an intent derived in the last 30 s, for a stop by its position. The newest of two
// stops counts.
func TestRepeatedRefusalIsDeclared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		purpose placement.Purpose
		refused int
		agoMS   int64
		want    bool // declared
		stop    bool // a stop of an unprotected position
	}{
		{"three exits", placement.Exit, 3, 30_000, true, false},
		{"two exits", placement.Exit, 2, 0, false, false},
		{"three, not wanted for longer", placement.Exit, 3, 30_001, false, false},
		{"two stops", placement.StopLoss, 2, 0, false, true},
		{"three stops", placement.StopLoss, 3, 0, false, true},
		{"one stop", placement.StopLoss, 1, 0, false, false},
	} {
		b := emptyBase(1_000_000)
		all := &backoffs{outbox: b.outbox}
		of := attempt{strategy: "one", symbol: bitcoin, purpose: c.purpose}
		for range c.refused {
			all.refused(of, 7, "no", false)
		}
		b.nowMS += c.agoMS
		if have := all.declares(all.of(of)); have != c.want || (all.declared("one") != "") != c.want || all.declared("two") != "" {
			t.Errorf("%s: want it declared %t, have %t, %q", c.name, c.want, have, all.declared("one"))
		}
		all.watch()
		all.watch()
		if notes := facts[NoteIntentRefused](b.out.Notes); (len(notes) == 1) != c.want || len(notes) > 1 {
			t.Errorf("%s: want it reported once %t, have %+v", c.name, c.want, notes)
		}
		if have := all.stopRefused(bitcoin); (have != nil) != c.stop || all.stopRefused(ether) != nil {
			t.Errorf("%s: want the position unprotected %t, have %+v", c.name, c.stop, have)
		}
	}
	b := emptyBase(1_000_000)
	all := &backoffs{outbox: b.outbox}
	for i, kind := range []exchange.OrderType{exchange.StopMarket, exchange.MarketOrder, exchange.StopLimit} {
		for range 2 {
			all.count(attempt{"one", bitcoin, placement.StopLoss, "", kind}, 7, "no", false, []int64{5, 9, 7}[i])
		}
	}
	if newest := all.stopRefused(bitcoin); newest.kind != exchange.MarketOrder || newest.name() != "exit instead of the stop" {
		t.Errorf("want the newest of them, have %+v", newest)
	}
}

// On spot the plan's exit and the exit in place of a stop sell the same holding, and the exchange may have executed the refused one.
func TestSaleWaitsAfterRefusedSale(t *testing.T) {
	t.Parallel()
	sale := func(purpose placement.Purpose, kind exchange.OrderType, key exchange.SymbolKey) *reconcile.Intent {
		return &reconcile.Intent{Strategy: "one", Purpose: purpose, Order: exchange.NewOrder{Market: key.Market, Symbol: key.Name, Type: kind}}
	}
	for _, c := range []struct {
		name    string
		refused *reconcile.Intent
		next    *reconcile.Intent
		agoMS   int64
		want    bool
	}{
		{"an exit in place of a stop", sale(placement.Exit, exchange.Limit, coin), sale(placement.StopLoss, exchange.Limit, coin), 999, true},
		{"a second later", sale(placement.Exit, exchange.Limit, coin), sale(placement.StopLoss, exchange.Limit, coin), 1_000, false},
		{"the plan's exit after it", sale(placement.StopLoss, exchange.Limit, coin), sale(placement.Exit, exchange.Limit, coin), 999, true},
		{"a stop, which can be taken off", sale(placement.Exit, exchange.Limit, coin), sale(placement.StopLoss, exchange.StopLimit, coin), 0, false},
		{"on futures nothing is oversold", sale(placement.Exit, exchange.MarketOrder, bitcoin),
			sale(placement.StopLoss, exchange.MarketOrder, bitcoin), 0, false},
	} {
		b := emptyBase(1_000_000)
		all := &backoffs{outbox: b.outbox}
		all.refused(attemptOf(c.refused), 7, "no", false)
		b.nowMS += c.agoMS
		if have := all.holds(c.next); have != c.want {
			t.Errorf("%s: want it held back %t, have %t", c.name, c.want, have)
		}
	}
}

// The next time is that of the earliest waiting intent derived in the last 30 s.
func TestNextRetryTime(t *testing.T) {
	t.Parallel()
	b := emptyBase(1_000_000)
	all := &backoffs{outbox: b.outbox}
	if all.nextMS() != never {
		t.Error("want none")
	}
	for i, key := range []string{"a", "b", "c", "d"} {
		of := attempt{"one", bitcoin, placement.Entry, key, exchange.Limit}
		all.count(of, 7, "no", false, b.nowMS)
		one := all.of(of)
		one.untilMS = b.nowMS + []int64{9_000, 7_000, 0, 5_000}[i]
		one.derivedMS = b.nowMS - []int64{0, 30_000, 0, 30_001}[i]
	}
	if have := all.nextMS(); have != b.nowMS+7_000 {
		t.Errorf("want the second, have %d ms", have-b.nowMS)
	}
}

// An exit waits for the refused exit of its strategy and symbol, or for the refused cancel of a stop that blocks
// it.
func TestUntilWhenAnExitWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		of     attempt
		later  int64 // ms after the refusal, of which a second is waited
		waits  bool
		reason bool
	}{
		{"an exit", attempt{"one", bitcoin, placement.Exit, "", exchange.MarketOrder}, 999, true, true},
		{"an exit, a second later", attempt{"one", bitcoin, placement.Exit, "", exchange.MarketOrder}, 1_000, false, true},
		{"another strategy's", attempt{"two", bitcoin, placement.Exit, "", exchange.MarketOrder}, 0, false, false},
		{"another symbol's", attempt{"one", ether, placement.Exit, "", exchange.MarketOrder}, 0, false, false},
		{"an entry", attempt{"one", bitcoin, placement.Entry, "", exchange.MarketOrder}, 0, false, false},
		{"the cancel of a stop, which the exit does not wait for", attempt{"one", bitcoin, placement.Cancel, "stop", 0}, 0, false, false},
		{"the cancel of a stop on spot", attempt{"one", coin, placement.Cancel, "stop", 0}, 0, true, false},
		{"the cancel of another order", attempt{"one", bitcoin, placement.Cancel, "bid", 0}, 0, false, false},
		{"the cancel of one that has ended", attempt{"one", bitcoin, placement.Cancel, "ended", 0}, 0, false, false},
	} {
		b, on := emptyBase(1_000_000), bitcoin
		if c.of.symbol.Market == exchange.Spot {
			on = coin
		}
		all := &backoffs{outbox: b.outbox}
		for id, purpose := range map[string]placement.Purpose{"stop": placement.StopLoss, "bid": placement.Order} {
			order := exchange.NewOrder{Market: on.Market, Symbol: on.Name, Side: exchange.Sell, ClientOrderID: id, Quantity: 1}
			b.record(record.Record{Strategy: "one", Symbol: on, ClientOrderID: id, Body: record.Sending{Order: order, Purpose: purpose}})
		}
		of := &leg{symbol: b.tracker.Track(on)}
		of.config.Name = "one"
		all.count(c.of, 7, "no", false, b.nowMS)
		b.nowMS += c.later
		want := int64(0)
		if c.waits {
			want = 1_001_000
		}
		if have := all.exitFromMS(of); have != want || c.waits && all.all[0].derivedMS != b.nowMS {
			t.Errorf("%s: want until %d, have %d", c.name, want, have)
		}
		if have := all.exitReason(of); (have != "") != c.reason {
			t.Errorf("%s: want a reason %t, have %q", c.name, c.reason, have)
		}
	}
}

// The text contains the intent's name, the number of refusals, the cause, the time of the next try, and the printable part of the
// exchange's text.
func TestRefusedIntentText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   attempt
		want string
	}{
		{attempt{purpose: placement.StopLoss, kind: exchange.StopMarket}, "stop"},
		{attempt{purpose: placement.StopLoss, kind: exchange.MarketOrder}, "exit instead of the stop"},
		{attempt{purpose: placement.StopLoss, kind: exchange.Limit}, "exit instead of the stop"},
		{attempt{purpose: placement.TakeProfit}, "take-profit"},
		{attempt{purpose: placement.Cancel, key: "b1-2"}, "cancel of b1-2"},
		{attempt{purpose: placement.ExitOrder, key: "ask"}, "exit order ask"},
		{attempt{purpose: placement.ExitOrder}, "exit order"},
		{attempt{purpose: placement.Entry}, "entry"},
	} {
		if have := c.of.name(); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
	b := emptyBase(1_767_225_600_000) // 2026-01-01T00:00:00Z
	all := &backoffs{outbox: b.outbox}
	of := attempt{strategy: "one", symbol: bitcoin, purpose: placement.Exit}
	all.refused(of, 7, "no\x1b[2J", false)
	if have := all.reason(of); have != "the exchange refuses the exit, once: 7 no [2J; retried at 00:00:01" {
		t.Errorf("have %q", have)
	}
	all.refused(of, 0, strings.Repeat("é", 150), false)
	want := "the exchange refuses the exit, 2 times in a row: " + strings.Repeat("é", 100) + "…; retried at 00:00:01"
	if have := all.reason(of); have != want {
		t.Errorf("want %q\nhave %q", want, have)
	}
	if have := all.reason(attempt{strategy: "two"}); have != "" {
		t.Errorf("want no report of what was not refused, have %q", have)
	}
	if have := venueText(3, strings.Repeat("a", 200)); have != "3 "+strings.Repeat("a", 200) {
		t.Errorf("want a text of 200 bytes whole, have %q", have)
	}
}
