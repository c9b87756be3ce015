package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// A change triggers a round immediately. If the rules become stricter while there is a position, or a position is below the smallest order,
// they are read again in three seconds.
func TestChangedRulesTriggerRound(t *testing.T) {
	t.Parallel()
	const soon, stays = rulesUrgentMS, polling.RulesMS
	for _, c := range []struct {
		name    string
		held    exchange.Quantity
		change  func(s *exchange.Symbol)
		round   bool
		againMS int64
	}{
		{"nothing has changed", 10, func(*exchange.Symbol) {}, false, stays},
		{"not traded any more", 10, func(s *exchange.Symbol) { s.Tradable = false }, true, soon},
		{"not traded any more, and nothing is held", 0, func(s *exchange.Symbol) { s.Tradable = false }, true, stays},
		{"reduced only", 10, func(s *exchange.Symbol) { s.ReduceOnly = true }, true, soon},
		{"nothing can be canceled", 10, func(s *exchange.Symbol) { s.Cancelable = false }, true, soon},
		{"a coarser price", 10, func(s *exchange.Symbol) { s.PriceTick *= 2 }, true, soon},
		{"a coarser quantity", 10, func(s *exchange.Symbol) { s.QuantityTick *= 2 }, true, soon},
		{"a larger minimum", 10, func(s *exchange.Symbol) { s.MinNotional = s.MinNotional.Mul(2) }, true, soon},
		{"a finer price", 10, func(s *exchange.Symbol) { s.PriceTick /= 2 }, true, stays},
		{"a finer quantity", 10, func(s *exchange.Symbol) { s.QuantityTick /= 2 }, true, stays},
		{"a smaller minimum", 10, func(s *exchange.Symbol) { s.MinNotional = exchange.AmountOf(1) }, true, stays},
		{"another scale", 10, func(s *exchange.Symbol) { s.PriceScale++; s.Tradable = false }, false, stays},
		{"another scale of quantities", 10, func(s *exchange.Symbol) { s.QuantityScale++; s.Tradable = false }, false, stays},
		{"the position is below the minimum", 10, func(s *exchange.Symbol) { s.MinNotional = exchange.AmountOf(501) }, true, soon},
	} {
		w := settled(t)
		see(w.symbol(), func(o *seen) { o.Position, o.Last = c.held, 50_000e8 })
		before := *w.symbol().Rules()
		before.QuantityTick, before.PriceTick, before.Cancelable = 4, 4, true
		see(w.symbol(), func(o *seen) { o.Rules = &before })
		fresh := before
		fresh.Brackets = nil
		c.change(&fresh)
		w.engine.roundMS, w.engine.rulesMS = never, w.engine.nowMS+polling.RulesMS
		answer := &EventAnswer{Answer: exchange.Answer{Symbols: exchange.FetchedOf([]*exchange.Symbol{&fresh})}}
		w.engine.market.applyRules(answer)
		taken := w.symbol().Rules() != &before
		if (w.engine.roundMS == w.engine.nowMS) != c.round || w.engine.rulesMS != w.engine.nowMS+c.againMS || taken != !strings.HasPrefix(c.name, "another") {
			t.Errorf("%s: want a round at once %t, and rules read after %d ms, have %d, %d, taken %t", c.name, c.round, c.againMS,
				w.engine.roundMS-w.engine.nowMS, w.engine.rulesMS-w.engine.nowMS, taken)
		}
		if taken && len(w.symbol().Rules().Brackets) != len(before.Brackets) {
			t.Errorf("%s: want the margin levels that were known to stay", c.name)
		}
		if c.againMS != soon || c.name == "the position is below the minimum" {
			continue
		}
		for after, again := range map[int64]int64{rulesStrictMS - 1: soon, rulesStrictMS: stays} { // for two minutes
			w.engine.market.strict[bitcoin] = w.engine.nowMS - after
			w.engine.startMS = w.engine.nowMS - rulesStrictMS
			w.engine.rulesMS = w.engine.nowMS + polling.RulesMS
			if w.engine.market.applyRules(answer); w.engine.rulesMS != w.engine.nowMS+again {
				t.Errorf("%s: %d ms later: want the rules read after %d ms, have %d", c.name, after, again, w.engine.rulesMS-w.engine.nowMS)
			}
		}
	}
	w := settled(t)
	w.engine.market.applyRules(&EventAnswer{Err: errLate})
	w.engine.market.applyRules(&EventAnswer{})
}

// Such a position is worth less than the smallest order, and more than an eighth of it, which fees and steps may leave.
func TestPositionBelowSmallestOrder(t *testing.T) {
	t.Parallel()
	for held, want := range map[exchange.Quantity]bool{0: false, 9: false, 10: true, -10: true, 79: true, -79: true, 80: false, 81: false} {
		rules := *settled(t).symbol().Rules()
		rules.MinNotional = exchange.AmountOf(4_000)
		state := new(reconcile.SymbolState)
		see(state, func(o *seen) { o.Rules, o.Last, o.Position = &rules, 50_000e8, held })
		if have := stuck(state, held); have != want {
			t.Errorf("%d steps, of which 80 are an order: want %t, have %t", held, want, have)
		}
	}
}

// The rules may have become stricter just before the start, so they are read again soon.
func TestUncoveredPartBelowMinimumRereadsRules(t *testing.T) {
	t.Parallel()
	uncoveredPart(t)
}

func uncoveredPart(t testing.TB) {
	for _, c := range []struct {
		stop      exchange.Quantity // of a position of 10; an order has at least two steps
		afterMS   int64             // relative to the start
		want      bool
		forbidden bool // the symbol is not traded
	}{
		{0, 0, false, false}, {8, 0, false, false}, {9, 0, true, false}, {10, 0, false, false}, {11, 0, false, false},
		{9, rulesStrictMS - 1, true, false}, {9, rulesStrictMS, false, false},
		{8, 0, true, true}, {10, 0, false, true}, {8, rulesStrictMS - 1, true, true}, {8, rulesStrictMS, false, true},
	} {
		w := settled(t)
		rules := *w.symbol().Rules()
		rules.MinNotional, rules.Tradable = exchange.AmountOf(100), !c.forbidden
		see(w.symbol(), func(o *seen) { o.Rules, o.Position, o.Last = &rules, 10, 50_000e8 })
		if c.stop > 0 {
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, Quantity: c.stop,
				ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID,
				Body: record.Sending{Order: order, Purpose: placement.StopLoss}})
		}
		w.engine.startMS = w.engine.nowMS - c.afterMS
		if have := w.engine.belowStricter(w.symbol()); have != c.want {
			t.Errorf("a stop of %d, %d ms after the start, not traded %t: want %t, have %t", c.stop, c.afterMS, c.forbidden, c.want, have)
		}
	}
}

// A wrong read shows none of a position that is below the minimum by the rules as last read: they are read again soon all the same (seed 1104060563).
func TestRulesAreReadAgainForAPositionThatAWrongReadOmits(t *testing.T) {
	t.Parallel()
	positionOmitted(t)
}

func positionOmitted(t testing.TB) {
	w := settled(t)
	rules := *w.symbol().Rules()
	rules.MinNotional = exchange.AmountOf(501)
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
	see(w.symbol(), func(o *seen) { o.Rules, o.Position, o.Last = &rules, 0, 50_000e8 })
	w.engine.startMS, w.engine.rulesMS = w.engine.nowMS-rulesStrictMS, w.engine.nowMS+polling.RulesMS
	if !w.engine.belowStricter(w.symbol()) {
		t.Error("want the position by the fills to be below the minimum")
	}
	w.engine.market.applyRules(&EventAnswer{Answer: exchange.Answer{Symbols: exchange.FetchedOf([]*exchange.Symbol{&rules})}})
	if again := w.engine.rulesMS - w.engine.nowMS; again != rulesUrgentMS {
		t.Errorf("want the rules read again after 3 s, have %d ms", again)
	}
}

// If the exchange's candles stand still, the price is as old as the exchange's times indicate; otherwise it is current.
func TestPriceAge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		frozen     bool
		candles    int
		reportedMS int64 // relative to the newest candle's close
		want       int64 // relative to the same; now is an hour later
	}{
		{"candles close", false, 3, -500, 3_600_000}, {"they stand still", true, 3, -500, 0}, {"and a trade was later", true, 3, 700, 700},
		{"and a trade is of the future", true, 3, 3_700_000, 3_600_000}, {"no candle is known", true, 0, 700, 3_600_000},
		{"one candle is known", true, 1, -500, 0},
	} {
		w := settled(t)
		one := w.heldCandles(c.candles)
		one.series.stalled = c.frozen
		closed := w.now
		w.engine.nowMS = closed + 3_600_000
		if have := w.engine.market.priceTimeMS(bitcoin, closed+c.reportedMS) - closed; have != c.want {
			t.Errorf("%s: want it of %d ms after the newest close, have %d", c.name, c.want, have)
		}
	}
}

// A fed price sets the last price, and the mark price to its own or else to the last price.
func TestFedPriceSetsLastAndMark(t *testing.T) {
	t.Parallel()
	for mark, want := range map[exchange.Price]exchange.Price{0: 7, 9: 9} {
		w := settled(t)
		w.engine.nowMS += 5
		w.engine.market.applyPrice(&EventPrice{Series: bitcoin, Last: 7, Mark: mark})
		if s := w.symbol(); s.Last() != 7 || s.Mark() != want || s.LastMS() != w.engine.nowMS {
			t.Errorf("a mark of %d: want %d, have %d at %d", mark, want, s.Mark(), s.LastMS())
		}
	}
}

// The rate was unknown before. A failed read leaves the last rate.
func TestBacktestShowsFundingRateOncePaid(t *testing.T) {
	t.Parallel()
	for _, feed := range []bool{false, true} {
		w := settled(t, func(w *world) {
			w.config.Strategies[0].Strategy = onlooker{hold(0), strategy.Watching{Funding: true}}
		})
		w.engine.config.Feed = feed
		one := w.engine.legs[0]
		one.watched.next, one.watched.rateKnown = 0, false
		var have []string
		for _, rate := range []exchange.Rate{100, 200, 300} {
			one.watched.fundingRequested = true
			event := &EventAnswer{Answer: exchange.Answer{Funding: exchange.FundingRate{Rate: rate, NextMS: w.now + 9}}}
			if rate == 300 {
				event.Err = errLate
			}
			w.engine.market.applyFunding(one, event)
			have = append(have, fmt.Sprint(one.view.Funding.Rate, one.view.Funding.Known))
			again := w.engine.nowMS + 60_000
			if feed && event.Err == nil {
				again = w.now + 9
			}
			if one.watched.fundingRequested || one.watched.fundingMS != again {
				t.Errorf("in a backtest %t: want it read again at %d, have %d", feed, again, one.watched.fundingMS)
			}
		}
		want := fmt.Sprint(exchange.Rate(100), true, " ", exchange.Rate(200), true, " ", exchange.Rate(200), true)
		if feed {
			want = fmt.Sprint(exchange.Rate(0), false, " ", exchange.Rate(100), true, " ", exchange.Rate(100), true)
		}
		if strings.Join(have, " ") != want || len(facts[NoteFetchFailed](w.out.Notes)) != 1 {
			t.Errorf("in a backtest %t: want %s, have %s", feed, want, have)
		}
	}
}

// Funding rates and order books are read if they are watched, one at a time; the rules each minute.
func TestWatchedReadsAreDue(t *testing.T) {
	t.Parallel()
	for _, market := range []option{func(*world) {}, onSpot} {
		w := newWorld(t, hold(0), market)
		w.config.Strategies[0].Strategy = onlooker{hold(0), strategy.Watching{Funding: true, OrderBook: true}}
		w.start()
		w.pass(20_000)
		w.engine.out = &w.out
		one, m := w.engine.legs[0], w.engine.market
		futures := one.symbol.Key().Market == exchange.Futures
		if one.watched.fundingMS == never == futures || one.watched.orderBookMS == never {
			t.Fatalf("want the book watched, and on futures the rate, have %+v", one.watched)
		}
		for _, early := range []int64{1, 0} {
			one.watched.fundingMS, one.watched.orderBookMS, w.engine.rulesMS = w.engine.nowMS+early, w.engine.nowMS+early, w.engine.nowMS+early
			one.series.pollMS, one.series.asking = never, false
			one.watched.fundingRequested, one.watched.orderBookRequested = false, false
			w.out.Reset()
			for range 2 {
				m.poll()
				m.pollOrderBooks()
				m.pollFunding()
			}
			have := len(w.out.Calls)
			if want := map[int64]int{1: 0, 0: 3}[early]; have != want || early == 0 && w.engine.rulesMS != w.engine.nowMS+polling.RulesMS {
				t.Errorf("%d ms before their time: want %d reads, have %d", early, want, have)
			}
		}
		rules, book := exchange.FuturesSymbols, exchange.FuturesDepth
		if !futures {
			rules, book = exchange.SpotPairs, exchange.SpotDepth
		}
		want := fmt.Sprint([]exchange.Operation{rules, book, exchange.FuturesFundingRate})
		var have []exchange.Operation
		for i := range w.out.Calls {
			have = append(have, w.out.Calls[i].Request.Operation)
		}
		if fmt.Sprint(have) != want {
			t.Errorf("want %s, have %s", want, have)
		}
		depth := exchange.Depth{Bids: []exchange.Level{{Price: 7}}, Asks: []exchange.Level{{Price: 8}}}
		m.applyOrderBook(one, &EventAnswer{Answer: exchange.Answer{Depth: depth}})
		if one.watched.orderBookRequested || one.watched.orderBookMS != w.engine.nowMS+polling.OrderBookMS {
			t.Errorf("want the book read again in two seconds, have %+v", one.watched)
		}
		m.applyOrderBook(one, &EventAnswer{Err: errLate})
		if one.view.OrderBook.AtMS != w.engine.nowMS || len(one.view.OrderBook.Bids) != 1 || len(facts[NoteFetchFailed](w.out.Notes)) != 1 {
			t.Errorf("want the last book to stay, and the failure reported, have %+v", w.out.Notes)
		}
	}
}

// The engine starts with rules.
func TestTheRulesAreReadAMinuteAfterTheStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	asked := []int64{}
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesSymbols {
			asked = append(asked, w.now-wayMS-startMS)
		}
		return fate{}
	}
	w.pass(130_000)
	if want := []int64{60_000, 120_000}; !slices.Equal(asked, want) {
		t.Errorf("want the rules read after %v ms, have %v", want, asked)
	}
}

// A strategy decides by its schedule, or at the next close, but never once it has failed or was removed.
func TestNextDecisionTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want int64 // relative to the newest close; -1 for never
	}{
		{"by its schedule", func(w *world, one *leg) { one.config.Schedule, one.schedule.nextMS = each(1_000), w.now+77 }, 77},
		{"at the next close", func(*world, *leg) {}, minuteMS},
		{"without candles, at the close of the minute", func(_ *world, one *leg) { one.series.end = 0 }, minuteMS - startMS%minuteMS - 20_000},
		{"it failed", func(_ *world, one *leg) { one.failure.why = "a bug" }, -1},
		{"it was removed", func(_ *world, one *leg) { one.config.Removed = true }, -1},
	} {
		w := settled(t)
		one := w.heldCandles(3)
		one.config.Schedule = nil
		c.with(w, one)
		want := w.now + c.want
		if c.want < 0 {
			want = 0
		}
		if have := one.nextTick(w.now); have != want {
			t.Errorf("%s: want it %d ms after the newest close, have %d", c.name, c.want, have-w.now)
		}
	}
}

// A strategy is given its own candles up to the newest that all the other symbols it reads have, too.
func TestCandlesAreLimitedToCommonClose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		others  []int // known candles of each; their newest is older by lags
		lags    []int64
		want    int
		awaited bool
		lacks   bool // fewer than three
	}{
		{nil, nil, 5, false, false}, {[]int{5}, []int64{0}, 5, false, false}, {[]int{5}, []int64{1}, 4, true, false},
		{[]int{5, 5}, []int64{1, 3}, 2, true, false}, {[]int{5, 5}, []int64{3, 1}, 2, true, false}, {[]int{0}, []int64{0}, 0, true, true},
		{[]int{2}, []int64{0}, 5, false, true}, {[]int{3}, []int64{0}, 5, false, false}, {[]int{5}, []int64{9}, 0, true, false},
	} {
		w := settled(t)
		one := w.heldCandles(5)
		one.config.Strategy = slow{hold(0)}
		for i, count := range c.others {
			s := w.etherCandles(count)
			for n := range count {
				s.candles.OpenMS[n] -= c.lags[i] * minuteMS
			}
			one.others = append(one.others, s)
		}
		if have := one.reached(); have != c.want || (one.awaited() != "") != c.awaited || (one.lacking() != nil) != c.lacks {
			t.Errorf("%+v: want %d candles, have %d, awaited %q, lacking %t", c, c.want, have, one.awaited(), one.lacking() != nil)
		}
	}
}

// Refusals end if the intent was not derived for ten minutes, if its order no longer exists, or if the position that it should close is
// closed.
func TestRefusalsOfEndedIntentsAreForgotten(t *testing.T) {
	t.Parallel()
	of := func(purpose placement.Purpose, key string) attempt {
		return attempt{strategy: "one", symbol: bitcoin, purpose: purpose, key: key}
	}
	for _, c := range []struct {
		name string
		a    attempt
		with func(w *world, one *backoff)
		want bool // forgotten
	}{
		{"an entry", of(placement.Entry, ""), nil, false},
		{"an entry that was not wanted for ten minutes", of(placement.Entry, ""), func(w *world, one *backoff) {
			one.derivedMS = w.engine.nowMS - forgetBackoffMS
		}, false},
		{"an entry that was not wanted for longer", of(placement.Entry, ""), func(w *world, one *backoff) {
			one.derivedMS = w.engine.nowMS - forgetBackoffMS - 1
		}, true},
		{"the leverage", of(placement.Leverage, ""), nil, false},
		{"an exit of a position that is over", of(placement.Exit, ""), nil, true},
		{"an exit of a position", of(placement.Exit, ""), func(w *world, _ *backoff) { see(w.symbol(), func(o *seen) { o.Position = 1 }) }, false},
		{"an exit of a position that may not be over", of(placement.Exit, ""), func(w *world, _ *backoff) {
			see(w.symbol(), func(o *seen) {
				o.Settled = false
			})
		}, false},
		{"an exit of a position that is not trusted to be over", of(placement.Exit, ""), func(w *world, _ *backoff) {
			see(w.symbol(), func(o *seen) { o.Contradicted = "a witness" })
		}, false},
		{"a stop of a position that is over", of(placement.StopLoss, ""), nil, true},
		{"a cancel of an order that there is not", of(placement.Cancel, "none"), nil, true},
		{"a cancel", of(placement.Cancel, "own"), nil, false},
	} {
		w := settled(t)
		b := w.engine.backoffs
		if c.a.key == "own" {
			c.a.key = w.sends(placement.Order)
		}
		for range declaredAfter {
			b.count(c.a, 7, "no", false, w.engine.nowMS)
		}
		one := b.all[0]
		if one.noted = true; c.with != nil {
			c.with(w, one)
		}
		w.out.Reset()
		b.watch()
		if have := len(b.all) == 0; have != c.want {
			t.Errorf("%s: want it forgotten %t, have %t", c.name, c.want, have)
		}
		over := c.want || one.derivedMS < w.engine.nowMS-currentMS // an intent that is not derived now is not declared
		if notes := facts[NoteIntentRefused](w.out.Notes); (len(notes) == 1) != over || over && (!notes[0].Ended || notes[0].Purpose != c.a.purpose) {
			t.Errorf("%s: want its end reported %t, have %+v", c.name, over, notes)
		}
		if one.noted == over {
			t.Errorf("%s: want it noted as declared %t", c.name, !over)
		}
	}
}

// botd's own exit protects it when the price passes the level.
func TestUnprotectedRemedy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options []option
		more    string
	}{{nil, ""}, {[]option{protected}, "; botd exits at market itself when the price passes 49000"}} {
		w := newWorld(t, hold(10), c.options...)
		w.pass(20_000)
		w.wantHeld(10)
		see(w.symbol(), func(o *seen) { o.UnprotectedSinceMS = w.engine.nowMS - unprotectedAfterMS })
		want := "remove the cause that prevents the stop, or botd halt --level flatten --symbol BTC-USDT; nothing opens there" + c.more
		for _, d := range w.engine.Degraded() {
			if d.State != "unprotected" || d.Remedy != want {
				t.Errorf("want %q, have %+v", want, d)
			}
		}
	}
}

// While the exchange does not know a symbol, it cannot be read. The start reads it again, and sends the stop as after a first refusal (seed 1037062319).
func TestStopRefusedForAnUnknownSymbolDoesNotWaitAfterAStart(t *testing.T) {
	t.Parallel()
	restoresUnknown(t, []int{7, 7, 7, 7}, 8*firstReduceMS)
	restoresUnknown(t, []int{exchange.CodeFuturesInvalidSymbol, exchange.CodeFuturesInvalidSymbol, exchange.CodeFuturesInvalidSymbol}, firstReduceMS)
	restoresUnknown(t, []int{exchange.CodeFuturesInvalidSymbol, 7, 7}, 2*firstReduceMS)
}

func restoresUnknown(t testing.TB, codes []int, want int64) {
	t.Helper()
	w := settled(t)
	for _, code := range codes {
		id := w.sends(placement.StopLoss)
		w.engine.tracker.Apply(&record.Record{AtMS: w.engine.nowMS, ClientOrderID: id, Body: record.Refused{Reason: "no", Code: code}})
	}
	w.engine.backoffs.all = nil
	w.engine.backoffs.restore()
	for _, one := range w.engine.backoffs.all {
		if have := one.untilMS - w.engine.nowMS; have != want {
			t.Errorf("%v: want a wait of %d ms, have %d", codes, want, have)
		}
	}
	if len(w.engine.backoffs.all) != 1 {
		t.Errorf("%v: want one intent, have %+v", codes, w.engine.backoffs.all)
	}
}

// The refusal is restored unless it is ten minutes old; a backtest has none.
func TestRecentRefusalsAreRestoredAtStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agoMS int64
		feed  bool
		want  int
	}{{0, false, 1}, {forgetBackoffMS, false, 1}, {forgetBackoffMS + 1, false, 0}, {0, true, 0}} {
		w := settled(t)
		id := w.sends(placement.Entry)
		w.engine.tracker.Apply(&record.Record{AtMS: w.engine.nowMS, ClientOrderID: id, Body: record.Refused{Reason: "no", Code: 7}})
		w.engine.nowMS += c.agoMS
		w.engine.backoffs.feed = c.feed
		w.engine.backoffs.all = nil
		if w.engine.backoffs.restore(); len(w.engine.backoffs.all) != c.want {
			t.Errorf("%d ms ago, in a backtest %t: want %d, have %+v", c.agoMS, c.feed, c.want, w.engine.backoffs.all)
		}
		for _, one := range w.engine.backoffs.all {
			if waits := one.untilMS - (w.engine.nowMS - c.agoMS); waits != firstOpenMS {
				t.Errorf("%d ms ago: want it to have waited for %d ms, have %d", c.agoMS, firstOpenMS, waits)
			}
		}
	}
}
