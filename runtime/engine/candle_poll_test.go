package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
)

const minuteMS = int64(exchange.Minute1)

// polled is a market that reads one-minute candles of a traded symbol. That many are stored, which closed one after another until now.
func polled(t testing.TB, key exchange.SymbolKey, held int) (*market, *series) {
	t.Helper()
	b := emptyBase(1_767_225_600_000) // midnight
	b.config = Config{CloseLagMS: 2_000}
	b.rulesMS = never
	m := &market{base: b, strict: map[exchange.SymbolKey]int64{}, limits: &limits{base: b}, tick: &tick{base: b}}
	s := m.seriesOf(key, exchange.Minute1)
	one := &leg{symbol: b.tracker.Track(key), series: s}
	for _, symbol := range sim.DefaultSymbols() {
		if symbol.Key() == key {
			one.config = StrategyConfig{Name: "one", Symbol: symbol, Interval: exchange.Minute1, Strategy: scripted(func(*strategy.View, *strategy.Plan) {})}
			see(one.symbol, func(o *seen) { o.Rules = symbol })
		}
	}
	one.config.Schedule = each(1_000)
	s.symbol, s.warmup, s.legs, s.pollMS = one.config.Symbol, 10, []*leg{one}, b.nowMS
	one.state = b.tracker.Strategy("one")
	b.addLeg(one)
	for i := range held {
		s.candles.Append(candleAt(b.nowMS - int64(held-i)*minuteMS))
	}
	if s.end = held; held > 0 {
		s.begun = true
	}
	return m, s
}

func candleAt(openMS int64) exchange.Candle {
	return exchange.Candle{OpenMS: openMS, Open: 100e8, High: 102e8, Low: 99e8, Close: 101e8, Volume: 1}
}

// A poll requests the candles after the newest stored one, or the warm-up and one more, and at most as many as an answer can contain.
func TestCandlePollRequest(t *testing.T) {
	t.Parallel()
	midnight := int64(1_767_225_600_000)
	for _, c := range []struct {
		name string
		key  exchange.SymbolKey
		held int
		want exchange.Request
	}{
		{"the warm-up on futures", bitcoin, 0, exchange.Request{Operation: exchange.FuturesCandles, StartMS: midnight - 11*minuteMS, Limit: 1_500}},
		{"after one candle on futures", bitcoin, 1, exchange.Request{Operation: exchange.FuturesCandles, StartMS: midnight, Limit: 1_500}},
		{"after the newest on futures", bitcoin, 5, exchange.Request{Operation: exchange.FuturesCandles, StartMS: midnight, Limit: 1_500}},
		{"the warm-up on spot", coin, 0, exchange.Request{Operation: exchange.SpotCandles, StartMS: midnight - 11*minuteMS, EndMS: midnight, Limit: 500}},
		{"after the newest on spot", coin, 5, exchange.Request{Operation: exchange.SpotCandles, StartMS: midnight, EndMS: midnight, Limit: 500}},
	} {
		m, s := polled(t, c.key, c.held)
		m.poll()
		c.want.Symbol, c.want.Interval = c.key.Name, exchange.Minute1
		if len(m.out.Calls) != 1 || m.out.Calls[0].Request != c.want {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, m.out.Calls)
		}
		m.nowMS += 3_600_000
		if m.poll(); len(m.out.Calls) != 1 || !s.asking {
			t.Errorf("%s: want one request until it is answered, have %d", c.name, len(m.out.Calls))
		}
	}
}

// The series whose candles a strategy decides on come first, then the shorter intervals, then the symbols in order.
func TestCandlePollOrder(t *testing.T) { // AllocsPerRun allows no parallel tests
	m, first := polled(t, bitcoin, 5)
	add := func(key exchange.SymbolKey, interval exchange.Interval, with func(*leg)) *leg {
		s := m.seriesOf(key, interval)
		one := &leg{symbol: m.tracker.Track(key), series: s, config: first.legs[0].config}
		one.config.Schedule, one.config.Interval = nil, interval
		s.symbol, s.pollMS, s.legs = first.symbol, m.nowMS, append(s.legs, one)
		if with != nil {
			with(one)
		}
		return one
	}
	add(bitcoin, exchange.Hour1, nil)
	add(bitcoin, exchange.Minute5, func(one *leg) { one.failure.why = "a test" })
	add(ether, exchange.Minute1, func(one *leg) { one.config.Removed = true })
	add(ether, exchange.Minute5, nil)
	read := add(ether, exchange.Minute15, func(one *leg) { one.config.Schedule = each(1_000) })
	add(coin, exchange.Minute1, func(one *leg) { read.series.readers = append(read.series.readers, one) })
	m.poll()
	have := ""
	for _, call := range m.out.Calls {
		have += fmt.Sprintf("%s %s %s, ", call.Request.Operation, call.Request.Symbol, call.Request.Interval)
	}
	want := "spot_candles BTC-USDT 1m, futures_candles ETH-USDT 5m, futures_candles ETH-USDT 15m, futures_candles BTC-USDT 1h, " +
		"futures_candles BTC-USDT 1m, futures_candles ETH-USDT 1m, futures_candles BTC-USDT 5m, "
	if have != want {
		t.Errorf("want\n%s\nhave\n%s", want, have)
	}
	m.out.Calls = nil
	if allocated := testing.AllocsPerRun(100, m.poll); allocated != 0 || len(m.out.Calls) != 0 {
		t.Errorf("want no allocation where nothing is due, have %g and %d requests", allocated, len(m.out.Calls))
	}
}

// Candles are read again two seconds after the next close; a second later if a due one was missing; after five seconds if a read failed or
// the market stands still; immediately if an answer was full.
func TestCandlePollSchedule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		key     exchange.SymbolKey
		afterMS int64 // after the close of the newest stored candle
		fresh   int   // candles in the answer, each after the one before
		err     error
		againMS int64 // relative to that time
		held    int
		frozen  bool
	}{
		{"the one that was due", bitcoin, 62_000, 1, nil, 60_000, 6, false},
		{"late by twenty seconds, the next by the clock", bitcoin, 82_000, 1, nil, 40_000, 6, false},
		{"none is due yet", bitcoin, 30_000, 0, nil, 32_000, 5, false},
		{"none is due for a moment", bitcoin, 61_999, 0, nil, 1, 5, false},
		{"the one that was due is not there", bitcoin, 62_000, 0, nil, 1_000, 5, false},
		{"one that is not closed yet is none", bitcoin, 61_999, 1, nil, 1, 5, false},
		{"two closed while it slept", bitcoin, 122_000, 2, nil, 60_000, 7, false},
		{"one of two that were due", bitcoin, 122_000, 1, nil, 1_000, 6, false},
		{"two intervals and the lag are not yet a standstill", bitcoin, 122_000, 0, nil, 1_000, 5, false},
		{"the market stands still", bitcoin, 122_001, 0, nil, 5_000, 5, true},
		{"the read failed", bitcoin, 62_000, 0, errors.New("broken"), 5_000, 5, false},
		{"futures: an answer that is not full", bitcoin, 1_499*60_000 + 2_000, 1_499, nil, 60_000, 1_504, false},
		{"futures: a full answer", bitcoin, 1_500*60_000 + 2_000, 1_500, nil, 0, 1_505, false},
		{"spot: an answer that is not full", coin, 499*60_000 + 2_000, 499, nil, 60_000, 504, false},
		{"spot: a full answer", coin, 500*60_000 + 2_000, 500, nil, 0, 505, false},
	} {
		m, s := polled(t, c.key, 5)
		from := m.nowMS
		m.nowMS += c.afterMS
		m.poll()
		event := &EventAnswer{Err: c.err}
		event.Answer.Candles = &exchange.Candles{Interval: exchange.Minute1}
		for i := range c.fresh {
			event.Answer.Candles.Append(candleAt(from + int64(i)*minuteMS))
		}
		m.applyPolled(s, event)
		if s.pollMS != m.nowMS+c.againMS || s.asking || s.end != c.held || s.stalled != c.frozen {
			t.Errorf("%s: want %d candles, and the next read after %d ms, frozen %t; have %d, %d, %t", c.name, c.held, c.againMS, c.frozen, s.end,
				s.pollMS-m.nowMS, s.stalled)
		}
		notes := facts[NoteStalled](m.out.Notes)
		if (len(notes) == 1) != c.frozen || c.frozen && (notes[0].Ended || !strings.Contains(notes[0].Text, " ")) {
			t.Errorf("%s: want a standstill reported %t, have %+v", c.name, c.frozen, notes)
		}
		if (s.faultMS == m.nowMS) != (c.err != nil) {
			t.Errorf("%s: want a fault since now %t, have %d", c.name, c.err != nil, s.faultMS)
		}
	}
}

// Failing reads of candles are declared stale after 30 seconds, until the first answer.
func TestReadsOfCandlesThatFailAreAFaultSinceTheFirst(t *testing.T) {
	t.Parallel()
	m, s := polled(t, bitcoin, 5)
	first := m.nowMS
	fails := func(err error) { m.applyPolled(s, &EventAnswer{Err: err}) }
	fails(errors.New("broken"))
	m.nowMS += 30_000
	fails(nil) // an answer without candles
	if s.stale(m.nowMS) || s.faultMS != first || s.fault != "the answer contained no candles" {
		t.Errorf("want a fault of 30 s that is not declared yet, have %d, %q, stale %t", m.nowMS-s.faultMS, s.fault, s.stale(m.nowMS))
	}
	m.nowMS++
	if d := s.degraded(m.nowMS); !s.stale(m.nowMS) || d.SinceMS != first || d.Cause != "candles of 1m cannot be read: the answer contained no candles" {
		t.Errorf("want it declared since the first that failed, have %+v", d)
	}
	event := &EventAnswer{}
	event.Answer.Candles = &exchange.Candles{Interval: exchange.Minute1}
	if m.applyPolled(s, event); s.stale(m.nowMS) || s.faultMS != 0 || s.fault != "" {
		t.Errorf("want it over with an answer, have %d, %q", s.faultMS, s.fault)
	}
	if have := len(facts[NoteFetchFailed](m.out.Notes)); have != 2 {
		t.Errorf("want both reads that failed reported, have %d", have)
	}
}

// Each new candle is reported together with the answer, a gap with its length, and the number of late candles.
func TestCandleReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		opens []int64 // in minutes after the newest stored candle
		held  int
		begun bool
		quiet bool
		want  string // candles in the answer, new candles, gaps, missed
		read  bool   // by a strategy that trades another symbol
	}{
		{"one", []int64{0}, 6, true, false, "[1] 1 [] []", false},
		{"one that is held already", []int64{-1}, 5, true, false, "[] 0 [] []", false},
		{"the one that is held, and the next", []int64{-1, 0}, 6, true, false, "[1] 1 [] []", false},
		{"three at once", []int64{0, 1, 2}, 8, true, false, "[3] 1 [] [2]", false},
		{"three, the first answer since the start", []int64{0, 1, 2}, 8, false, false, "[3] 1 [] []", false},
		{"one is missing between", []int64{0, 2}, 7, true, false, "[2] 1 [1] [1]", false},
		{"two are missing first", []int64{2}, 6, true, false, "[1] 1 [2] []", false},
		{"of a symbol that is read alone", []int64{0}, 6, true, false, "[1] 1 [] []", true},
		{"nobody wants to know", []int64{0, 1, 2}, 8, true, true, "[] 0 [] [2]", false},
	} {
		m, s := polled(t, bitcoin, 5)
		m.config.Quiet, s.begun = c.quiet, c.begun
		if c.read {
			s.legs = nil
		}
		event := &EventAnswer{}
		event.Answer.Candles = &exchange.Candles{Interval: exchange.Minute1}
		for _, minute := range c.opens {
			event.Answer.Candles.Append(candleAt(m.nowMS + minute*minuteMS))
		}
		m.nowMS = event.Answer.Candles.CloseMS(len(c.opens)-1) + 2_000
		m.applyPolled(s, event)
		if !s.begun {
			t.Errorf("%s: want it begun", c.name)
		}
		var answers, gaps, missed []int
		for _, fact := range facts[NoteCandles](m.out.Notes) {
			answers = append(answers, fact.Candles.Len())
		}
		for _, fact := range facts[NoteGap](m.out.Notes) {
			gaps = append(gaps, fact.Missing)
		}
		for _, fact := range facts[NoteMissed](m.out.Notes) {
			missed = append(missed, fact.Count)
		}
		have := fmt.Sprint(answers, len(facts[NoteCandle](m.out.Notes)), gaps, missed)
		if have != c.want || s.end != c.held || s.candles.Len() != c.held {
			t.Errorf("%s: want %s and %d held, have %s and %d", c.name, c.want, c.held, have, s.end)
		}
	}
}

// Candles of another symbol or another interval are not appended.
func TestCandlesThatAreFedAreOfTheirSeriesAlone(t *testing.T) {
	t.Parallel()
	m, s := polled(t, bitcoin, 0)
	others := []*series{m.seriesOf(ether, exchange.Minute1), m.seriesOf(bitcoin, exchange.Minute5)}
	fed := &exchange.Candles{Interval: exchange.Minute1}
	for i := range int64(3) {
		fed.Append(candleAt(m.nowMS + i*minuteMS))
	}
	m.applyCandles(&EventCandles{Series: bitcoin, Candles: fed, To: 3})
	if s.end != 3 || s.state().Last() != 101e8 {
		t.Errorf("want three candles, and the close as the price, have %d, %d", s.end, s.state().Last())
	}
	for _, other := range others {
		if other.end != 0 {
			t.Errorf("want none of %s %s, have %d", other.key, other.interval, other.end)
		}
	}
}

func TestANewCandleIsThePriceUntilATickerIsNewer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ticker int64 // its time, after the candle's close
		want   exchange.Price
	}{"older": {-1, 101e8}, "at the close": {0, 101e8}, "newer": {1, 77e8}} {
		m, s := polled(t, bitcoin, 5)
		state, closeMS := s.state(), m.nowMS+minuteMS
		see(state, func(o *seen) { o.Last, o.Mark, o.LastMS = 77e8, 78e8, closeMS+c.ticker })
		event := &EventAnswer{}
		event.Answer.Candles = &exchange.Candles{Interval: exchange.Minute1}
		event.Answer.Candles.Append(candleAt(m.nowMS))
		m.nowMS = closeMS + 2_000
		m.applyPolled(s, event)
		if s.price != 77e8 || s.priceAtMS != closeMS+c.ticker {
			t.Errorf("a ticker %s: want what it was before noted, have %d at %d", name, s.price, s.priceAtMS-closeMS)
		}
		if state.Last() != c.want || state.LastMS() != max(closeMS, closeMS+c.ticker) {
			t.Errorf("a ticker %s: want %d, have %d at %d", name, c.want, state.Last(), state.LastMS()-closeMS)
		}
	}
}
