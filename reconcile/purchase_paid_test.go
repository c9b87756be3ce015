package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// hasMoney fetches a wallet with the given free and frozen quantities of the asset and the given money. The
// history shows nothing.
func (w *wallet) hasMoney(free, frozen, money string, orders ...exchange.Order) {
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(orders),
		History: exchange.FetchedOf[exchange.Order](nil), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free), Frozen: exchange.MustAmount(frozen)},
			{Asset: "USDT", Free: exchange.MustAmount(money)}})})...)
}

// The exchange executed a purchase twice, and the history shows neither execution.
func TestPurchaseExecutedTwiceIsProtected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held, money string
		want        exchange.Quantity
	}{
		"bought once, and paid once":              {"1.01", "9500", 10},
		"bought twice, and paid twice":            {"1.02", "9000", 20},
		"bought three times, and paid so":         {"1.03", "8500", 20},
		"paid once, and the rest is a deposit":    {"1.02", "9500", 10},
		"paid twice but for a little":             {"1.02", "9010", 20},
		"paid twice, and something was withdrawn": {"1.01", "9000", 10},
		"not paid, and all of it is a deposit":    {"1.02", "10000", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantPurchaseExecutedTwice(t, c.held, c.money, c.want)
		})
	}
}

func wantPurchaseExecutedTwice(t testing.TB, held, money string, want exchange.Quantity) {
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.hasMoney("1", "0", "10000")
	w.now += 1_000
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 1_000
	w.hasMoney(held, "0", money)
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// The exchange has accepted a purchase that no list shows. Exactly its money is gone, but the wallet shows only a part of its units, next to a person's
// (seed 940026283).
func TestAcceptedPurchaseIsProtectedByItsMoneyNextToAWalletThatShowsLess(t *testing.T) {
	t.Parallel()
	byAmount := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)}
	byQuantity := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 50_000e8}
	for name, c := range map[string]paidPurchase{
		"exactly its money is gone":            {order: byAmount, orderID: 7, held: "1.004", money: "9500", want: 9},
		"almost a step less was paid":          {order: byAmount, orderID: 7, held: "1.004", money: "9545", want: 9},
		"more than a step less was paid":       {order: byAmount, orderID: 7, held: "1.004", money: "9556", want: 4},
		"more is gone":                         {order: byAmount, orderID: 7, held: "1.004", money: "9499", want: 4},
		"nothing is gone":                      {order: byAmount, orderID: 7, held: "1.004", money: "10000"},
		"the wallet shows all":                 {order: byAmount, orderID: 7, held: "1.01", money: "9500", want: 10},
		"its answer was lost":                  {order: byAmount, held: "1.004", money: "9500", want: 4},
		"it rests at a price":                  {order: byQuantity, orderID: 7, held: "1.004", money: "9500", want: 4},
		"it is listed":                         {order: byAmount, orderID: 7, held: "1.004", money: "9500", listed: true},
		"another purchase may have cost money": {order: byAmount, orderID: 7, held: "1.004", money: "9500", other: true, want: 4},
		"another botd may have spent it":       {order: byAmount, orderID: 7, held: "1.004", money: "9500", peer: true, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			boughtByMoney(t, c)
		})
	}
}

type paidPurchase struct {
	order               exchange.NewOrder
	orderID             int64
	held, money         string
	listed, other, peer bool
	want                exchange.Quantity
}

func boughtByMoney(t testing.TB, c paidPurchase) {
	t.Helper()
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.hasMoney("1", "0", "10000")
	w.now += 1_000
	row := w.places(placement.Entry, c.orderID, c.order)
	if c.other {
		w.sendsElsewhere(exchange.Buy)
	}
	if c.peer {
		w.tracker.Symbol(coin).unknownEnded = elders + "1"
	}
	w.now += 1_000
	if c.listed {
		w.hasMoney(c.held, "0", c.money, row)
	} else {
		w.hasMoney(c.held, "0", c.money)
	}
	if have := stopped(derive()); have != c.want {
		t.Errorf("%+v: want a stop of %d, have %d", c, c.want, have)
	}
}

// The history shows the purchase, but not that the exchange executed it a second time.
func TestSecondExecutionOfAnEndedPurchaseIsProtected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held, money string
		want        exchange.Quantity
	}{
		"bought twice, and paid twice":         {"1.02", "9000", 20},
		"bought once, and paid once":           {"1.01", "9500", 10},
		"paid once, and a step more is held":   {"1.011", "9500", 10}, // a step is worth an order: fees are rounded to whole steps
		"paid once, and the rest is a deposit": {"1.02", "9500", 10},
		"paid twice, but bought once":          {"1.01", "9000", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executedAgainAfterItsEnd(t, c.held, c.money, c.want)
		})
	}
}

func executedAgainAfterItsEnd(t testing.TB, held, money string, want exchange.Quantity) {
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.hasMoney("1", "0", "10000")
	w.now += 1_000
	bought := w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	bought.Status, bought.Filled, bought.Quantity = exchange.StatusFilled, 10, 10
	for round := range testSettle.StalenessMS/1_000 + 5 {
		w.now += 1_000
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
			History: exchange.FetchedOf([]exchange.Order{bought}), HistoryWhole: true,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)},
				{Asset: "USDT", Free: exchange.MustAmount(money)}})})...)
		if have := stopped(derive()); have != want && round > 0 {
			t.Fatalf("want a stop of %d, have %d", want, have)
		}
	}
	symbol := w.tracker.Symbol(coin)
	if declared := symbol.Quarantine() != ""; symbol.Known() != 10 || declared != (want > 10) {
		t.Errorf("want 10 known and it declared %t, have %d, %q", want > 10, symbol.Known(), symbol.Quarantine())
	}
	if want == 10 {
		return
	}
	again := bought
	again.ID = 8
	w.now += 1_000
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		History: exchange.FetchedOf([]exchange.Order{bought, again}), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)},
			{Asset: "USDT", Free: exchange.MustAmount(money)}})})...)
	if have := stopped(derive()); have != want || symbol.Known() != 20 {
		t.Errorf("want a stop of %d of 20 known once the history shows it, have %d of %d", want, have, symbol.Known())
	}
}

// Two purchases follow each other before a wallet shows the first one: what that wallet lacks of the money is not a second execution of the other one.
func TestTwoPurchasesAreNoSecondExecution(t *testing.T) {
	t.Parallel()
	twoPurchasesOfOneWallet(t)
}

func twoPurchasesOfOneWallet(t testing.TB) {
	w, _ := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.hasMoney("1", "0", "10000")
	var history []exchange.Order
	for id := range int64(2) {
		w.now += 1_000
		bought := w.places(placement.Entry, 7+id, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
		bought.Status, bought.Filled, bought.Quantity = exchange.StatusFilled, 10, 10
		history = append(history, bought)
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
			History: exchange.FetchedOf(history), HistoryWhole: true})...)
	}
	for range testSettle.StalenessMS/1_000 + 5 {
		w.now += 1_000
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
			History: exchange.FetchedOf(history), HistoryWhole: true,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.021")},
				{Asset: "USDT", Free: exchange.MustAmount("9000")}})})...)
	}
	if symbol := w.tracker.Symbol(coin); symbol.Known() != 20 || symbol.Quarantine() != "" {
		t.Errorf("want 20 known and nothing declared, have %d, %q", symbol.Known(), symbol.Quarantine())
	}
}

// The outcome of a purchase is uncertain, and the stop of the earlier position has filled. A wallet as before the purchase is older than both.
func TestWalletOfBeforeAPurchaseShowsNoneOfIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held, money string
		want        exchange.Quantity
	}{
		"units and money of before the purchase": {"1.01", "10000", 0},
		"as many units, and other money":         {"1.01", "9990", 10},
		"the stop has sold, nothing was bought":  {"1", "10490", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			walletOfBeforeAPurchase(t, c.held, c.money, c.want)
		})
	}
}

func walletOfBeforeAPurchase(t testing.TB, held, money string, want exchange.Quantity) {
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.hasMoney("1", "0.01", "10000", stop)
	w.now += 1_000
	w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 1_000
	stop.Status, stop.Filled = exchange.StatusFilled, 10
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		History: exchange.FetchedOf([]exchange.Order{stop}), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)},
			{Asset: "USDT", Free: exchange.MustAmount(money)}})})...)
	if have := stopped(derive()); have != want || w.tracker.Symbol(coin).Known() != 0 {
		t.Errorf("want a stop of %d and none known, have %d and %d", want, have, w.tracker.Symbol(coin).Known())
	}
}

// Another purchase is without an end, because the history omits it too. If the wallet showed its units and lacked its money before this one was sent, it
// costs nothing any more.
func TestPurchaseExecutedTwiceNextToAnotherIsProtected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		units, money string // of the other purchase, before this one was sent
		want         exchange.Quantity
	}{
		"the other one is shown":               {"0.2", "9500", 20},
		"nearly all of the other one":          {"0.182", "9550", 20},
		"less of its units":                    {"0.18", "9500", 10},
		"less of its money":                    {"0.2", "9550.01", 10},
		"its units are a deposit":              {"0.2", "10000", 10},
		"its money is gone, and no units came": {"0", "9500", 10},
		"neither its units nor its money":      {"0", "10000", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executedTwiceNextToAnother(t, c.units, c.money, c.want)
		})
	}
}

func executedTwiceNextToAnother(t testing.TB, units, money string, want exchange.Quantity) {
	w, derive, reads := withAnotherPurchase(t)
	reads("1", units, money)
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	reads("1.02", units, exchange.MustAmount(money).Sub(exchange.AmountOf(1_000)).String())
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// Both purchases are sent in the same round, and no list shows either. What the other one may have cost has bought none of this one's units.
func TestPurchaseExecutedTwiceTogetherWithAnotherIsProtected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		units, money string // of the other purchase, and what is left
		want         exchange.Quantity
	}{
		"the other one once":                     {"0.2", "8500", 20},
		"the other one twice":                    {"0.4", "7980", 20},
		"the other one twice, and this one once": {"0.4", "8500", 10},
		"each of them once":                      {"0.2", "9000", 10},
		"the wallet lacks the other one's units": {"0", "9000", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executedTwiceTogether(t, c.units, c.money, c.want)
		})
	}
}

func executedTwiceTogether(t testing.TB, units, money string, want exchange.Quantity) {
	w, derive, reads := withAnotherPurchase(t)
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	reads("1.02", units, money)
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// withAnotherPurchase sends a purchase of another asset, of which the wallet has not shown anything yet.
func withAnotherPurchase(t testing.TB) (w *wallet, derive func() []Intent, reads func(btc, units, money string)) {
	w, derive = protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	ether := w.tracker.Track(exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"})
	rules := *w.tracker.Symbol(coin).rules
	rules.Name, rules.Base = "ETH-USDT", "ETH"
	ether.rules, ether.last = &rules, 2_500e8
	reads = func(btc, units, money string) {
		w.now += 60_000
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
			History: exchange.FetchedOf[exchange.Order](nil), HistoryWhole: true,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(btc)},
				{Asset: "ETH", Free: exchange.MustAmount(units)}, {Asset: "USDT", Free: exchange.MustAmount(money)}})})...)
		w.now += 1_000
	}
	reads("1", "0", "10000")
	other := exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500),
		ClientOrderID: w.tracker.NextClientOrderID("t")}
	w.apply(record.Record{AtMS: w.now, Strategy: "two", Symbol: ether.Key(), ClientOrderID: other.ClientOrderID,
		Body: record.Sending{Order: other, Purpose: placement.Entry, DeadlineMS: w.now + 5_000, Funds: w.tracker.FundsBefore(ether, true)}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: other.ClientOrderID, Body: record.Acknowledged{OrderID: 6}})
	return w, derive, reads
}

// The open list, the history and the trades of a purchase show nothing of it. A resting order buys nothing, so what a person deposits at that moment
// is not botd's.
func TestPurchaseIsProtectedByItsMoneyWhileNoListCanBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held, money string
		want        exchange.Quantity
	}{
		"bought and paid":                        {"1.01", "9500", 10},
		"a deposit of as much":                   {"1.01", "10000", 0},
		"a deposit of as much, and a withdrawal": {"1.01", "9400", 0},
		"money alone is gone":                    {"1", "9500", 0},
		"bought twice, and paid twice":           {"1.02", "9000", 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantPurchaseShownByWallet(t, c.held, c.money, c.want)
		})
	}
}

func wantPurchaseShownByWallet(t testing.TB, held, money string, want exchange.Quantity) {
	w, _ := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.hasMoney("1", "0", "10000")
	w.now += 1_000
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 1_000
	w.unread(held, money)
	if have := stopped(w.derives(func(d *Desired) { stopped2(d); d.Unread = true })); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// The exchange refused the purchase but executed it. The wallet shows its units, and that its money is gone.
func TestRefusedPurchaseIsProtectedWhileNoListCanBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		held, money string
		starts      bool
		want        exchange.Quantity
	}{
		{"it was executed", "1.01", "9500", false, 10},
		{"it was executed, and botd has started since", "1.01", "9500", true, 10},
		{"the money is there: a person has deposited as much", "1.01", "10000", false, 0},
		{"half of the money is gone", "1.01", "9750", false, 0},
		{"the money alone is gone", "1", "9500", false, 0},
	} {
		if have := refusedUnread(t, c.held, c.money, c.starts); have != c.want {
			t.Errorf("%s: want a stop of %d, have %d", c.name, c.want, have)
		}
	}
}

func refusedUnread(t testing.TB, held, money string, starts bool) exchange.Quantity {
	w, _ := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.hasMoney("1", "0", "10000")
	w.now += 1_000
	w.refuses(placement.Entry, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 1_000
	if starts {
		w.restores()
		w.deriver() // it knows the price
		w.now += 1_000
	}
	w.unread(held, money)
	return stopped(w.derives(func(d *Desired) { stopped2(d); d.Unread = true }))
}

// An earlier history showed that a person spent the same amount, so the money is not evidence of a purchase of botd's.
func TestMoneyThatAPersonSpentShowsNoPurchase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		theirs exchange.Quantity
		want   exchange.Quantity
	}{
		"a person bought all of it":  {20, 0},
		"a person bought half of it": {10, 10},
		"a person bought nothing":    {0, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paidByPerson(t, c.theirs, c.want)
		})
	}
}

func paidByPerson(t testing.TB, theirs, want exchange.Quantity) {
	w, _ := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.hasMoney("1", "0", "10000")
	w.now += 1_000
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 1_000
	var history []exchange.Order
	if theirs > 0 {
		history = append(history, exchange.Order{ID: 8, ClientOrderID: "a-person", Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Buy,
			Type: exchange.Limit, Quantity: theirs, Filled: theirs, Price: 50_000e8, Status: exchange.StatusFilled, CreatedMS: w.now})
	}
	w.sees("1.02", "0", history)
	w.now += 1_000
	w.unread("1.02", "9000")
	if have := stopped(w.derives(func(d *Desired) { stopped2(d); d.Unread = true })); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// unread fetches only a wallet: the open list and the history cannot be read.
func (w *wallet) unread(held, money string) {
	balances := []exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)}, {Asset: "USDT", Free: exchange.MustAmount(money)}}
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{coin},
		Balances: exchange.FetchedOf(balances)})...)
}

// What the wallet had shown is forgotten, but the stop stays.
func TestStopStaysAfterStartUntilPurchaseIsDecided(t *testing.T) {
	t.Parallel()
	stopOfBefore(t, true)
}

// The purchase stays undecided, as it does while the open list can be read.
func TestStopStaysAfterStartWithoutOpenList(t *testing.T) {
	t.Parallel()
	stopOfBefore(t, false)
}

func stopOfBefore(t testing.TB, listed bool) {
	w, _ := protecting(t)
	if listed { // the purchase was executed twice, and nothing else is held
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	}
	w.now += 60_000
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 1_000
	stops := []exchange.Order{w.places(placement.StopLoss, 9, stopOf(10)), w.places(placement.StopLoss, 10, stopOf(10))}
	w.hasMoney("1", "0.02", "9000", stops...)
	w.now += 1_000
	w.start()
	symbol := w.tracker.Symbol(coin)
	symbol.last, symbol.entryPrice = 50_000e8, exchange.AmountOf(50_000)
	w.now += 1_000
	if listed {
		w.hasMoney("1", "0.02", "9000", stops...)
	} else {
		w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{{Market: exchange.Spot}},
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.AmountOf(1), Frozen: exchange.MustAmount("0.02")}})})
	}
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1, Bridge: true, Unread: !listed,
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}, w.now)
	if have := canceled(intents); len(have) != 0 {
		t.Errorf("want the stops to stand, have %v canceled", have)
	}
}

// No list shows the purchase, and it does not belong to the other botd.
func TestStandingDownKeepsOwnUnlistedPurchase(t *testing.T) {
	t.Parallel()
	ownWithAnother(t)
}

func ownWithAnother(t testing.TB) {
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.hasMoney("1", "0.01", "10000", stop)
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "9", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	w.now += 1_000
	w.hasMoney("1.01", "0.01", "9500", stop)
	if have := stopped(derive()); have != 10 {
		t.Errorf("want a stop of the ten that were bought, have %d", have)
	}
	if theirs, _ := w.tracker.PeerPosition(w.tracker.Symbol(coin)); theirs != 0 {
		t.Errorf("want none of it another's, have %d", theirs)
	}
}

// The history does not show the sale. The wallet shows the remaining holding and freezes nothing for the sale.
func TestStopOfRemainderNeedsNoList(t *testing.T) {
	t.Parallel()
	leftBySale(t)
}

func leftBySale(t testing.TB) {
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{}})
	w.now += 60_000
	w.hasMoney("0.01", "0", "10000")
	w.places(placement.Exit, 9, saleOf(6))
	for range 6 {
		w.now += 1_000
		w.hasMoney("0.004", "0", "10300")
	}
	if have := stoppedAtOnce(derive()); have != 4 {
		t.Errorf("want a stop of the four that are left, have %d", have)
	}
}
