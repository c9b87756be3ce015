package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A stop of ten rests, or has ended: the open list, the wallet, or both show that. Where only one of them shows the stop for longer than two seconds,
// another one is sent. Next to a person's units both must show that it has ended (seeds 895021302, 895081959, 895079203).
func TestUnconfirmedStopIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]unconfirmedStop{
		"both show it":                              {listed: true, free: "0", frozen: "0.01"},
		"the wallet does not freeze it":             {listed: true, free: "0.01", frozen: "0", want: 10},
		"for one second":                            {listed: true, free: "0.01", frozen: "0", forMS: 1_000},
		"for two seconds":                           {listed: true, free: "0.01", frozen: "0", forMS: 2_000},
		"a half-empty wallet":                       {listed: true, free: "0.005", frozen: "0", want: 5},
		"an empty wallet":                           {listed: true, free: "0", frozen: "0", want: 10},
		"the wallet cannot be read":                 {listed: true},
		"next to a person's units, listed":          {others: "1", listed: true, free: "1.01", frozen: "0"},
		"next to a person's units, an empty wallet": {others: "1", listed: true, free: "0", frozen: "0"},
		"next to a person's units, none is free":    {others: "1", free: "1", frozen: "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

type unconfirmedStop struct {
	others       string // a person's units
	listed       bool
	free, frozen string // empty: the wallet cannot be read
	forMS        int64  // how long that is shown; 0 for 3 s
	want         exchange.Quantity
}

func (c unconfirmedStop) check(t testing.TB) {
	t.Helper()
	if c.others == "" {
		c.others = "0"
	}
	w := holdingNextTo(t, ForeignHalt, c.others)
	derive := w.deriver()
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 30_000
	w.shows(c.others, "0.01", stop)
	var rows []exchange.Order
	if c.listed {
		rows = append(rows, stop)
	}
	if c.forMS == 0 {
		c.forMS = 3_000
	}
	w.now += 1_000
	for fromMS := w.now; w.now <= fromMS+c.forMS; w.now += 500 {
		if c.free != "" {
			w.shows(c.free, c.frozen, rows...)
			continue
		}
		w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(rows), History: exchange.FetchedOf[exchange.Order](nil)})
	}
	w.now -= 500
	if have := stopped(derive()); have != c.want {
		t.Errorf("want another stop of %d, have %d", c.want, have)
	}
}

// Six of ten have had no stop for three seconds, and the plan ends the position. From the answer to the cancel of the other four's stop the exit waits a
// second for their units. No stop takes the six from it meanwhile (seed 921016853).
func TestExitThatWaitsForItsCoinsLosesNoneToAStop(t *testing.T) {
	t.Parallel()
	exitWithAnUncoveredPart(t)
}

func exitWithAnUncoveredPart(t testing.TB) {
	w, stop := exitsWithAnUncoveredPart(t)
	w.now += 1_500
	w.answersCancel(stop)
	w.now += ReleaseMS
	if have := w.derives(stopped2); len(have) != 0 {
		t.Errorf("want nothing beside the exit that waits, have %s", summary(have))
	}
	w.now += ExitReleaseMS - ReleaseMS
	if have := w.derives(stopped2); len(have) != 1 || have[0].Purpose != placement.Exit || have[0].Order.Quantity != 10 {
		t.Errorf("want an exit of ten, have %s", summary(have))
	}
}

// While the cancel is not answered, the six wait for two seconds. Then they get a stop.
func TestUncoveredPartWaitsNotLongForACancel(t *testing.T) {
	t.Parallel()
	for afterMS, want := range map[int64]exchange.Quantity{1_999: 0, 2_000: 6} {
		w, stop := exitsWithAnUncoveredPart(t)
		w.now += 1_000
		w.tracker.NoteCancel(stop.ClientOrderID, w.now) // again
		w.now += afterMS - 1_000
		if have := stopped(w.derives(stopped2)); have != want {
			t.Errorf("%d ms after the cancel: want a stop of %d, have %d", afterMS, want, have)
		}
	}
}

func exitsWithAnUncoveredPart(t testing.TB) (w *wallet, stop exchange.Order) {
	t.Helper()
	w = holdingNextTo(t, ForeignHalt, "0")
	w.deriver()
	stop = w.places(placement.StopLoss, 8, stopOf(4))
	w.now += 30_000
	for range 4 {
		w.now += 1_000
		w.shows("0.006", "0.004", stop)
	}
	w.targets(0, nil)
	if have := w.derives(stopped2); len(canceled(have)) != 1 || len(have) != 1 {
		t.Fatalf("want the stop of four canceled, have %s", summary(have))
	}
	w.tracker.NoteCancel(stop.ClientOrderID, w.now)
	return w, stop
}

// The exchange accepted a purchase of ten, and neither list nor history nor wallet shows it. A market order is executed at once, so a stop is sent for the
// least that it has bought, unless that could be a person's units (seed 895061650).
func TestAcceptedPurchaseThatNothingShowsGetsAStop(t *testing.T) {
	t.Parallel()
	market := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(530)}
	acceptedPurchase(t, "0", market, 10)
	acceptedPurchase(t, "1", market, 0)
	limit := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 45_000e8}
	acceptedPurchase(t, "0", limit, 0) // it may rest
}

func acceptedPurchase(t testing.TB, others string, purchase exchange.NewOrder, want exchange.Quantity) {
	t.Helper()
	w := holdingNextTo(t, ForeignHalt, others)
	derive := w.deriver()
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 30_000
	w.shows(others, "0.01", stop)
	w.places(placement.Entry, 9, purchase)
	var have exchange.Quantity
	for range 5 {
		w.now += 1_000
		w.shows(others, "0.01", stop)
		have = max(have, stopped(derive()))
	}
	if have != want {
		t.Errorf("next to %s of others, a purchase by %s: want a stop of %d, have %d", others, purchase.Type, want, have)
	}
}

// buysNextToAStop holds ten with a stop, and has a purchase of ten more accepted.
func buysNextToAStop(t testing.TB) (w *wallet, derive func() []Intent, stop exchange.Order) {
	w = holdingNextTo(t, ForeignHalt, "0")
	derive = w.deriver()
	stop = w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 30_000
	w.shows("0", "0.01", stop)
	w.places(placement.Entry, 9, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(530)})
	return w, derive, stop
}

// The exchange accepted a purchase of ten next to ten with a stop, and refuses a stop for them. The next one is for the six that the wallet shows as free and,
// if it is refused too, for ten again (seed 1101000209).
func TestRefusedUnconfirmedStopOfMoreThanIsFreeIsFollowedByOneOfWhatIsFree(t *testing.T) {
	t.Parallel()
	unconfirmedBeyondFree(t)
}

func unconfirmedBeyondFree(t testing.TB) {
	w, derive, stop := buysNextToAStop(t)
	for i, want := range []exchange.Quantity{10, 6, 10, 6} {
		var have exchange.Quantity
		for range 4 {
			w.now += 1_000
			w.shows("0.006", "0.004", stop)
			have = max(have, stopped(derive()))
		}
		if have != want {
			t.Errorf("stop %d: want one of %d, have %d", i, want, have)
		}
		w.refusesUnder(UnconfirmedKey, stopOf(want))
	}
}

// refusesUnder sends a stop under a key, which the exchange refuses.
func (w *wallet) refusesUnder(key string, order exchange.NewOrder) {
	w.t.Helper()
	order.Market, order.Symbol, order.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: placement.StopLoss, Key: key, DeadlineMS: w.now + 5_000}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Refused{Code: 2030, Reason: "the balance is not enough"}})
}

// Ten have a stop. The exchange accepted a purchase of ten more, which list, history and trades omit, and the wallet shows half of everything. The stop is
// for the ten that nothing covers, not for what the half wallet denies, and once the exchange has accepted it, it is not one too many
// (seeds 904005444, 910022478, 892002015).
func TestAcceptedPurchaseBesideAHalfWalletKeepsItsStop(t *testing.T) {
	t.Parallel()
	halfWalletPurchase(t)
}

func halfWalletPurchase(t testing.TB) {
	w, derive, stop := buysNextToAStop(t)
	var further []Intent
	for range 5 {
		w.now += 1_000
		w.shows("0.005", "0.005", stop)
		if further = derive(); len(further) > 0 {
			break
		}
	}
	if len(further) != 1 || further[0].Key != UnconfirmedKey || further[0].Order.Quantity != 10 {
		t.Fatalf("want a stop of the 10 that nothing covers, have %s", summary(further))
	}
	order := further[0].Order
	order.ClientOrderID = w.tracker.NextClientOrderID("t")
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: placement.StopLoss, Key: UnconfirmedKey, DeadlineMS: w.now + 5_000}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Acknowledged{OrderID: 10}})
	row := exchange.Order{ID: 10, ClientOrderID: order.ClientOrderID, Market: exchange.Spot, Symbol: "BTC-USDT", Side: order.Side, Type: order.Type,
		Quantity: order.Quantity, Price: order.Price, StopPrice: order.StopPrice, Status: exchange.StatusOpen, CreatedMS: w.now}
	for range 3 {
		w.now += 1_000
		w.shows("0", "0.01", stop, row)
		if have := derive(); len(canceled(have)) != 0 {
			t.Errorf("want both stops to stay, have %s", summary(have))
		}
	}
}

// A refused stop shows that another one rests. It neither limits the next stop to the wallet nor lets the others stay where they are.
func TestRefusedUnconfirmedStopLimitsNothing(t *testing.T) {
	t.Parallel()
	refusedUnconfirmed(t)
}

func refusedUnconfirmed(t testing.TB) {
	w := holdingNextTo(t, ForeignHalt, "0")
	w.shows("0", "0")
	w.refusesUnder(UnconfirmedKey, stopOf(10))
	if spot := &w.tracker.Symbol(coin).spot; spot.overdrawn || spot.stopRefusedMS != 0 {
		t.Errorf("want it to limit nothing, have overdrawn %t, refused at %d", spot.overdrawn, spot.stopRefusedMS)
	}
}

// The exchange has just refused a stop. It sells nothing before its price is passed, so an exit of the plan does not wait.
func TestExitWaitsForNoRefusedStopWhosePriceIsNotPassed(t *testing.T) {
	t.Parallel()
	exitAfterRefusedStop(t, 50_000e8, 10)
	exitAfterRefusedStop(t, 48_900e8, 0)
}

func exitAfterRefusedStop(t testing.TB, last exchange.Price, want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 30_000
	w.shows("1.01", "0")
	w.targets(0, nil)
	w.refuses(placement.StopLoss, stopOf(10))
	w.now += 3_000
	w.tracker.Symbol(coin).last = last
	sold := exchange.Quantity(0)
	for _, i := range w.derives(nil) {
		if i.Purpose == placement.Exit {
			sold += i.Order.Quantity
		}
	}
	if sold != want {
		t.Errorf("last price %d: want an exit of %d, have one of %d", last, want, sold)
	}
}

// The exchange has answered that it canceled a stop. It is not canceled again for the exit that follows, since the refusal of that would delay the exit
// (seed 895037864).
func TestCanceledStopIsNotCanceledAgain(t *testing.T) {
	t.Parallel()
	canceledOnce(t)
}

func canceledOnce(t testing.TB) {
	w, _ := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 30_000
	w.shows("1", "0.01", stop)
	w.targets(0, nil)
	if have := canceled(w.derives(nil)); len(have) != 1 {
		t.Fatalf("want the stop canceled, have %v", have)
	}
	w.answersCancel(stop)
	w.now += 3_000
	w.shows("1.01", "0") // neither list nor history shows how it ended
	if have := canceled(w.derives(nil)); len(have) != 0 {
		t.Errorf("want it canceled once, have %v again", have)
	}
}

// No order could have sold the position, and its stop's price is passed. What the wallet does not show cannot be sold at once, and gets a stop below the
// last price (seeds 895044870, 895069351).
func TestPassedStopIsReplacedWhereOnlyTheWalletLacksTheUnits(t *testing.T) {
	t.Parallel()
	passedWithoutUnits(t)
}

func passedWithoutUnits(t testing.TB) {
	w, derive := protecting(t)
	w.now += 30_000
	w.shows("0", "0")
	w.tracker.Symbol(coin).last = 48_000e8
	const want = "stop_loss sell stop_limit 10 at 44650 stop 47000: protects the position"
	if have := summary(derive()); have != want {
		t.Errorf("want %q, have %q", want, have)
	}
}

// The exit in place of such a stop was refused. The stop waits until a read shows whether the exchange executed the exit all the same (seed 910006488).
func TestPassedStopIsReplacedOnceTheRefusalOfItsExitIsConfirmed(t *testing.T) {
	t.Parallel()
	passedAfterRefusedExit(t, 400, "0", "10000", 0)
	passedAfterRefusedExit(t, 1_500, "0", "10000", 10)
	passedAfterRefusedExit(t, 1_500, "1", "10475", 0) // its units are gone, and its money has come
}

func passedAfterRefusedExit(t testing.TB, afterMS int64, asset, money string, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.now += 30_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	w.refuses(placement.StopLoss, saleOf(10))
	w.now += afterMS
	w.hasMoney(asset, "0", money)
	w.tracker.Symbol(coin).last = 48_000e8
	if have := stopped(derive()); have != want {
		t.Errorf("after %d ms, with %s and %s: want a stop of %d, have one of %d", afterMS, asset, money, want, have)
	}
}

// A stop that the exchange canceled had been accepted: a start does not count the refusals from before it (seed 901010011).
func TestCanceledStopEndsItsRefusals(t *testing.T) {
	t.Parallel()
	canceledAfterRefusals(t)
}

func canceledAfterRefusals(t testing.TB) {
	w, _ := protecting(t)
	w.refuses(placement.StopLoss, stopOf(10))
	w.now += 1_000
	stop := w.sends(placement.StopLoss, 8, stopOf(10))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stop.ClientOrderID, Body: record.Ended{OrderID: 8, State: placement.Canceled}})
	if have := w.tracker.RefusedIntents(); len(have) != 0 {
		t.Errorf("want no refusal in force, have %+v", have)
	}
}

// Open list and history show that each stop has ended, and no list has shown one open. If the wallet freezes units for them, they rest: next to a person's
// units, each further one would freeze some of those. What the wallet froze before proves nothing, and neither does the end of one stop.
func TestStopsThatTheWalletFreezesAreNotPlacedWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]deniedStop{
		"they rest":                        {freezes: true, want: 2},
		"they rest, and others freeze too": {freezes: true, others: "0.5", want: 2},
		"they have ended":                  {want: 12},
		"they have ended, others freeze":   {others: "0.5", want: 12},
		"a list has shown them open":       {freezes: true, shown: true, want: 12},
		"botd has canceled them":           {freezes: true, canceled: true, want: 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

type deniedStop struct {
	freezes  bool   // the wallet freezes units for each of them
	others   string // what it freezes for a person
	shown    bool
	canceled bool
	want     int // stops in twelve rounds
}

func (c deniedStop) check(t testing.TB) {
	t.Helper()
	w := holdingNextTo(t, ForeignHalt, "1")
	derive := w.deriver()
	others := exchange.Amount{}
	if c.others != "" {
		others = exchange.MustAmount(c.others)
	}
	frozen, sent := others, 0
	show := func(orders ...exchange.Order) {
		w.now += 1_000
		w.shows(exchange.MustAmount("1.01").Sub(frozen).String(), frozen.String(), orders...)
	}
	w.now += 30_000
	show()
	for id := int64(8); id < 20; id++ {
		quantity := stopped(derive())
		if quantity == 0 {
			show()
			continue
		}
		sent++
		row := w.sends(placement.StopLoss, id, stopOf(quantity))
		if c.freezes {
			frozen = frozen.Add(exchange.MustAmount("0.01"))
		}
		if c.shown {
			show(row)
		}
		if c.canceled {
			w.tracker.NoteCancel(row.ClientOrderID, w.now)
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: row.ClientOrderID, Body: record.Ended{OrderID: id, State: placement.Canceled}})
		show()
	}
	if sent != c.want {
		t.Errorf("want %d stops, have %d", c.want, sent)
	}
}

// The wallet does not freeze a listed stop of ten for three seconds.
func TestUnconfirmedStopIsSentOnlyWhereItProtects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Desired)
		again  int64 // when both show the stop once more; 0 for never
		last   exchange.Price
		want   exchange.Price // of another stop; 0 for none
	}{
		"live":                    {want: 49_000e8},
		"the price is passed":     {last: 48_900e8, want: 47_900e8},
		"flatten":                 {change: func(d *Desired) { d.Flatten = true }},
		"in a backtest":           {change: func(d *Desired) { d.Bridge = false }},
		"no stop is desired":      {change: func(d *Desired) { d.Protection.Set = false }},
		"both show it in between": {again: 1_500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holdingNextTo(t, ForeignHalt, "0")
			w.deriver()
			stop := w.places(placement.StopLoss, 8, stopOf(10))
			w.now += 30_000
			w.shows("0", "0.01", stop)
			for fromMS := w.now; w.now < fromMS+3_000; {
				w.now += 500
				if c.again != 0 && w.now == fromMS+c.again {
					w.shows("0", "0.01", stop)
					continue
				}
				w.shows("0.01", "0", stop)
			}
			if c.last != 0 {
				w.tracker.Symbol(coin).last = c.last
			}
			var have exchange.Price
			for _, i := range w.derives(func(d *Desired) {
				stopped2(d)
				if c.change != nil {
					c.change(d)
				}
			}) {
				if i.Key == UnconfirmedKey {
					have = i.Order.StopPrice
				}
			}
			if have != c.want {
				t.Errorf("want another stop at %d, have one at %d", c.want, have)
			}
		})
	}
}

// What counts as covered although neither list nor wallet shows it: a sale of this moment, and one whose money has come.
func TestUnconfirmedPartLeavesOutWhatMayBeSold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sale  func(*wallet)
		ageMS int64 // of the newest read, since the sale
		asset string
		money string
		want  exchange.Quantity
	}{
		"nothing is sold":                  {func(*wallet) {}, 2_000, "0.01", "10000", 10},
		"an unanswered exit of a second":   {func(w *wallet) { w.places(placement.Exit, 0, saleOf(6)) }, 999, "0.01", "10000", 4},
		"an older one":                     {func(w *wallet) { w.places(placement.Exit, 0, saleOf(6)) }, 1_000, "0.01", "10000", 10},
		"an accepted exit, its money came": {func(w *wallet) { w.places(placement.Exit, 9, saleOf(6)) }, 2_000, "0.004", "10300", 4},
		"an accepted exit, none came":      {func(w *wallet) { w.places(placement.Exit, 9, saleOf(6)) }, 2_000, "0.004", "10000", 10},
		"a refused exit, its money came":   {func(w *wallet) { w.refuses(placement.Exit, saleOf(6)) }, 2_000, "0.004", "10300", 4},
		"a refused exit, none came":        {func(w *wallet) { w.refuses(placement.Exit, saleOf(6)) }, 2_000, "0.004", "10000", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holdingNextTo(t, ForeignHalt, "0")
			w.deriver()
			w.now += 30_000
			w.hasMoney("0.01", "0", "10000")
			w.now += 1_000
			c.sale(w)
			w.now += c.ageMS
			w.hasMoney(c.asset, "0", c.money)
			on := w.tracker.inputs(&Desired{}, w.tracker.Symbol(coin), w.now)
			if have := on.spotPosition().unconfirmed(); have != c.want {
				t.Errorf("want %d unconfirmed, have %d", c.want, have)
			}
		})
	}
}
