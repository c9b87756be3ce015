package ledger

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// diary passes the records of a journal to RoundTrips. It computes the ledger's postings itself.
type diary struct {
	t     *testing.T
	trips *RoundTrips
	a     *accounts
	next  int64
	ended []RoundTrip
}

func newDiary(t *testing.T) *diary {
	d := &diary{t: t, trips: NewRoundTrips(), a: &accounts{t: t, l: newLedger(), now: 3_600_000}}
	d.futures("1000", nil, nil)
	return d
}

// fills fills an order; a positive quantity is a purchase.
func (d *diary) fills(strategy string, purpose placement.Purpose, quantity exchange.Quantity) {
	d.next++
	id, side := placement.ClientOrderID("t", placement.Start{Epoch: 1}, d.next), exchange.Buy
	if quantity < 0 {
		side, quantity = exchange.Sell, -quantity
	}
	order := &Order{ClientOrderID: id, Strategy: strategy, Purpose: purpose, Symbol: bitcoin, Side: side}
	d.trips.Send(order)
	d.trips.Advance(id, d.next, quantity/2, false)
	d.trips.Advance(id, d.next, quantity, true)
	d.a.l.fill(order, quantity)
}

func (d *diary) post(p *Posting) { d.ended = append(d.ended, d.trips.Post(p)...) }

// futures books a futures reading a minute later.
func (d *diary) futures(wallet string, open, closed []Position) {
	d.a.now += 60_000
	r := Reading{
		AtMS:        d.a.now,
		Market:      exchange.Futures,
		Wallet:      []Asset{{FuturesAsset, amount(wallet)}},
		Open:        open,
		Closed:      closed,
		Instruments: []Instrument{instrument},
	}
	p := &Posting{Reading: r, Lines: d.a.l.Lines(&r)}
	d.a.l.post(p)
	d.post(p)
}

// want compares the round trips that ended.
func (d *diary) want(want ...RoundTrip) {
	d.t.Helper()
	if len(want) != len(d.ended) {
		d.t.Fatalf("want %d round trips, have %d: %+v", len(want), len(d.ended), d.ended)
	}
	for i := range want {
		if want[i] != d.ended[i] {
			d.t.Errorf("round trip %d:\nwant %+v\nhave %+v", i+1, want[i], d.ended[i])
		}
	}
}

// over returns a position that has ended.
func over(id int64, short bool, opened, entry, exit, realized string) Position {
	g := position(id, short, opened, "0", entry, realized)
	g.Close = amount(exit)
	return g
}

// trip returns the expected round trip of a futures position of 0.100, opened at 50000.
func trip(id int64, by placement.Purpose, exit, realized, fees string) RoundTrip {
	return RoundTrip{
		Strategy:   "one",
		Symbol:     bitcoin,
		Asset:      FuturesAsset,
		PositionID: id,
		Side:       exchange.Buy,
		Quantity:   amount("0.1"),
		EntryPrice: amount("50000"),
		ExitPrice:  amount(exit),
		Realized:   amount(realized),
		Fees:       amount(fees),
		By:         by,
		Derived:    true,
		Whole:      true,
	}
}

func TestClosedPositionIsARoundTripNetOfCosts(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.fills("one", placement.Entry, 100)
	d.futures("997.5", []Position{position(1, false, "0.1", "0.1", "50000", "0")}, nil) // 0.05 % of 5000
	d.fills("one", placement.StopLoss, -100)
	d.futures("895.05", nil, []Position{over(1, false, "0.1", "50000", "49000", "-100")}) // 0.05 % of 4900
	want := trip(1, placement.StopLoss, "49000", "-100", "4.95")
	d.want(want)
	if net := d.ended[0].Net(); net != amount("-104.95") {
		t.Errorf("net: want -104.95, have %s", net)
	}
}

func TestFeesAreSplitExactlyBetweenRoundTrips(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.fills("one", placement.Entry, 100)
	d.fills("one", placement.TakeProfit, -100)
	d.fills("one", placement.Entry, 100)
	d.fills("one", placement.Exit, -100)
	d.fills("one", placement.Order, -100) // and an open short one
	d.futures("1000.00000000000001", []Position{position(3, true, "0.1", "0.1", "50000", "0")},
		[]Position{over(1, false, "0.1", "50000", "50100", "10"), over(2, false, "0.1", "50000", "50030", "3")})
	if len(d.ended) != 2 || d.ended[0].By != placement.TakeProfit || d.ended[1].By != placement.Exit {
		t.Fatalf("want one ended by its take-profit and one by an exit, have %+v", d.ended)
	}
	d.fills("one", placement.ExitOrder, 100)
	d.futures("997.50000000000001", nil, []Position{over(3, true, "0.1", "50000", "50000", "0")})
	var fees exchange.Amount
	for i := range d.ended {
		fees = fees.Add(d.ended[i].Fees)
	}
	if want := amount("15.49999999999999"); fees != want || d.ended[2].Side != exchange.Sell || d.ended[2].By != placement.ExitOrder {
		t.Errorf("want %s paid by all, the last one short, ended by its exit order; have %s and %+v", want, fees, d.ended[2])
	}
}

func TestForeignPositionBelongsToNoStrategy(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.futures("997.5", []Position{position(1, false, "0.1", "0.1", "50000", "0")}, nil)
	d.futures("895", nil, []Position{over(1, false, "0.1", "50000", "49000", "-100")})
	if len(d.ended) != 1 || d.ended[0].Strategy != "" || d.ended[0].By != 0 {
		t.Errorf("want one round trip of no strategy, have %+v", d.ended)
	}
}

func TestAPositionFromBeforeTheBooksIsNotWhole(t *testing.T) {
	t.Parallel()
	d := &diary{t: t, trips: NewRoundTrips(), a: &accounts{t: t, l: newLedger(), now: 3_600_000}}
	d.fills("one", placement.Entry, 100)
	d.futures("1000", []Position{position(7, false, "0.1", "0.1", "50000", "0")}, []Position{over(6, false, "0.1", "50000", "49000", "-100")})
	d.fills("one", placement.Exit, -100)
	d.futures("997.45", nil, []Position{over(7, false, "0.1", "50000", "50000", "0")})
	want := trip(7, placement.Exit, "50000", "0", "2.55")
	want.Whole = false
	d.want(want)
}

func TestManuallyClosedPositionBelongsToStrategy(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} { // whether the difference is adopted before it is booked, or after
		d := newDiary(t)
		adopt := func() { d.trips.Adopt(bitcoin, -100) }
		d.fills("one", placement.Entry, 100)
		if !late {
			adopt()
		}
		d.futures("995", nil, []Position{over(1, false, "0.1", "50000", "50000", "0")})
		if late {
			adopt()
		}
		d.fills("one", placement.Entry, 100)
		d.fills("one", placement.Exit, -100)
		d.futures("990", nil, []Position{over(2, false, "0.1", "50000", "50000", "0")})
		d.want(trip(1, 0, "50000", "0", "5"), trip(2, placement.Exit, "50000", "0", "5"))
	}
}

func TestAnAdoptedPositionIsTheStrategysThatLeavesIt(t *testing.T) {
	t.Parallel()
	d := newDiary(t)
	d.fills("one", placement.Entry, 60)
	d.trips.Adopt(bitcoin, 40) // a person adds to it
	d.futures("997.5", []Position{position(1, false, "0.1", "0.1", "50000", "0")}, nil)
	d.fills("one", placement.Exit, -100)
	d.futures("995", nil, []Position{over(1, false, "0.1", "50000", "50000", "0")})
	d.trips.Adopt(bitcoin, 100) // a person's own position
	d.futures("992.5", []Position{position(2, false, "0.1", "0.1", "50000", "0")}, nil)
	d.fills("one", placement.Exit, -100)
	d.futures("990", nil, []Position{over(2, false, "0.1", "50000", "50000", "0")})
	d.want(trip(1, placement.Exit, "50000", "0", "5"), trip(2, placement.Exit, "50000", "0", "5"))
}

// spotDiary returns a diary whose spot wallet was taken over.
func spotDiary(t *testing.T) *diary {
	d := &diary{t: t, trips: NewRoundTrips()}
	d.post(&Posting{Reading: Reading{Market: exchange.Spot, Instruments: []Instrument{spotInstrument}}})
	return d
}

func (d *diary) executes(atMS int64, purpose placement.Purpose, side exchange.Side, trades ...Trade) {
	d.next++
	id := placement.ClientOrderID("s", placement.Start{Epoch: 1}, d.next)
	d.trips.Send(&Order{ClientOrderID: id, Strategy: "one", Purpose: purpose, Symbol: spotInstrument.Symbol, Side: side})
	d.trips.Advance(id, d.next, 0, true)
	for i := range trades {
		trades[i].OrderID = d.next
	}
	d.post(&Posting{Reading: Reading{Market: exchange.Spot, AtMS: atMS, Trades: trades}})
}

func TestSpotIsPairedByItsExecutions(t *testing.T) {
	t.Parallel()
	d := spotDiary(t)
	d.executes(5, placement.Exit, exchange.Sell, trade(1, 0, "50000", "1", "0", "USDT")) // of the earlier holding
	d.executes(10, placement.Entry, exchange.Buy, trade(2, 0, "50000", "0.01", "0.00001", "BTC"), trade(3, 0, "51000", "0.01", "0.00001", "BTC"))
	d.executes(20, placement.Exit, exchange.Sell, trade(4, 0, "52000", "0.01", "0.52", "USDT"))
	if len(d.ended) != 0 {
		t.Fatalf("want it under way while half is held, have %+v", d.ended)
	}
	d.executes(30, placement.StopLoss, exchange.Sell, trade(5, 0, "52000", "0.00998", "0.51896", "USDT"))
	// 1010 paid, 1038.96 received, 1.03896 of it paid as fees; 0.00002 BTC were worth 1.01.
	d.want(
		RoundTrip{
			Strategy:   "one",
			Symbol:     spotInstrument.Symbol,
			Asset:      "USDT",
			Side:       exchange.Buy,
			Quantity:   amount("0.02"),
			EntryPrice: amount("50500"),
			ExitPrice:  amount("52000"),
			Realized:   amount("29.97"),
			Fees:       amount("2.04896"),
			EnteredMS:  10,
			LeftMS:     30,
			By:         placement.StopLoss,
			Whole:      true,
		},
	)
	if net := d.ended[0].Net(); net != amount("27.92104") {
		t.Errorf("net: want what came in less what went out, 27.92104, have %s", net)
	}
}

func TestASpotRoundTripWithAnUnreportedPartIsNotWhole(t *testing.T) {
	t.Parallel()
	d := spotDiary(t)
	d.executes(10, placement.Entry, exchange.Buy, trade(1, 0, "50000", "0.01", "0.1", "XYZ"))
	d.executes(20, placement.Exit, exchange.Sell, trade(2, 0, "51000", "0.01", "0", ""))
	d.executes(30, placement.Entry, exchange.Buy, trade(3, 0, "50000", "0.01", "0", ""))
	d.trips.Adopt(spotInstrument.Symbol, -1_000) // sold manually
	d.executes(40, placement.Entry, exchange.Buy, trade(4, 0, "50000", "0.01", "0", ""))
	d.executes(50, placement.Exit, exchange.Sell, trade(5, 0, "51000", "0.01", "0", ""))
	if len(d.ended) != 2 || d.ended[0].Whole || !d.ended[1].Whole || d.ended[1].EnteredMS != 40 {
		t.Errorf("want the first not whole, the one that a person sold left out, the third whole; have %+v", d.ended)
	}
}

func TestRemainderEntersNextRoundTripAtCost(t *testing.T) {
	t.Parallel()
	d := spotDiary(t)
	for at := int64(10); at < 50; at += 20 { // the fee takes half of the minimum quantity, and half is left
		d.executes(at, placement.Entry, exchange.Buy, trade(at, 0, "50000", "0.01", "0.000005", "BTC"))
		sold := "0.00999"
		if at > 10 {
			sold = "0.01" // with the remainder
		}
		d.executes(at+10, placement.Exit, exchange.Sell, trade(at+10, 0, "51000", sold, "0", ""))
	}
	if len(d.ended) != 2 || !d.ended[0].Whole || !d.ended[1].Whole {
		t.Fatalf("want two whole round trips, have %+v", d.ended)
	}
	if want := amount("9.99"); d.ended[0].Realized != want {
		t.Errorf("the first: want %s realized over the cost of what was sold, have %s", want, d.ended[0].Realized)
	}
	sum := d.ended[0].Net().Add(d.ended[1].Net())
	if want := amount("0.01999").MulQuo(amount("51000"), unit).Sub(amount("1000")); sum != want {
		t.Errorf("want all that came in less all that went out, %s, have %s", want, sum)
	}
}
