package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// While botd stands down, another botd that canceled a stop may be selling the quantity that the stop held.
func TestForeignCanceledStopHasGracePeriod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		own   bool // botd canceled it itself
		alone bool // botd does not stand down
		want  exchange.Quantity
	}{
		{"by other hands", false, false, 0},
		{"by botd", true, false, 10},
		{"by a person's, and there is no other botd", false, true, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			canceledByAnother(t, c.own, c.alone, c.want)
		})
	}
}

func canceledByAnother(t testing.TB, own, alone bool, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	if !alone {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: youngers + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	}
	w.sees("1", "0.01", nil, stop)
	if own {
		w.tracker.NoteCancel(stop.ClientOrderID, w.now)
	}
	stop.Status = exchange.StatusCanceled
	w.now += 1_000
	w.sees("1.01", "0", []exchange.Order{stop})
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have one of %d", want, have)
	}
	w.now += peerStopMS
	w.sees("1.01", "0", []exchange.Order{stop})
	if have := stopped(derive()); have != 10 {
		t.Errorf("want the stop of 10 as soon as nothing came of it, have %d", have)
	}
}

// An old backup has forgotten a purchase, which the history shows, and botd's stop has sold it, or part of it. A start does not protect that again.
func TestStartKnowsWhatItsOrdersSoldOfAnothersPurchase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sold       exchange.Quantity // of the forgotten eight, next to ten of botd's own
		checkpoint bool
		resolved   bool // a person has decided it before
		unfound    bool // botd did not know of it yet when the stop sold
		want       exchange.Quantity
	}{
		"nothing of it":                   {10, false, false, false, 8},
		"part of it":                      {13, false, false, false, 5},
		"all of it":                       {18, false, false, false, 0},
		"part of it, from a checkpoint":   {13, true, false, false, 5},
		"all of it, from a checkpoint":    {18, true, false, false, 0},
		"of one that a person left to it": {13, false, true, false, 8},
		"before botd stood down":          {13, false, false, true, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			soldOfForgotten(t, c.sold, c.checkpoint, c.resolved, c.unfound, c.want)
		})
	}
}

func soldOfForgotten(t testing.TB, sold exchange.Quantity, checkpoint, resolved, unfound bool, want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	w.tracker.spotFee = 0
	w.now += 60_000
	standDown := func() {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: youngers + "1", Body: record.Halt{Level: record.LevelPause, Reason: "an old backup"}})
	}
	if !unfound {
		standDown()
	}
	stop := w.places(placement.StopLoss, 21, stopOf(sold))
	stop.Status, stop.Filled = exchange.StatusFilled, sold
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stop.ClientOrderID, Body: record.Ended{OrderID: 21, State: placement.Filled, Filled: sold}})
	if unfound {
		standDown()
	}
	if resolved {
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{}})
	}
	w.now += 60_000
	if checkpoint {
		w.restores()
	} else {
		w.start()
	}
	w.tracker.spotFee = 0
	derive := w.deriver()
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 8, 8, w.now-90_000)
	for range 3 {
		w.now += 1_000
		w.sees("1.02", "0", []exchange.Order{bought, stop})
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// An old backup has forgotten several starts, and botd stands down for an order of the newest. After a start the orders of the others count, too:
// what they sold gets no stop, and what they bought gets one.
func TestStartKnowsOrdersOfEveryForgottenStart(t *testing.T) {
	t.Parallel()
	sold := func(id string) exchange.Order {
		return anothers(id, 20, exchange.Sell, exchange.Limit, 10, 10, 1_000_000)
	}
	bought := anothers("bt-00000511111-1", 20, exchange.Buy, exchange.MarketOrder, 8, 8, 1_000_000)
	const halted, quarantined, both = 1, 2, 3
	for name, c := range map[string]struct {
		order   exchange.Order
		by      int
		earlier bool // a person was notified of it before
		free    string
		want    exchange.Quantity
	}{
		"the holding was sold":                                   {sold("bt-00000511111-1"), halted, false, "0", 0},
		"the holding was sold by the newest":                     {sold("bt-00000722222-2"), halted, false, "0", 0},
		"the holding was sold before an earlier report":          {sold("bt-00000511111-1"), halted, true, "0", 10},
		"more was bought":                                        {bought, halted, false, "1.018", 18},
		"more was bought, and its symbol waits":                  {bought, quarantined, false, "1.018", 18},
		"more was bought, and the account was rearmed":           {bought, both, false, "1.018", 18},
		"more was bought before an earlier report":               {bought, halted, true, "1.018", 10},
		"more was bought before an earlier report on the symbol": {bought, quarantined, true, "1.018", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			knowsForgotten(t, &c.order, c.by&halted != 0, c.by&quarantined != 0, c.by == both, c.earlier, c.free, c.want)
		})
	}
}

func soldByForgotten(t testing.TB) {
	order := anothers("bt-00000511111-1", 20, exchange.Sell, exchange.Limit, 10, 10, 1_000_000)
	knowsForgotten(t, &order, true, false, false, false, "0", 0)
}

func knowsForgotten(t testing.TB, order *exchange.Order, halted, quarantined, rearmed, earlier bool, free string, want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 60_000
	w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: 20}})
	standDown := func(id string) {
		if quarantined {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, ClientOrderID: id, Body: record.Quarantined{Reason: "an old backup"}})
		}
		if halted {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Halt{Level: record.LevelPause, Reason: "an old backup"}})
		}
	}
	rearm := func() { w.apply(record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelNone}}) }
	if earlier {
		standDown("bt-00000633333-1")
		rearm()
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{}})
	}
	standDown("bt-00000722222-1")
	if rearmed {
		rearm()
	}
	w.start()
	w.tracker.spotFee = 0
	derive := w.deriver()
	for range 6 {
		w.now += 1_000
		w.sees(free, "0", []exchange.Order{*order})
	}
	if have := stopped(derive()); !w.tracker.StandsDown() || have != want {
		t.Errorf("want a stop of %d, have %d, standing down %t", want, have, w.tracker.StandsDown())
	}
}

// While botd stands down, the answer to an exit was lost, or the process died before it came. The wallet still shows everything that both botds bought,
// next to a person's units, so the position has its stop again two seconds later.
func TestStopReturnsDespiteLostExitWhileStandingDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free  string
		start bool
		want  exchange.Quantity
	}{
		"the wallet shows all":                {"1.018", false, 18},
		"the wallet shows all, after a start": {"1.018", true, 18},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lostExitStandingDown(t, c.free, c.start, c.want)
		})
	}
}

func lostExitStandingDown(t testing.TB, free string, start bool, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.tracker.spotFee = 0
	w.now += 60_000
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 8, 8, w.now-600_000)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: youngers + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	w.places(placement.Exit, 0, saleOf(10))
	if start {
		w.start()
		w.tracker.spotFee = 0
		derive = w.deriver()
	}
	for range 4 {
		w.now += 1_000
		w.sees(free, "0", []exchange.Order{bought})
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// A list omitted the id, and the order had the same amount and second as botd's own.
func TestOwnBookedFillIsNotAnotherBotds(t *testing.T) {
	t.Parallel()
	bookedAsOwn(t)
}

func bookedAsOwn(t testing.TB) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.targets(17, nil)
	bought := w.places(placement.Entry, 20, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 7, Price: 50_000e8})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: bought.ClientOrderID, Body: record.Ended{OrderID: 20, State: placement.Filled, Filled: 7}})
	named := anothers(youngers+"1", 20, exchange.Buy, exchange.Limit, 7, 7, w.now)
	for range 6 {
		w.now += 1_000
		w.sees("1.007", "0.01", []exchange.Order{named}, stop)
	}
	if have := stopped(derive()); !w.tracker.StandsDown() || have != 7 {
		t.Errorf("want a stop of the seven alone beside the one of ten, have %d, standing down %t", have, w.tracker.StandsDown())
	}
}

// The journal was cut and names one of two stops that have sold. The other one sold after the last record, and before the start booked the first.
func TestAfterAStartASaleThatTheJournalLacksIsAWitness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		aged int64 // the sale before the start
		is   bool
	}{
		{"after the last change", 30_000, true},
		{"before it", 200_000, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			soldAfterACut(t, c.aged, c.is)
		})
	}
}

func soldAfterACut(t testing.TB, aged int64, witness bool) {
	t.Helper()
	w, _ := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(4))
	w.now += 60_000
	w.start()
	w.tracker.Symbol(coin).last = 50_000e8
	stop.Status, stop.Filled = exchange.StatusFilled, 4
	lacking := exchange.Order{ID: 9, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopLimit, Quantity: 6, Filled: 6,
		Status: exchange.StatusFilled, CreatedMS: w.now - aged}
	for range 12 {
		w.now += 1_000
		w.sees("1", "0", []exchange.Order{stop, lacking})
	}
	symbol := w.tracker.Symbol(coin)
	if have := symbol.Cause() == record.SoldByOthers && symbol.Quarantine() != ""; have != witness {
		t.Errorf("want the sale to be the witness %t, have %q, contradicted %q", witness, symbol.Quarantine(), symbol.contradicted)
	}
}
