package ledger

import (
	"testing"

	"botd/reconcile/placement"
)

// A position pays fees of 2.5 each at its beginning and end, and funding of 7, 5 and 3 every eight hours.
func TestARoundTripHasTheCostsOfAllItsReadings(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	open := []Position{position(1, false, "0.1", "0.1", "50000", "0")}
	d.fills("one", placement.Entry, 100)
	d.futures("997.5", open, nil)
	for _, wallet := range []string{"990.5", "985.5"} {
		d.a.now += 8 * 3_600_000
		d.futures(wallet, open, nil)
	}
	d.a.now += 8 * 3_600_000
	d.fills("one", placement.Exit, -100)
	d.futures("980", nil, []Position{over(1, false, "0.1", "50000", "50000", "0")})
	want := trip(1, placement.Exit, "50000", "0", "5")
	want.Funding = amount("15")
	d.want(want)
	if net := d.ended[0].Net(); net != amount("-20") {
		t.Errorf("want a net of -20, have %s", net)
	}
}

// One position ends and another, three times as large, begins between two readings: fees of 10 are shared by
// what each traded since the last one, and funding of 8 by what each held.
func TestCostsAreSharedByPositionsOfOneReading(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.fills("one", placement.Entry, 100)
	d.futures("997.5", []Position{position(1, false, "0.1", "0.1", "50000", "0")}, nil)
	d.a.now += 8 * 3_600_000
	d.fills("one", placement.Exit, -100)
	d.fills("one", placement.Entry, 300)
	d.futures("979.5", []Position{position(2, false, "0.3", "0.3", "50000", "0")}, []Position{over(1, false, "0.1", "50000", "50000", "0")})
	d.fills("one", placement.TakeProfit, -300)
	d.futures("972", nil, []Position{over(2, false, "0.3", "50000", "50000", "0")})
	first, second := trip(1, placement.Exit, "50000", "0", "5"), trip(2, placement.TakeProfit, "50000", "0", "15")
	first.Funding, second.Funding, second.Quantity = amount("2"), amount("6"), amount("0.3")
	d.want(first, second)
}

// The exchange reports the end of a position later than the reading that no longer shows it: what that reading paid belongs to no round trip.
func TestAPositionWhoseEndIsReportedLateIsNotWhole(t *testing.T) {
	t.Parallel()
	for _, next := range []bool{false, true} { // whether another position was opened meanwhile
		d := newDiary(t)
		d.fills("one", placement.Entry, 100)
		d.futures("997.5", []Position{position(1, false, "0.1", "0.1", "50000", "0")}, nil)
		d.fills("one", placement.Exit, -100)
		var open []Position
		if next {
			d.fills("one", placement.Entry, 200)
			open = []Position{position(2, false, "0.2", "0.2", "50000", "0")}
		}
		d.futures("995", open, nil)
		d.futures("995", open, []Position{over(1, false, "0.1", "50000", "50000", "0")})
		if len(d.ended) != 1 || d.ended[0].Whole || d.ended[0].By != placement.Exit {
			t.Errorf("another position %t: want one by its exit, not whole, have %+v", next, d.ended)
		}
		d.futures("990", nil, []Position{over(2, false, "0.2", "50000", "50000", "0")})
		if len(d.ended) != 2 || !d.ended[1].Whole {
			t.Errorf("another position %t: want the next whole, have %+v", next, d.ended)
		}
	}
}

// One reading omits the position: what that reading paid belongs to no round trip, either.
func TestAPositionThatAReadingLacksIsNotWhole(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	open := []Position{position(1, false, "0.1", "0.1", "50000", "0")}
	d.fills("one", placement.Entry, 100)
	d.futures("997.5", open, nil)
	d.futures("997.5", nil, nil)
	d.futures("997.5", open, nil)
	d.fills("one", placement.Exit, -100)
	d.futures("995", nil, []Position{over(1, false, "0.1", "50000", "50000", "0")})
	if len(d.ended) != 1 || d.ended[0].Whole {
		t.Errorf("want one, not whole, have %+v", d.ended)
	}
}

// A person's trades made the position larger than the strategy's own fills, so that no span has its size.
func TestAPositionOfOtherSizeIsTheOldestSpans(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.fills("two", placement.Entry, 60)
	d.fills("two", placement.Exit, -60)
	d.fills("one", placement.Entry, 100)
	d.fills("one", placement.Exit, -100)
	d.futures("990", nil, []Position{over(1, false, "0.07", "50000", "50000", "0"), over(2, false, "0.1", "50000", "50000", "0")})
	if len(d.ended) != 2 || d.ended[0].Strategy != "two" || d.ended[0].By != 0 || d.ended[1].Strategy != "one" || d.ended[1].By != placement.Exit {
		t.Errorf("want one of two, ended by nobody, and one of one, ended by its exit, have %+v", d.ended)
	}
	d = newDiary(t)
	d.fills("two", placement.Entry, 60)
	d.fills("two", placement.Exit, -60)
	d.futures("995", nil, []Position{over(1, false, "0.07", "50000", "50000", "0")})
	d.futures("990", nil, []Position{over(2, false, "0.08", "50000", "50000", "0")})
	if len(d.ended) != 2 || d.ended[0].Strategy != "two" || d.ended[1].Strategy != "" {
		t.Errorf("want one of two and one of nobody, have %+v", d.ended)
	}
}

func TestAPersonsPositionIsNotTheStrategysForItsSize(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.fills("one", placement.Entry, 100)
	d.futures("995", nil, []Position{over(1, false, "0.05", "50000", "50000", "0")}) // in addition to one that is under way
	d.fills("one", placement.Exit, -100)
	d.futures("990", nil, []Position{over(2, false, "0.1", "50000", "50000", "0")})
	d.futures("985", nil, []Position{over(3, false, "0.1", "50000", "50000", "0")}) // after one of that size
	if len(d.ended) != 3 || d.ended[0].Strategy != "" || d.ended[1].Strategy != "one" || d.ended[2].Strategy != "" {
		t.Errorf("want the second to be of one, have %+v", d.ended)
	}
}

func TestALiquidationIsByNoOrder(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.fills("one", placement.Entry, 100)
	d.fills("one", placement.Exit, -100)
	ended := over(1, false, "0.1", "50000", "45000", "-500")
	ended.Liquidated = true
	d.futures("400", nil, []Position{ended})
	if len(d.ended) != 1 || d.ended[0].By != 0 || !d.ended[0].Liquidated || d.ended[0].Strategy != "one" {
		t.Errorf("want one of one, liquidated, by no order, have %+v", d.ended)
	}
}

// The smallest position is a round trip, whether an order ends it, or a person.
func TestOneUnitIsARoundTrip(t *testing.T) {
	t.Parallel()
	for _, manually := range []bool{false, true} {
		d := newDiary(t)
		d.fills("one", placement.Entry, 1)
		if !manually {
			d.fills("one", placement.Exit, -1)
		}
		d.futures("999.95", nil, []Position{over(1, false, "0.001", "50000", "50000", "0")})
		want := trip(1, placement.Exit, "50000", "0", "0.05")
		if want.Quantity = amount("0.001"); manually {
			want.By = 0
		}
		d.want(want)
	}
	d := newDiary(t)
	d.fills("one", placement.Entry, 1)
	d.fills("one", placement.Entry, 99)
	d.fills("one", placement.Exit, -100)
	d.futures("995", nil, []Position{over(1, false, "0.1", "50000", "50000", "0")})
	d.want(trip(1, placement.Exit, "50000", "0", "5"))
}

func TestAManuallyClosedPositionWaitsForItsReport(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.fills("one", placement.Entry, 100)
	d.trips.Adopt(bitcoin, -100)
	d.fills("one", placement.Entry, 60)
	d.fills("one", placement.Exit, -60)
	d.futures("992", nil, []Position{over(1, false, "0.1", "50000", "50000", "0"), over(2, false, "0.06", "50000", "50000", "0")})
	if len(d.ended) != 2 || d.ended[0].Strategy != "one" || d.ended[0].By != 0 || d.ended[1].Strategy != "one" || d.ended[1].By != placement.Exit {
		t.Errorf("want the first by no order, and the second by its exit, have %+v", d.ended)
	}
}

func TestRoundTripsOfOneReadingAreSortedBySymbol(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	of := func(id int64, name string) Position {
		g := over(id, false, "0.1", "10", "10", "0")
		g.Symbol = name
		return g
	}
	d.futures("1000", nil, []Position{of(1, "ETH-USDT"), over(2, false, "0.1", "10", "10", "0"), of(3, "AAA-USDT")})
	if len(d.ended) != 3 || d.ended[0].Symbol.Name != "AAA-USDT" || d.ended[1].Symbol != bitcoin || d.ended[2].Symbol.Name != "ETH-USDT" {
		t.Fatalf("want AAA, BTC and ETH, have %+v", d.ended)
	}
}
