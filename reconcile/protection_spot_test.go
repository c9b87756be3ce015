package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// A stop for more than the holding would sell a person's units, so its cancel does not wait as that of a stop whose price
// moves does.
func TestOversizedSpotStopIsCanceledAtOnce(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("0")
	w.now += 60_000
	w.buys(10)
	symbol := w.tracker.Symbol(coin)
	symbol.last, symbol.entryPrice = 50_000e8, exchange.AmountOf(50_000)
	w.tracker.Apply(
		&record.Record{
			Strategy: "one",
			Symbol:   coin,
			Body:     record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}}},
		},
	)
	derive := func() []Intent {
		intents, _ := w.tracker.Derive(
			&Desired{
				Strategy:   w.tracker.Strategy("one"),
				Symbol:     symbol,
				Equity:     exchange.AmountOf(10_000),
				Interval:   exchange.Minute1,
				Collar:     exchange.RateOne / 20,
				Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}},
			},
			w.now,
		)
		return intents
	}
	w.observe("0.01")
	stop := derive()
	if len(stop) != 1 || stop[0].Purpose != placement.StopLoss || stop[0].Order.Quantity != 10 {
		t.Fatalf("want a stop of all 10, have %+v", stop)
	}
	order := stop[0].Order
	order.ClientOrderID = w.tracker.NextClientOrderID("t")
	w.apply(
		record.Record{
			AtMS:          w.now,
			Strategy:      "one",
			Symbol:        coin,
			ClientOrderID: order.ClientOrderID,
			Body:          record.Sending{Order: order, Purpose: placement.StopLoss, DeadlineMS: w.now + 5_000},
		},
	)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Acknowledged{OrderID: 9}})
	resting := exchange.Order{
		ID:            9,
		ClientOrderID: order.ClientOrderID,
		Market:        exchange.Spot,
		Symbol:        "BTC-USDT",
		Side:          exchange.Sell,
		Type:          order.Type,
		Quantity:      10,
		Price:         order.Price,
		StopPrice:     order.StopPrice,
		Status:        exchange.StatusOpen,
	}
	for range testSettle.StalenessMS/1_000 + 3 { // sold manually
		w.now += 1_000
		w.observeSold("0.004", 6, resting)
	}
	if held := w.tracker.Closable(symbol); held != 4 {
		t.Fatalf("want 4 held, have %d", held)
	}
	if intents := derive(); len(intents) != 1 || intents[0].Purpose != placement.Cancel || intents[0].ClientID != order.ClientOrderID {
		t.Errorf("want the stop of 10 taken off %d s after it was placed, have %+v", (testSettle.StalenessMS+3_000)/1_000, intents)
	}
}

// protecting brings the wallet to 10 of its own without a stop, and returns a function that derives.
func protecting(t testing.TB) (w *wallet, derive func() []Intent) {
	t.Helper()
	w = holding(t, ForeignHalt)
	return w, w.deriver()
}

// deriver derives the intents of a strategy with a stop.
func (w *wallet) deriver() func() []Intent {
	symbol := w.tracker.Symbol(coin)
	symbol.last, symbol.entryPrice = 50_000e8, exchange.AmountOf(50_000)
	return func() []Intent {
		intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Equity: exchange.AmountOf(10_000),
			Interval: exchange.Minute1,
			Bridge:   true, Collar: exchange.RateOne / 20,
			Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}, w.now)
		return intents
	}
}

func TestWalletShortfallDoesNotPreventStop(t *testing.T) {
	t.Parallel()
	stopDespiteShortfall(t)
}

func stopDespiteShortfall(t testing.TB) {
	w, derive := protecting(t)
	for range 40 {
		w.now += 1_000
		w.observe("0.004") // without a sale
	}
	if w.tracker.Symbol(coin).contradicted == "" {
		t.Fatal("want it contradicted")
	}
	stop := derive()
	if len(stop) != 1 || stop[0].Purpose != placement.StopLoss || stop[0].Order.Quantity != 10 {
		t.Fatalf("want a stop of the 10 that the fills explain, have %+v", stop)
	}
	refused := stop[0].Order
	refused.ClientOrderID = w.tracker.NextClientOrderID("t")
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: refused.ClientOrderID,
		Body: record.Sending{Order: refused, Purpose: placement.StopLoss, DeadlineMS: w.now + 5_000}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: refused.ClientOrderID, Body: record.Refused{Reason: "the balance is not enough"}})
	if stop = derive(); len(stop) != 1 || stop[0].Order.Quantity != 4 {
		t.Errorf("want a stop of the 4 that the wallet shows once the exchange refused more, have %+v", stop)
	}
}

// The history cannot be read, so nothing compares the wallet with the fills (seed 940020104).
func TestWalletShortfallDoesNotPreventStopWhileTheHistoryIsUnread(t *testing.T) {
	t.Parallel()
	for _, held := range []string{"0", "0.004"} {
		stopDespiteUnread(t, held)
	}
}

func stopDespiteUnread(t testing.TB, held string) {
	t.Helper()
	w, derive := protecting(t)
	w.now += 60_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), Unread: []exchange.SymbolKey{coin},
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)}})})
	if have := stopped(derive()); have != 10 {
		t.Errorf("with %s in the wallet: want a stop of the 10 that the fills explain, have %d", held, have)
	}
}

// A process died while it sent the exit. No list shows the exit, and the wallet shows what is left of the
// position.
func TestStopCoversRestOfUncertainExit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wallet string
		want   exchange.Quantity
	}{
		"the wallet shows it, beside a person's": {"1.01", 10},
		"the wallet shows it sold":               {"1.006", 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holding(t, ForeignHalt)
			symbol := w.tracker.Symbol(coin)
			symbol.last, symbol.entryPrice = 50_000e8, exchange.AmountOf(50_000)
			exit := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Quantity: 4, Price: 48_000e8,
				ClientOrderID: w.tracker.NextClientOrderID("t")}
			w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: exit.ClientOrderID,
				Body: record.Sending{Order: exit, Purpose: placement.Exit, DeadlineMS: w.now + 5_000}})
			w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: w.tracker.Epoch() + 1}})
			stops := func() (sum exchange.Quantity) {
				intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Equity: exchange.AmountOf(10_000),
					Interval: exchange.Minute1, Collar: exchange.RateOne / 20, Bridge: true,
					Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}, w.now)
				for i := range intents {
					if intents[i].Purpose == placement.StopLoss {
						sum += intents[i].Order.Quantity
					}
				}
				return sum
			}
			w.now += 1_000
			w.observe(c.wallet)
			if have := stops(); have != 6 {
				t.Errorf("a second later it may be on its way: want a stop of 6, have %d", have)
			}
			w.now += 2_000
			w.observe(c.wallet)
			if have := stops(); have != c.want {
				t.Errorf("want a stop of %d, have %d", c.want, have)
			}
		})
	}
}

// A stop has sold a part that no list shows yet.
func TestPartialExitSellsWalletHolding(t *testing.T) {
	t.Parallel()
	for wallet, want := range map[string]exchange.Quantity{"1.01": 5, "1.008": 3, "1.005": 0, "1": 0} {
		t.Run(wallet, func(t *testing.T) {
			t.Parallel()
			w := holding(t, ForeignHalt)
			symbol := w.tracker.Symbol(coin)
			symbol.last = 50_000e8
			w.apply(record.Record{Strategy: "one", Symbol: coin,
				Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 5}}}})
			desired := &Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Equity: exchange.AmountOf(10_000), Interval: exchange.Minute1,
				Collar: exchange.RateOne / 20}
			_, priced := w.tracker.Derive(desired, w.now)
			w.apply(*priced)
			w.now += 1_000
			w.observe(wallet)
			intents, _ := w.tracker.Derive(desired, w.now)
			sold := exchange.Quantity(0)
			for i := range intents {
				sold += intents[i].Order.Quantity
			}
			if sold != want {
				t.Errorf("want %d sold, have %d: %+v", want, sold, intents)
			}
		})
	}
}

// An order for the remaining holding is too small for the exchange.
func TestExitBelowMinimumCancelsNoStop(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	symbol := w.tracker.Symbol(coin)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 1_000
	w.shows("1", "0.01", stop)
	w.apply(record.Record{Strategy: "one", Symbol: coin, Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity}}}})
	derive := func() []Intent {
		intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1, Bridge: true,
			Collar: exchange.RateOne / 20, Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 49_000e8}}}, w.now)
		return intents
	}
	least := symbol.rules.MinNotional
	symbol.rules.MinNotional = exchange.AmountOf(100_000)
	if intents := derive(); len(intents) != 0 {
		t.Errorf("want the stop left where it is, have %+v", intents)
	}
	symbol.rules.MinNotional = least
	if intents := derive(); len(intents) != 1 || intents[0].Purpose != placement.Cancel {
		t.Errorf("want it make room as soon as an exit can be placed, have %+v", intents)
	}
}

// A resting exit would hold the asset that the stop must sell, and the exchange accepts only one of them. Without a stop, and on futures,
// exits rest.
func TestSpotStopPrecedesRestingExit(t *testing.T) {
	t.Parallel()
	stop := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	plan := record.Plan{Plan: &strategy.Plan{ExitsSet: true, Exits: []strategy.DesiredOrder{{Key: "a", Side: exchange.Sell, Quantity: 10, Price: 51_000e8}}}}
	for _, c := range []struct {
		name  string
		rests bool // an exit rests already
		with  strategy.Protection
		want  []placement.Purpose // purposes of the intents
	}{
		{"with a stop", false, stop, []placement.Purpose{placement.StopLoss}},
		{"with a stop, and the exit stands", true, stop, nil}, // its cancel goes first
		{"without a stop", false, strategy.Protection{Set: true}, []placement.Purpose{placement.ExitOrder}},
		{"the strategy sets none", false, strategy.Protection{}, []placement.Purpose{placement.ExitOrder}},
	} {
		w := holding(t, ForeignHalt)
		symbol := w.tracker.Symbol(coin)
		symbol.last = 50_000e8
		w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, Body: plan})
		if c.rests {
			order := exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Quantity: 10, Price: 51_000e8}
			id := w.tracker.NextClientOrderID("t")
			order.Market, order.Symbol, order.ClientOrderID = exchange.Spot, coin.Name, id
			w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: id, Body: record.Sending{Order: order, Key: "a",
				Purpose: placement.ExitOrder, DeadlineMS: w.now + 5_000}})
			w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Acknowledged{OrderID: 90}})
		}
		w.now += 1_000
		intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1, Collar: exchange.RateOne / 20,
			Protection: c.with}, w.now)
		var have []placement.Purpose
		canceled := false
		for i := range intents {
			if intents[i].Purpose == placement.Cancel {
				canceled = true
				continue
			}
			have = append(have, intents[i].Purpose)
		}
		if !slices.Equal(have, c.want) || canceled != c.rests {
			t.Errorf("%s: want %v sent, the exit canceled %t, have %v, %t: %+v", c.name, c.want, c.rests, have, canceled, intents)
		}
	}
}

// The stop was queued for 4 s before it was sent, and older lists and wallets do not show it. Those read after its answer do.
func TestReadsFromBeforeArrivalDoNotEndStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		readMS int64             // how long after it was due to be sent
		want   exchange.Quantity // quantity of another stop
	}{
		"before the answer":                            {4_000, 0},
		"as it was answered":                           {4_300, 0},
		"after it, while the wallet may be older":      {5_300, 0},
		"after it, when the wallet must show the stop": {5_301, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			readBeforeItArrived(t, c.readMS, c.want)
		})
	}
}

// readBeforeItArrived reads lists and wallet without a stop whose answer came 4.3 s after it was due to be sent. A person's
// units suffice for another stop.
func readBeforeItArrived(t testing.TB, readMS int64, want exchange.Quantity) {
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{Quantity: 1_000}})
	stop := stopOf(10)
	stop.Market, stop.Symbol, stop.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
	sentMS := w.now
	w.apply(record.Record{AtMS: sentMS, Strategy: "one", Symbol: coin, ClientOrderID: stop.ClientOrderID,
		Body: record.Sending{Order: stop, Purpose: placement.StopLoss, DeadlineMS: sentMS + 5_000}})
	w.apply(record.Record{AtMS: sentMS + 4_300, ClientOrderID: stop.ClientOrderID, Body: record.Acknowledged{OrderID: 9}})
	w.now = sentMS + readMS
	w.shows("1.01", "0")
	w.now = max(w.now, sentMS+4_400)
	if have := stopped(derive()); have != want {
		t.Errorf("want another stop of %d, have %d", want, have)
	}
}

// The stops that the list shows cover the holding, and the exchange may have refused the third one. Once the third is answered one of the
// three is canceled, unless the wallet freezes nothing for it.
func TestUnansweredStopCancelsNoLiveStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer record.Body // nil while there is none
		frozen string
		want   int // number of cancels
	}{
		"no answer":           {nil, "0.016", 0},
		"the answer was lost": {record.Uncertain{Reason: "timeout"}, "0.016", 0},
		"the exchange has it": {record.Acknowledged{OrderID: 10}, "0.016", 1},
		"the exchange had it": {record.Acknowledged{OrderID: 10}, "0.01", 0},
		"the daemon started":  {record.Boot{Epoch: 2}, "0.016", 0},
		"it was refused":      {record.Refused{Reason: "the free balance is less"}, "0.016", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopNotAnswered(t, c.answer, c.frozen, c.want)
		})
	}
}

// stopNotAnswered places a third stop next to two live ones that cover the whole holding of 10.
func stopNotAnswered(t testing.TB, answer record.Body, frozen string, want int) {
	w, derive := protecting(t)
	first, second := w.places(placement.StopLoss, 8, stopOf(4)), w.places(placement.StopLoss, 9, stopOf(6))
	third := stopOf(6)
	third.Market, third.Symbol, third.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
	w.now += 1_000
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: third.ClientOrderID,
		Body: record.Sending{Order: third, Purpose: placement.StopLoss, DeadlineMS: w.now + 5_000}})
	if answer != nil {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: third.ClientOrderID, Body: answer})
	}
	w.now += 1_000
	w.shows("0", frozen, first, second)
	intents := derive()
	canceled := 0
	for i := range intents {
		if intents[i].Purpose == placement.Cancel {
			canceled++
		}
	}
	if len(intents) != want || canceled != want {
		t.Errorf("want %d canceled, have %+v", want, intents)
	}
}
