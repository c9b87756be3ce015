package oracle

import (
	"strings"
	"testing"
)

var (
	futures = Symbol{Name: "BTC-USDT"}
	spot    = Symbol{Spot: true, Name: "SOL-USDT"}
)

// rules returns the names of the findings, in order.
func rules(o *Oracle) string {
	var names []string
	for _, v := range o.Violations() {
		names = append(names, v.Rule)
	}
	return strings.Join(names, " ")
}

func judged() *Oracle {
	o := New(5_000)
	o.Judge(futures, Limits{Position: 100, Placement: 20, Protected: true})
	o.Judge(spot, Limits{Position: 100, Placement: 20, Protected: true, Dust: 1})
	return o
}

func entry(id, quantity int64) Order {
	return Order{ID: id, Own: true, Symbol: futures, Buy: true, Quantity: quantity}
}

func TestLogVerdicts(t *testing.T) {
	t.Parallel()
	stop := Order{ID: 9, Own: true, Symbol: futures, Stop: true, ClosePosition: true}
	for name, c := range map[string]struct {
		log  func(o *Oracle)
		want string
	}{
		"an entry with its stop in time": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Ended(10, 1)
			o.Shown(1_000, 1_000, futures)
			o.Accepted(6_000, stop)
			o.Advance(60_000)
		}, ""},
		"a stop one millisecond late": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Shown(1_000, 1_000, futures)
			o.Accepted(6_001, stop)
		}, "unprotected"},
		"the position was not shown": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Advance(600_000)
		}, ""},
		"a read shows an earlier position": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Accepted(20, Order{ID: 2, Own: true, Symbol: futures, ReduceOnly: true, Quantity: 100})
			o.Filled(30, Fill{2, futures, false, 100})
			o.Accepted(40, entry(3, 100))
			o.Filled(50, Fill{3, futures, true, 100})
			o.Shown(1_000, 49, futures)
			o.Advance(60_000)
		}, ""},
		"an old read shows the position": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(50, Fill{1, futures, true, 100})
			o.Shown(1_000, 49, futures)
			o.Shown(40_000, 50, futures)
			o.Advance(45_001)
		}, "unprotected"},
		"an old read shows the position to a process that was started since": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(50, Fill{1, futures, true, 100})
			o.Restarted(30_000)
			o.Shown(40_000, 50, futures)
			o.Advance(45_001)
		}, "unprotected"},
		"the exchange refuses every stop": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Shown(1_000, 1_000, futures)
			for at := int64(2_000); at < 60_000; at += 4_000 {
				o.Excused(at, futures)
			}
		}, ""},
		"a process that was started since has seen nothing": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Shown(1_000, 1_000, futures)
			o.Restarted(2_000)
			o.Advance(60_000)
		}, ""},
		"the stop is stripped": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Accepted(20, stop)
			o.Shown(1_000, 1_000, futures)
			o.Ended(10_000, 9)
			o.Advance(15_001)
		}, "unprotected"},
		"a stop of the wrong side protects nothing": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Shown(20, 20, futures)
			o.Accepted(30, Order{ID: 9, Own: true, Symbol: futures, Buy: true, Stop: true, ClosePosition: true})
			o.Advance(6_000)
		}, "unprotected"},
		"a reduceOnly stop of part of it": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(10, Fill{1, futures, true, 100})
			o.Shown(20, 20, futures)
			o.Accepted(30, Order{ID: 9, Own: true, Symbol: futures, Stop: true, ReduceOnly: true, Quantity: 99})
			o.Advance(6_000)
		}, "unprotected"},
		"at the limit and one placement": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Accepted(0, entry(2, 20))
		}, ""},
		"one more than that, resting": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Accepted(0, entry(2, 21))
			o.Accepted(0, entry(3, 1)) // the same excess is reported once
		}, "exposure"},
		"one more than that, filled": {func(o *Oracle) {
			o.Accepted(0, entry(1, 100))
			o.Filled(1, Fill{1, futures, true, 100})
			o.Accepted(1, stop)
			o.Accepted(2, entry(2, 21))
		}, "exposure"},
		"the short side counts as well": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: futures, Quantity: 121})
		}, "exposure"},
		"an exit opens nothing": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: futures, ReduceOnly: true, Quantity: 500})
		}, ""},
		"foreign additions are no fault": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Symbol: futures, Buy: true, Quantity: 500})
		}, ""},
		"a reduceOnly order across zero": {func(o *Oracle) {
			o.Accepted(0, entry(1, 10))
			o.Filled(1, Fill{1, futures, true, 10})
			o.Accepted(1, stop)
			o.Accepted(2, Order{ID: 2, Own: true, Symbol: futures, ReduceOnly: true, Quantity: 30})
			o.Filled(3, Fill{2, futures, false, 30})
		}, "flipped"},
		"a liquidation ends a position": {func(o *Oracle) {
			o.Accepted(0, entry(1, 10))
			o.Filled(1, Fill{1, futures, true, 10})
			o.Shown(2, 2, futures)
			o.Filled(3, Fill{0, futures, false, 10})
			o.Advance(60_000)
		}, ""},
		"spot: sold more than was bought": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 10})
			o.Filled(1, Fill{1, spot, true, 10})
			o.Accepted(2, Order{ID: 2, Own: true, Symbol: spot, Quantity: 12})
			o.Filled(3, Fill{2, spot, false, 11}) // by dust
			o.Filled(4, Fill{2, spot, false, 1})
		}, "oversold"},
		"spot: a person sells what the account held before": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Symbol: spot, Quantity: 150})
			o.Filled(1, Fill{1, spot, false, 150})
		}, ""},
		"spot: a person has sold what the account held before, and too much is bought": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Symbol: spot, Quantity: 150})
			o.Filled(1, Fill{1, spot, false, 150})
			o.Accepted(2, Order{ID: 2, Own: true, Symbol: spot, Buy: true, Quantity: 121})
		}, "exposure"},
		"spot: a person sells more than is held, botd's and what the account held before": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 10})
			o.Filled(1, Fill{1, spot, true, 10})
			o.Accepted(2, Order{ID: 2, Symbol: spot, Quantity: 150})
			o.Filled(3, Fill{2, spot, false, 150})
			o.Accepted(4, Order{ID: 3, Own: true, Symbol: spot, Buy: true, Quantity: 120})
			o.Accepted(4, Order{ID: 4, Own: true, Symbol: spot, Buy: true, Quantity: 1})
		}, "exposure"},
		"spot: a stop for all but dust": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 10})
			o.Filled(1, Fill{1, spot, true, 10})
			o.Shown(2, 2, spot)
			o.Accepted(3, Order{ID: 2, Own: true, Symbol: spot, Stop: true, Quantity: 9})
			o.Advance(60_000)
		}, ""},
		"spot: what was bought since is not seen yet": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 20})
			o.Filled(1, Fill{1, spot, true, 10})
			o.Shown(2, 2, spot)
			o.Accepted(3, Order{ID: 2, Own: true, Symbol: spot, Stop: true, Quantity: 10})
			o.Filled(4, Fill{1, spot, true, 10})
			o.Advance(60_000)
		}, ""},
		"spot: what was bought since is seen": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 20})
			o.Filled(1, Fill{1, spot, true, 10})
			o.Shown(2, 2, spot)
			o.Accepted(3, Order{ID: 2, Own: true, Symbol: spot, Stop: true, Quantity: 10})
			o.Filled(4, Fill{1, spot, true, 10})
			o.Shown(5, 5, spot)
			o.Advance(60_000)
		}, "unprotected"},
		"spot: an old read shows what was bought earlier": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 20})
			o.Filled(1, Fill{1, spot, true, 10})
			o.Accepted(3, Order{ID: 2, Own: true, Symbol: spot, Stop: true, Quantity: 10})
			o.Filled(5, Fill{1, spot, true, 10})
			o.Shown(6, 4, spot)
			o.Advance(60_000)
		}, ""},
		"spot: an old read shows what was bought since": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 20})
			o.Filled(1, Fill{1, spot, true, 10})
			o.Accepted(3, Order{ID: 2, Own: true, Symbol: spot, Stop: true, Quantity: 10})
			o.Filled(5, Fill{1, spot, true, 10})
			o.Shown(6, 4, spot)
			o.Shown(40_000, 5, spot)
			o.Advance(45_001)
		}, "unprotected"},
		"spot: what nobody has shown to be botd's": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 20})
			o.Filled(1, Fill{1, spot, true, 20})
			o.Unnamed(1, spot, 10)
			o.Accepted(3, Order{ID: 2, Own: true, Symbol: spot, Stop: true, Quantity: 10})
			o.Shown(5, 5, spot)
			o.Advance(60_000)
		}, ""},
		"spot: what a row has shown to be botd's since": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 20})
			o.Filled(1, Fill{1, spot, true, 20})
			o.Unnamed(1, spot, 10)
			o.Accepted(3, Order{ID: 2, Own: true, Symbol: spot, Stop: true, Quantity: 10})
			o.Shown(5, 5, spot)
			o.Advance(60_000)
			o.Unnamed(60_000, spot, 0)
			o.Advance(90_000) // no read since then
			o.Shown(90_000, 90_000, spot)
			o.Advance(95_001)
		}, "unprotected"},
		"spot: a stop that filled in part still covers the rest": {func(o *Oracle) {
			o.Accepted(0, Order{ID: 1, Own: true, Symbol: spot, Buy: true, Quantity: 10})
			o.Filled(1, Fill{1, spot, true, 10})
			o.Shown(2, 2, spot)
			o.Accepted(3, Order{ID: 2, Own: true, Symbol: spot, Stop: true, Quantity: 10})
			o.Filled(4, Fill{2, spot, false, 4})
			o.Advance(60_000)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := judged()
			c.log(o)
			if have := rules(o); have != c.want {
				t.Errorf("want %q, have %q: %v", c.want, have, o.Violations())
			}
		})
	}
}

func TestTimesWithoutProtectionAreMeasured(t *testing.T) {
	t.Parallel()
	o := judged()
	o.Accepted(0, entry(1, 10))
	o.Filled(100, Fill{1, futures, true, 10})
	o.Accepted(400, Order{ID: 9, Own: true, Symbol: futures, Stop: true, ClosePosition: true})
	o.Ended(1_000, 9)
	o.Accepted(1_200, Order{ID: 10, Own: true, Symbol: futures, Stop: true, ClosePosition: true})
	if have := o.Gaps(); len(have) != 2 || have[0] != 200 || have[1] != 300 {
		t.Errorf("want gaps of 200 and 300 ms, have %v", have)
	}
	if have := o.Position(futures); have != 10 {
		t.Errorf("want a position of 10, have %d", have)
	}
}

func TestAViolationNamesItsPlace(t *testing.T) {
	t.Parallel()
	o := judged()
	o.Accepted(7, entry(1, 500))
	want := "7 exposure futures BTC-USDT: 0 held and 500 at worst, where 100 are allowed and one placement is 20"
	if have := o.Violations()[0].String(); have != want {
		t.Errorf("want %q, have %q", want, have)
	}
}

func TestRepeatedSaleByExchangeIsNotOversold(t *testing.T) {
	t.Parallel()
	coin := Symbol{Spot: true, Name: "BTC-USDT"}
	for _, repeated := range []bool{false, true} {
		o := New(1 << 40)
		o.Judge(coin, Limits{})
		o.Accepted(1, Order{ID: 1, Own: true, Symbol: coin, Buy: true, Quantity: 10})
		o.Filled(2, Fill{OrderID: 1, Symbol: coin, Buy: true, Quantity: 10})
		o.Accepted(3, Order{ID: 2, Own: true, Symbol: coin, Quantity: 10})
		o.Accepted(3, Order{ID: 3, Own: true, Repeated: repeated, Symbol: coin, Quantity: 10})
		o.Filled(4, Fill{OrderID: 2, Symbol: coin, Quantity: 10})
		o.Filled(5, Fill{OrderID: 3, Symbol: coin, Quantity: 10})
		if have := len(o.Violations()) > 0; have == repeated {
			t.Errorf("repeated %t: want it reported %t, have %v", repeated, !repeated, o.Violations())
		}
	}
}

// Orders are in whole steps, and fees are not.
func TestRemainderOfFullSalesIsNoExposure(t *testing.T) {
	t.Parallel()
	coin := Symbol{Spot: true, Name: "BTC-USDT"}
	for rest, want := range map[int64]bool{20: false, 21: true} {
		o := New(1 << 40)
		o.Judge(coin, Limits{Position: 1_010, Rest: 20})
		for trip := range int64(10) {
			o.Accepted(trip, Order{ID: 2 * trip, Own: true, Symbol: coin, Buy: true, Quantity: 1_000})
			o.Filled(trip, Fill{OrderID: 2 * trip, Symbol: coin, Buy: true, Quantity: 1_000})
			o.Accepted(trip, Order{ID: 2*trip + 1, Own: true, Symbol: coin, Quantity: 1_000 - rest})
			o.Filled(trip, Fill{OrderID: 2*trip + 1, Symbol: coin, Quantity: 1_000 - rest})
		}
		if have := len(o.Violations()) > 0; have != want {
			t.Errorf("a rest of %d: want it reported %t, have %v", rest, want, o.Violations())
		}
	}
}

// Position returns the position by the trade log; a short position is negative.
func (o *Oracle) Position(symbol Symbol) int64 { return o.state(symbol).position }
