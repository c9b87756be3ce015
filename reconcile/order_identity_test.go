package reconcile

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// unnamed returns an order as a list shows it without its client order id.
func unnamed(o exchange.Order) exchange.Order {
	o.ClientOrderID = ""
	return o
}

// canceled returns the order ids of the cancels among the intents.
func canceled(intents []Intent) (ids []int64) {
	for i := range intents {
		if intents[i].Purpose == placement.Cancel {
			ids = append(ids, intents[i].OrderID)
		}
	}
	return ids
}

// A list that omits ids shows the stop. Another one next to it would sell the same units twice.
func TestEqualRowWithoutIDIsTheUncertainStop(t *testing.T) {
	t.Parallel()
	const fenceMS = 5_000 + 5_000 + 1_000 + 1_000 // its time to live, W, D and L
	for name, c := range map[string]struct {
		change func(*exchange.Order)
		found  bool
	}{
		"the same":                          {func(*exchange.Order) {}, true},
		"of another quantity":               {func(o *exchange.Order) { o.Quantity++ }, false},
		"at another price":                  {func(o *exchange.Order) { o.Price++ }, false},
		"with another stop price":           {func(o *exchange.Order) { o.StopPrice++ }, false},
		"older by a second":                 {func(o *exchange.Order) { o.CreatedMS -= 1_000 }, true},
		"older than a second":               {func(o *exchange.Order) { o.CreatedMS -= 1_001 }, false},
		"of when it could arrive at latest": {func(o *exchange.Order) { o.CreatedMS += fenceMS }, true},
		"of when it could not arrive":       {func(o *exchange.Order) { o.CreatedMS += fenceMS + 1 }, false},
		"under an id of somebody's":         {func(o *exchange.Order) { o.ClientOrderID = "a person's" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopWithoutAnID(t, c.change, c.found)
		})
	}
}

func stopWithoutAnID(t testing.TB, change func(*exchange.Order), found bool) {
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 0, stopOf(10))
	id := stop.ClientOrderID
	stop.ID = 8
	stop = unnamed(stop)
	change(&stop)
	w.now += 3_000
	fetched := []exchange.Order{stop}
	w.shows("1", "0.01", fetched...)
	if have := w.tracker.Placement(id).OrderID() == 8; have != found {
		t.Errorf("want order 8 to be it %t, have %t", found, have)
	}
	if fetched[0].ClientOrderID != stop.ClientOrderID {
		t.Errorf("want what was fetched as it was, have %q", fetched[0].ClientOrderID)
	}
	if have := stopped(derive()) != 0; have == found {
		t.Errorf("want another stop beside it %t, have %t", !found, have)
	}
}

// A refused stop rests without an id. The units that it holds would be sold in addition to an exit. The exchange dates it at most a second after its
// refusal.
func TestRefusedSaleThatRestsWithoutIDIsCanceled(t *testing.T) {
	t.Parallel()
	refusedSaleRests(t, func(*exchange.Order) {}, true)
	refusedSaleRests(t, func(o *exchange.Order) { o.CreatedMS += 1_000 }, true)
	refusedSaleRests(t, func(o *exchange.Order) { o.CreatedMS += 1_001 }, false)
	refusedSaleRests(t, func(o *exchange.Order) { o.Quantity = 4 }, false)
}

func refusedSaleRests(t testing.TB, change func(*exchange.Order), found bool) {
	w, derive := protecting(t)
	sale := w.places(placement.ExitOrder, 0, exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Quantity: 10, Price: 51_000e8})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Refused{Code: 2998, Reason: "forbidden"}})
	sale.ID = 8
	change(&sale)
	w.now += 1_000
	w.shows("1", "0.01", unnamed(sale))
	if have := canceled(derive()); (len(have) == 1 && have[0] == 8) != found {
		t.Errorf("want order 8 canceled %t, have %v", found, have)
	}
}

// A list that is older than the sale, or does not show it yet, confirms its refusal. A later list shows the sale under no id.
func TestRefusedSaleIsRecognizedAfterConfirmation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order   exchange.NewOrder
		purpose placement.Purpose
		change  func(*exchange.Order)
		found   bool
	}{
		"a sale":                 {saleOf(10), placement.Exit, func(*exchange.Order) {}, true},
		"a sale of another size": {saleOf(10), placement.Exit, func(o *exchange.Order) { o.Quantity = 4 }, false},
		"a stop":                 {stopOf(10), placement.StopLoss, func(*exchange.Order) {}, true},
		"a stop dated later":     {stopOf(10), placement.StopLoss, func(o *exchange.Order) { o.CreatedMS += 1_001 }, false},
		"an order of another id": {stopOf(10), placement.StopLoss, func(o *exchange.Order) { o.ClientOrderID = "a person's" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recognizedLate(t, c.purpose, c.order, c.change, c.found)
		})
	}
}

func recognizedLate(t testing.TB, purpose placement.Purpose, order exchange.NewOrder, change func(*exchange.Order), found bool) {
	w := holding(t, ForeignHalt)
	sale := w.places(purpose, 0, order)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Refused{Code: 2999, Reason: "system busy"}})
	sale.ID = 8
	sale = unnamed(sale)
	change(&sale)
	w.now += 1_000
	if w.sees("1.01", "0", nil); len(w.tracker.Refused()) != 0 {
		t.Fatalf("want the refusal confirmed, have %+v", w.tracker.Refused())
	}
	w.now += 1_000
	w.sees("1", "0.01", nil, sale)
	own := false
	for p := range w.tracker.Live() {
		own = own || p.OrderID() == 8
	}
	if own != found {
		t.Errorf("want order 8 to be the refused one %t, have %t", found, own)
	}
}

// A history that is older than the purchase confirms its refusal. A later one shows the purchase under no id, as it shows botd's other orders.
func TestRefusedPurchaseIsRecognizedAfterConfirmation(t *testing.T) {
	t.Parallel()
	boughtLate(t, func(*exchange.Order) {}, 20)
	boughtLate(t, func(o *exchange.Order) { o.QuoteAmount = exchange.AmountOf(501) }, 10)
	boughtLate(t, func(o *exchange.Order) { o.CreatedMS += 60_000 }, 10)
}

func boughtLate(t testing.TB, change func(*exchange.Order), known exchange.Quantity) {
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	order := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)}
	row := func(id int64, sent exchange.Order) exchange.Order {
		sent.ID, sent.ClientOrderID, sent.QuoteAmount, sent.Filled, sent.Status = id, "", exchange.AmountOf(500), 10, exchange.StatusFilled
		return sent
	}
	first := row(5, w.places(placement.Entry, 5, order))
	w.now += 30_000
	w.sees("1.01", "0", []exchange.Order{first})
	sent := w.sends(placement.Entry, 0, order)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sent.ClientOrderID, Body: record.Refused{Code: 2999, Reason: "system busy"}})
	w.now += 1_000
	if w.sees("1.01", "0", []exchange.Order{first}); len(w.tracker.Refused()) != 0 {
		t.Fatalf("want the refusal confirmed, have %+v", w.tracker.Refused())
	}
	second := row(6, sent)
	change(&second)
	w.now += 1_000
	w.sees("1.02", "0", []exchange.Order{first, second})
	if symbol := w.tracker.Symbol(coin); symbol.Known() != known || (symbol.Cause() == record.ExecutedBeyond) != (known == 20) {
		t.Errorf("want %d known, have %d, quarantined %q", known, symbol.Known(), symbol.Quarantine())
	}
}

// The equal order is canceled. Next to a resting sale it is one that is younger by at most ten seconds. Next to a stop it may also be the
// older one: the younger of two stops is canceled.
func TestEqualOrderWithoutIDIsOwn(t *testing.T) {
	t.Parallel()
	sale := exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Quantity: 10, Price: 51_000e8}
	for _, c := range []struct {
		name      string
		orderID   int64 // of botd's own order; 0 while it is not answered
		another   int64
		afterMS   int64
		taken     bool
		uncertain bool
	}{
		{"younger", 8, 9, 0, true, false},
		{"older", 8, 7, 0, false, false},
		{"older than one of which a row could not be read", 8, 7, 0, false, true},
		{"ten seconds younger", 8, 9, 10_000, true, false},
		{"younger than that", 8, 9, 10_001, false, false},
		{"of one that is not answered", 0, 9, 0, false, false},
	} {
		w, derive := protecting(t)
		row := unnamed(w.sends(placement.ExitOrder, c.orderID, sale))
		again := row
		again.ID, again.CreatedMS = c.another, row.CreatedMS+c.afterMS
		open := []exchange.Order{row, again}
		if c.orderID == 0 {
			open = open[1:]
		}
		if c.uncertain {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: w.tracker.LiveAt(0).ClientOrderID(), Body: record.Uncertain{Reason: "a test"}})
		}
		w.now += 11_000
		w.shows("0.99", "0.02", open...)
		if have := slices.Contains(canceled(derive()), c.another); have != c.taken {
			t.Errorf("%s: want it canceled %t, have %t", c.name, c.taken, have)
		}
	}
}

// The exchange executed a stop's placement twice, or another botd with a copy of the journal placed the same stop. That botd must come to
// the same conclusion.
func TestYoungerOfTwoEqualStopsIsCanceled(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]int64{"its own is the older": 9, "its own is the younger": 7} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			twoEqualStops(t, other, max(8, other), false)
		})
	}
	twoEqualStops(t, 9, 0, true)
}

func twoEqualStops(t testing.TB, other, taken int64, standsDown bool) {
	w, derive := protecting(t)
	stop := unnamed(w.places(placement.StopLoss, 8, stopOf(10)))
	again := stop
	again.ID = other
	w.now += 1_000
	if standsDown {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "9", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	}
	w.shows("0.99", "0.02", stop, again)
	have := canceled(derive())
	if len(have) != min(1, int(taken)) || taken != 0 && have[0] != taken {
		t.Errorf("another one of id %d, standing down %t: want %d canceled, have %v", other, standsDown, taken, have)
	}
}

// The next list omits the id of another botd's order, whichever list has shown it.
func TestListedIDIsRemembered(t *testing.T) {
	t.Parallel()
	shownWithItsID(t, true, 10)
	shownWithItsID(t, false, 0)
	theirs := anothers(elders+"2", 50, exchange.Sell, exchange.StopLimit, 10, 0, 1)
	for name, shows := range map[string]func(s *Snapshot, rows []exchange.Order){
		"the open list":               func(s *Snapshot, rows []exchange.Order) { s.SpotOrders = exchange.FetchedOf(rows) },
		"a history":                   func(s *Snapshot, rows []exchange.Order) { s.History = exchange.FetchedOf(rows) },
		"the first read of a history": func(s *Snapshot, rows []exchange.Order) { s.Newest = rows },
	} {
		for named, ids := range map[string]func(s *Snapshot, rows []exchange.Order){
			"the open list":               func(s *Snapshot, rows []exchange.Order) { s.SpotOrders = exchange.FetchedOf(rows) },
			"a history":                   func(s *Snapshot, rows []exchange.Order) { s.History = exchange.FetchedOf(rows) },
			"the first read of a history": func(s *Snapshot, rows []exchange.Order) { s.Newest = rows },
		} {
			w := explains(t, 10, 0)
			first, next := &Snapshot{}, &Snapshot{}
			ids(first, []exchange.Order{theirs})
			shows(next, []exchange.Order{unnamed(theirs)})
			w.tracker.survey(first).orderRows().nameRows()
			w.tracker.survey(next).orderRows().nameRows()
			have := slices.Clone(next.Newest)
			for _, list := range []exchange.Fetched[exchange.Order]{next.SpotOrders, next.History} {
				if list.Done() {
					have = append(have, list.Items()...)
				}
			}
			if len(have) != 1 || have[0].ClientOrderID != theirs.ClientOrderID {
				t.Errorf("%s has shown its id, %s does not: want it known, have %+v", named, name, have)
			}
		}
	}
}

func shownWithItsID(t testing.TB, shown bool, want exchange.Quantity) {
	w, _ := protecting(t)
	theirs := anothers(elders+"2", 50, exchange.Sell, exchange.StopLimit, 10, 0, 1)
	if w.now += 1_000; shown {
		w.shows("1", "0.01", theirs)
	}
	w.now += 1_000
	w.shows("1", "0.01", unnamed(theirs))
	if have := w.tracker.sellsUnknown(w.tracker.Symbol(coin)); have != want {
		t.Errorf("shown before %t: want it to sell %d, have %d", shown, want, have)
	}
}

// The first id beyond a thousand makes botd forget the others.
func TestThousandIDsAreRemembered(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	s := w.tracker.survey(&Snapshot{})
	for i := range int64(1_001) {
		s.orderRows().noteNames(exchange.FetchedOf([]exchange.Order{anothers(fmt.Sprint(elders, i), 1+i, exchange.Sell, exchange.Limit, 10, 0, 1)}))
		if want := map[bool]int{true: 1, false: int(i) + 1}[i == 1_000]; len(w.tracker.names) != want {
			t.Fatalf("want %d known after %d, have %d", want, i+1, len(w.tracker.names))
		}
	}
}

// The history shows what another botd bought, and its stop shows no id.
func TestStandingDownStopWithoutIDIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*exchange.Order)
		want   exchange.Quantity
	}{
		"a stop of what it bought": {func(*exchange.Order) {}, 0},
		"of part of it":            {func(o *exchange.Order) { o.Quantity = 4 }, 6},
		"of more":                  {func(o *exchange.Order) { o.Quantity = 400 }, 0},
		"an order that buys":       {func(o *exchange.Order) { o.Side = exchange.Buy }, 10},
		"no stop":                  {func(o *exchange.Order) { o.Type = exchange.Limit }, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopOfAnother(t, c.change, c.want)
		})
	}
}

func stopOfAnother(t testing.TB, change func(*exchange.Order), want exchange.Quantity) {
	w, derive := protecting(t)
	own := w.places(placement.StopLoss, 8, stopOf(10))
	bought := anothers(elders+"1", 40, exchange.Buy, exchange.MarketOrder, 10, 10, w.now)
	stop := unnamed(anothers(elders+"2", 50, exchange.Sell, exchange.StopLimit, 10, 0, 1))
	change(&stop)
	free, frozen := "1", "0.02"
	if stop.Side == exchange.Buy { // it freezes money
		free, frozen = "1.01", "0.01"
	}
	for range 3 {
		w.now += 1_000
		w.sees(free, frozen, []exchange.Order{bought}, own, stop)
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want %d of it in a stop of botd's, have %d", want, have)
	}
}

// Where the history omits ids, a stop of botd's form is another botd's, under each policy: nothing opens in addition to it.
func TestStopWithoutIDOfBotdsFormBlocksOpenings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*wallet, *exchange.Order)
		want   bool
	}{
		"at the collar":                  {func(*wallet, *exchange.Order) {}, true},
		"a step of prices off":           {func(_ *wallet, o *exchange.Order) { o.Price += 1e7 }, true},
		"as far as a former step allows": {func(_ *wallet, o *exchange.Order) { o.Price -= 4_90000000 }, true},
		"farther than that":              {func(_ *wallet, o *exchange.Order) { o.Price -= 5_10000000 }, false},
		"raised by the largest mark and as far as a former step allows": {func(_ *wallet, o *exchange.Order) { o.Price += 46_55000000 + 4_90000000 }, true},
		"raised by more":                     {func(_ *wallet, o *exchange.Order) { o.Price += 46_55000000 + 4_90000000 + 1 }, false},
		"at another distance":                {func(_ *wallet, o *exchange.Order) { o.Price = 48_000e8 }, false},
		"too small to be sold at the collar": {func(_ *wallet, o *exchange.Order) { o.Quantity, o.StopPrice, o.Price = 1, 5_200e8, 5_000_10000000 }, true},
		"with an id":                         {func(_ *wallet, o *exchange.Order) { o.ClientOrderID = "by hand" }, false},
		"a sale at a limit":                  {func(_ *wallet, o *exchange.Order) { o.Type = exchange.Limit }, false},
		"a purchase":                         {func(_ *wallet, o *exchange.Order) { o.Side = exchange.Buy }, false},
		"the history shows ids":              {func(w *wallet, _ *exchange.Order) { w.tracker.idsShown = true }, false},
		"the history shows some, not botd's": {func(w *wallet, _ *exchange.Order) { w.tracker.idsShown, w.tracker.idsLeftOut = true, true }, true},
		"its collar is not known":            {func(w *wallet, _ *exchange.Order) { w.tracker.Symbol(coin).collar = 0 }, false},
		"its collar is not known, and its limit is its stop price": {func(w *wallet, o *exchange.Order) {
			w.tracker.Symbol(coin).collar, o.Price = 0, o.StopPrice
		}, false},
		"its rules are not known":             {func(w *wallet, _ *exchange.Order) { w.tracker.Symbol(coin).rules = nil }, false},
		"on futures, where positions show it": {func(_ *wallet, o *exchange.Order) { o.Market = exchange.Futures }, false},
	} {
		for _, policy := range []string{ForeignHalt, ForeignAdopt, ForeignIgnore} {
			w := holding(t, policy)
			symbol := w.tracker.Symbol(coin)
			symbol.collar, w.tracker.idsShown = exchange.RateOne/20, false
			stop := anothers("", 20, exchange.Sell, exchange.StopLimit, 7, 0, w.now)
			stop.StopPrice, stop.Price = 49_000e8, 46_550e8
			c.change(w, &stop)
			symbol.foreign = []exchange.Order{stop}
			if have := w.tracker.ForeignOpening(symbol) != nil; have != c.want {
				t.Errorf("%s, foreign: %s: want %t, have %t", name, policy, c.want, have)
			}
		}
	}
}

// The history of a symbol shows whether it has ids.
func TestHistoryShowsIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{"": false, "by hand": true} {
		w := holding(t, ForeignHalt)
		w.tracker.idsShown = false
		w.sees("1.01", "0", []exchange.Order{anothers(id, 30, exchange.Buy, exchange.Limit, 7, 0, w.now)})
		if w.tracker.idsShown != want {
			t.Errorf("id %q: want %t, have %t", id, want, w.tracker.idsShown)
		}
	}
}
