package library

import (
	"errors"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// hearing is a signal strategy with the memory that its journal would have.
type hearing struct {
	strategy.Strategy
	memory strategy.Memory
}

func listen(t *testing.T, values strategy.Values) *hearing {
	t.Helper()
	return &hearing{Strategy: newStrategy(t, "signal", exchange.Futures, values)}
}

func (h *hearing) receive(t *testing.T, nowMS int64, signal strategy.Signal) error {
	t.Helper()
	receiver, takes := strategy.ReceiverOf(h.Strategy)
	if !takes {
		t.Fatal("want a strategy that takes signals")
	}
	view, plan := strategy.View{NowMS: nowMS, Memory: h.memory}, strategy.Plan{}
	err := receiver.Receive(&view, &signal, &plan)
	if remembered := plan.Remembered(); err != nil && len(remembered.Entries()) > 0 {
		t.Errorf("want nothing remembered of a signal not taken, have %v", remembered)
	}
	h.memory, _ = h.memory.With(plan.Remembered())
	return err
}

func (h *hearing) target(nowMS int64) strategy.Target {
	view, plan := strategy.View{NowMS: nowMS, Memory: h.memory}, strategy.Plan{}
	h.Decide(&view, &plan)
	return plan.Target
}

const hourMS = 3_600_000

func TestASignalIsInForceUntilTheNextOrItsExpiry(t *testing.T) {
	t.Parallel()
	h := listen(t, strategy.Values{"mode": "long_short", "expiry": "4h"})
	if have := h.target(0); have.Kind != strategy.NoTarget {
		t.Errorf("before any signal: want no target, have %+v", have)
	}
	whole := exchange.RateOne
	for _, c := range []struct {
		what   string
		signal strategy.Signal
		atMS   int64
		want   strategy.Target
	}{
		{"long", strategy.Signal{ID: "a", Side: 1, Share: whole, AtMS: 1_000}, 1_000, strategy.Target{Kind: strategy.ByEquity, Share: whole}},
		{"until its expiry", strategy.Signal{ID: "b", Side: 1, Share: whole, AtMS: 2_000}, 2_000 + 4*hourMS - 1,
			strategy.Target{Kind: strategy.ByEquity, Share: whole}},
		{"and no longer", strategy.Signal{ID: "c", Side: 1, Share: whole, AtMS: 3_000}, 3_000 + 4*hourMS, strategy.Flat()},
		{"its own expiry, when sooner", strategy.Signal{ID: "d", Side: 1, Share: whole, AtMS: 4_000, ExpiresMS: 9_000}, 9_000, strategy.Flat()},
		{"not its own, when later", strategy.Signal{ID: "e", Side: 1, Share: whole, AtMS: 5_000, ExpiresMS: 99 * hourMS}, 5_000 + 4*hourMS, strategy.Flat()},
		{"a quarter, short", strategy.Signal{ID: "f", Side: -1, Share: whole / 4, AtMS: 6_000}, 6_000,
			strategy.Target{Kind: strategy.ByEquity, Share: -whole / 4}},
		{"flat", strategy.Signal{ID: "g", Side: 0, Share: whole, AtMS: 7_000}, 7_000, strategy.Flat()},
	} {
		if err := h.receive(t, c.signal.AtMS, c.signal); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if have := h.target(c.atMS); have != c.want {
			t.Errorf("%s: want %+v, have %+v", c.what, c.want, have)
		}
	}
}

func TestASignalCountsOnceInOrderAndInTime(t *testing.T) {
	t.Parallel()
	h := listen(t, strategy.Values{"max_age": "60s"})
	one := exchange.RateOne
	for _, c := range []struct {
		what   string
		nowMS  int64
		signal strategy.Signal
		want   error
	}{
		{"first", 100_000, strategy.Signal{ID: "a", Side: 1, Share: one, AtMS: 100_000}, nil},
		{"again", 100_500, strategy.Signal{ID: "a", Side: 1, Share: one, AtMS: 100_000}, strategy.ErrRepeated},
		{"again under another time", 100_500, strategy.Signal{ID: "a", Side: 1, Share: one, AtMS: 100_400}, strategy.ErrRepeated},
		{"older than the last", 101_000, strategy.Signal{ID: "b", Side: 1, Share: one, AtMS: 99_999}, strategy.ErrSuperseded},
		{"of the same moment", 101_000, strategy.Signal{ID: "c", Side: 1, Share: one, AtMS: 100_000}, nil},
		{"a minute old", 200_000, strategy.Signal{ID: "d", Side: 1, Share: one, AtMS: 140_000}, nil},
		{"more than a minute old", 300_001, strategy.Signal{ID: "e", Side: 1, Share: one, AtMS: 240_000}, strategy.ErrLate},
		{"expired on the way", 300_000, strategy.Signal{ID: "f", Side: 1, Share: one, AtMS: 299_000, ExpiresMS: 300_000}, strategy.ErrLate},
		{"from the future", 300_000, strategy.Signal{ID: "g", Side: 1, Share: one, AtMS: 360_001}, strategy.ErrEarly},
		{"short where it goes long only", 300_000, strategy.Signal{ID: "h", Side: -1, Share: one, AtMS: 300_000}, strategy.ErrUnable},
		{"more than the size", 300_000, strategy.Signal{ID: "i", Side: 1, Share: one + 1, AtMS: 300_000}, strategy.ErrUnable},
		{"nothing of the size", 300_000, strategy.Signal{ID: "j", Side: 1, AtMS: 300_000}, strategy.ErrUnable},
		{"flat, and nothing of the size", 300_000, strategy.Signal{ID: "k", AtMS: 300_000}, strategy.ErrUnable},
		{"the least share of the size", 300_000, strategy.Signal{ID: "l", Side: 1, Share: 1, AtMS: 300_000}, nil},
		{"from as far in the future as it may be old", 300_000, strategy.Signal{ID: "future", Side: 1, Share: one, AtMS: 360_000}, nil},
	} {
		if err := h.receive(t, c.nowMS, c.signal); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: want %v, have %v", c.what, c.want, err)
		}
	}
}

func TestTheNumberOfRememberedIDsIsBounded(t *testing.T) {
	t.Parallel()
	h := listen(t, nil)
	for i := range 100 {
		at := int64(i) * 1_000
		signal := strategy.Signal{ID: string(rune('0' + i)), Side: 1, Share: exchange.RateOne, AtMS: at}
		if err := h.receive(t, at, signal); err != nil {
			t.Fatal(err)
		}
		if err := h.receive(t, at+1, signal); !errors.Is(err, strategy.ErrRepeated) {
			t.Fatalf("%d again: want it known, have %v", i, err)
		}
	}
	if have := len(h.memory.Entries()); have > 2*knownSignals+5 {
		t.Errorf("want at most %d values in memory, have %d", 2*knownSignals+5, have)
	}
}

func TestAShareOfAQuantityIsCutToItsStep(t *testing.T) {
	t.Parallel()
	place := setting(t, exchange.Futures)
	quantity, err := place.Symbol.Quantity(decimal.RequireFromString("0.015"))
	if err != nil {
		t.Fatal(err)
	}
	place.Size = strategy.Size{Quantity: quantity}
	made, err := signals().New(place, strategy.Values{"mode": "long_short"})
	if err != nil {
		t.Fatal(err)
	}
	h := &hearing{Strategy: made}
	if err := h.receive(t, 1_000, strategy.Signal{ID: "a", Side: -1, Share: exchange.RateOne / 2, AtMS: 1_000}); err != nil {
		t.Fatal(err)
	}
	if want, have := "-0.007", place.Symbol.QuantityDecimal(h.target(1_000).Quantity).String(); have != want {
		t.Errorf("half of 0.015: want %s, have %s", want, have)
	}
	if err := h.receive(t, 2_000, strategy.Signal{ID: "b", Side: 1, Share: exchange.RateOne / 100, AtMS: 2_000}); !errors.Is(err, strategy.ErrUnable) {
		t.Errorf("less than a step: want it refused, have %v", err)
	}
}

func TestAnIDWithAnotherContentIsRefusedNotTakenForKnown(t *testing.T) {
	t.Parallel()
	h, whole := listen(t, strategy.Values{}), exchange.RateOne
	for _, c := range []struct {
		signal strategy.Signal
		want   error
	}{
		{strategy.Signal{ID: "a", Side: 1, Share: whole, AtMS: 1_000}, nil},
		{strategy.Signal{ID: "a", Side: 1, Share: whole, AtMS: 2_000}, strategy.ErrRepeated},
		{strategy.Signal{ID: "a", Side: 0, Share: whole, AtMS: 3_000}, strategy.ErrReused},
		{strategy.Signal{ID: "a", Side: 1, Share: whole / 2, AtMS: 3_000}, strategy.ErrReused},
		{strategy.Signal{ID: "b", Side: 0, Share: whole, AtMS: 3_000}, nil},
	} {
		if have := h.receive(t, 3_000, c.signal); !errors.Is(have, c.want) {
			t.Errorf("%+v: want %v, have %v", c.signal, c.want, have)
		}
	}
}

// A signal with its own expiry is in force until then.
func TestASignalWithoutExpiryIsInForceUntilTheNext(t *testing.T) {
	t.Parallel()
	h := listen(t, strategy.Values{"mode": "long_short", "expiry": "0s"})
	whole := strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne}
	for _, c := range []struct {
		signal strategy.Signal
		atMS   int64
		want   strategy.Target
	}{
		{strategy.Signal{ID: "a", Side: 1, Share: exchange.RateOne, AtMS: 1_000}, 100_000 * hourMS, whole},
		{strategy.Signal{ID: "b", Side: 1, Share: exchange.RateOne, AtMS: 2_000, ExpiresMS: 100 * hourMS}, 100*hourMS - 1, whole},
		{strategy.Signal{ID: "c", Side: 1, Share: exchange.RateOne, AtMS: 3_000, ExpiresMS: 100 * hourMS}, 100 * hourMS, strategy.Flat()},
	} {
		if err := h.receive(t, c.signal.AtMS, c.signal); err != nil {
			t.Errorf("%+v: %v", c.signal, err)
		}
		if have := h.target(c.atMS); have != c.want {
			t.Errorf("%+v at %d: want %+v, have %+v", c.signal, c.atMS, c.want, have)
		}
	}
}

// None of sixteen is accepted again, although their times would allow it.
func TestSignalsOfOneMomentAreRememberedEach(t *testing.T) {
	t.Parallel()
	h := listen(t, nil)
	for _, want := range []error{nil, strategy.ErrRepeated} {
		for i := range knownSignals {
			signal := strategy.Signal{ID: string(rune('a' + i)), Side: 1, Share: exchange.RateOne - exchange.Rate(i), AtMS: 1_000}
			if err := h.receive(t, 1_000, signal); !errors.Is(err, want) {
				t.Errorf("signal %d: want %v, have %v", i, want, err)
			}
		}
	}
}

// The plan has the signal's time, and names its side.
func TestWhyASignalIsFollowed(t *testing.T) {
	t.Parallel()
	h := listen(t, strategy.Values{"mode": "long_short", "expiry": "1h"})
	for i, want := range []string{"a signal requested a short position", "a signal requested no position", "a signal requested a long position"} {
		at := int64(i+1) * 1_000
		if err := h.receive(t, at, strategy.Signal{ID: want, Side: i - 1, Share: exchange.RateOne / 2, AtMS: at}); err != nil {
			t.Fatal(err)
		}
		for nowMS, reason := range map[int64]string{at: want, at + hourMS: "the last signal has expired"} {
			plan := strategy.Plan{}
			if h.Decide(&strategy.View{NowMS: nowMS, Memory: h.memory}, &plan); plan.Reason != reason || plan.SignalMS != at {
				t.Errorf("at %d: want %q by a signal of %d, have %q, %d", nowMS, reason, at, plan.Reason, plan.SignalMS)
			}
		}
	}
}

// A share is one of the quantity, of the amount of money, or of the equity. A share of zero is flat.
func TestAShareOfASize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size  strategy.Size
		share exchange.Rate
		want  strategy.Target // for a short signal
	}{
		{strategy.Size{Quantity: 15}, exchange.RateOne / 2, strategy.Target{Kind: strategy.ByQuantity, Quantity: -7}},
		{strategy.Size{Quantity: 15}, exchange.RateOne / 100, strategy.Flat()},
		{strategy.Size{Quote: exchange.AmountOf(50)}, exchange.RateOne / 4, strategy.Target{Kind: strategy.ByQuote, Quote: exchange.MustAmount("-12.5")}},
		{strategy.Size{Equity: exchange.RateOne * 3}, exchange.RateOne / 4, strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne * 3 / 4}},
		{strategy.Size{}, exchange.RateOne, strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne}},
	} {
		where := setting(t, exchange.Futures)
		where.Size = c.size
		h := &hearing{Strategy: newStrategyIn(t, where, "signal", strategy.Values{"mode": "long_short"})}
		h.memory = strategy.MemoryOf(strategy.MemoryVariable{Key: signalSide, Value: -1}, strategy.MemoryVariable{Key: signalShare, Value: int64(c.share)})
		if have := h.target(1); have != c.want {
			t.Errorf("%s of %+v: want %+v, have %+v", c.share, c.size, c.want, have)
		}
	}
}
