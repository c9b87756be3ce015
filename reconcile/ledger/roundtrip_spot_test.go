package ledger

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

func TestASaleBeyondTheStockIsNotWhole(t *testing.T) {
	t.Parallel()
	for sold, whole := range map[string]bool{"0.01": true, "0.010009": true, "0.01001": false, "0.02": false} { // the unit is 0.00001
		d := spotDiary(t)
		d.executes(10, placement.Entry, exchange.Buy, trade(1, 0, "50000", "0.01", "0", ""))
		d.executes(20, placement.Exit, exchange.Sell, trade(2, 0, "51000", sold, "0", ""))
		if len(d.ended) != 1 || d.ended[0].Whole != whole || d.ended[0].Quantity != amount("0.01") || d.ended[0].Realized != amount("10") {
			t.Errorf("%s sold: want one of 0.01 that earned 10, whole %t, have %+v", sold, whole, d.ended)
		}
	}
}

func TestARemainderAloneIsNotSoldAsARoundTrip(t *testing.T) {
	t.Parallel()
	d := spotDiary(t)
	d.executes(10, placement.Entry, exchange.Buy, trade(1, 0, "50000", "0.01", "0.000005", "BTC"))
	d.executes(20, placement.Exit, exchange.Sell, trade(2, 0, "51000", "0.00999", "0", ""))
	d.executes(30, placement.Exit, exchange.Sell, trade(3, 0, "51000", "1", "0", "")) // of the user's own
	d.executes(40, placement.Entry, exchange.Buy, trade(4, 0, "50000", "0.01", "0", ""))
	d.executes(50, placement.Exit, exchange.Sell, trade(5, 0, "51000", "0.01", "0", ""))
	if len(d.ended) != 2 || d.ended[1].EnteredMS != 40 || d.ended[1].Side != exchange.Buy || !d.ended[1].Whole {
		t.Errorf("want a second one from 40 on, have %+v", d.ended)
	}
}

func TestOnlyARoundTripUnderWaySuffersFromAPartialReading(t *testing.T) {
	t.Parallel()
	d := spotDiary(t)
	partial := func() { d.post(&Posting{Reading: Reading{Market: exchange.Spot, AtMS: 15, Partial: true}}) }
	d.executes(10, placement.Entry, exchange.Buy, trade(1, 0, "50000", "0.01", "0", ""))
	partial()
	partial()
	d.executes(20, placement.Exit, exchange.Sell, trade(2, 0, "51000", "0.01", "0", ""))
	partial()
	d.executes(30, placement.Entry, exchange.Buy, trade(3, 0, "50000", "0.01", "0", ""))
	d.executes(40, placement.Exit, exchange.Sell, trade(4, 0, "51000", "0.01", "0", ""))
	d.executes(50, placement.Entry, exchange.Buy, trade(5, 0, "50000", "0.01", "0", ""))
	d.trips.Adopt(spotInstrument.Symbol, 1_000) // bought manually
	d.executes(60, placement.Exit, exchange.Sell, trade(6, 0, "51000", "0.01", "0", ""))
	if len(d.ended) != 3 || d.ended[0].Whole || !d.ended[1].Whole || d.ended[2].Whole {
		t.Errorf("want the second whole, have %+v", d.ended)
	}
}

func TestExecutionsOfUnknownOrdersAreLeftOut(t *testing.T) {
	t.Parallel()
	d := spotDiary(t)
	d.trips.Send(&Order{ClientOrderID: "found", OrderID: 77, Strategy: "one", Symbol: spotInstrument.Symbol, Side: exchange.Buy})
	d.trips.Advance("unknown", 78, 1, true)
	d.post(&Posting{Reading: Reading{Market: exchange.Spot, AtMS: 10,
		Trades: []Trade{trade(1, 78, "1", "1", "0", ""), trade(2, 77, "50000", "0.01", "0", "")}}})
	d.executes(20, placement.Exit, exchange.Sell, trade(3, 0, "51000", "0.01", "0", ""))
	if len(d.ended) != 1 || d.ended[0].Quantity != amount("0.01") || d.ended[0].EntryPrice != amount("50000") {
		t.Errorf("want the execution of the order that was found on the exchange alone, have %+v", d.ended)
	}
}

// Orders 1 and 2, a purchase and a sale, have ended, and many others after them. Order 3 is a purchase that has not ended.
func TestTheLast1000EndedOrdersAreKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		others    int64
		bought    int64 // order whose purchase is reported, before order 2's sale
		roundTrip bool
	}{{998, 1, true}, {999, 1, false}, {999, 3, true}, {1_000, 3, false}} {
		d := spotDiary(t)
		ends := func(orderID int64, side exchange.Side, ended bool) {
			id := placement.ClientOrderID("s", placement.Start{Epoch: 1}, orderID)
			d.trips.Send(&Order{ClientOrderID: id, Strategy: "one", Symbol: spotInstrument.Symbol, Side: side})
			d.trips.Advance(id, orderID, 0, ended)
		}
		ends(1, exchange.Buy, true)
		ends(2, exchange.Sell, true)
		ends(3, exchange.Buy, false)
		for i := range c.others {
			ends(10+i, exchange.Buy, true)
		}
		d.post(&Posting{Reading: Reading{Market: exchange.Spot, AtMS: 10,
			Trades: []Trade{trade(1, c.bought, "50000", "0.01", "0", ""), trade(2, 2, "51000", "0.01", "0", "")}}})
		if have := len(d.ended) == 1; have != c.roundTrip {
			t.Errorf("%d ended after order 2, order %d bought: want a round trip %t, have %+v", c.others, c.bought, c.roundTrip, d.ended)
		}
		if len(d.trips.orders) > 1_001 {
			t.Errorf("want 1000 orders that ended and one that has not, have %d", len(d.trips.orders))
		}
	}
}

// With a unit of 0.001 the remainder of 0.0005 ends the round trip, with one of 0.00001 it does not.
func TestNewTermsReplaceTheOldOnesOfTheirSymbol(t *testing.T) {
	t.Parallel()
	d := spotDiary(t)
	other, coarser := spotInstrument, spotInstrument
	other.Symbol.Name, other.Quote = "BTC-EUR", "EUR"
	coarser.Unit = amount("0.001")
	d.post(&Posting{Reading: Reading{Market: exchange.Spot, Instruments: []Instrument{other}}})
	d.executes(1, placement.Entry, exchange.Buy, trade(7, 0, "50000", "0.01", "0", ""))
	d.executes(2, placement.Exit, exchange.Sell, trade(8, 0, "51000", "0.01", "0", ""))
	d.executes(10, placement.Entry, exchange.Buy, trade(1, 0, "50000", "0.01", "0", ""))
	d.executes(20, placement.Exit, exchange.Sell, trade(2, 0, "51000", "0.0095", "0", ""))
	if len(d.ended) != 1 || d.ended[0].Asset != "USDT" {
		t.Fatalf("want one over and one under way, have %+v", d.ended)
	}
	d.post(&Posting{Reading: Reading{Market: exchange.Spot, Instruments: []Instrument{coarser}}})
	d.executes(30, placement.Entry, exchange.Buy, trade(3, 0, "50000", "0.01", "0", ""))
	d.executes(40, placement.Exit, exchange.Sell, trade(4, 0, "51000", "0.01", "0", ""))
	if len(d.ended) != 2 || d.ended[1].Asset != "USDT" || d.ended[1].EnteredMS != 10 || d.ended[1].LeftMS != 40 {
		t.Errorf("want the second from 10 to 40, have %+v", d.ended)
	}
}

// A short pairing sold 0.3 for 15003 and bought it back for 14700; a fee of 7.5 was paid in the quote asset.
func TestAPairingCountsWhatCameInAndWentOut(t *testing.T) {
	t.Parallel()
	var p Pairing
	sell := Execution{Side: exchange.Sell, Quantity: amount("0.1"), Value: amount("5001"), Fee: amount("2.5"), Worth: amount("2.5")}
	for _, x := range []Execution{sell, sell, sell, {Side: exchange.Buy, Quantity: amount("0.3"), Value: amount("14700")}} {
		if p.Flat(amount("0.001")) {
			t.Errorf("it is flat before its end: %+v", p)
		}
		p.Execute(&x)
	}
	if entry, exit := p.Prices(); entry != amount("50010") || exit != amount("49000") || !p.Flat(amount("0.001")) || p.Side != exchange.Sell {
		t.Errorf("want a short one from 50010 to 49000 that is over, have %s, %s, %+v", entry, exit, p)
	}
	if net := p.Net(); net != amount("295.5") || p.Fees != amount("7.5") {
		t.Errorf("want 295.5 net of 7.5 of fees, have %s of %s", net, p.Fees)
	}
	var dust Pairing // a purchase too small to trade: without a sale no round trip is over
	dust.Execute(&Execution{Side: exchange.Buy, Quantity: amount("0.0001"), Value: amount("5")})
	if entry, exit := dust.Prices(); dust.Flat(amount("0.001")) || entry != amount("50000") || !exit.IsZero() {
		t.Errorf("want it under way, bought at 50000, have %s, %s, %+v", entry, exit, dust)
	}
}

func TestAStockMovesAtItsCost(t *testing.T) {
	t.Parallel()
	var s Stock
	bought := func(quantity, value, fee, worth string, inBase bool) Execution {
		return Execution{exchange.Buy, amount(quantity), amount(value), amount(fee), amount(worth), inBase}
	}
	sold := func(quantity, value string) Execution {
		return Execution{Side: exchange.Sell, Quantity: amount(quantity), Value: amount(value)}
	}
	for _, c := range []struct {
		name                   string
		x                      Execution
		realized, stock, costs string
	}{
		{"a sale of what was there before", sold("1", "50000"), "0", "0", "0"},
		{"a purchase with a fee of 0.001", bought("0.1", "5000", "0.001", "50", true), "0", "0.099", "4950"},
		{"a second one, whose fee is paid in the quote asset", bought("0.101", "5050", "3", "3", false), "0", "0.2", "10000"},
		{"a sale of a quarter", sold("0.05", "3000"), "500", "0.15", "7500"},
		{"a sale of more than there is", sold("0.3", "18000"), "1500", "0", "0"},
	} {
		if realized := s.Move(&c.x); realized != amount(c.realized) || s.Quantity != amount(c.stock) || s.Paid != amount(c.costs) {
			t.Errorf("%s: want %s realized, %s left at %s, have %s and %+v", c.name, c.realized, c.stock, c.costs, realized, s)
		}
	}
}
