package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// refusedPurchase sends a purchase for 520 USDT, of which 500 would buy ten steps, next to a position. The exchange refuses it.
func refusedPurchase(t testing.TB, held exchange.Quantity) (w *wallet, derive func() []Intent) {
	w, derive = protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: held - 10}})
	w.now += 60_000
	w.hasMoney(map[exchange.Quantity]string{0: "1", 10: "1.01"}[held], "0", "10000")
	w.now += 1_000
	w.refuses(placement.Entry, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(520)})
	w.now += 1_000
	return w, derive
}

// The exchange executes a purchase that it refused, and the order history does not show it.
func TestExecutedRefusedPurchaseGetsAStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held       exchange.Quantity
		asset, usd string
		want       exchange.Quantity
	}{
		"nothing has moved":                         {10, "1.01", "10000", 10},
		"bought and paid beside what is held":       {10, "1.02", "9500", 20},
		"bought and paid where nothing is held":     {0, "1.01", "9500", 10},
		"a deposit":                                 {0, "1.01", "10000", 0},
		"a deposit and a withdrawal of another sum": {0, "1.01", "9430", 0},
		"one of a little less than the sum":         {0, "1.01", "9536", 0},
		"one of a step more than the sum":           {0, "1.011", "9450", 0},
		"money that is gone":                        {0, "1", "9500", 0},
		"money that is gone, and little was bought": {0, "1.005", "9500", 0},
		"paid, and a deposit beside it":             {0, "1.02", "9500", 0},
		"executed twice":                            {0, "1.02", "9000", 20},
		"executed three times":                      {0, "1.03", "8500", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			boughtDespiteRefusal(t, c.held, c.asset, c.usd, c.want)
		})
	}
}

// A snapshot that began before the refusal already shows the result of the purchase. It is not a person's (seed 910004048).
func TestWalletFromBeforeARefusalShowsNoPersonsUnits(t *testing.T) {
	t.Parallel()
	walletBeforeRefusal(t)
}

func walletBeforeRefusal(t testing.TB) {
	w, derive := protecting(t)
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	w.refuses(placement.Entry, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.hasMoney("1.02", "0", "9500")
	w.now += 1_000
	if w.hasMoney("1.02", "0", "9500"); stopped(derive()) != 20 {
		t.Errorf("want a stop of 20, have %d", stopped(derive()))
	}
}

// One step is bought as well as ten.
func TestExecutedRefusedPurchaseOfOneStepGetsAStop(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	w.refuses(placement.Entry, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(52)})
	w.now += 1_000
	if w.hasMoney("1.011", "0", "9950"); stopped(derive()) != 11 {
		t.Errorf("want a stop of 11, have %d", stopped(derive()))
	}
}

// A later wallet that lacks what was bought may be older: the stop that protects it stays.
func TestStopOfARefusedPurchaseStaysWhereAWalletLacksIt(t *testing.T) {
	t.Parallel()
	w, derive := refusedPurchase(t, 10)
	w.hasMoney("1.02", "0", "9500")
	own, stop := w.places(placement.StopLoss, 8, stopOf(10)), w.places(placement.StopLoss, 9, stopOf(10))
	w.now += 1_000
	w.hasMoney("1", "0.02", "9500", own, stop)
	w.now += 1_000
	w.hasMoney("0.99", "0.02", "9500", own, stop)
	if have := canceled(derive()); len(have) != 0 {
		t.Errorf("want both stops kept, have %v canceled", have)
	}
}

func boughtDespiteRefusal(t testing.TB, held exchange.Quantity, asset, usd string, want exchange.Quantity) {
	w, derive := refusedPurchase(t, held)
	w.hasMoney(asset, "0", usd)
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
	if symbol := w.tracker.Symbol(coin); want > held && symbol.settled {
		t.Errorf("want nothing opened beside it, have it settled")
	}
}

// A history that was read before the exchange executed the order has confirmed its refusal.
func TestPurchaseExecutedAfterItsConfirmationGetsAStop(t *testing.T) {
	t.Parallel()
	fence := testSettle.WindowMS + testSettle.VisibilityMS + testSettle.StalenessMS
	for name, c := range map[string]struct {
		asset, usd string
		afterMS    int64 // since the refusal
		want       exchange.Quantity
	}{
		"bought and paid":                     {"1.01", "9500", 5_000, 10},
		"as late as a list may show it first": {"1.01", "9500", fence, 10},
		"later":                               {"1.01", "9500", fence + 1, 0},
		"a deposit":                           {"1.01", "10000", 5_000, 0},
		"a person's purchase of another sum":  {"1.011", "9450", 5_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executedAfterConfirmation(t, c.asset, c.usd, c.afterMS, c.want)
		})
	}
}

func executedAfterConfirmation(t testing.TB, asset, usd string, afterMS int64, want exchange.Quantity) {
	w, derive := refusedPurchase(t, 0)
	w.hasMoney("1", "0", "10000")
	if len(w.tracker.Refused()) != 0 {
		t.Fatal("want the refusal confirmed")
	}
	w.now += afterMS - 1_000
	w.hasMoney(asset, "0", usd)
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
	if doubted := len(w.tracker.Refused()) == 1; doubted != (want > 0) || want > 0 && w.tracker.Symbol(coin).settled {
		t.Errorf("want the refusal doubted %t, and nothing opened beside it; have %t", want > 0, doubted)
	}
}

// Once a person has decided, or a list has shown the purchase, the wallet is no longer evidence of it.
func TestDecidedPurchaseIsNotDoubtedAgain(t *testing.T) {
	t.Parallel()
	w, derive := refusedPurchase(t, 0)
	w.hasMoney("1", "0", "10000")
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{}})
	w.now += 5_000
	w.hasMoney("1.01", "0", "9500")
	if have := stopped(derive()); have != 0 || len(w.tracker.Refused()) != 0 {
		t.Errorf("want the units left alone, have a stop of %d", have)
	}
}

// If anything else on spot may have cost money since, the wallet proves nothing about the refused purchase.
func TestRefusedPurchaseIsNotInferredDuringOtherSpending(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*wallet){
		"another purchase is on its way": func(w *wallet) {
			w.sendsElsewhere(exchange.Buy)
		},
		"another botd may be placing": func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "9", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
		},
		"it was read before the refusal": func(w *wallet) { w.now -= 1_001 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := refusedPurchase(t, 0)
			change(w)
			w.hasMoney("1.01", "0", "9500")
			if have := w.tracker.Symbol(coin).spot.unlisted.inferred; have != 0 {
				t.Errorf("want nothing inferred, have %d", have)
			}
		})
	}
}

// After L the purchase needs manual resolution, until a list shows it or a person decides.
func TestExecutedRefusedPurchaseIsQuarantined(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"waits", "shown", "adopted", "ignored"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w, derive := refusedPurchase(t, 10)
			w.apply(record.Record{Strategy: "one", Symbol: coin, Body: record.Plan{Plan: &strategy.Plan{
				Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}}}})
			id := w.tracker.Refused()[0].clientOrderID
			w.hasMoney("1.02", "0", "9500")
			stop := w.places(placement.StopLoss, 8, stopOf(20))
			for range 8 {
				w.now += 1_000
				w.hasMoney("1", "0.02", "9500", stop)
			}
			symbol := w.tracker.Symbol(coin)
			if symbol.Quarantine() == "" {
				t.Fatalf("want it quarantined")
			}
			switch way {
			case "shown":
				row := exchange.Order{ID: 7, ClientOrderID: id, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
					Quantity: 10, Filled: 10, QuoteAmount: exchange.AmountOf(520), Status: exchange.StatusFilled, CreatedMS: w.now - 9_000}
				w.sees("1", "0.02", []exchange.Order{row}, stop)
			case "adopted", "ignored":
				for _, r := range w.tracker.Resolve(coin, way == "adopted", "one", "seen") {
					w.apply(r)
				}
			}
			for range 3 {
				w.now += 1_000
				w.hasMoney("1", "0.02", "9500", stop)
			}
			held := map[string]exchange.Quantity{"waits": 10, "shown": 20, "adopted": 20, "ignored": 10}[way]
			if have := symbol.Known() - symbol.Fees(); have != held {
				t.Errorf("want %d known, have %d", held, have)
			}
			if pending := way == "waits"; (len(w.tracker.Refused()) == 1) != pending || (symbol.spot.unlisted.inferred == 10) != pending {
				t.Errorf("want it undecided: %t; have %d refusals, %d inferred", pending, len(w.tracker.Refused()), symbol.spot.unlisted.inferred)
			}
			if have := canceled(derive()); (len(have) == 0) != (way != "ignored") {
				t.Errorf("want its stop taken off only where a person ignores it, have %v canceled", have)
			}
		})
	}
}

// The confirmed refusal of a purchase is doubted again, once, as soon as the wallet shows the purchase, however small it is.
func TestConfirmedPurchaseIsDoubtedOnce(t *testing.T) {
	t.Parallel()
	for amount, c := range map[int64]struct {
		asset, usd string
		want       exchange.Quantity
	}{520: {"1.01", "9500", 10}, 52: {"1.001", "9950", 1}} {
		w, derive := refusedPurchase(t, 0)
		w.tracker.refused[0].order.QuoteAmount = exchange.AmountOf(amount)
		for range 2 {
			w.hasMoney("1", "0", "10000")
			w.now += 1_000
		}
		if have := len(w.tracker.Refused()); have != 0 {
			t.Fatalf("for %d: want the refusal confirmed, have %d", amount, have)
		}
		for range 2 {
			w.hasMoney(c.asset, "0", c.usd)
			w.now += 1_000
		}
		if have := len(w.tracker.Refused()); have != 1 || stopped(derive()) != c.want {
			t.Errorf("for %d: want one refusal doubted, and a stop of %d, have %d and %d", amount, c.want, have, stopped(derive()))
		}
	}
}

// A person's purchase on one symbol does not count as a refused purchase on another symbol of the same asset, and a decision about one symbol decides
// nothing about the other.
func TestConfirmedPurchaseIsOfItsSymbol(t *testing.T) {
	t.Parallel()
	other := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-EUR"}
	tracks := func(t testing.TB) (w *wallet, reads func(asset, usd string)) {
		w, _ = refusedPurchase(t, 0)
		rules := *w.tracker.Symbol(coin).rules
		rules.Name, rules.Quote = other.Name, "EUR"
		w.tracker.Track(other).rules, w.tracker.Track(other).last = &rules, 50_000e8
		return w, func(asset, usd string) {
			w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
				History: exchange.FetchedOf[exchange.Order](nil), HistoryWhole: true, Balances: exchange.FetchedOf([]exchange.Balance{
					{Asset: "BTC", Free: exchange.MustAmount(asset)}, {Asset: "USDT", Free: exchange.MustAmount(usd)},
					{Asset: "EUR", Free: exchange.AmountOf(10_000)}})})
			w.now += 1_000
		}
	}
	w, reads := tracks(t)
	w.tracker.refused[0].Symbol, w.tracker.refused[0].order.Symbol = other, other.Name
	reads("1", "10000")
	reads("1.01", "9500")
	if have := len(w.tracker.Refused()); have != 0 {
		t.Errorf("a person has bought for USDT: want no purchase for EUR doubted, have %d", have)
	}
	w, reads = tracks(t)
	reads("1", "10000")
	w.apply(record.Record{AtMS: w.now, Symbol: other, Body: record.Adopted{}})
	reads("1.01", "9500")
	if have := len(w.tracker.Refused()); have != 1 {
		t.Errorf("a person has decided about BTC-EUR: want the purchase for USDT doubted, have %d", have)
	}
}

// The clock that dated the wallet before an order may be set back. What is filled after that is dated earlier than this wallet, and still explains what later
// wallets show: the refused purchase was not executed (seed 1099541633418).
func TestFillAfterAClockSetBackExplainsTheWallet(t *testing.T) {
	t.Parallel()
	filledAfterSetBack(t)
}

func filledAfterSetBack(t testing.TB) {
	w, _ := refusedPurchase(t, 0)
	w.now -= 7_000
	w.hasMoney("1", "0", "10000")
	w.now += 1_000
	row := w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(520)})
	w.now += 1_000
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: row.ClientOrderID,
		Body: record.Ended{State: placement.Filled, Filled: 10, Price: exchange.AmountOf(50_000)}})
	for range 10 {
		w.now += 1_000
		w.hasMoney("1.01", "0", "9500")
	}
	if have := len(w.tracker.Refused()); have != 0 {
		t.Errorf("want the refusal confirmed, have %d", have)
	}
}

// Each balance that was read before an order is dated no later than the reads after it.
func TestPriorBalancesAreDatedBeforeLaterReads(t *testing.T) {
	t.Parallel()
	w, _ := refusedPurchase(t, 0)
	purchase := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(520)}
	row := w.places(placement.Entry, 7, purchase)
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: row.ClientOrderID,
		Body: record.Ended{State: placement.Filled, Filled: 10, Price: exchange.AmountOf(50_000)}})
	live := w.places(placement.Entry, 8, purchase)
	w.tracker.noteConfirmed(&w.tracker.refused[0])
	w.now -= 7_000
	w.observe("1")
	for name, have := range map[string]int64{
		"refused":   w.tracker.refused[0].before.atMS,
		"confirmed": w.tracker.confirmed[0].before.atMS,
		"ended":     w.tracker.Symbol(coin).spot.endedPurchase.before.atMS,
		"live":      w.tracker.known(live.ClientOrderID).before.atMS,
	} {
		if have != w.now {
			t.Errorf("%s: want the balance dated %d, have %d", name, w.now, have)
		}
	}
}
